"""The app of the decision process: transactions in, decisions out, after they are stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rarefind.desk.api.batcher import Batcher
from rarefind.desk.api.errors import answer_http_error, answerer_of_errors
from rarefind.desk.api.limits import RateLimit, read_body, too_large
from rarefind.desk.api.logs import Log
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.openapi import describe_decisions
from rarefind.desk.api.problems import ProblemError, answer_problem, problem_response
from rarefind.desk.api.tokens import Tokens
from rarefind.desk.database import Durability
from rarefind.desk.intake import Intake, IntakeError
from rarefind.desk.records import Answer, Refusal

_ENCODE: Final = msgspec.json.Encoder().encode
_PATH: Final = "/transactions"
#: The kind of problem that each kind of refusal is.
_PROBLEMS: Final = {
    "malformed": "malformed",
    "invalid": "invalid",
    "large": "too-large",
    "conflict": "conflict",
    "late": "invalid",
    "ahead": "invalid",
}


@dataclass
class DecisionDoor:
    """What the app needs; the batcher is there once the ledger is read and features are known.

    ``notes`` are sentences for people, such as that there is no model yet; ``durability`` is what
    an answer survives; ``measure`` brings figures up to date before they are read.
    """

    intake: Intake
    tokens: Tokens
    metrics: Metrics
    log: Log
    notes: Callable[[], list[str]] = list
    durability: Durability = "disk"
    measure: Callable[[], None] = lambda: None
    batcher: Batcher[Any, Answer | Refusal] | None = None
    limit: RateLimit = field(init=False)

    def __post_init__(self) -> None:
        self.limit = RateLimit(self.intake.schema.limits.rate)


def decision_app(
    door: DecisionDoor, run: Callable[[], AbstractAsyncContextManager[None]] | None = None
) -> Starlette:
    """The app; ``run`` surrounds its life, to open and close what the door needs."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if run is None:
            yield
        else:
            async with run():
                yield

    async def is_alive(_: Request) -> Response:
        return _json({"alive": True})

    async def is_ready(_: Request) -> Response:
        _batcher(door)
        return _json({"ready": True, "durability": door.durability, "notes": door.notes()})

    async def metrics(_: Request) -> Response:
        door.metrics.waiting.set(door.batcher.waiting if door.batcher else 0)
        door.measure()
        door.metrics.ready.set(door.batcher is not None and not door.batcher.has_failed)
        return door.metrics.response()

    async def description(_: Request) -> Response:
        return _json(describe_decisions(door.intake.schema))

    transactions = _Transactions(door)
    return _DecisionApp(
        transactions,
        routes=[
            Route(_PATH, transactions, methods=["POST"]),
            Route("/healthz", is_alive),
            Route("/readyz", is_ready),
            Route("/metrics", metrics),
            Route("/openapi.json", description),
        ],
        exception_handlers={
            ProblemError: answer_problem,
            HTTPException: answer_http_error,
            Exception: answerer_of_errors(door.log),
        },
        lifespan=lifespan,
    )


class _DecisionApp(Starlette):
    """Starlette, but transactions do not pass through what all other requests pass through."""

    def __init__(self, transactions: _Transactions, **options: Any) -> None:
        super().__init__(**options)
        self._transactions = transactions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == _PATH and scope["method"] == "POST":
            await self._transactions(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class _Transactions:
    """``POST /transactions``: plain ASGI, since what is added here costs each payment."""

    path = _PATH

    def __init__(self, door: DecisionDoor) -> None:
        self._door, self._fails = door, answerer_of_errors(door.log)
        counts = door.metrics.decisions
        self._decisions = {each: counts.labels(each) for each in ("accept", "deny")}
        self._alerts = {each: door.metrics.alerts.labels(each) for each in ("risk", "random")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = perf_counter()
        try:
            content = await self._answer(scope, receive)
        except ConnectionResetError:
            return
        except ProblemError as error:
            self._door.metrics.refused.labels(error.kind).inc()
            self._door.log.seldom("refused", type=error.kind, where=error.where)
            await problem_response(error)(scope, receive, send)
            return
        except Exception as error:
            request = Request({**scope, "route": self})
            await self._fails(request, error)(scope, receive, send)
            return
        self._door.metrics.seconds.observe(perf_counter() - begin)
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [
                    (b"content-type", b"application/json"),
                    (b"content-length", b"%d" % len(content)),
                ],
            }
        )
        await send({"type": "http.response.body", "body": content})

    async def _answer(self, scope: Scope, receive: Receive) -> bytes:
        door = self._door
        authorization, kind, length = _read_headers(scope)
        token = door.tokens.check(authorization, "send")
        largest = door.intake.schema.limits.body
        if length > largest:
            raise too_large(largest)
        if kind.split(b";", 1)[0].strip().lower() != b"application/json":
            raise ProblemError("not-json", "Send 'Content-Type: application/json'.", "content-type")
        batcher = _batcher(door)
        body = await read_body(receive, largest)
        try:
            request = door.intake.decode(body)
        except IntakeError as error:
            raise _problem(error.refusal) from None
        door.limit.spend(token.name, len(request.transactions))
        answers = await batcher.decide(request.transactions)
        self._count(answers)
        if request.is_batch:
            return _ENCODE(
                [_item(*pair) for pair in zip(request.transactions, answers, strict=True)]
            )
        (answer,) = answers
        if isinstance(answer, Refusal):
            raise _problem(answer)
        return _ENCODE(answer)

    def _count(self, answers: Sequence[Answer | Refusal]) -> None:
        for answer in answers:
            if isinstance(answer, Refusal):
                continue
            self._decisions[answer.decision].inc()
            if answer.alert:
                self._alerts[answer.alert].inc()


def _read_headers(scope: Scope) -> tuple[bytes | None, bytes, int]:
    """The token, the type and the length of a request, as its headers say them."""
    authorization, kind, length = None, b"", 0
    for name, value in scope["headers"]:
        if name == b"authorization":
            authorization = value
        elif name == b"content-type":
            kind = value
        elif name == b"content-length" and value.isdigit():
            length = int(value)
    return authorization, kind, length


def _batcher(door: DecisionDoor) -> Batcher[Any, Answer | Refusal]:
    if door.batcher is None:
        raise ProblemError(
            "unavailable", "The desk is starting: it reads its ledger.", retry_after=1
        )
    door.batcher.check()
    return door.batcher


def _problem(refusal: Refusal) -> ProblemError:
    return ProblemError(_PROBLEMS[refusal.kind], refusal.detail, refusal.where)


def _item(transaction: Any, answer: Answer | Refusal) -> Any:
    """What a batch is told of one of its transactions."""
    if isinstance(answer, Refusal):
        return {"id": transaction.id, "problem": _problem(answer).body}
    return answer


def _json(content: Any) -> Response:
    return Response(_ENCODE(content), media_type="application/json")
