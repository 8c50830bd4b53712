"""An expert, a data scientist and an auditor at a desk in a real browser, each from sign-in to end.

Each story is lived twice, by mouse and by keyboard alone.
"""

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from desk_hands import HANDS
from desk_pages import NOON, PagesDesk
from desk_served import served
from desk_web import SCHEMA
from desk_worker import DAY, make_models, measure_rules, pay_and_compare

from rarefind.desk import Schema
from rarefind.desk.explained import Because, write_parts
from rarefind.desk.measures import RuleCounts, RuleMeasures

OCTOBER, MARCH = NOON - 109 * DAY, NOON + 30 * DAY  # 14 October 2025 and 2 March 2026
TWO_PEOPLE = Schema.from_text(
    SCHEMA.to_text().replace("budget = 3", "budget = 3\nsecond_person = true")
)
each_way = pytest.mark.parametrize("hands", HANDS, ids=lambda hands: hands.__name__.lower())


@pytest.fixture
def desk(tmp_path):
    """A desk on which a second person approves a block, a rule that denies, and a model."""
    web = PagesDesk(tmp_path, schema=TWO_PEOPLE)
    yield web
    web.close()


@contextmanager
def at_desk(hands, browser, web, name, path):
    """Somebody signs in, works and signs out."""
    with served(web.app) as url:
        someone = hands(browser, url)
        someone.sign_in(name, path)
        yield someone
        someone.sign_out()


def approve(hands, browser, someone, path):
    """A second person approves what waits, in a browser of their own."""
    admin = hands(browser, someone.url)
    admin.sign_in("admin", path)
    admin.do("button", "Approve")
    admin.see("Approved: within a second it is so.")
    admin.sign_out()


def ask_for_block(web, card):
    """An investigator finds a fraud, and asks to block the card."""
    case = web.case_of(card)
    web.door.cases.take(case, "investigator")
    web.door.cases.decide(case, "investigator", "fraud", "the customer was called")
    return web.door.control.blocks.ask(card, "investigator", f"case {case}")


@each_way
def test_an_expert_sees_a_pattern_and_has_a_rule_live(hands, browser, desk):
    for card, amount in (("c1", 10), ("c2", 700), ("c3", 900), ("c4", 1_500), ("c5", 1_600)):
        desk.pay(card, amount, country="FR")
    ask_for_block(desk, "c4")
    with desk.database.write() as writer:
        desk.door.labels.add(writer, ["p2"], "fraud", "claim")
    measure_rules(desk)
    learnt = RuleMeasures(RuleCounts(alerts=5, hits=3, false_alerts=1, added=2), 10, 999, 5, 1, 7)
    desk.door.proposals.store({"amount > 5 and country = 'FR'": learnt}, NOON)
    rules = desk.door.control.rules
    with at_desk(hands, browser, desk, "expert", "/desk/queue") as expert:
        # A case shows what its fraud looks like, and that somebody wants the card blocked.
        expert.press(expert.page.locator("tr[data-row] a[data-open]").first)
        expert.see("Why it is here", "country", "FR")
        expert.do("link", "Search")
        expert.see_page("Search")
        expert.write("Card, transaction or case", "c4")
        expert.do("button", "Search")
        expert.do("link", "Case 1")
        expert.see("investigator asked for a block")
        expert.do("button", "Approve the block")
        expert.see("Blocked by expert")
        # The rule is wrong at a word first; then it is tried, and saved.
        expert.do("link", "Rules")
        expert.do("link", "New rule")
        expert.see_page("New rule")
        expert.write("Name", "large ones")
        expert.write("Rule", "amuont > 500")
        expert.do("button", "Try")
        expert.page.locator("mark.wrong", has_text="amuont").wait_for()
        expert.see("did you mean 'amount'?")
        expert.write("Rule", "amount > 500")
        expert.do("button", "Try")
        expert.page.locator("#trial", has_text="c3").wait_for()
        expert.see("5 transactions from 31 Jan 2026", "of 2 frauds")
        expert.do("button", "Save")
        expert.see("Saved.")
        assert rules.get("large ones").role == "shadow"
        expert.do("button", "Scoring")
        expert.page.locator("[aria-current=step]", has_text="Scoring").wait_for()
        expert.write("Rule", "amount > 600")
        expert.do("button", "Save")
        expert.see("Saved.")
        # That it denies payments is not for one person alone.
        expert.do("button", "Blocking")
        expert.see("It waits for a second person now.")
        assert rules.get("large ones").role == "scoring"
        approve(hands, browser, expert, "/desk/rules")
        expert.do("link", "Rules")
        expert.see_page("Rules")
        expert.do("link", "large ones")
        expert.page.locator("[aria-current=step]", has_text="Blocking").wait_for()
        expert.do("link", "4 versions")
        expert.see_page("Versions of large ones")
        expert.see("Shadow → Scoring", "Scoring → Blocking")
        assert expert.page.locator("ins").inner_text() == "600"
        assert expert.page.locator("del").inner_text() == "500"
        # What the desk has learnt from confirmed frauds is taken on.
        expert.do("link", "Rules")
        expert.do("link", "Proposals")
        expert.see("Precision", "75.0%")
        expert.do("link", "Take it into the editor")
        expert.see_page("New rule")
        expert.write("Name", "learnt")
        expert.do("button", "Save")
        expert.see("Saved.")
    assert (rules.get("large ones").role, rules.get("large ones").text) == (
        "blocking",
        "amount > 600",
    )
    assert rules.get("learnt").text == "amount > 5 and country = 'FR'"
    assert desk.door.control.blocks.current("c4").answered_by == "expert"


@each_way
def test_a_scientist_compares_models_promotes_one_and_rolls_back(hands, browser, desk, tmp_path):
    files, models = make_models(tmp_path), desk.door.control.models
    one, two = (
        models.add(files / file, "ann", name)
        for file, name in (("one", "by amount"), ("two", "by small amount"))
    )
    models.promote(one.digest, "ann")
    desk.door.control.requests.approve(1, "admin", "model")
    pay_and_compare(desk)
    with at_desk(hands, browser, desk, "scientist", "/desk/models") as scientist:
        scientist.see("8 transactions that all of these models have scored", "1 of 3")
        scientist.do("link", "by small amount")
        scientist.see_page("by small amount")
        scientist.see("Calibration of by amount", "300 rows", "Where they disagree", "old7")
        scientist.press(scientist.page.get_by_role("link", name="Case").first)
        scientist.see("Why it is here")
        scientist.page.go_back()
        scientist.see_page("by small amount")
        scientist.write("Alerts from this probability on", "often")
        scientist.do("button", "Let this model decide")
        scientist.see("Give a number from 0 to 1")
        assert models.champion().digest == one.digest
        scientist.write("Alerts from this probability on", "0.25")
        scientist.do("button", "Let this model decide")
        scientist.see("It waits for a second person now.")
        assert models.champion().digest == one.digest
        approve(hands, browser, scientist, "/desk/models")
        scientist.do("link", "Models")
        scientist.see("Before it decided:")
        assert (models.champion().digest, models.champion().threshold) == (two.digest, 0.25)
        scientist.do("button", "Roll back to it")
        scientist.see("The former model decides again.")
        scientist.see("from probability 0.2500 on")
    assert models.champion().digest == one.digest
    assert [row.person for row in models.history()][:2] == ["scientist", "scientist"]


@each_way
def test_an_auditor_asks_in_march_why_a_card_was_blocked_in_october(hands, browser, desk):
    desk.clock.set(OCTOBER)
    desk.pay("4711", 3_000, time="2025-10-14T12:00:00Z", country="FR")
    parts = [Because("amount_to_card_mean", "…", 1.0, 4.39999)]
    desk.door.cases.set_reasons([(1, 0.87, "Why.")], {1: write_parts(parts)})
    block = ask_for_block(desk, "4711")
    desk.clock.advance("1h")
    desk.door.control.blocks.approve(block.id, "expert")
    noted = str(desk.door.control.audit.last)
    desk.clock.set(MARCH)
    with at_desk(hands, browser, desk, "auditor", "/desk/search") as auditor:
        auditor.write("Card, transaction or case", "4711")
        auditor.do("button", "Search")
        auditor.do("link", "4711")
        auditor.see_page("card 4711")
        auditor.see("Blocked", "investigator asked, 14 Oct 2025", "answered by expert")
        auditor.do("link", "Case 1")
        auditor.see("4.4 × the card's usual amount", "87.0%", "the customer was called")
        auditor.see("Blocked by expert, 14 Oct 2025")
        auditor.do("link", "4711")
        auditor.see_page("card 4711")
        with auditor.page.expect_download() as download:
            auditor.do("button", "Download")
        kept = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        auditor.do("link", "Block 1")
        auditor.see_page("Audit log")
        auditor.see("ask for block", "approve block")
        assert auditor.page.locator("tbody tr").count() == 2
        auditor.write("A last row that was written down", noted)
        auditor.do("button", "Verify the log")
        auditor.see("rows are as they were written", "export")
    assert kept["cases"][0]["verdicts"][0]["person"] == "investigator"
    assert [each["id"] for each in kept["transactions"]] == ["p1"]
    (asked,) = desk.door.control.audit.of_actions(["export"])
    assert (asked.person, asked.subject) == ("auditor", "card")
