"""Whether the web process answers, is ready, and what it counts; no token, no personal data."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rarefind.desk.api.described import describe_web, json_answer, open_to_all
from rarefind.desk.api.door import Door
from rarefind.desk.api.openapi import problem_answers
from rarefind.desk.api.page import page_response

_METRICS = 'rarefind_web_requests_total{method="GET",route="/queue",status="200"} 41.0'

router = APIRouter(tags=["health"])


@router.get("/healthz", **open_to_all(dict[str, bool], {"alive": True}))
async def is_alive() -> Response:
    """Tell whether the process answers."""
    return json_answer({"alive": True})


@router.get("/readyz", **open_to_all(dict[str, bool], {"ready": True}, 503))
def is_ready(door: Door) -> Response:
    """Tell whether the desk's database and the ledger can be read."""
    door.database.read("SELECT 1")
    door.ledger.recover()
    return json_answer({"ready": True})


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
    return json_answer(await _described(request.app, door.schema.name))


@router.get("/routes", include_in_schema=False)
async def show_routes(request: Request, door: Door) -> Response:
    """Show all routes to people."""
    found = await _described(request.app, door.schema.name)
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, methods in found["paths"].items():
        for method, route in methods.items():
            what = route["description"].partition("\n")[0]
            about = {"method": method.upper(), "path": path, "what": what}
            groups[route["tags"][0]].append(about | {"roles": route.get("x-roles", [])})
    return page_response("routes.html", schema=door.schema, groups=groups)


async def _described(app: FastAPI, name: str) -> dict[str, Any]:
    if app.openapi_schema is None:
        app.openapi_schema = await run_in_threadpool(describe_web, app, name)
    return app.openapi_schema
