"""Settings that an administrator changes: what counts, who did it, and what is refused."""

import pytest
from desk.control.desks import NOON, SCHEMA, TWO_PEOPLE

from rarefind.desk import Schema
from rarefind.desk.control import Control, ControlConflict
from rarefind.desk.settings import CHANGEABLE, SettingError, read_setting, setting_of

#: Of each setting, something else than desk.toml says.
OTHER = {
    "alerts.budget": 40,
    "alerts.per": "week",
    "alerts.random_share": 0.1,
    "alerts.lease": "10min",
    "alerts.expires": "2D",
    "alerts.second_person": True,
    "labels.delay": "14D",
    "retention.days": 60,
    "limits.rate": 7,
    "limits.requests": 9,
}


def test_each_setting_is_changed_read_elsewhere_and_reset(desk):
    settings = desk.control.settings
    assert set(OTHER) == set(CHANGEABLE)
    for name in sorted(OTHER, key="alerts.second_person".__eq__):  # that one last
        assert settings.change(name, OTHER[name], "ada").value == OTHER[name]
    elsewhere = Control(desk.open(), SCHEMA, desk.models, desk.clock)
    now, notes = elsewhere.in_force().schema, elsewhere.in_force().notes
    assert {name: setting_of(now, name) for name in CHANGEABLE} == OTHER
    assert len(notes) == 1, "that there is no model"
    rows = elsewhere.settings.all()
    assert [row.declared for row in rows] == [setting_of(SCHEMA, name) for name in CHANGEABLE]
    assert {(row.change.person, row.change.at) for row in rows} == {("ada", NOON)}
    assert {row.name: row.value for row in rows} == OTHER
    settings.requests.approve(_ask_one_person(settings), "bob", "setting")
    for name in CHANGEABLE:
        settings.reset(name, "bob")
    assert settings.schema().alerts == SCHEMA.alerts
    assert [row.change for row in settings.all()] == [None] * len(CHANGEABLE)
    last = desk.control.audit.newest(limit=1)[0]
    assert (last.person, last.action, last.subject) == ("bob", "reset setting", CHANGEABLE[-1])
    assert last.detail == {"was": 9, "is": SCHEMA.limits.requests}
    assert desk.control.audit.verify().is_whole


def _ask_one_person(settings):
    return settings.change("alerts.second_person", False, "ada").waiting.id


def test_a_change_raises_the_revision_once_and_the_same_again_does_not(sqlite_desk):
    before = sqlite_desk.revision
    for _ in range(2):
        sqlite_desk.control.settings.change("alerts.budget", 40, "ada")
    assert sqlite_desk.revision == before + 1


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("alerts.budget", -1, "alerts.budget is from 0"),
        ("alerts.budget", "many", "alerts.budget is not 'many'"),
        ("alerts.per", "year", "alerts.per is one of"),
        ("alerts.random_share", 1.0, "alerts.random_share is from 0 to below 1."),
        ("alerts.lease", "0min", "alerts.lease must be longer than 0"),
        ("alerts.lease", "soon", "'soon' is not a length of time"),
        ("alerts.expires", "40000D", "above a hundred years"),
        ("labels.delay", "-1D", "must not be negative"),
        ("retention.days", 3, "look back 37 days"),
        ("limits.rate", -5, "limits.rate is from 0"),
        ("transaction.time_zone", "UTC", "cannot be changed here"),
        ("alerts.budget", None, "needs a value"),
    ],
)
def test_a_value_is_checked_as_in_desk_toml_and_nothing_is_stored(
    sqlite_desk, name, value, sentence
):
    before = sqlite_desk.control.audit.last
    with pytest.raises(SettingError, match=sentence) as caught:
        sqlite_desk.control.settings.change(name, value, "ada")
    assert caught.value.name == name
    assert "desk.toml" not in str(caught.value)
    assert sqlite_desk.control.audit.last == before


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("alerts.budget", " 40 ", 40),
        ("alerts.random_share", "5 %", 0.05),
        ("alerts.random_share", "2,5%", 0.025),
        ("alerts.random_share", "0.1", 0.1),
        ("alerts.second_person", "Yes", True),
        ("alerts.lease", "30min", "30min"),
    ],
)
def test_values_are_read_as_people_type_them(name, text, value):
    assert read_setting(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("alerts.budget", "4.5"), ("alerts.second_person", "perhaps"), ("alerts.random_share", "x")],
)
def test_what_is_not_a_value_is_said(name, text):
    with pytest.raises(SettingError, match=name):
        read_setting(name, text)


def test_it_takes_two_to_end_that_it_takes_two_and_to_delete_earlier(desk):
    control = desk.of(TWO_PEOPLE)
    for name, value in (("alerts.second_person", False), ("retention.days", 60)):
        row = control.settings.change(name, value, "ada")
        assert (row.value, row.waiting.asked_by) == (setting_of(TWO_PEOPLE, name), "ada")
        with pytest.raises(ControlConflict, match="another person"):
            control.requests.approve(row.waiting.id, "ada", "setting")
        assert control.settings.change(name, value, "bob").waiting == row.waiting
        control.requests.reject(row.waiting.id, "bob", "setting")
        assert control.settings.get(name).waiting is None
    row = control.settings.change("retention.days", 60, "ada")
    with pytest.raises(ControlConflict, match="approve or reject it first"):
        control.settings.change("retention.days", 90, "bob")
    control.requests.approve(row.waiting.id, "bob", "setting")
    found = control.settings.get("retention.days")
    assert (found.value, found.change.person) == (60, "ada")
    last = control.audit.newest(limit=1)[0]
    assert last.detail["approved_by"] == "bob"
    # Any other is changed by one.
    assert control.settings.change("alerts.budget", 5, "ada").value == 5


def test_features_are_what_they_were_and_never_see_what_was_deleted(sqlite_desk):
    settings, before = sqlite_desk.control.settings, SCHEMA.features
    settings.change("labels.delay", "10D", "ada")
    assert settings.schema().features == before
    settings.change("retention.days", 400, "ada")
    assert settings.schema().features == before
    settings.change("retention.days", 60, "ada")
    short = settings.schema().features
    assert short.memory_length == before.memory_length - 120 * 86_400 * 10**9
    settings.reset("retention.days", "ada")
    assert settings.schema().retention.days == SCHEMA.retention.days
    assert settings.schema().features == short, "what was deleted does not come back"


def test_a_change_that_does_not_fit_desk_toml_any_more_is_left_out_with_a_note(sqlite_desk):
    sqlite_desk.control.settings.change("retention.days", 60, "ada")
    longer = SCHEMA.to_text().replace(
        'column = "card"', 'column = "card"\nwindows = ["1h", "90D"]', 1
    )
    found = sqlite_desk.of(Schema.from_text(longer)).in_force()
    assert found.schema.retention.days == 180
    assert "retention.days was changed to 60 by ada" in found.notes[-1]
