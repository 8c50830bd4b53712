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

#: Of so many kills, one comes while the desk is starting, before it is ready.
_WHILE_STARTING = 5
#: Seconds of work between two kills, at most.
_LONGEST = 0.8


class KillResult(NamedTuple):
    """What was left of the transactions of a desk that was killed many times."""

    kills: int
    answered: int
    unanswered: int
    refused: int
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
    try:
        served.start()
        with senders:
            served.wait()
            senders.wait()
            while done < kills and (time.monotonic() < end or not done):
                if draw.randrange(_WHILE_STARTING):
                    served.wait()
                time.sleep(draw.random() * _LONGEST)
                served.kill()
                done += 1
                on_kill(done)
                served.start()
            served.wait()
            senders.wait()
    finally:
        served.stop()
    with DeskFolder(desk.path) as folder:
        check = check_ledger(folder, senders.answers)
    return KillResult(done, len(senders.answers), senders.unanswered, len(senders.refused), check)


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
            "After all kills, features, decisions and alerts are those of a desk that was never "
            "killed, bit for bit.",
            not check.different,
            f"{check.different:,} of {check.transactions:,} differ",
        ),
    ]
