"""The decision process described for programs: by hand, since its hot route is plain ASGI."""

from __future__ import annotations

from typing import Any

import msgspec

from rarefind import __version__
from rarefind.desk.api.problems import KINDS, MEDIA
from rarefind.desk.schema import Kind, Schema

_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
}
_EXAMPLES: dict[Kind, Any] = {
    "text": "FR",
    "number": 3,
    "boolean": False,
    "time": "2026-01-31T12:30:00Z",
}
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "type": "object",
    "required": ["type", "title", "detail", "where"],
    "properties": {
        "type": {"type": "string", "enum": list(KINDS), "description": "For programs."},
        "title": {"type": "string", "description": "What kind of problem it is."},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "where": {"type": "string", "description": "The part of the request that is wrong."},
    },
}
_ANSWER: dict[str, Any] = {
    "title": "Answer",
    "type": "object",
    "required": ["id", "decision", "by", "score", "alert"],
    "properties": {
        "id": {"type": "string"},
        "decision": {"type": "string", "enum": ["accept", "deny"]},
        "by": {
            "type": "string",
            "description": "terminal, blocked or the blocking rule; empty if it was accepted.",
        },
        "score": {"type": ["number", "null"], "description": "null without a model."},
        "alert": {
            "type": "string",
            "enum": ["", "risk", "random"],
            "description": "Whether it is proposed for checking, and why.",
        },
    },
}
_EXAMPLE_ANSWER = {"id": "a1", "decision": "accept", "by": "", "score": 0.0042, "alert": ""}


def describe_decisions(schema: Schema) -> dict[str, Any]:
    """The OpenAPI description of the decision process of a desk."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"rarefind desk {schema.name}: decisions",
            "version": __version__,
            "description": "Send transactions; an answer comes after its transaction is stored. "
            "The same transaction may be sent again, and the answer is the same.",
        },
        "paths": {
            "/transactions": {"post": _post(schema)},
            "/healthz": {"get": _get("is_alive", "Whether the process answers.", "alive")},
            "/readyz": {
                "get": _get("is_ready", "Whether transactions are decided.", "ready", may_wait=True)
            },
            "/metrics": {"get": _metrics()},
        },
        "components": {
            "schemas": {
                "Transaction": describe_transaction(schema),
                "Answer": _ANSWER,
                "Undecided": {
                    "title": "Undecided",
                    "type": "object",
                    "required": ["id", "problem"],
                    "properties": {"id": {"type": "string"}, "problem": _reference("Problem")},
                },
                "Problem": PROBLEM,
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def describe_transaction(schema: Schema) -> dict[str, Any]:
    """A transaction of a desk as a JSON schema."""
    properties: dict[str, Any] = {}
    for name, kind in schema.columns.items():
        described = dict(_TYPES[kind])
        if kind == "text":
            described["maxLength"] = schema.limits.text
        if name in schema.transaction.columns:
            described["type"] = [described["type"], "null"]
        elif kind == "text":
            described["minLength"] = 1
        properties[name] = described
    return {
        "title": "Transaction",
        "type": "object",
        "required": [name for name in schema.columns if name not in schema.transaction.columns],
        "properties": properties,
        "additionalProperties": False,
        "examples": [example_transaction(schema)],
        "x-rarefind": _columns_for_programs(schema),
    }


def _columns_for_programs(schema: Schema) -> dict[str, Any]:
    """What the columns mean, for a program that sends files; budgets and windows are not told."""
    return {
        "name": schema.name,
        "transaction": msgspec.to_builtins(schema.transaction),
        "entities": {name: each.column for name, each in schema.entities.items()},
        "limits": {
            name: getattr(schema.limits, name) for name in ("text", "batch", "body", "rate")
        },
    }


def example_transaction(schema: Schema) -> dict[str, Any]:
    """A transaction that a desk would take."""
    own = schema.transaction
    known: dict[str, Any] = {own.id: "a1", own.amount: 12.5}
    known |= {each.column: f"{name}-7" for name, each in schema.entities.items()}
    if own.outcome is not None:
        known[own.outcome] = own.accepted[0]
    return {name: known.get(name, _EXAMPLES[kind]) for name, kind in schema.columns.items()}


def problem_answers(*statuses: int) -> dict[str, Any]:
    """The answers of a route that are problems."""
    titles = dict(KINDS.values())
    return {
        str(status): {
            "description": titles[status] + ".",
            "content": {MEDIA: {"schema": _reference("Problem")}},
        }
        for status in statuses
    }


def _post(schema: Schema) -> dict[str, Any]:
    example = example_transaction(schema)
    one_or_many = {
        "oneOf": [
            _reference("Transaction"),
            {
                "type": "array",
                "items": _reference("Transaction"),
                "minItems": 1,
                "maxItems": schema.limits.batch,
            },
        ]
    }
    answers = {
        "oneOf": [
            _reference("Answer"),
            {
                "type": "array",
                "items": {"oneOf": [_reference("Answer"), _reference("Undecided")]},
            },
        ]
    }
    return {
        "operationId": "send_transactions",
        "summary": "Have one transaction decided, or a list of them.",
        "description": "A list is answered by a list in the same order; a transaction of it that "
        "contradicts a stored one or comes too late has a problem instead of an answer. If one "
        "cannot be read, nothing of the list is stored.",
        "security": [{"token": []}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": one_or_many,
                    "examples": {"one": {"value": example}, "many": {"value": [example]}},
                }
            },
        },
        "responses": {
            "200": {
                "description": "It is decided and stored.",
                "content": {
                    "application/json": {
                        "schema": answers,
                        "examples": {
                            "one": {"value": _EXAMPLE_ANSWER},
                            "many": {"value": [_EXAMPLE_ANSWER]},
                        },
                    }
                },
            }
        }
        | problem_answers(400, 401, 403, 408, 409, 413, 415, 422, 429, 500, 503),
    }


def _get(name: str, summary: str, flag: str, *, may_wait: bool = False) -> dict[str, Any]:
    properties: dict[str, Any] = {flag: {"type": "boolean"}}
    if may_wait:
        properties["durability"] = {
            "type": "string",
            "enum": ["process", "disk"],
            "description": "What an answer survives: the end of the process, or a loss of power.",
        }
        properties["notes"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "What people should know, such as that there is no model yet.",
        }
    content = {"schema": {"type": "object", "required": list(properties), "properties": properties}}
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "Yes.", "content": {"application/json": content}}}
        | (problem_answers(503) if may_wait else {}),
    }


def _metrics() -> dict[str, Any]:
    return {
        "operationId": "metrics",
        "summary": "Figures for Prometheus.",
        "responses": {
            "200": {
                "description": "Counters, gauges and histograms.",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            }
        },
    }


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
