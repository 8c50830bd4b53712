"""Models are looked at side by side, promoted, rolled back and retired."""

import re

import pytest
from desk_pages import text_of
from desk_web import NOON
from desk_worker import make_models, pay_and_compare

from rarefind.desk.control import load_in_force


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two models: one goes by the amount, the other by the opposite of it."""
    return make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def models(web, files):
    found = [
        web.door.control.models.add(files / file, "ann", name)
        for file, name in (("one", "by amount"), ("two", "by small <b>amount</b>"))
    ]
    web.door.control.models.promote(found[0].digest, "ann")
    return found


def test_an_empty_desk_says_how_to_bring_a_model(web):
    said = text_of(web.visit("/desk/models", "scientist"))
    assert "There is no model yet" in said
    assert "rarefind desk model add" in said


def test_models_stand_side_by_side_with_what_they_would_have_found(web, models):
    assert "Nothing is compared yet" in text_of(web.visit("/desk/models", "scientist"))
    pay_and_compare(web)
    page = web.visit("/desk/models", "auditor")
    said = text_of(page)
    assert "8 transactions that all of these models have scored, 1 of them fraud" in said
    assert "1 of 3" in said  # three checks a day, and one hit
    assert "2,200.00" in said
    assert "by small &lt;b&gt;amount&lt;/b&gt;" in page.text
    assert "<b>amount</b>" not in page.text
    detail = web.visit(f"/desk/models/{models[1].digest}", "auditor")
    said = text_of(detail)
    assert "Where they disagree" in said
    assert "old7" in said
    assert "No. 1" in said
    assert "Calibration of by amount" in said
    assert "300 rows" in said
    assert "Let this model decide" not in said  # an auditor changes nothing


def test_who_is_erased_is_not_among_the_disagreements(web, models):
    pay_and_compare(web)
    web.writer.erase(0, "c7", by="ann", now=NOON)
    said = text_of(web.visit(f"/desk/models/{models[1].digest}", "scientist"))
    assert "old7" not in said
    assert "old2" in said  # of equal scores the first are listed


def test_a_model_is_promoted_rolled_back_and_retired_by_who_may(web, models):
    one, two = models
    path = f"/desk/models/{two.digest}"
    assert web.submit(f"{path}/promote", "investigator", threshold="").status_code == 403
    wrong = web.submit(f"{path}/promote", "scientist", threshold="often")
    assert wrong.status_code == 422
    assert "Give a number from 0 to 1" in text_of(wrong)
    assert 'value="often"' in wrong.text
    assert web.submit(f"{path}/promote", "scientist", threshold="2").status_code == 422
    done = web.submit(f"{path}/promote", "scientist", threshold="0,25")
    assert done.headers["location"] == "/desk/models?said=promoted"
    champion = web.door.control.models.champion()
    assert (champion.digest, champion.threshold) == (two.digest, 0.25)
    said = text_of(web.visit("/desk/models", "scientist"))
    assert "scientist let it decide from probability 0.2500 on" in said
    # Who has an old page before them does not undo what another has done since.
    stale = web.submit("/desk/models/roll-back", "scientist", model=two.digest)
    assert stale.headers["location"] == "/desk/models?said=models_changed"
    assert web.door.control.models.champion().digest == two.digest
    web.submit("/desk/models/roll-back", "scientist", model=one.digest)
    assert web.door.control.models.champion().digest == one.digest
    assert web.submit(f"{path}/retire", "admin").status_code == 303
    assert web.door.control.models.get(two.digest).state == "retired"
    rows = web.door.control.audit.of_actions(["promote model", "retire model"])
    assert [row.person for row in rows] == ["admin", "scientist", "scientist", "ann"]


def test_a_model_that_is_not_there_is_a_page(web):
    assert web.visit("/desk/models/abcdefabcdef", "scientist").status_code == 404


def test_a_case_keeps_what_was_said_and_shows_what_the_champion_of_today_says(web, models):
    two, door = models[1], web.door
    in_force = load_in_force(web.database, web.schema, door.models)
    web.decider.model = in_force.model
    web.pay("c1", 2_400)
    case = web.case_of("c1")
    (line,) = door.cases.lines([door.cases.get(case)])
    door.cases.set_reasons([(line.best.sequence, 0.97, "an amount of 2,400.00")])
    page = text_of(web.visit(f"/desk/cases/{case}"))
    assert "The model of that day is the one that decides today." in page
    assert "97.0%" in page
    then = said_today(web, case)
    door.control.models.promote(two.digest, "ann")
    page = web.visit(f"/desk/cases/{case}")
    assert f'hx-get="/desk/cases/{case}/today"' in page.text
    assert "97.0%" in text_of(page)
    assert "an amount of 2,400.00" in text_of(page)
    # One goes by large amounts, the other by small ones.
    assert then > 0.5 > said_today(web, case)


def said_today(web, case):
    said = text_of(web.visit(f"/desk/cases/{case}/today"))
    return float(re.search(r"([\d.]+)%", said)[1]) / 100
