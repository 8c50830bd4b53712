"""Trial: the clock of the machine jumps by a day, forward and back."""

from __future__ import annotations

from collections import Counter

import msgspec

from rarefind.data.clock import nanoseconds
from rarefind.desk.folder import DeskFolder
from rarefind.desk.torture.connection import Connection
from rarefind.desk.torture.findings import Finding
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.senders import steady_times
from rarefind.desk.torture.served import ServedDesk
from rarefind.desk.torture.trial_desk import TrialDesk
from rarefind.desk.torture.unbroken import check_ledger, differences

_DAY = 86_400
_COUNT = 100


def findings_of_clock(desk: TrialDesk) -> list[Finding]:
    """What a desk whose clock jumps should stand."""
    bodies = MadeUpTransactions(desk.schema, keys=50, seed=2).bodies(steady_times())
    answers: dict[str, bytes] = {}
    statuses: dict[int, Counter[int]] = {}
    with ServedDesk(desk.path, "process", controlled=True) as served:
        assert served.address is not None
        with Connection(served.address, desk.token) as connection:
            for ahead in (0, _DAY, 0, -_DAY, 0):
                served.jump_clock(ahead)
                for _ in range(_COUNT):
                    received = connection.ask(next(bodies))
                    statuses.setdefault(ahead, Counter())[received.status] += 1
                    if received.status == 200:
                        answers[msgspec.json.decode(received.content)["id"]] = received.content
    # A desk that takes nothing a day ahead refuses what is so by its clock.
    limit = nanoseconds("limits.ahead", desk.schema.limits.ahead)
    behind = 200 if limit > _DAY * 10**9 else 422
    with DeskFolder(desk.path) as folder:
        check = check_ledger(folder, answers)
        right = max(row.arrived for row in folder.read_ledger().read(0, _COUNT))
        different = differences(folder, folder.read_ledger(), lambda arrived: right)
    lost = check.missing + check.contradicted + check.different
    return [
        Finding(
            "clock",
            "When the clock jumps by a day, forward or back, transactions are decided as before.",
            set(statuses[0]) == set(statuses[_DAY]) == {200} and set(statuses[-_DAY]) == {behind},
            "; ".join(
                f"{ahead // 3_600:+} h: "
                + ", ".join(f"{count} × {status}" for status, count in found.items())
                for ahead, found in statuses.items()
            ),
        ),
        Finding(
            "clock",
            "Features and decisions do not depend on the clock, only on times of transactions.",
            not different,
            f"{different} of {check.transactions:,} differ",
        ),
        Finding(
            "clock",
            "A clock that jumps costs nothing that was answered, and the ledger stays whole.",
            not lost and not check.broken,
            check.broken or f"{len(answers):,} answers, {lost} missing or different",
        ),
    ]
