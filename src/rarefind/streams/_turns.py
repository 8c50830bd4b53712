"""One thread at a time in the model of a stream, whose state is written in place."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from threading import Lock, RLock
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["in_turn"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

# Beside the models and not in them: a copy, a clone and a file have no lock.
_LOCKS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_MAKING = Lock()


def in_turn(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method of a model wait until no other thread is in one of these methods."""

    @wraps(method)
    def wait_and_call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with _lock_of(self):
            return method(self, *args, **kwargs)

    return wait_and_call


def _lock_of(model: Any) -> Any:
    found = _LOCKS.get(model)
    if found is None:
        with _MAKING:
            found = _LOCKS.setdefault(model, RLock())
    return found


def _forget_locks() -> None:
    """In a forked process there is no thread that would ever open them."""
    global _MAKING
    _MAKING = Lock()
    _LOCKS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
