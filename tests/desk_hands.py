"""Somebody who works at a desk in a real browser, by mouse or by keyboard alone."""

import re

from desk_pages import PASSWORD

#: Milliseconds that anything may take on a machine that has much else to do.
PATIENCE = 60_000
#: Nothing on a page is further away than so many presses of Tab.
_FARTHEST = 300


class Mouse:
    """Points at things and clicks; ``heard`` is what the browser has complained about."""

    def __init__(self, browser, url, **options):
        self.url, self.heard = url, []
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.heard.append(message.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))

    def sign_in(self, name, path):
        """Open a page, be asked who it is, and be shown it then."""
        self.page.goto(self.url + path)
        self.write("Name", name)
        self.write("Password", PASSWORD)
        self.do("button", "Sign in")
        self.page.wait_for_url(self.url + path)

    def sign_out(self):
        self.do("button", "Sign out")
        self.page.wait_for_url("**/desk/sign-in?said=signed_out")
        # A form that was refused, and says why on the page, is a complaint to the browser.
        assert [each for each in self.heard if "422" not in each] == []
        self.context.close()

    def do(self, role, name):
        """Press a button, or follow a link."""
        self.press(self.page.get_by_role(role, name=name, exact=True).first)

    def write(self, label, text):
        """Write a text into a field, in the place of what is there."""
        field = self.page.get_by_label(label, exact=True).first
        self.reach(field)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def see(self, *texts):
        """Wait until the page says something."""
        for text in texts:
            self.page.locator("main", has_text=text).wait_for()

    def see_page(self, title):
        """Wait for a page with a heading."""
        heading = re.compile(rf"^\s*{re.escape(title)}")
        self.page.locator("h1", has_text=heading).wait_for()

    def reach(self, target):
        target.click()

    def press(self, target):
        target.click()


class Keyboard(Mouse):
    """Has no mouse: reaches things by Tab, and uses them by Enter."""

    def reach(self, target):
        wanted = target.element_handle()
        for _ in range(_FARTHEST):
            if self.page.evaluate("wanted => document.activeElement === wanted", wanted):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} cannot be reached by the keyboard")

    def press(self, target):
        self.reach(target)
        self.page.keyboard.press("Enter")


HANDS = (Mouse, Keyboard)
