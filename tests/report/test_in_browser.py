"""The report in a real browser: what it shows, what it asks the network for, how it fits."""

import json
import shutil

import pytest
from report_models import (
    StandInReference,
    estimate_of,
    fitted,
    looked_up,
    payments,
    tells,
)

from rarefind.report import make_report

api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture(scope="module", params=["metaap", "conditions", "gamma-knn"])
def report(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    table = payments()
    model = fitted(request.param, table)
    model.estimate_ = estimate_of(model, table)
    model.drift_reference_ = StandInReference()
    payments(900, seed=1).to_csv(folder / "later.csv", index=False)
    page, figures = make_report(model, folder / "later.csv", top=6)
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder / "page.html", json.loads(json.dumps(figures))


@pytest.mark.parametrize("width", [1400, 380])
def test_the_page_shows_the_numbers_asks_for_nothing_and_fits(browser, report, width):
    path, figures = report
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked, told = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: told.append(dialog.message) or dialog.dismiss())
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(path.as_uri())
    shown = page.eval_on_selector_all(
        "[data-key]",
        "all => all.map(one => [one.dataset.key, one.innerText, one.getClientRects().length])",
    )
    assert len(shown) > 100
    for key, text, boxes in shown:
        assert boxes, f"{key} cannot be seen"
        assert tells(text, looked_up(figures, key)), (key, text)
    inside = page.eval_on_selector("#figures", "block => JSON.parse(block.textContent)")
    assert inside == figures
    pictures = page.eval_on_selector_all(
        "img", "all => all.map(one => [one.complete, one.naturalWidth, one.alt])"
    )
    assert len(pictures) >= 5
    assert all(complete and wide > 0 and alt for complete, wide, alt in pictures)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not page.evaluate(OUTSIDE), "something stands outside of the page"
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert told == []
    page.close()


# Boxes beyond the right edge, but for those in a part that is moved sideways by itself.
OUTSIDE = """() => [...document.querySelectorAll('main *')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.right > innerWidth + 1 && !one.closest('.wide, .tree');
}).map(one => one.outerHTML.slice(0, 80))"""
