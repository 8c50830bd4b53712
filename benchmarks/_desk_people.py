"""People at their browsers while a desk decides: queue, case, verdict, a rule that is tried, days."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from _desk_browser import Browser, Page

#: Seconds that somebody looks at a page.
_LOOKS = 0.5
_RULE = "amount > 40 and country != card_country and not ecommerce"


class People:
    """Some people who work one queue, and now and then look at rules and days.

    Parameters
    ----------
    address : tuple of str and int
        Of the web process.
    names : list of str
        Who can sign in.
    """

    def __init__(self, address: tuple[str, int], names: list[str]) -> None:
        self._address, self._names = address, names
        self._times: dict[str, list[float]] = defaultdict(list)
        self._failed: list[str] = []
        self._stop, self._lock = threading.Event(), threading.Lock()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let them work meanwhile."""
        threads = [threading.Thread(target=self._work, args=(name,)) for name in self._names]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def forget(self) -> None:
        """Begin to measure."""
        with self._lock:
            self._times.clear()

    def figures(self) -> dict[str, Any]:
        """Milliseconds of each page."""
        found = {}
        for name, times in sorted(self._times.items()):
            p50, p99 = np.percentile(times, [50, 99])
            found[name] = {
                "requests": len(times),
                "p50": round(float(p50), 1),
                "p99": round(float(p99), 1),
                "longest": round(max(times), 1),
            }
        return {"people": len(self._names), "pages": found, "failed": len(self._failed)}

    def _work(self, name: str) -> None:
        browser = Browser(self._address)
        try:
            browser.sign_in(name)
            while not self._stop.is_set():
                self._check_some(browser)
                self._look(browser, "monitoring", "/desk/monitoring")
                self._look(browser, "rules", "/desk/rules")
                self._look(browser, "a rule", "/desk/rules/edit?name=rule+11")
                fields = {"name": "a new one", "text": _RULE, "based_on": "0"}
                self._note("try of a rule", browser.post("/desk/rules/try", **fields))
        finally:
            browser.close()

    def _check_some(self, browser: Browser) -> None:
        """Take the next case, look at it, and decide it, a few times."""
        for _ in range(5):
            if self._stop.is_set():
                return
            self._look(browser, "queue", "/desk/queue")
            taken = browser.post("/desk/queue/next")
            self._note("take", taken)
            if not taken.location.startswith("/desk/cases/"):
                continue
            case = taken.location.partition("?")[0]
            self._look(browser, "case", case)
            self._note("verdict", browser.post(f"{case}/verdict", verdict="genuine", note=""))

    def _look(self, browser: Browser, name: str, path: str) -> None:
        self._note(name, browser.get(path))
        time.sleep(_LOOKS)

    def _note(self, name: str, page: Page) -> None:
        with self._lock:
            self._times[name].append(page.milliseconds)
            if page.status >= 400:
                self._failed.append(f"{name}: {page.status}")
