"""What the child processes of the tests do: they write in a file what happens to them."""

import os
import signal
import threading
import time

from rarefind.desk.processes import READY


def note(path, line):
    with path.open("a") as file:
        file.write(f"{line}\n")


def wait(life, path, name, seconds=0.0):
    """Be ready, and wait for the end."""
    stop = threading.Event()
    life.on_stop(stop.set)
    note(path, f"{name} {os.getpid()}")
    life.say(READY)
    stop.wait(60)
    time.sleep(seconds)
    note(path, f"{name} ended")


def refuse(life, path):
    raise ValueError("The folder belongs to another desk: name another one.")


def crash(life, path):
    os._exit(3)


def stay(life, path, name):
    """Do not end, whatever one is told."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    life.on_stop(lambda: None)
    note(path, f"{name} {os.getpid()}")
    life.say(READY)
    time.sleep(60)
