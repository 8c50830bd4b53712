"""Payments that keep coming while the demo's desk runs: gently, and not for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Self

from rarefind.desk.client import Client, DeskError
from rarefind.desk.demo.world import SCHEMA

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RATE", "PaymentSender"]

#: Payments a second. Cards would look hurried if there were many more.
RATE: Final = 1.0


class PaymentSender:
    """Sends payments to a desk in a thread, each as if it were made now, until all are sent.

    Parameters
    ----------
    url, token : str
        Where transactions are taken, and from whom.
    coming : DataFrame
        Payments in the order in which they are sent.
    rate : float
        Payments a second.
    """

    def __init__(self, url: str, token: str, coming: pd.DataFrame, rate: float = RATE) -> None:
        self._url, self._token, self._pause = url, token, 1 / rate
        self._payments = _bodies(coming)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="payments", daemon=True)
        #: How many the desk has answered.
        self.sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        own = SCHEMA.transaction
        with Client(self._url, self._token, retries=0, id_column=own.id) as client:
            for payment in self._payments:
                if self._stop.wait(self._pause):
                    return
                try:
                    client.send(payment | {own.time: datetime.now(UTC)})
                except DeskError:
                    continue  # the desk is being started again, or stopped: one payment less
                self.sent += 1


def _bodies(coming: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """What is sent of payments."""
    names = [name for name in SCHEMA.columns if name != SCHEMA.transaction.time]
    for values in zip(*(coming[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))
