"""The processes of a desk: started, watched and stopped together, or one at a time."""

from rarefind.desk.processes._desk import (
    DeskSettings,
    ProcessName,
    ask_notes,
    desk_processes,
    run_one,
    take_port,
)
from rarefind.desk.processes._life import READY, Life, give_way
from rarefind.desk.processes._supervisor import Supervisor
from rarefind.desk.processes.child import ChildSpec

__all__ = [
    "READY",
    "ChildSpec",
    "DeskSettings",
    "Life",
    "ProcessName",
    "Supervisor",
    "ask_notes",
    "desk_processes",
    "give_way",
    "run_one",
    "take_port",
]
