"""What a desk answers, as types."""

from __future__ import annotations

from typing import Any

import msgspec

from rarefind.desk.records import Answer, Problem


class DeskError(Exception):
    """A desk did not do what it was asked, or cannot be reached.

    Attributes
    ----------
    status : int
        Of the answer; 0 if there was none.
    problem : Problem
    """

    def __init__(self, status: int, problem: Problem) -> None:
        where = f" ({problem.where})" if problem.where else ""
        super().__init__(f"{problem.detail}{where}")
        self.status, self.problem = status, problem


_ONE = msgspec.json.Decoder(Answer)
_MANY = msgspec.json.Decoder(list[dict[str, Any]])
_PROBLEM = msgspec.json.Decoder(Problem)


def read_answer(content: bytes) -> Answer:
    """The answer to one transaction."""
    return _ONE.decode(content)


def read_answers(content: bytes) -> list[Answer | Problem]:
    """The answers to a batch, in its order."""
    return [
        msgspec.convert(each["problem"], Problem)
        if "problem" in each
        else msgspec.convert(each, Answer)
        for each in _MANY.decode(content)
    ]


def error_of(status: int, content: bytes) -> DeskError:
    """The error of an answer that is not a success."""
    try:
        return DeskError(status, _PROBLEM.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return not_a_desk(status)


def not_a_desk(status: int) -> DeskError:
    """The error of an answer that no desk gives."""
    detail = f"The desk answered {status}; is this the address of a desk?"
    return DeskError(status, Problem("unknown", "Not an answer of a desk", detail))
