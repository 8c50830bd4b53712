"""Signing in, in a real browser: by keyboard, without errors, and fitting a phone."""

from desk_pages import PASSWORD, PagesDesk
from desk_served import served

from rarefind.desk.pages.menu import menu_of

LONG = "W" * 40 + " " + "محمد عبد الله " * 4


def test_an_admin_signs_in_by_keyboard_and_every_page_fits_a_phone(browser, tmp_path):
    web = PagesDesk(tmp_path)
    name = LONG.strip()
    web.add_user(name, "admin")
    web.door.tokens.make(name, "ingest", 1)
    with served(web.app) as url:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"{url}/desk/users")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
        page.locator("#field-name").focus()
        page.keyboard.type(name)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{url}/desk/users")
        for path in [*(item.path for item in menu_of("admin")), "/desk/account"]:
            page.goto(url + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        page.click(".who button[name=theme]")
        page.locator("html[data-theme=dark]").wait_for(state="attached")
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        page.click("text=Sign out >> nth=0")
        page.wait_for_url(f"{url}/desk/sign-in?said=signed_out")
        assert told == []
        page.close()
    web.close()
