"""The columns of a desk that is running somewhere, as it describes them itself."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec

from rarefind.desk.client._answers import DeskError, error_of
from rarefind.desk.records import Problem
from rarefind.desk.schema import (
    AlertSchema,
    EntitySchema,
    LimitSchema,
    Schema,
    TransactionSchema,
)

#: A description is small; no more of what an address answers is read.
_LARGEST = 10_000_000


def described_schema(
    url: str, *, timeout: float = 10.0, transport: httpx.BaseTransport | None = None
) -> Schema:
    """Ask a desk what its transactions are made of, to read files for it.

    Its columns and limits on requests are the desk's; what it computes of them is not told.
    """
    address = f"{url.rstrip('/')}/openapi.json"
    try:
        with httpx.Client(timeout=timeout, transport=transport) as http:
            response = http.get(address)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        problem = Problem(
            "unreachable",
            "The desk did not answer",
            f"{address} did not answer ({type(error).__name__}). Is `rarefind serve` running "
            "there?",
        )
        raise DeskError(0, problem) from error
    if not response.is_success:
        raise error_of(response.status_code, response.content)
    try:
        if len(response.content) > _LARGEST:
            raise ValueError("too large")
        described = msgspec.json.decode(response.content, type=dict[str, Any])
        return _schema(described["components"]["schemas"]["Transaction"]["x-rarefind"])
    except (ValueError, KeyError, TypeError, AttributeError, msgspec.MsgspecError) as error:
        detail = (
            f"{address} is not the description of a desk: name the address of `rarefind serve`."
        )
        raise DeskError(0, Problem("unknown", "Not an answer of a desk", detail)) from error


def _schema(told: dict[str, Any]) -> Schema:
    entities = msgspec.convert(told["entities"], dict[str, str])
    return Schema(
        name=str(told["name"]),
        transaction=msgspec.convert(told["transaction"], TransactionSchema),
        entities={name: EntitySchema(column) for name, column in entities.items()},
        alerts=AlertSchema(next(iter(entities))),
        limits=msgspec.convert(told["limits"], LimitSchema),
    )
