"""Photograph the pages of a desk for docs/desk/pages.md: `python docs/images/desk.py`.

The desk is that of `rarefind serve --demo`; each page is taken as somebody whose page it is, light
and dark, and put into docs/images/desk. It needs chromium, and some minutes.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).with_suffix("")
#: A page that is longer than the window is taken up to some height.
WIDTH, HEIGHT, TALLEST = 1280, 800, 1_350
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PASSWORD = "a desk for photographs"
PATIENCE = 120_000
_LINK = re.compile(r"^  (\w+) +(\w+) +(http\S+)$", re.MULTILINE)


@contextmanager
def demo() -> Iterator[dict[str, str]]:
    """Run the demo's desk; gives the links by which people of each role come in."""
    command = [
        sys.executable,
        "-m",
        "rarefind",
        "serve",
        "--demo",
        "--port",
        "0",
        "--web-port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = ""
        try:
            while "Ctrl-C" not in said:
                line = process.stdout.readline()
                if not line:
                    raise SystemExit(f"The desk has not started.\n{said}")
                said += line
            yield {role: address for role, _, address in _LINK.findall(said)}
        finally:
            process.terminate()


def menu(name: str) -> Callable[[Page], None]:
    """Open a page of the menu."""

    def open_page(page: Page) -> None:
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        page.locator("h1", has_text=name).wait_for()

    return open_page


def case(page: Page) -> None:
    """A case with a reason that nobody has yet."""
    menu("Queue")(page)
    page.get_by_role("button", name="Next case").click()
    page.get_by_text("What did you find?").wait_for()


def rule(page: Page) -> None:
    """A new rule that was tried."""
    menu("Rules")(page)
    page.get_by_role("link", name="New rule").click()
    page.get_by_label("Name").fill("large for the card")
    page.get_by_label("Rule", exact=True).fill("amount > 4 * card_mean_30D and amount > 150")
    page.get_by_role("button", name="Try").click()
    page.locator("#trial").wait_for()


def wrong_rule(page: Page) -> None:
    """A rule that is wrong at a column."""
    rule(page)
    page.get_by_label("Rule", exact=True).fill("amount > 4 * card_maen_30D and amount > 150")
    page.get_by_role("button", name="Try").click()
    page.locator("mark.wrong").wait_for()


def history(page: Page) -> None:
    """The versions of the rule that has most of them."""
    menu("Rules")(page)
    page.locator("tbody th a").first.click()
    page.get_by_role("link", name="version").click()
    page.locator("h1", has_text="Versions").wait_for()


def proposals(page: Page) -> None:
    """Rules that the desk proposes."""
    menu("Rules")(page)
    page.get_by_role("link", name="Proposals").click()
    page.locator("h1", has_text="Proposals").wait_for()


def model(page: Page) -> None:
    """A challenger beside the champion."""
    menu("Models")(page)
    page.locator("tr", has_text="Challenger").get_by_role("link").first.click()
    page.get_by_text("Where they disagree").wait_for()


def monitoring(page: Page) -> None:
    """Monitoring, once the desk has timed its first decisions and compared its features."""
    menu("Monitoring")(page)
    ends = time.monotonic() + PATIENCE / 1000
    while page.get_by_text("yet to come").or_(page.get_by_text("was timed yet")).count():
        if time.monotonic() > ends:
            raise SystemExit("The desk has nothing to show in monitoring yet.")
        page.wait_for_timeout(2_000)
        page.reload()


def entity(page: Page) -> None:
    """The card of the first case."""
    menu("Queue")(page)
    page.locator("tr[data-row] a[data-open]").first.click()
    page.locator("a.entity").click()
    page.get_by_role("button", name="Download").wait_for()


def search(page: Page) -> None:
    """What is found by the beginning of a card's number."""
    entity(page)
    key = page.locator("h1 bdi").inner_text()
    menu("Search")(page)
    page.get_by_label("Card, transaction or case").fill(key[:-1])
    page.get_by_role("button", name="Search").click()
    page.locator("tbody").first.wait_for()


def audit(page: Page) -> None:
    """What the expert has done."""
    menu("Audit log")(page)
    page.get_by_label("Who").select_option("emil")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**person=emil*")


def account(page: Page) -> None:
    """What somebody sets for themselves."""
    page.locator(".who a").click()
    page.get_by_text("Where you are signed in").wait_for()


#: By role and name of the picture: how to come to the page.
PICTURES: dict[str, dict[str, Callable[[Page], None]]] = {
    "investigator": {"queue": menu("Queue"), "case": case},
    "expert": {
        "rules": menu("Rules"),
        "rule": rule,
        "rule-wrong": wrong_rule,
        "rule-history": history,
        "rule-proposals": proposals,
    },
    "scientist": {"models": menu("Models"), "model": model, "monitoring": monitoring},
    "auditor": {"search": search, "entity": entity, "audit": audit},
    "admin": {
        "users": menu("Users"),
        "tokens": menu("API tokens"),
        "settings": menu("Settings"),
        "account": account,
    },
}


def take(page: Page, name: str, folder: Path = FOLDER) -> None:
    """Take a page, light and dark."""
    length = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": WIDTH, "height": min(max(length, HEIGHT), TALLEST)})
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        picture = Image.open(io.BytesIO(page.screenshot()))
        picture.convert("RGB").save(folder / f"{name}-{theme}.webp", quality=72, method=6)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def photograph(browser: Browser, links: dict[str, str], folder: Path = FOLDER) -> None:
    """Take all pages, as each role."""
    folder.mkdir(exist_ok=True)
    for role, pictures in PICTURES.items():
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB", reduced_motion="reduce"
        )
        page.set_default_timeout(PATIENCE)
        page.goto(links[role])
        if role == "admin":
            take(page, "welcome", folder)
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_label("The same password again").fill(PASSWORD)
        page.get_by_role("button", name="Set the password").click()
        page.get_by_role("navigation").first.wait_for()
        for name, open_page in pictures.items():
            open_page(page)
            page.wait_for_load_state("networkidle")
            take(page, name, folder)
        if role == "admin":
            page.get_by_role("button", name="Sign out", exact=True).click()
            page.get_by_role("button", name="Sign in").wait_for()
            take(page, "sign-in", folder)
        page.close()


def main() -> None:
    """Start a desk, and take its pages."""
    with demo() as links, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        photograph(browser, links)
        browser.close()


if __name__ == "__main__":
    main()
