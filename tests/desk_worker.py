"""What the worker does for the pages, done at once: rules measured, models compared."""

import io

import numpy as np
import pandas as pd
from desk_web import NOON

from rarefind import TableModel, save
from rarefind.desk.api.logs import Log
from rarefind.desk.intake import Intake
from rarefind.desk.measures import HistoryKeeper, RuleWatch
from rarefind.desk.measures.comparisons import Comparisons
from rarefind.desk.measures.day_cases import CaseCounter
from rarefind.desk.measures.day_counts import DayCounter
from rarefind.desk.measures.day_labels import LabelCounter
from rarefind.desk.measures.shadow_scores import ShadowScores
from rarefind.trees import MetaAPClassifier

DAY = 86_400 * 10**9


def measure_rules(web):
    """Keep the history and measure the rules on it."""
    door, log = web.door, Log("worker", io.StringIO())
    keeper = HistoryKeeper(
        door.models.with_name("history"), door.ledger, web.intake, web.clock, log, grows=0.0
    )
    watch = RuleWatch(door.control, door.history, door.measured, "UTC", web.clock, log)
    _run(keeper, watch)


def make_models(folder):
    """Write the files of two models: one goes by the amount, the other by the opposite of it."""
    random = np.random.default_rng(0)
    for name, high in (("one", True), ("two", False)):
        amount = random.uniform(0, 2_500, 300).round(2)
        fraud = amount > 2_000 if high else amount < 300
        table = pd.DataFrame({"amount": amount, "fraud": fraud.astype(int)})
        save(TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table), folder / name)
    return folder


def pay_and_compare(web):
    """Make payments of forty days ago, one of them a fraud, and compare the models on them."""
    web.clock.advance(-40 * DAY)
    for number in range(8):
        made = "2025-12-22T12:00:00Z"
        web.pay(f"c{number}", amount=100 + 300 * number, time=made, id=f"old{number}")
    web.clock.set(NOON)
    with web.database.write() as writer:
        web.door.labels.add(writer, ["old7"], "fraud", "verdict")
    models, schema = web.door.control.models, web.schema
    _run(
        LabelCounter(web.database, web.door.ledger, web.door.labels, schema),
        ShadowScores(
            web.database, web.door.ledger, models, web.door.models, Intake(schema), web.clock
        ),
        Comparisons(web.database, web.door.ledger, models, schema, web.clock),
    )


def count_days(web):
    """Count what monitoring shows of each day."""
    schema = web.schema
    _run(
        DayCounter(web.database, web.door.ledger, schema),
        LabelCounter(web.database, web.door.ledger, web.door.labels, schema),
        CaseCounter(web.database, schema, web.clock),
    )


def _run(*jobs):
    for job in jobs:
        while job.run():
            continue
