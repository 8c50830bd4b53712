"""Trial: the disk is full for a while."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator

import msgspec

from rarefind.desk.folder import DeskFolder
from rarefind.desk.torture.connection import Connection, Received
from rarefind.desk.torture.findings import Finding
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.senders import steady_times
from rarefind.desk.torture.served import ServedDesk
from rarefind.desk.torture.trial_desk import TrialDesk
from rarefind.desk.torture.unbroken import check_ledger

_BEFORE, _WHILE_FULL, _AFTER = 100, 50, 100
#: Bytes that are left on the disk, and how many transactions they must not be enough for.
_ROOM, _TOO_MANY = 200_000, 5_000
#: Seconds in which a desk takes transactions again when there is space.
_RECOVERY = 15.0


def findings_of_full_disk(desk: TrialDesk) -> list[Finding]:
    """What a desk whose disk is full should stand."""
    texts = (
        "On a full disk, what cannot be stored is answered with 503 and a time to come again.",
        "What was answered before is answered the same while the disk is full.",
        "When there is space again, the desk goes on by itself.",
        "A full disk costs nothing that was answered, and leaves nothing by half.",
    )
    if sys.platform == "win32":
        return [
            Finding("full disk", text, None, "Windows cannot limit a program's files")
            for text in texts
        ]
    bodies = MadeUpTransactions(desk.schema, keys=200, seed=1).bodies(steady_times())
    trial = _FullDisk(bodies)
    with ServedDesk(desk.path, "disk", controlled=True) as served:
        assert served.address is not None
        with Connection(served.address, desk.token) as connection:
            trial.run(served, connection)
    with DeskFolder(desk.path) as folder:
        check = check_ledger(folder, trial.answers)
    statuses = ", ".join(f"{count} × {status}" for status, count in sorted(trial.full.items()))
    lost = check.missing + check.contradicted + check.different
    results = (
        ({503} <= set(trial.full) <= {200, 503} and not trial.without_wait, statuses),
        (trial.same, ""),
        (trial.recovered is not None, f"after {trial.recovered or 0:.1f} s"),
        (
            not lost and not check.broken,
            check.broken or f"{len(trial.answers):,} answers, {lost} missing or different",
        ),
    )
    return [
        Finding("full disk", text, holds, detail)
        for text, (holds, detail) in zip(texts, results, strict=True)
    ]


class _FullDisk:
    """What is sent before, while and after the disk is full, and what is answered."""

    def __init__(self, bodies: Iterator[bytes]) -> None:
        self._bodies = bodies
        self.answers: dict[str, bytes] = {}
        self.full: Counter[int] = Counter()
        self.without_wait = 0
        self.same = False
        self.recovered: float | None = None

    def run(self, served: ServedDesk, connection: Connection) -> None:
        first = next(self._bodies)
        answer = self._send(connection, first)
        for _ in range(_BEFORE):
            self._send(connection, next(self._bodies))
        served.limit_files((served.path / "ledger.db-wal").stat().st_size + _ROOM)
        for _ in range(_TOO_MANY):
            if self._send(connection, next(self._bodies)).status != 200:
                break
        for _ in range(_WHILE_FULL):
            received = self._send(connection, next(self._bodies))
            self.full[received.status] += 1
            if received.status != 200:
                self.without_wait += b"\r\nretry-after:" not in received.headers
        self.same = self._send(connection, first).content == answer.content
        served.limit_files(None)
        self._recover(connection)
        for _ in range(_AFTER):
            self._send(connection, next(self._bodies))

    def _recover(self, connection: Connection) -> None:
        began, body = time.monotonic(), next(self._bodies)
        while time.monotonic() - began < _RECOVERY:
            if self._send(connection, body).status == 200:
                self.recovered = time.monotonic() - began
                return
            time.sleep(0.1)

    def _send(self, connection: Connection, body: bytes) -> Received:
        received = connection.ask(body)
        if received.status == 200:
            self.answers[msgspec.json.decode(received.content)["id"]] = received.content
        return received
