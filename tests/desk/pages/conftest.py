import shutil

import pytest
from desk_pages import PagesDesk

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture
def web(tmp_path):
    desk = PagesDesk(tmp_path)
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def browser():
    """The Chromium of the system, driven by Playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        yield found
        found.close()
