"""Draw the picture of docs/report.rst: `python docs/images/report.py` (needs chromium)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1200, 1150
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COMMANDS = """\
simulate --customers 1000 --features -o known.parquet --ahead ahead.parquet --ahead-days 28
fit known.parquet --target fraud --time time --entity customer --amount amount --id transaction_id \
--drop terminal --delay 7D --budget 100 --model sgbap -o model.rarefind
report model.rarefind ahead.parquet -o report.html"""


def main() -> None:
    picture = Path(__file__).with_suffix(".png").resolve()
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS.splitlines():
            subprocess.run(
                [sys.executable, "-m", "rarefind", *command.split()], cwd=folder, check=True
            )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=OPTIONS
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=picture)
            browser.close()


if __name__ == "__main__":
    main()
