"""A model is brought, checked against the desk, promoted, rolled back; and files get lost."""

import numpy as np
import pandas as pd
import pytest
from desk.control.desks import SCHEMA

from rarefind import TableModel, save
from rarefind.desk.control import Control, ControlError, NotThere
from rarefind.desk.intake import Intake
from rarefind.desk.records import Entry, Outcome
from rarefind.trees import MetaAPClassifier

ROWS = 400


def table(seed):
    random = np.random.default_rng(seed)
    amount = random.gamma(2, 30, ROWS).round(2)
    fraud = (amount > 150) | (random.random(ROWS) < 0.02)
    return pd.DataFrame(
        {
            "amount": amount,
            "card_mean_30D": random.gamma(2, 30, ROWS),
            "country": random.choice(["FR", "BE", "XX"], ROWS),
            "ecommerce": random.random(ROWS) < 0.5,
            "fraud": fraud.astype(int),
        }
    )


def fitted(path, rows):
    model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(rows)
    save(model, path)
    return model


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    models = {name: fitted(folder / name, table(seed)) for seed, name in enumerate(("one", "two"))}
    return folder, models


RECORD = {"amount": 180.0, "card_mean_30D": 30.0, "country": "FR", "ecommerce": False, "id": "1"}


def test_a_model_is_added_promoted_and_rolled_back(desk, files):
    folder, fitted_models = files
    models = desk.control.models
    one = models.add(folder / "one", "ann")
    assert (one.state, one.name, one.estimator) == ("challenger", "one", "MetaAPClassifier")
    assert desk.control.in_force().notes == ["There is no model yet: rules alone decide."]
    assert models.add(folder / "one", "bob") == one
    two = models.add(folder / "two", "ann", "this week's")
    assert models.promote(one.digest[:8], "ann").state == "champion"
    found = desk.control.in_force()
    assert (found.notes, found.model.digest) == ([], one.digest)
    assert found.model.score(RECORD) == fitted_models["one"].predict_proba(RECORD)[0, 1]
    assert models.promote(two.digest, "bob", threshold=0.25).threshold == 0.25
    assert desk.control.in_force().model.threshold == 0.25
    assert {row.name: row.state for row in models.all()} == {
        **{"one": "challenger", "this week's": "champion"},
    }
    assert models.promote(one.digest, "bob").changed_by == "bob"  # back again
    assert models.retire(one.digest, "eve").state == "retired"
    assert models.champion() is None
    assert desk.control.in_force().model is None
    actions = [row.action for row in desk.control.audit.read()]
    assert actions == ["add model"] * 2 + ["promote model"] * 3 + ["retire model"]


def test_the_threshold_is_the_models_own_as_a_probability(sqlite_desk, files):
    folder, fitted_models = files
    added = sqlite_desk.control.models.add(folder / "one", "ann")
    sqlite_desk.control.models.promote(added.digest, "ann")
    model, own = sqlite_desk.control.in_force().model, fitted_models["one"]
    rows = table(7).drop(columns="fraud")
    alerts = [model.score(row) >= model.threshold for row in rows.to_dict("records")]
    assert alerts == own.predict(rows).astype(bool).tolist()
    assert 0 < sum(alerts) < ROWS


def test_a_model_that_does_not_fit_is_refused_with_its_columns(sqlite_desk, files, tmp_path):
    models, rows = sqlite_desk.control.models, table(3)
    fitted(tmp_path / "m", rows.rename(columns={"amount": "amout", "card_mean_30D": "balance"}))
    with pytest.raises(ControlError, match=r"'amout' \(did you mean 'amount'\?\), 'balance'"):
        models.add(tmp_path / "m", "ann")
    fitted(tmp_path / "m", rows.assign(country=rows["amount"], amount=1.0))
    with pytest.raises(ControlError, match=r"'country' for a number, and desk.toml declares it as"):
        models.add(tmp_path / "m", "ann")
    (tmp_path / "m").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a rarefind model file") as refused:
        models.add(tmp_path / "m", "ann")
    assert str(refused.value).startswith(str(tmp_path / "m"))
    with pytest.raises(ControlError, match="There is no file"):
        models.add(tmp_path / "gone", "ann")
    assert models.all() == []
    assert list(sqlite_desk.models.glob("*")) == []
    with pytest.raises(NotThere, match="There is no model 'abcdef'"):
        models.promote("abcdef", "ann")
    added = models.add(files[0] / "one", "ann")
    with pytest.raises(ControlError, match="a probability from 0 to 1"):
        models.promote(added.digest, "ann", threshold=3)


@pytest.mark.parametrize("how", ["gone", "damaged", "another"])
def test_a_file_that_is_lost_is_a_note_and_comes_back(sqlite_desk, files, how):
    control = sqlite_desk.control
    added = control.models.add(files[0] / "one", "ann")
    control.models.promote(added.digest, "ann")
    before = control.in_force()
    path = control.models.path(added.digest)
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        broken = content[:-100] if how == "damaged" else (files[0] / "two").read_bytes()
        path.write_bytes(broken)
    lost = control.in_force()
    assert (lost.model, lost.is_complete) == (None, False)
    assert f"The model file {path} " in lost.notes[0]
    assert "rules alone decide." in lost.notes[0]
    assert control.changed(lost) is None  # it is looked for again, and not there yet
    kept = control.in_force(before)
    assert kept.model is before.model  # it is in memory still
    if how == "gone":
        warned = control.changed(before)
        assert (warned.model, warned.notes) == (before.model, kept.notes)
        assert "put it back, or rules alone decide after a restart." in warned.notes[0]
        assert control.changed(warned) is None
    path.write_bytes(content)
    found = control.changed(lost)
    assert (found.model.digest, found.notes) == (added.digest, [])
    assert control.changed(found) is None
    if how == "gone":
        assert control.changed(warned).notes == []


def test_what_is_in_force_follows_the_revision(desk, files):
    control = desk.control
    before = control.in_force()
    assert control.changed(before) is None
    other = Control(desk.open(), SCHEMA, desk.models, desk.clock)  # another process
    other.blocks.ask("c1", "ann")
    other.rules.save("large", "amount > 9", "ann", role="scoring", weight=2)
    found = control.changed(before)
    assert (found.blocked, [rule.name for rule in found.rules.scoring]) == ({"c1"}, ["large"])
    found.rules.failures["large"] += 1
    other.models.promote(other.models.add(files[0] / "one", "ann").digest, "ann")
    later = control.changed(found)
    assert later.rules is found.rules  # with what it has counted
    other.models.promote(later.model.digest, "ann", threshold=0.5)
    assert control.changed(later).model.threshold == 0.5
    other._database.close()


def test_a_rule_that_no_longer_runs_is_left_out_with_a_note(sqlite_desk):
    control = sqlite_desk.control
    control.rules.save("old", "amount > 5", "ann", role="blocking")
    control.rules.save("new", "amount > 6", "ann", role="blocking")
    with sqlite_desk.database.write() as writer:
        writer.execute("UPDATE rule_versions SET text = 'amont > 5' WHERE name = 'old'")
    found = control.in_force()
    assert [rule.name for rule in found.rules.blocking] == ["new"]
    assert found.notes[0].startswith("The rule 'old' does not run: There is no column 'amont'")


def decided(amounts, hours):
    """Transactions that a desk has stored, one each some hours."""
    names = SCHEMA.features.names
    intake, found = Intake(SCHEMA), []
    for number, amount in enumerate(amounts):
        time = np.datetime64("2026-01-01T00", "m") + number * int(hours * 60)
        body = (
            f'{{"id": "{number}", "time": "{time}:00Z", "amount": {amount}, "card": "c", '
            f'"terminal": "t", "checked": "accepted", "country": "FR", "ecommerce": false}}'
        )
        (sent,) = intake.decode(body.encode()).transactions
        features = np.full(len(names), 30.0)
        features[names.index("amount")] = amount
        outcome = Outcome("accept", "", (), None, 0.0, "", 0.0, "", "")
        arguments = (sent.id, sent.time, sent.time, sent.amount, sent.entities, sent.body)
        found.append(Entry(number + 1, *arguments, features.tobytes(), outcome))
    return found


def test_a_model_raises_enough_alerts_for_the_budget(desk, files):
    folder, fitted_models = files
    rng = np.random.default_rng(0)
    # Four days of 400 transactions a day, of which next to none is risky.
    recent = decided(rng.gamma(2, 10, 1_600).round(2), 0.06)
    added = desk.control.models.add(folder / "one", "ann", recent=recent)
    score, intake = fitted_models["one"].row_scorer().probability, Intake(SCHEMA)
    scores = [score(intake.record(each)) for each in recent]
    assert added.threshold < added.own_threshold
    days = (recent[-1].time - recent[0].time) / 86_400e9
    raised = sum(score >= added.threshold for score in scores)
    assert raised >= SCHEMA.alerts.budget * days
    assert desk.control.models.promote(added.digest, "ann").threshold == added.threshold


def test_a_model_keeps_its_own_threshold_where_alerts_are_many_or_nothing_is_known(desk, files):
    folder, _ = files
    one = desk.control.models.add(folder / "one", "ann")
    two = desk.control.models.add(folder / "two", "ann", recent=decided([900.0] * 800, 0.06))
    assert one.threshold == one.own_threshold
    assert two.threshold == two.own_threshold
