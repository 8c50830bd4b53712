"""An investigator's morning in a real browser: from signing in to the end of the queue."""

import os
import re

import pytest
from desk_hands import PATIENCE
from desk_pages import PASSWORD, PagesDesk
from desk_served import served
from desk_web import SCHEMA

from rarefind.desk import Schema
from rarefind.desk.explained import Because, write_parts

#: Cases that two browsers share; RAREFIND_QUEUE=500 for the long way.
CASES = int(os.environ.get("RAREFIND_QUEUE", "24"))
LONG, RIGHT_TO_LEFT = "n" * 200, "بطاقة محمد " * 5


@pytest.fixture
def story(tmp_path, browser):
    """A desk with three alerts, and the page of a browser in which nobody has signed in."""
    web = PagesDesk(tmp_path)
    for card, amount in (("c1", 3_000), (LONG, 2_000), (RIGHT_TO_LEFT.strip(), 1_000)):
        web.pay(card, amount, country="FR")
        (line,) = web.door.cases.lines([web.door.cases.get(web.case_of(card))])
        parts = [
            Because("amount_to_card_mean", "…", 0.7, 4.39999),
            Because("country", "…", 0.3, "FR", lowers=True),
        ]
        why = {line.best.sequence: write_parts(parts)}
        web.door.cases.set_reasons([(line.best.sequence, amount / 5_000, "Why.")], why)
    with served(web.app) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.told = []
        page.on("console", lambda message: page.told.append(message.text))
        page.on("pageerror", lambda error: page.told.append(str(error)))
        page.goto(f"{url}/desk/queue")
        page.locator("#field-name").focus()
        page.keyboard.type("investigator")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/desk/queue")
        yield web, page
        assert page.told == []
        page.close()
    web.close()


def open_number(page):
    page.wait_for_url(re.compile(r"/desk/cases/\d+"))
    return int(re.search(r"/desk/cases/(\d+)", page.url)[1])


def verdicts(web):
    rows = web.database.read("SELECT case_id, verdict, person FROM verdicts ORDER BY id")
    return [tuple(row) for row in rows]


def test_by_mouse(story):
    web, page = story
    page.get_by_role("button", name="Next case").click()
    first = open_number(page)
    assert "4.4 × the card's usual amount" in page.locator("main").inner_text()
    page.get_by_label("and block: card").check()
    page.get_by_role("button", name="Fraud").click()
    page.wait_for_url(re.compile(f"decided={first}"))
    second = open_number(page)
    page.locator("#note").fill("he is on holiday")
    page.get_by_role("button", name="Genuine").click()
    page.wait_for_url(re.compile(f"decided={second}"))
    third = open_number(page)
    page.get_by_label("Put aside for").select_option("7D")
    page.get_by_role("button", name="Put aside").click()
    page.wait_for_url(re.compile("/desk/queue"))
    assert "1 case is put aside, and there is no other." in page.locator("main").inner_text()
    assert verdicts(web) == [
        (first, "fraud", "investigator"),
        (second, "genuine", "investigator"),
    ]
    assert web.door.control.blocks.current("c1").state == "in force"
    assert web.door.cases.get(third).state == "snoozed"


def test_by_keyboard_alone(story):
    web, page = story
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    for key in "jjk":
        page.keyboard.press(key)
    first = web.case_of("c1")
    assert page.evaluate("document.activeElement.id") == f"case-{first}"
    page.keyboard.press("Enter")
    assert open_number(page) == first
    page.keyboard.press("t")
    page.wait_for_selector("text=You have this case until")
    page.keyboard.press("f")
    page.wait_for_url(re.compile(f"decided={first}"))
    second = open_number(page)
    page.keyboard.press("u")
    page.wait_for_url(re.compile(f"decided={second}"))
    third = open_number(page)
    page.locator("#note").focus()
    page.keyboard.type("fgus")  # writing is not pressing keys
    assert page.locator("#note").input_value() == "fgus"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("s")
    page.wait_for_url(re.compile("/desk/queue"))
    assert [each[:2] for each in verdicts(web)] == [(first, "fraud"), (second, "unclear")]
    assert web.door.cases.get(third).state == "snoozed"


def test_what_others_take_is_seen_at_once_and_everything_fits_a_phone(story):
    web, page = story
    page.set_viewport_size({"width": 390, "height": 844})
    web.door.cases.take(web.case_of("c1"), "expert")
    page.wait_for_selector("text=expert has it")
    for case in (web.case_of("c1"), web.case_of(LONG), web.case_of(RIGHT_TO_LEFT.strip())):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, page.url
        page.goto(re.sub(r"/desk/.*", f"/desk/cases/{case}", page.url))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_browsers_work_one_queue_and_no_case_is_decided_twice_or_lost(tmp_path, browser):
    schema = Schema.from_text(SCHEMA.to_text().replace("budget = 3", f"budget = {CASES}"))
    web = PagesDesk(tmp_path, schema=schema)
    for number in range(CASES):
        web.pay(f"c{number}", 1_000 + number)
    opened = {case.id for case in web.door.cases.unclosed()}
    with served(web.app) as url:
        pages = []
        for name in ("investigator", "expert"):
            context = browser.new_context()
            context.set_default_timeout(PATIENCE)
            cookie, _, value = web.cookie(name).partition("=")
            context.add_cookies([{"name": cookie, "value": value, "url": url}])
            pages.append(context.new_page())
            pages[-1].goto(f"{url}/desk/queue")
        keys = dict(zip(pages, "fg", strict=True))
        before = {page: press(page, "n") for page in pages}
        while before:
            for page, address in before.items():
                page.wait_for_url(lambda now, then=address: now != then)
            working = [page for page in before if "/desk/cases/" in page.url]
            before = {page: press(page, keys[page]) for page in working}
        for page in pages:
            page.context.close()
    found = verdicts(web)
    assert sorted(case for case, *_ in found) == sorted(opened)
    assert {person for *_, person in found} == {"investigator", "expert"}
    web.close()


def press(page, key):
    """Press a key, without waiting for what comes of it; gives where the page was."""
    address = page.url
    page.keyboard.press(key)
    return address
