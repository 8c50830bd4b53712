"""The page of settings: changed, refused at the field, reset, and approved by a second person."""

import re

from desk_pages import text_of

from rarefind.desk.settings import CHANGEABLE


def change(web, name, value, who="admin"):
    return web.submit(f"/desk/settings/change/{name}", who, value=value)


def test_the_settings_are_shown_as_people_read_them(web):
    text = text_of(web.visit("/desk/settings", "admin"))
    for shown in ("3", "30 days", "180 days", "transaction.time_zone UTC"):
        assert shown in text, shown
    assert [name for name in CHANGEABLE if name not in text] == []


def test_a_change_counts_at_once_is_shown_beside_desk_toml_and_is_reset(web):
    for number in range(5):
        web.pay(f"c{number}")
    assert len(web.door.queue.today().cases) == 3
    assert change(web, "alerts.budget", "4").status_code == 303
    assert len(web.door.queue.today().cases) == 4
    page = web.visit("/desk/settings?said=setting_changed", "admin")
    text = text_of(page)
    assert "within a second the desk goes by it" in text
    assert "desk.toml: 3" in text
    assert "Back to 3" in text
    last = web.door.control.audit.newest(limit=1)[0]
    assert (last.person, last.action, last.subject) == ("admin", "change setting", "alerts.budget")
    assert last.detail == {"was": 3, "is": 4}
    assert web.submit("/desk/settings/reset/alerts.budget", "admin").status_code == 303
    assert len(web.door.queue.today().cases) == 3
    assert "Back to 3" not in text_of(web.visit("/desk/settings", "admin"))


def test_what_cannot_be_is_said_at_its_field_and_what_was_typed_stays(web):
    for name, value in (("alerts.random_share", "100"), ("alerts.lease", "soon")):
        answer = change(web, name, value)
        assert answer.status_code == 422
        key = name.replace(".", "_")
        assert f'id="field-setting-{key}-error"' in answer.text
        assert re.search(rf'id="field-setting-{key}" name="value" value="{value}"', answer.text)
        assert answer.text.count('role="alert"') == 1
    assert change(web, "transaction.time_zone", "UTC").status_code == 422


def test_per_cent_and_choices_are_read_as_they_are_shown(web):
    change(web, "alerts.random_share", "2.5")
    change(web, "alerts.per", "week")
    assert (web.door.schema.alerts.random_share, web.door.schema.alerts.per) == (0.025, "week")


def test_a_second_person_ends_that_it_takes_two(web):
    change(web, "alerts.second_person", "true")
    answer = change(web, "alerts.second_person", "false")
    assert answer.headers["location"].endswith("said=change_asked")
    assert web.door.schema.alerts.second_person
    (waiting,) = web.door.control.requests.waiting("setting")
    path = f"/desk/changes/settings/{waiting.id}"
    own = web.submit(f"{path}/approve", "admin")
    assert own.headers["location"].endswith("said=change_refused")
    assert "Take it back" in text_of(web.visit("/desk/settings", "admin"))
    web.add_user("eve", "admin")
    assert "Approve" in text_of(web.visit("/desk/settings", "eve"))
    answer = web.submit(f"{path}/approve", "eve")
    assert answer.headers["location"].endswith("said=change_approved")
    assert not web.door.schema.alerts.second_person
