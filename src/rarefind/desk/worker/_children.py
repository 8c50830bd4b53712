"""The ends of the worker's own processes: noticed, or brought about."""

from __future__ import annotations

from rarefind.desk.api.logs import Log
from rarefind.desk.processes.child import Child

__all__ = ["bury", "stop"]


def bury(child: Child, log: Log) -> bool:
    """Let go of a process that has ended; True if it has failed, which goes to the log."""
    child.hear()
    refusal, code = child.refusal, child.bury()
    if code:
        log.error(f"{child.spec.name}-ended", code=code, detail=refusal)
    return bool(code)


def stop(child: Child) -> None:
    """End a process if it runs; what it has made stays."""
    if child.process is not None:
        child.ask_to_stop()
        child.wait()
