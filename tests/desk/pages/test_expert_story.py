"""An expert sees a new pattern at ten and has a rule live at eleven, in a real browser."""

from desk.pages.test_in_browser import browser  # noqa: F401
from desk.pages.test_write_rules import follow
from desk_pages import PASSWORD, PagesDesk
from desk_served import served


def test_an_expert_tries_a_rule_saves_it_and_takes_it_live_by_keyboard(browser, tmp_path):  # noqa: F811
    web = PagesDesk(tmp_path)
    for card, amount in (("c1", 10), ("c2", 700), ("c3", 900)):
        web.pay(card, amount)
    with web.database.write() as writer:
        web.door.labels.add(writer, ["p2"], "fraud", "verdict")
    follow(web)
    with served(web.app) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"{url}/desk/rules")
        page.locator("#field-name").focus()
        page.keyboard.type("expert")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/desk/rules")
        page.locator("text=New rule").focus()
        page.keyboard.press("Enter")
        page.locator("#field-name").focus()
        page.keyboard.type("large ones")
        page.keyboard.press("Tab")
        page.keyboard.type("amuont > 500")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # tries
        assert page.locator("mark.wrong").inner_text() == "amuont"
        page.locator("#field-text").fill("amount > 500")
        page.locator("#try-rule").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#trial")
        assert "c3" in page.locator("#trial").inner_text()
        assert page.evaluate("document.activeElement.id") == "try-rule"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # saves
        page.wait_for_url(f"{url}/desk/rules/edit?name=large+ones&said=saved")
        page.locator("button[value=scoring]").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**said=rule_step")
        assert web.door.control.rules.get("large ones").role == "scoring"
        assert [told for told in told if "422" not in told] == []
        page.close()
    web.close()
