"""The page of a desk: whether it decides, where to send transactions, and how full its queue is.

It shows counts and nothing else, so that it needs no token.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rarefind import __version__
from rarefind.data.clock import period_around
from rarefind.desk.api.door import Door, WebDoor
from rarefind.desk.api.openapi import example_transaction
from rarefind.desk.api.views import instant
from rarefind.desk.database import DatabaseUnavailable
from rarefind.desk.pages.visit import HOME, visit_of
from rarefind.desk.parity import ParityDay

if TYPE_CHECKING:
    from jinja2 import Template

router = APIRouter(include_in_schema=False)

#: For so many seconds counts are not counted again: an open page costs the database nothing.
_FRESH = 1.0
#: What an answer survives, as people are told.
DURABILITIES = {
    "process": "What is answered survives the end of the process, and not a loss of power.",
    "disk": "What is answered is on the disk, and survives a loss of power.",
}


@dataclass(frozen=True)
class TodayCounts:
    """How much there was today, and what is left to check."""

    transactions: int
    alerts: int
    to_check: int
    budget: int
    done: int
    hits: int
    waiting: int
    claims: int
    parity: list[ParityDay]


@router.get("/")
async def show_start(door: Door, request: Request) -> Response:
    """Show the state of the desk, and to who has signed in the work that there is."""
    if await visit_of(request) is not None:
        return RedirectResponse(HOME, 303)
    return await show_page(door)


@router.get("/status")
async def show_page(door: Door) -> HTMLResponse:
    """Show the state of the desk."""
    state = await door.decisions.state()
    try:
        counts = await run_in_threadpool(_recent_counts, door)
    except DatabaseUnavailable as error:
        door.log.seldom("unavailable", route="/", detail=str(error))
        counts = None
    return page_response(
        "page.html",
        200 if counts is not None else 503,
        schema=door.schema,
        period=door.schema.alerts.per,
        decisions=door.decisions.url,
        state=state,
        durability=DURABILITIES.get(state.durability, ""),
        counts=counts,
        curl=_curl(door),
    )


def page_response(name: str, status: int = 200, **shown: Any) -> HTMLResponse:
    """A page from one of the templates here."""
    style, template = _template(name)
    text = template.render(style=style, version=__version__, **shown)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'"
    return HTMLResponse(
        text,
        status,
        headers={"content-security-policy": f"{policy}; base-uri 'none'; form-action 'none'"},
    )


@cache
def _template(name: str) -> tuple[str, Template]:
    """The page's style and the page: the policy of the page allows this style and no other."""
    from jinja2 import Environment, StrictUndefined

    here = files("rarefind.desk.api")
    style = here.joinpath("page.css").read_text(encoding="utf-8")
    page = here.joinpath(name).read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["grouped"] = lambda number: f"{number:,}"
    return style, environment.from_string(page)


def _recent_counts(door: WebDoor) -> TodayCounts:
    """Today's counts, at most a second old."""
    known: tuple[float, TodayCounts] | None = door.page_counts
    now = monotonic()
    if known is None or now - known[0] > _FRESH:
        door.page_counts = known = (now, _count(door))
    return known[1]


def _count(door: WebDoor) -> TodayCounts:
    zone = door.schema.transaction.time_zone
    begins, _ = period_around(door.clock.now(), zone, "day")
    transactions, row = door.ledger.arrived_since(begins)
    today = door.queue.today()
    return TodayCounts(
        transactions=transactions,
        alerts=door.lists.alerts_after(row),
        to_check=len(today.cases),
        budget=today.budget,
        done=today.done,
        hits=today.hits,
        waiting=today.waiting,
        claims=door.claims.count_new(),
        parity=door.parity.last(2),
    )


def _curl(door: WebDoor) -> str:
    """A line for a shell that sends a transaction of this desk."""
    example: dict[str, Any] = example_transaction(door.schema)
    now = instant(door.clock.now()).replace(microsecond=0)
    own = door.schema.transaction
    example |= {own.id: f"example-{now:%Y%m%d%H%M%S}", own.time: now}
    body = msgspec.json.encode(example).decode().replace("'", "'\\''")
    return (
        "export RAREFIND_TOKEN=$(rarefind desk token DIR ingest --name example)\n"
        f"curl {door.decisions.url}/transactions \\\n"
        '  -H "Authorization: Bearer $RAREFIND_TOKEN" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d '{body}'"
    )
