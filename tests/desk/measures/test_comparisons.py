"""Models are scored in the background and compared on ripe days, whatever comes in between."""

from dataclasses import dataclass

import numpy as np
import pytest
from desk.databases import KINDS
from desk.measures.small_desks import DAY, NOON, SCHEMA, SmallDesk, run

from rarefind.desk.intake import Intake
from rarefind.desk.measures.comparisons import Comparisons
from rarefind.desk.measures.day_labels import LabelCounter
from rarefind.desk.measures.shadow_scores import ShadowScores, read_blocks

FEATURES = len(SCHEMA.features.names)


@dataclass
class Named:
    digest: str
    state: str


class SomeModels:
    """Models of which each says a part of the amount."""

    def __init__(self, **parts):
        self.parts, self.states = parts, dict.fromkeys(parts, "challenger")
        self.asked = 0

    def all(self):
        return [Named(name, state) for name, state in self.states.items()]

    def open(self, _scores, digest):
        def score(record):
            self.asked += 1
            return record["amount"] * self.parts[digest] % 1

        return score


@pytest.fixture(params=KINDS)
def desk(request):
    with SmallDesk(kind=request.param) as desk:
        yield desk


@pytest.fixture
def models(monkeypatch):
    found = SomeModels(one=0.01, two=0.37)
    monkeypatch.setattr(ShadowScores, "_open", lambda own, digest: found.open(own, digest))
    return found


def pay(desk, days, amounts, **about):
    """Transactions of one day, each of a card of its own."""
    time = NOON - days * DAY
    bodies = [
        b'{"id":"x","time":"2026-01-01T00:00:00Z","amount":%d,"card":"c","terminal":"t"}' % amount
        for amount in amounts
    ]
    return desk.append(
        *(
            (
                time,
                {"amount": amount * 100, "body": body, "card": f"c{amount}", "model": ""}
                | {"features": np.zeros(FEATURES).tobytes()}
                | about,
            )
            for amount, body in zip(amounts, bodies, strict=True)
        )
    )


def shadow(desk, models):
    return ShadowScores(desk.database, desk.ledger, models, desk.folder, Intake(SCHEMA), desk.clock)


def comparisons(desk, models):
    return Comparisons(desk.database, desk.ledger, models, SCHEMA, desk.clock)


def labels(desk):
    return LabelCounter(desk.database, desk.ledger, desk.labels, SCHEMA)


def test_rows_are_scored_once_by_each_model_and_in_blocks(desk, models, monkeypatch):
    monkeypatch.setattr("rarefind.desk.measures.shadow_scores.BLOCK", 4)
    monkeypatch.setattr("rarefind.desk.measures.shadow_scores._ROWS", 3)
    pay(desk, 3, range(1, 8))
    scores = shadow(desk, models)
    run(scores)
    assert models.asked == 14
    pay(desk, 2, range(8, 11), model="one", score=0.75)
    run(scores)
    assert models.asked == 17  # what has decided says what it has said
    assert not shadow(desk, models).run()
    sequence, time, found = read_blocks(desk.database, ["one", "two"], 0, NOON)
    assert sequence.tolist() == list(range(1, 11))
    assert (time == [NOON - 3 * DAY] * 7 + [NOON - 2 * DAY] * 3).all()
    amounts = np.arange(1, 11)
    assert found["two"].tolist() == pytest.approx(amounts * 0.37 % 1)
    assert found["one"][7:].tolist() == [0.75] * 3
    models.states["two"] = "retired"
    run(scores)
    assert np.isnan(read_blocks(desk.database, ["two"], 0, NOON)[2]["two"]).all()


def test_what_was_erased_before_is_not_scored_and_is_of_no_list_but_its_own(desk, models):
    entries = pay(desk, 20, (10, 20, 30))
    desk.writer.erase(0, "c20", by="ann", now=NOON)
    run(shadow(desk, models))
    desk.writer.erase(0, "c30", by="ann", now=NOON)
    desk.label([entries[0].id], "fraud")
    run(labels(desk), comparisons(desk, models))
    found = comparisons(desk, models).read()
    assert (found.rows, found.others, found.frauds) == (2, 1, 1)
    assert found.models["one"].listed == 2  # a budget of two, and two rows


def test_models_are_compared_on_ripe_days_by_the_labels_of_now(desk, models):
    young = pay(desk, 2, (1, 2, 3))
    ripe = pay(desk, 20, (10, 20, 30, 40))
    pay(desk, 25, (50, 60))
    run(shadow(desk, models))
    jobs = labels(desk), comparisons(desk, models)
    desk.label([ripe[3].id, young[0].id], "fraud")
    run(*jobs)
    found = comparisons(desk, models).read()
    # The third kind of day is one on which nothing was sent.
    assert (found.rows, found.frauds, found.periods) == (6, 1, 2)
    assert found.begins < NOON - 25 * DAY < NOON - 20 * DAY < found.ends <= NOON - 10 * DAY
    one, two = found.models["one"], found.models["two"]
    # One says 0.1 … 0.4, and has the fraud on its list of two; two says 0.7, 0.4, 0.1, 0.8.
    assert (one.average_precision, one.hits, one.listed, one.money) == (1.0, 1, 4, 4_000)
    assert (two.average_precision, two.hits) == (1.0, 1)
    assert [each.sequence for each in found.disagreements] == [4, 6]
    assert one.precision.value == 0.25
    # A correction counts, and the day is compared again.
    desk.label([ripe[3].id], "genuine", "correction")
    desk.label([ripe[1].id], "fraud", "claim")
    run(*jobs)
    found = comparisons(desk, models).read()
    assert [found.models[name].hits for name in ("one", "two")] == [0, 0]
    assert found.models["one"].average_precision == pytest.approx(1 / 3)


def test_a_new_model_is_compared_when_it_has_scored_the_days(desk, models):
    del models.states["two"]
    pay(desk, 20, (10, 20, 30))
    pay(desk, 1, (1,))
    run(shadow(desk, models), comparisons(desk, models))
    assert set(comparisons(desk, models).read().models) == {"one"}
    models.states["two"] = "challenger"
    assert set(comparisons(desk, models).read().models) == {"one"}
    run(shadow(desk, models), comparisons(desk, models))
    assert set(comparisons(desk, models).read().models) == {"one", "two"}
    assert set(comparisons(desk, models).read(["two"]).models) == {"two"}
    # Days that are too long ago are not kept.
    desk.clock.advance(60 * DAY)
    run(comparisons(desk, models))
    ((old,),) = desk.database.read(
        "SELECT count(*) FROM model_periods WHERE begins < :old", old=NOON
    )
    assert old == 0
    assert comparisons(desk, models).read().rows == 0
