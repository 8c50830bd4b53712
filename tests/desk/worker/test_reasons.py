"""Why a transaction was proposed: by the model that decided, and by what was known then."""

import numpy as np
import pandas as pd
import pytest

import rarefind
from rarefind import TableModel
from rarefind.desk import Schema
from rarefind.desk.alerts import Cases, erase_entity
from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Control
from rarefind.desk.decision import Decider
from rarefind.desk.explained import read_parts
from rarefind.desk.features import FeatureState
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.labels import LabelHistory
from rarefind.desk.worker._reasons import Reasons
from rarefind.neighbors import GammaKNNClassifier

SCHEMA = Schema.from_text(
    """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
[transaction.columns]
country = "text"
[entities.card]
column = "card"
[alerts]
entity = "card"
random_share = 0.0
"""
)
INTAKE = Intake(SCHEMA)
NOON = 1_769_860_800 * 10**9  # 2026-01-31T12:00:00Z


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    amount = rng.lognormal(3, 1, 300).round(2)
    country = rng.choice(["FR", "XX"], 300, p=[0.8, 0.2])
    fraud = (amount > 60) & (country == "XX")
    table = pd.DataFrame(
        {"amount": amount, "country": country, "amount_to_card_mean": amount / 20, "fraud": fraud}
    )
    path = tmp_path_factory.mktemp("model") / "m.rarefind"
    rarefind.save(TableModel(GammaKNNClassifier(k=3), target="fraud").fit(table), path)
    return path


class Desk:
    def __init__(self, path, model_file=None):
        self.folder = DeskFolder.create(path, SCHEMA)
        self.clock, self.database = ManualClock(NOON), self.folder.open_desk()
        self.ledger = self.folder.open_ledger()
        self.decider = Decider(
            FeatureState(SCHEMA), self.ledger, secret=self.folder.secret, clock=self.clock
        )
        self.control = Control(self.database, SCHEMA, self.folder.models, self.clock)
        if model_file is not None:
            self.digest = self.control.models.add(model_file, "ann").digest
            self.control.models.promote(self.digest, "ann", threshold=0.0)
        else:
            self.control.rules.save("large", "amount > 100", "ann", role="scoring")
        in_force = self.control.in_force()
        self.decider.rules, self.decider.model = in_force.rules, in_force.model
        labels = LabelHistory(self.database, SCHEMA, self.clock)
        self.cases = Cases(self.database, SCHEMA, labels, self.clock)
        self.reasons = Reasons(self.ledger, self.cases, INTAKE, self.folder.models)

    def decide(self, number, amount, country="FR"):
        body = (
            f'{{"id": "p{number}", "time": "2026-01-31T11:0{number}:00Z", "amount": {amount}, '
            f'"card": "c1", "country": "{country}"}}'
        )
        self.decider.decide(INTAKE.decode(body.encode()).transactions)
        entries, last = self.ledger.read_alerts(self.cases.read_up_to, 100)
        self.cases.add(entries, last.sequence)

    def alerts(self):
        return self.cases.newest_alerts(100)[::-1]


@pytest.fixture
def opened(tmp_path, request):
    desks = []

    def make(model_file=None):
        desks.append(Desk(tmp_path / f"desk{len(desks)}", model_file))
        return desks[-1]

    yield make
    for desk in desks:
        desk.folder.close()


def test_reason_and_probability_are_those_of_the_decision(opened, model_file):
    desk = opened(model_file)
    for number, (amount, country) in enumerate([(20, "FR"), (30, "FR"), (400, "XX")]):
        desk.decide(number, amount, country)
    scores = [entry.outcome.score for entry in desk.ledger.read(0, 9)]
    desk.decide(3, 5_000)  # what came later changes nothing
    model = rarefind.load(model_file)
    assert desk.reasons.run() is False
    found = desk.alerts()
    assert [alert.probability for alert in found[:3]] == scores
    assert found[2].probability > found[0].probability
    row = {"amount": 400.0, "country": "XX", "amount_to_card_mean": 400 / 25}
    assert found[2].reason == str(model.explain(row)[0])
    assert found[2].reason.startswith("Score ")
    assert desk.cases.without_reason() == []


def test_a_model_that_is_gone_leaves_a_word_and_no_probability(opened, model_file):
    desk = opened(model_file)
    desk.decide(0, 400, "XX")
    (desk.folder.models / f"{desk.digest}.rarefind").write_bytes(b"another")
    desk.reasons.run()
    (alert,) = desk.alerts()
    assert alert.probability is None
    short = desk.digest[:12]
    assert alert.reason == f"The model that decided ({short}…) is not among the models any more."


def test_without_a_model_the_rules_are_the_reason(opened):
    desk = opened()
    desk.decide(0, 400)
    desk.reasons.run()
    assert desk.alerts()[0].reason == "Rules alone, without a model: large."


def test_who_was_erased_has_no_reason(opened):
    desk = opened()
    desk.decide(0, 400)
    desk.ledger.erase(0, "c1", by="ann", now=NOON)
    desk.reasons.run()
    assert "was erased or deleted" in desk.alerts()[0].reason


def test_the_parts_of_a_reason_are_kept_with_their_values(opened, model_file):
    desk = opened(model_file)
    for number, (amount, country) in enumerate([(20, "FR"), (30, "FR"), (400, "XX")]):
        desk.decide(number, amount, country)
    desk.reasons.run()
    alert = desk.alerts()[2]
    parts = read_parts(alert.because)
    assert parts
    known = {"amount": 400.0, "country": "XX", "amount_to_card_mean": 400 / 25}
    assert {part.feature: part.value for part in parts}.items() <= known.items()
    assert next(part.text for part in parts if not part.lowers) in alert.reason
    erase_entity(desk.database, "c1", "erased 1")
    assert [each.because for each in desk.alerts()] == [None] * 3
