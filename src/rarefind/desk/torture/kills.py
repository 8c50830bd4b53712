"""Trial: the decision process is killed again and again while transactions are sent to it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rarefind.desk.database import Durability
from rarefind.desk.folder import DeskFolder
from rarefind.desk.torture.findings import Finding
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.senders import Senders, steady_times
from rarefind.desk.torture.served import ServedDesk
from rarefind.desk.torture.trial_desk import TrialDesk
from rarefind.desk.torture.unbroken import LedgerCheck, check_ledger
from rarefind.desk.torture.verdicts import Verdicts

#: Of so many kills, one comes while the desk is starting, before it is ready.
_WHILE_STARTING = 5
#: Seconds of work before and after some verdicts, at most; then it is killed.
_LONGEST = 0.5
_VERDICTS = 20
#: Seconds in which a desk has copied all verdicts to its ledger.
_COPIED = 20.0


class KillResult(NamedTuple):
    """What was left of the transactions of a desk that was killed many times."""

    kills: int
    answered: int
    unanswered: int
    refused: int
    verdicts: int
    verdicts_missing: int
    check: LedgerCheck


def kill_often(
    desk: TrialDesk,
    durability: Durability,
    *,
    kills: int,
    seconds: float = float("inf"),
    seed: int = 0,
    bodies: Iterator[bytes] | None = None,
    on_kill: Callable[[int], None] = lambda count: None,
) -> KillResult:
    """Kill a desk at random times under load, and look what is in its ledger.

    Verdicts are given between kills, so that what features know of labels is tried as well.

    Parameters
    ----------
    desk : TrialDesk
    durability : {"process", "disk"}
    kills : int
        How often, unless the seconds are over before.
    seconds : float
    seed : int
    bodies : iterator of bytes, optional
        What is sent, without an end; by default made up.
    on_kill : callable
        Is told how many there were.
    """
    draw, done, end = random.Random(seed), 0, time.monotonic() + seconds
    served = ServedDesk(desk.path, durability)
    made_up = MadeUpTransactions(desk.schema, keys=200, seed=seed)
    senders = Senders(served, desk.token, bodies or made_up.bodies(steady_times()))
    verdicts = 0
    with DeskFolder(desk.path) as folder, Verdicts(folder) as people:
        try:
            served.start()
            with senders:
                served.wait()
                senders.wait()
                while done < kills and (time.monotonic() < end or not done):
                    if draw.randrange(_WHILE_STARTING):
                        served.wait()
                    time.sleep(draw.random() * _LONGEST)
                    found = senders.some(draw, _VERDICTS)
                    people.give(found, fraud=bool(draw.randrange(2)))
                    verdicts += len(found)
                    time.sleep(draw.random() * _LONGEST)
                    served.kill()
                    done += 1
                    on_kill(done)
                    served.start()
                served.wait()
                senders.wait()
            ledger = folder.read_ledger()
            _wait_until(lambda: not people.missing(ledger))
        finally:
            served.stop()
        check, missing = check_ledger(folder, senders.answers), people.missing(ledger)
    answered, unanswered, refused = len(senders.answers), senders.unanswered, len(senders.refused)
    return KillResult(done, answered, unanswered, refused, verdicts, missing, check)


def _wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what is copied within a second, where it is; what is not is found later."""
    end = time.monotonic() + _COPIED
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)


def findings_of_kills(result: KillResult) -> list[Finding]:
    """What a desk that was killed should stand."""
    check = result.check
    told = (
        f"{result.kills} kills, {result.answered:,} answers, {result.unanswered:,} lost and sent "
        "again"
    )
    return [
        Finding(
            "kills",
            "Killed at any time, a desk has every transaction that it has answered, once, and as "
            "it was answered.",
            bool(result.answered) and not (check.missing or check.contradicted or result.refused),
            told
            + (f"; {check.missing:,} are missing" if check.missing else "")
            + (f"; {check.contradicted:,} were answered otherwise" if check.contradicted else "")
            + (f"; {result.refused:,} were refused" if result.refused else ""),
        ),
        Finding(
            "kills",
            "Killed at any time, it has nothing by half: each transaction is whole or not there.",
            not check.broken,
            check.broken or f"{check.transactions:,} transactions verified",
        ),
        Finding(
            "kills",
            "Killed at any time, it learns every verdict once, in the order they were given.",
            not result.verdicts_missing,
            f"{result.verdicts_missing:,} of {result.verdicts:,} are missing or doubled",
        ),
        Finding(
            "kills",
            "After all kills, features, decisions and alerts are those of a desk that was never "
            "killed, bit for bit.",
            not check.different,
            f"{check.different:,} of {check.transactions:,} differ",
        ),
    ]
