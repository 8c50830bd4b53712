"""A desk of cards whose control is tried."""

from rarefind.desk import Schema
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control, revision

NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z
DECLARED = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
outcome = "checked"
[transaction.columns]
country = "text"
card_country = "text"
ecommerce = "boolean"
expires = "time"
[entities.card]
column = "card"
[entities.terminal]
column = "terminal"
[alerts]
entity = "card"
random_share = 0.0
"""
SCHEMA = Schema.from_text(DECLARED)
TWO_PEOPLE = Schema.from_text(DECLARED + "second_person = true\n")


class TryDesk:
    def __init__(self, open_database, models):
        self.clock = ManualClock(NOON)
        self.open, self.models = open_database, models
        self.database = open_database()
        self.control = self.of(SCHEMA)

    def of(self, schema):
        return Control(self.database, schema, self.models, self.clock)

    @property
    def revision(self):
        return revision(self.database)
