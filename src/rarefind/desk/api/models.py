"""Models: brought, promoted and retired by data scientists."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Annotated, Final

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rarefind.desk.api import control_examples as examples
from rarefind.desk.api import limits
from rarefind.desk.api.control_views import model_summary, waiting_changes
from rarefind.desk.api.described import described, json_answer
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.parameters import Name
from rarefind.desk.api.people import Person
from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.sent import sent
from rarefind.desk.control import ControlError, ModelRow, recent_entries
from rarefind.desk.messages import ModelSummary, Promotion
from rarefind.desk.names import LONGEST_NAME

router = APIRouter(tags=["models"])

#: Bytes of a model file that are taken, and seconds that it may take to arrive.
LARGEST_MODEL: Final = 100_000_000
_LONGEST_UPLOAD: Final = 600.0
_FILE = {"type": "string", "format": "binary"}

ModelName = Annotated[
    str | None, Query(min_length=1, max_length=LONGEST_NAME, description="What people call it.")
]


@router.get("/models", **described("read", gives=list[ModelSummary], example=[examples.MODEL]))
def list_models(door: Door) -> Response:
    """List the models, the newest first."""
    waiting = waiting_changes(door.control, "model")
    return json_answer([model_summary(model, waiting) for model in door.control.models.all()])


@router.post(
    "/models",
    **described(
        "model", gives=ModelSummary, example=examples.MODEL, upload=_FILE, problems=(400, 415)
    ),
)
async def add_model(
    request: Request, door: Door, person: Person, name: ModelName = None
) -> Response:
    """Bring a model file, as the body of the request; it is checked, and a challenger then.

    A model that needs columns which the desk does not have is refused, with their names. The same
    file again is the same model.
    """
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if kind != "application/octet-stream":
        raise ProblemError(
            "not-json", "Send 'Content-Type: application/octet-stream'.", "content-type"
        )
    async with _uploaded(request, door) as path:
        model = await run_in_threadpool(_add, door, path, person, name)
    return json_answer(model_summary(model))


@router.post(
    "/models/{digest}/promote",
    **described(
        "model",
        gives=ModelSummary,
        example=examples.MODEL,
        takes=Promotion,
        sends=examples.PROMOTION,
        problems=(404, 409),
    ),
)
def promote_model(
    door: Door, digest: Name, person: Person, promotion: Annotated[Promotion, sent(Promotion)]
) -> Response:
    """Let a model decide what is an alert; to roll back, promote the former one.

    Where the desk wants a second person, it waits for one.
    """
    found = door.control.models.promote(digest, person, promotion.threshold)
    return json_answer(model_summary(found, waiting_changes(door.control, "model")))


@router.post(
    "/models/{digest}/retire",
    **described("model", gives=ModelSummary, example=examples.MODEL, problems=(404, 409)),
)
def retire_model(door: Door, digest: Name, person: Person) -> Response:
    """Let a model rest; without a champion rules alone decide."""
    return json_answer(model_summary(door.control.models.retire(digest, person)))


def _add(door: WebDoor, path: Path, person: str, name: str | None) -> ModelRow:
    try:
        return door.control.models.add(path, person, name or "model", recent_entries(door.ledger))
    except ControlError:
        raise
    except ValueError as error:
        # What the file is called here is nobody's business.
        raise ProblemError("invalid", str(error).replace(str(path), "The file"), "body") from error


@asynccontextmanager
async def _uploaded(request: Request, door: WebDoor) -> AsyncIterator[Path]:
    """The body of a request as a file, which is gone afterwards."""
    folder = door.models
    folder.mkdir(exist_ok=True)
    path = folder / f".upload-{secrets.token_hex(8)}"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            await _write_body(request, file)
        yield path
    except OSError as error:
        raise ProblemError(
            "unavailable", f"The model file cannot be kept: {error.strerror}.", retry_after=10
        ) from error
    finally:
        path.unlink(missing_ok=True)


async def _write_body(request: Request, file: IO[bytes]) -> None:
    length = 0
    try:
        async with asyncio.timeout(_LONGEST_UPLOAD):
            parts = request.stream().__aiter__()
            while True:
                part = await asyncio.wait_for(anext(parts, b""), limits.PATIENCE)
                if not part:
                    return
                length += len(part)
                if length > LARGEST_MODEL:
                    raise limits.too_large(LARGEST_MODEL)
                await run_in_threadpool(file.write, part)
    except (TimeoutError, ClientDisconnect):
        raise ProblemError(
            "too-slow", "The file did not arrive in time. Send it again.", "body"
        ) from None
