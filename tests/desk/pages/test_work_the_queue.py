"""An investigator at the queue: what there is, what others have, and why there is nothing."""

import re

import pytest
from desk_pages import NOON, PagesDesk, text_of
from desk_web import SCHEMA

from rarefind.desk import Schema
from rarefind.desk.explained import Because, write_parts

HOUR = 3_600 * 10**9


def cards(answer):
    """The entities of the list, from top to bottom."""
    return re.findall(r"<bdi>([^<]*)</bdi></a>", answer.text)


def explain(web, card, probability, *parts):
    (line,) = web.door.cases.lines([web.door.cases.get(web.case_of(card))])
    why = {line.best.sequence: write_parts(parts)} if parts else None
    web.door.cases.set_reasons([(line.best.sequence, probability, "Why.")], why)


def test_the_queue_shows_budget_expectation_and_cases_in_order(web):
    web.pay("c1", 1_500, country="FR")
    web.pay("c2", 2_000)
    explain(web, "c1", 0.5, Because("amount_to_card_mean", "…", 0.8, 4.39999))
    explain(web, "c2", 0.25, Because("card_count_1h", "…", 0.9, 3.0))
    page = web.visit("/desk/queue")
    told = text_of(page)
    assert page.status_code == 200
    assert "Checks today 0 / 3" in told
    assert "Expected hits 0.8 0 to 2" in told
    assert "Expected money 1,250.00 0.00 to 3,500.00" in told
    assert "4.4 × the card's usual amount" in told
    assert "3 payments of the card in the last hour" in told
    assert cards(page) == ["c1", "c2"]
    assert "No case with a probability is decided yet" in told


def test_what_was_expected_of_decided_cases_is_told(web):
    for number in range(2):
        web.pay(f"c{number}")
        explain(web, f"c{number}", 0.99)
        web.submit(f"/desk/cases/{web.case_of(f'c{number}')}/verdict", verdict="genuine")
    web.pay("c9")
    explain(web, "c9", 0.9)
    told = text_of(web.visit("/desk/queue"))
    assert "Of the last 2 decided cases 2.0 were expected to be fraud (2 to 2), and 0 were." in told
    assert "promised too much" in told


def test_next_takes_the_best_case_and_shows_it(web):
    web.pay("c1")
    done = web.submit("/desk/queue/next")
    case = web.case_of("c1")
    assert (done.status_code, done.headers["location"]) == (303, f"/desk/cases/{case}")
    assert web.door.cases.get(case).holder == "investigator"


def test_a_case_that_somebody_has_taken_says_so_in_the_list_and_on_its_page(web):
    web.pay("c1")
    case = web.case_of("c1")
    web.submit(f"/desk/cases/{case}/take", "expert")
    told = text_of(web.visit("/desk/queue"))
    assert "expert has it until 12:30" in told
    page = web.visit(f"/desk/cases/{case}")
    assert "expert is working on this case, until 12:30 at the latest." in text_of(page)
    assert 'name="verdict"' not in page.text
    refused = web.submit(f"/desk/cases/{case}/take")
    assert refused.status_code == 409
    assert "expert is working on this case" in text_of(refused)
    refused = web.submit(f"/desk/cases/{case}/verdict", verdict="fraud", note="I saw it")
    assert refused.status_code == 409
    assert web.door.lists.verdicts(case) == []
    assert "I saw it" in refused.text


def test_tabs_show_own_cases_those_of_others_and_those_put_aside(web):
    for card in ("c1", "c2", "c3"):
        web.pay(card)
    web.submit(f"/desk/cases/{web.case_of('c1')}/take")
    web.submit(f"/desk/cases/{web.case_of('c2')}/take", "expert")
    web.submit(f"/desk/cases/{web.case_of('c3')}/snooze", length="4h", back="queue")
    assert cards(web.visit("/desk/queue?show=mine")) == ["c1"]
    assert cards(web.visit("/desk/queue?show=others")) == ["c2"]
    put_aside = web.visit("/desk/queue?show=snoozed")
    assert cards(put_aside) == ["c3"]
    assert "Put aside until 31 Jan 2026, 16:00" in text_of(put_aside)
    assert cards(web.visit("/desk/queue?show=all")) == ["c1", "c2"]
    web.clock.advance("4h")
    assert "c3" in cards(web.visit("/desk/queue"))


def test_filters_narrow_the_list_down(web):
    web.pay("c1", 1_000)
    web.pay("c2", 3_000)
    assert cards(web.visit("/desk/queue?amount=2000")) == ["c2"]
    assert cards(web.visit("/desk/queue?amount=2%20000,50")) == ["c2"]
    assert cards(web.visit("/desk/queue?rule=large")) == ["c1", "c2"]
    assert cards(web.visit("/desk/queue?rule=lar")) == []
    assert cards(web.visit("/desk/queue?kind=random")) == []
    assert cards(web.visit("/desk/queue?show=all&amount=2000")) == ["c2"]
    # What cannot be read is left out.
    assert cards(web.visit("/desk/queue?amount=nan&after=x,y&show=x&kind=x")) == ["c1", "c2"]


@pytest.mark.parametrize("show", ["today", "all"])
def test_a_long_list_comes_in_pages_that_leave_nothing_out(tmp_path, show):
    schema = Schema.from_text(SCHEMA.to_text().replace("budget = 3", "budget = 500"))
    web = PagesDesk(tmp_path, schema=schema)
    try:
        for number in range(120):
            web.pay(f"c{number}", 1_000 + number % 3)
        seen, path = [], f"/desk/queue?show={show}"
        while path:
            page = web.visit(path)
            assert len(cards(page)) <= 50
            seen += cards(page)
            found = re.search(r'rel="next" href="([^"]*)"', page.text)
            path = found and found[1].replace("&amp;", "&")
        assert sorted(seen) == sorted(f"c{number}" for number in range(120))
    finally:
        web.close()


def test_an_empty_queue_says_why(web):
    def why():
        return text_of(web.visit("/desk/queue"))

    assert "No transaction has arrived yet." in why()
    web.pay("c0", 10)
    assert "Nothing to check: no alert waits." in why()
    web.pay("c1")
    assert "No case is like that." in text_of(web.visit("/desk/queue?amount=9000"))
    web.door.cases.snooze(web.case_of("c1"), "bob", NOON + HOUR)
    assert "1 case is put aside, and there is no other." in why()
    for number in range(2, 6):
        web.pay(f"c{number}")
    for number in range(2, 5):
        web.submit(f"/desk/cases/{web.case_of(f'c{number}')}/verdict", verdict="genuine")
    assert "The budget is spent: well done. 1 more case waits" in why()


def test_a_worker_that_is_behind_is_why_the_queue_is_empty(web, monkeypatch):
    web.pay("c0", 10)
    monkeypatch.setattr(type(web.door.cases), "read_up_to", -5_000)
    assert "The worker has yet to read 5,001 transactions." in text_of(web.visit("/desk/queue"))


def test_a_random_check_is_marked_as_one(tmp_path):
    schema = Schema.from_text(SCHEMA.to_text().replace("random_share = 0.0", "random_share = 0.99"))
    web = PagesDesk(tmp_path, schema=schema)
    try:
        for number in range(40):
            web.pay(f"c{number}", 10)
        told = text_of(web.visit("/desk/queue?kind=random"))
        assert "random check" in told
        assert "drawn at random" in told
    finally:
        web.close()


def test_the_list_renews_itself_without_a_script_of_its_own(web):
    web.pay("c1")
    page = web.visit("/desk/queue").text
    assert 'id="live"' in page
    assert 'hx-trigger="every 4s"' in page
    assert 'hx-select="#live"' in page


def test_who_only_reads_sees_the_queue_without_buttons(web):
    web.pay("c1")
    page = web.visit("/desk/queue", "auditor")
    assert cards(page) == ["c1"]
    assert "/take" not in page.text
    assert web.submit("/desk/queue/next", "auditor").status_code == 403


def test_names_of_cards_are_shown_as_they_are(web):
    names = ["<script>alert(1)</script>", "{{7*7}}", "א" * 40, "n" * 200]
    for name in names:
        web.pay(name)
    page = web.visit("/desk/queue?show=all").text
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{7*7}}" in page
    assert "n" * 200 in page


def test_the_queue_in_french(web):
    web.pay("c1", 1_500)
    explain(web, "c1", 0.5, Because("amount_to_card_mean", "…", 0.8, 4.39999))
    page = web.visit("/desk/queue", headers={"accept-language": "fr"})
    told = text_of(page)
    assert "Contrôles du jour" in told
    assert "4,4 × le montant habituel (card)" in told
