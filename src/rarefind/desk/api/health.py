"""Whether the web process answers, is ready, and what it counts; no token, no personal data."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rarefind.desk.api.described import describe_web, open_to_all, told
from rarefind.desk.api.door import Door
from rarefind.desk.api.openapi import problem_answers

_METRICS = 'rarefind_web_requests_total{method="GET",route="/queue",status="200"} 41.0'

router = APIRouter(tags=["health"])


@router.get("/healthz", **open_to_all(dict[str, bool], {"alive": True}))
async def is_alive() -> Response:
    """Tell whether the process answers."""
    return told({"alive": True})


@router.get("/readyz", **open_to_all(dict[str, bool], {"ready": True}, 503))
def is_ready(door: Door) -> Response:
    """Tell whether the desk's database and the ledger can be read."""
    door.database.read("SELECT 1")
    door.ledger.recover()
    return told({"ready": True})


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {
            "description": "Counters, gauges and histograms.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": _METRICS}},
        }
    }
    | problem_answers(408, 413, 422, 500, 503),
)
def metrics(door: Door) -> Response:
    """Give figures for Prometheus."""
    today = door.queue.today()
    door.metrics.queue.set(len(today.cases))
    door.metrics.waiting.set(today.waiting)
    door.metrics.done.set(today.done)
    door.metrics.hits.set(today.hits)
    return door.metrics.response()


@router.get("/openapi.json", include_in_schema=False)
async def description(request: Request, door: Door) -> Response:
    """Describe all routes for programs."""
    app: FastAPI = request.app
    if app.openapi_schema is None:
        app.openapi_schema = await run_in_threadpool(_describe, app, door.schema.name)
    return told(app.openapi_schema)


def _describe(app: FastAPI, name: str) -> dict[str, Any]:
    return describe_web(app, name)
