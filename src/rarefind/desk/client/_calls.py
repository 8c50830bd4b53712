"""What is sent for each call, and when it is sent again: the same for both clients."""

from __future__ import annotations

import functools
import inspect
import os
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

import httpx
import msgspec

from rarefind.desk.client._answers import (
    DeskError,
    error_of,
    not_a_desk,
    read_answer,
    read_answers,
)
from rarefind.desk.records import Answer, Problem

Returned = TypeVar("Returned")
Method = TypeVar("Method", bound=Callable[..., Any])

DECISION_URL = "http://127.0.0.1:8321"
WEB_URL = "http://127.0.0.1:8322"
#: Answers that say: not now. Those of a desk itself come with the time to wait if nothing was done.
_LATER = frozenset({429, 502, 503, 504})
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 10.0


def _plain(value: Any) -> Any:
    """Values of NumPy and pandas as Python's own."""
    if isinstance(value, datetime):  # pandas' Timestamp is one
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")


encode = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number").encode


@dataclass(frozen=True)
class Call(Generic[Returned]):
    """A request, how its answer is read, and whether sending it twice does no harm."""

    method: str
    url: str
    read: Callable[[bytes], Returned]
    content: bytes | None = None
    is_repeatable: bool = True
    kind: str = "application/json"


@dataclass(frozen=True)
class Retry:
    """How often a call is sent again, and after what time.

    Waits double from a tenth of a second, are drawn at random up to that, and are never shorter
    than the ``Retry-After`` of an answer.
    """

    times: int = 5
    draw: Callable[[], float] = field(default=random.random)

    def waits(self) -> Iterator[float]:
        """Seconds to wait before each repetition."""
        for attempt in range(self.times):
            yield min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt) * (0.5 + self.draw() / 2)


def call_method(method: Method, make: Callable[..., Call[Any]]) -> Method:
    """Let a client's method look as what makes its call, but for the ``Call`` that it returns."""
    functools.update_wrapper(method, make)
    own = inspect.signature(make)
    returned = str(own.return_annotation).removeprefix("Call[").removesuffix("]")
    vars(method)["__signature__"] = own.replace(return_annotation=returned)
    return method


def is_later(call: Call[Any], response: httpx.Response) -> bool:
    """Whether the same call may succeed later, and sending it again does no harm."""
    if response.status_code not in _LATER:
        return False
    return call.is_repeatable or "retry-after" in response.headers


def asked_wait(response: httpx.Response) -> float:
    """The seconds that an answer asks to wait; 0 if it does not say."""
    text = response.headers.get("retry-after", "")
    return min(float(text), 60.0) if text.isdigit() else 0.0


def can_repeat(call: Call[Any], error: httpx.TransportError) -> bool:
    """Whether a call whose answer did not come may be sent again."""
    never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return call.is_repeatable or never_sent


def unreachable(call: Call[Any], error: httpx.TransportError) -> DeskError:
    """The error of a call that was never answered."""
    return DeskError(
        0,
        Problem(
            "unreachable",
            "The desk did not answer",
            f"{call.url} did not answer ({type(error).__name__}). Is `rarefind serve` running "
            "there?",
        ),
    )


def read_response(call: Call[Returned], response: httpx.Response) -> Returned:
    """What a call returns, or the error of its answer."""
    if response.is_success:
        try:
            return call.read(response.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise not_a_desk(response.status_code) from None
    raise error_of(response.status_code, response.content)


class Calls:
    """The calls of the decision process, as requests.

    Parameters
    ----------
    url : str
        The address of the decision process.
    id_column : str
        Where a transaction has its identifier.
    """

    def __init__(self, url: str, id_column: str) -> None:
        self.url, self.id_column = url.rstrip("/"), id_column

    def send(self, transaction: Mapping[str, Any]) -> Call[Answer]:
        """Have a transaction decided; it is stored when this returns."""
        content = encode(self._with_id(transaction))
        return Call("POST", f"{self.url}/transactions", read_answer, content)

    def send_many(self, transactions: Sequence[Mapping[str, Any]]) -> Call[list[Answer | Problem]]:
        """Have some transactions decided together, in their order.

        Those that cannot be stored, such as one that comes too late, have a
        :class:`~rarefind.desk.client.Problem` instead of an answer. If one of them cannot be read,
        all are refused.
        """
        content = encode([self._with_id(each) for each in transactions])
        return Call("POST", f"{self.url}/transactions", read_answers, content)

    def _with_id(self, transaction: Mapping[str, Any]) -> Mapping[str, Any]:
        """The transaction with an identifier, so that sending it again is sending the same one."""
        if transaction.get(self.id_column) is not None:
            return transaction
        return {**transaction, self.id_column: uuid.uuid4().hex}


def headers_of(token: str | None) -> dict[str, str]:
    """What each request says of its sender; the token is RAREFIND_TOKEN if none is given."""
    token = os.environ.get("RAREFIND_TOKEN") if token is None else token
    return {"authorization": f"Bearer {token}"} if token else {}
