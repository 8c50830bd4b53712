"""An investigator in a case: what is shown, a verdict, notes, a block, and the next case."""

import re

import pytest
from desk_pages import PagesDesk, text_of
from desk_web import SCHEMA

from rarefind.desk import Schema
from rarefind.desk.explained import Because, write_parts


@pytest.fixture
def two_people(tmp_path):
    schema = Schema.from_text(
        SCHEMA.to_text().replace("budget = 3", "budget = 3\nsecond_person = true")
    )
    desk = PagesDesk(tmp_path, schema=schema)
    yield desk
    desk.close()


def open_case(web, card="c1", amount=1_500, **more):
    web.pay(card, amount, **more)
    return web.case_of(card)


def explain(web, case, probability, *parts):
    (line,) = web.door.cases.lines([web.door.cases.get(case)])
    web.door.cases.set_reasons(
        [(line.best.sequence, probability, "Why.")], {line.best.sequence: write_parts(parts)}
    )


def test_a_case_tells_why_it_is_there(web):
    for day in range(1, 5):
        web.pay("c1", 20 + day, time=f"2026-01-2{day}T12:00:00Z")
    case = open_case(web, country="FR")
    explain(
        web,
        case,
        0.62,
        Because("amount_to_card_mean", "…", 0.7, 66.6),
        Because("country", "…", 0.2, "FR", lowers=True),
    )
    page = web.visit(f"/desk/cases/{case}")
    told = text_of(page)
    assert page.status_code == 200
    assert "It stands out: 67 × the card's usual amount." in told
    assert "lowers 20%" in told
    assert "Rules that fired large" in told
    assert "62.0% by the model of that day" in told
    assert page.text.count('class="chart-dot') == 5
    assert page.text.count('class="chart-dot this"') == 1
    assert " style=" not in page.text


def test_a_verdict_brings_the_next_case(web):
    first, second = open_case(web, "c1", 3_000), open_case(web, "c2")
    web.submit(f"/desk/cases/{first}/take")
    done = web.submit(f"/desk/cases/{first}/verdict", verdict="fraud", note=" seen ")
    assert done.status_code == 303
    assert done.headers["location"] == (f"/desk/cases/{second}?decided={first}&said=decided")
    assert web.door.lists.verdicts(first)[0][1:3] == ("fraud", "investigator")
    assert web.door.lists.verdicts(first)[0].note == "seen"
    assert web.door.cases.get(second).holder == "investigator"
    told = text_of(web.visit(done.headers["location"]))
    assert "The verdict is stored." in told
    assert f"Case {first} is decided. Open it again to correct the verdict." in told
    done = web.submit(f"/desk/cases/{second}/verdict", verdict="unclear")
    assert done.headers["location"].startswith("/desk/queue?")


def test_a_verdict_can_be_corrected_and_the_first_one_stays(web):
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/verdict", verdict="genuine")
    done = web.submit(f"/desk/cases/{case}/verdict", verdict="fraud", note="he called")
    assert done.headers["location"] == f"/desk/cases/{case}?said=corrected"
    assert [each.verdict for each in web.door.lists.verdicts(case)] == ["genuine", "fraud"]
    told = text_of(web.visit(f"/desk/cases/{case}"))
    assert "This case is decided: Fraud" in told
    assert "he called" in told


def test_what_is_not_a_verdict_changes_nothing(web):
    case = open_case(web)
    assert web.submit(f"/desk/cases/{case}/verdict", verdict="maybe").status_code == 422
    assert web.submit("/desk/cases/999/verdict", verdict="fraud").status_code == 404
    assert web.visit("/desk/cases/999").status_code == 404
    assert web.visit("/desk/cases/x").status_code == 422
    assert web.door.lists.verdicts(case) == []


def test_notes_are_shown_with_who_and_when_whoever_holds_the_case(web):
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/take", "expert")
    done = web.submit(f"/desk/cases/{case}/note", note="<b>ask</b> him")
    assert done.status_code == 303
    page = web.visit(f"/desk/cases/{case}")
    assert "investigator 31 Jan 2026, 12:00 <b>ask</b> him" in text_of(page)
    assert "<b>ask" not in page.text
    empty = web.submit(f"/desk/cases/{case}/note", note="  ")
    assert empty.status_code == 422
    assert "The note is empty" in text_of(empty)
    long = web.submit(f"/desk/cases/{case}/note", note="x" * 10_001)
    assert long.status_code == 422
    assert "more than 10,000 characters" in text_of(long)


def test_a_case_is_put_aside_and_given_back(web):
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/take")
    assert "You have this case until 12:30." in text_of(web.visit(f"/desk/cases/{case}"))
    done = web.submit(f"/desk/cases/{case}/release")
    assert done.headers["location"] == "/desk/queue?said=released"
    assert web.submit(f"/desk/cases/{case}/release").status_code == 409
    web.submit(f"/desk/cases/{case}/snooze", length="3D")
    assert web.door.cases.get(case).state == "snoozed"
    assert web.door.cases.get(case).until == web.clock.now() + 3 * 86_400 * 10**9


def test_a_fraud_blocks_the_card_at_once_where_one_person_is_enough(web):
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/verdict", verdict="fraud", block="yes")
    assert web.door.control.blocks.current("c1").state == "in force"
    told = text_of(web.visit(f"/desk/cases/{case}"))
    assert "Blocked by investigator" in told
    assert web.submit(f"/desk/cases/{case}/block/lift").status_code == 403
    web.submit(f"/desk/cases/{case}/block/lift", "expert")
    assert web.door.control.blocks.current("c1") is None


def test_a_genuine_case_blocks_nobody(web):
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/verdict", verdict="genuine", block="yes")
    assert web.door.control.blocks.current("c1") is None


def test_a_block_waits_for_a_second_person_where_the_desk_wants_one(two_people):
    web = two_people
    case = open_case(web)
    web.submit(f"/desk/cases/{case}/block", "expert")
    assert web.door.control.blocks.current("c1").state == "waiting"
    own = web.visit(f"/desk/cases/{case}", "expert")
    assert "Another person, who may confirm, has to approve it." in text_of(own)
    assert web.submit(f"/desk/cases/{case}/block/approve", "expert").status_code == 409
    assert "Approve the block" in text_of(web.visit(f"/desk/cases/{case}", "admin"))
    assert web.submit(f"/desk/cases/{case}/block/nonsense", "admin").status_code == 409
    web.submit(f"/desk/cases/{case}/block/approve", "admin")
    assert web.door.control.blocks.current("c1").state == "in force"


def test_similar_confirmed_frauds_say_what_they_have_in_common(web):
    for number in range(4):
        other = open_case(web, f"f{number}", 2_000 + number)
        web.submit(f"/desk/cases/{other}/verdict", verdict="fraud")
    case = open_case(web, "c1", 2_000)
    explain(web, case, 0.9, Because("amount", "…", 1.0, 2_000.0))
    told = text_of(web.visit(f"/desk/cases/{case}"))
    assert re.search(r"Similar confirmed frauds Case \d", told)
    assert "Both: an amount of 2,000.00" in told


def test_earlier_cases_of_the_card_are_listed(web):
    first = open_case(web)
    web.submit(f"/desk/cases/{first}/verdict", verdict="genuine", note="on holiday")
    second = open_case(web)
    told = text_of(web.visit(f"/desk/cases/{second}"))
    assert f"Earlier cases Case {first} Genuine" in told
    assert "on holiday" in told


def test_without_a_model_today_says_so(web):
    case = open_case(web)
    told = text_of(web.visit(f"/desk/cases/{case}/today"))
    assert "There is no model today." in told


def test_an_erased_case_can_still_be_opened(web):
    case = open_case(web, "somebody")
    web.submit(f"/desk/cases/{case}/note", note="Mr Somebody has called")
    web.writer.erase(0, "somebody", by="ann", now=web.clock.now())
    from rarefind.desk.alerts import erase_entity

    erase_entity(web.database, "somebody", "erased 1")
    page = web.visit(f"/desk/cases/{case}")
    assert page.status_code == 200
    assert "omebody" not in page.text


def test_every_text_of_strangers_is_escaped(web):
    bad = "<script>alert(1)</script>{{7*7}}"
    case = open_case(web, bad, country=bad)
    explain(web, case, 0.5, Because("country", bad, 0.7, bad), Because("other", bad, 0.2))
    web.submit(f"/desk/cases/{case}/note", note=bad)
    web.submit(f"/desk/cases/{case}/verdict", verdict="fraud", note=bad)
    for path in (f"/desk/cases/{case}", "/desk/queue?show=all", f"/desk/queue?rule={bad}"):
        page = web.visit(path).text
        assert "<script>alert(1)" not in page
        assert "alert(1)49" not in page


def test_keys_have_buttons_and_forms_need_no_script(web):
    case = open_case(web)
    page = web.visit(f"/desk/cases/{case}").text
    for key in "fgus":
        assert f'data-key="{key}"' in page
    # Whatever needs a script is hidden until one shows it.
    assert all("hidden" in each for each in re.findall(r"<button type=\"button\"[^>]*>", page))
