"""A visit: who has opened a page, what they may do, and how they are answered.

Each route names what one must be allowed to do, through ``needs``, and gets the visit::

    @router.get("/desk/lists")
    def show_lists(visit: Annotated[Visit, needs("read")]) -> Response:
        return visit.page("lists.html", names=visit.door.control.lists.names())

Whoever has not signed in is sent to the page for it, and whoever's role may not is told so. What a
form sends is in ``visit.form``; where it did not come from a page of this desk, nothing is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rarefind.desk.api.problems import ProblemError
from rarefind.desk.api.roles import Action, is_allowed, roles_for
from rarefind.desk.pages import cookies
from rarefind.desk.pages.formats import Formats
from rarefind.desk.pages.forms import Form, read_form
from rarefind.desk.pages.menu import menu_of
from rarefind.desk.pages.rendering import render
from rarefind.desk.pages.sentences import in_language
from rarefind.desk.pages.texts import choose_language, texts_in
from rarefind.desk.people import Session, User

if TYPE_CHECKING:
    from rarefind.desk.api.door import WebDoor

__all__ = ["Guest", "Needs", "SignInNeeded", "Visit", "anybody", "needs", "visit_of"]

SIGN_IN: Final = "/desk/sign-in"
HOME: Final = "/desk"
_SAFE = frozenset({"GET", "HEAD"})


class SignInNeeded(Exception):  # noqa: N818
    """Somebody has to sign in first; ``back`` is where to go then."""

    def __init__(self, back: str = "") -> None:
        super().__init__(back)
        self.back = back


class Guest:
    """Somebody who has not signed in.

    Attributes
    ----------
    request : Request
    door : WebDoor
    form : Form
        What was sent; empty where nothing was.
    t : Texts
        The texts in the language of the visitor.
    show : Formats
    """

    user: User | None = None

    def __init__(self, request: Request, form: Form, owner: str, user: User | None = None) -> None:
        self.request, self.form, self.user = request, form, user
        self.door: WebDoor = request.app.state.door
        self.t = texts_in(
            choose_language(
                "" if user is None else user.language, request.headers.get("accept-language", "")
            )
        )
        self.show = Formats(self.t.locale, self.door.schema, self.door.clock)
        self.owner = owner

    @property
    def address(self) -> str:
        """Where the visitor is, as far as it is known."""
        return self.request.client.host if self.request.client else ""

    @property
    def browser(self) -> str:
        """What the visitor's browser calls itself."""
        return self.request.headers.get("user-agent", "")

    @property
    def is_partial(self) -> bool:
        """Whether htmx asks, for a part of the page."""
        return self.request.headers.get("hx-request") == "true"

    def page(self, template: str, status: int = 200, **shown: Any) -> Response:
        """Answer with a page; templates have ``visit``, ``t``, ``show`` and what is named here."""
        said = self.request.query_params.get("said", "")
        errors = {name: self.tell(text) for name, text in shown.pop("errors", {}).items()}
        return render(
            template,
            status,
            {
                "visit": self,
                "t": self.t,
                "show": self.show,
                "user": self.user,
                "desk": self.door.schema.name,
                "menu": [] if self.user is None else menu_of(self.user.role),
                "path": self.request.url.path,
                "csrf": cookies.form_token(self.door.secret, self.owner),
                "said": f"said.{said}" if f"said.{said}" in self.t else "",
                "errors": errors,
                "tell": self.tell,
                "form": self.form.values,
            }
            | shown,
        )

    def tell(self, sentence: str) -> str:
        """A sentence of the domain, in the language of the visitor."""
        return in_language(self.t, sentence)

    def go(self, path: str, said: str = "", **query: str | int) -> Response:
        """Answer a form that was done: show another page, and say ``said.…`` there."""
        wanted = query | ({"said": said} if said else {})
        return see_other(self.request, path + (f"?{urlencode(wanted)}" if wanted else ""))


class Visit(Guest):
    """Somebody who has signed in, and may do what the route does.

    Attributes
    ----------
    user : User
    session : Session
    """

    user: User

    def __init__(self, request: Request, form: Form, user: User, session: Session) -> None:
        super().__init__(request, form, cookies.session_token(request), user)
        self.user, self.session = user, session

    @property
    def person(self) -> str:
        """Who acts, as the audit log names them."""
        return self.user.name

    def may(self, action: Action) -> bool:
        """Whether the visitor may do something: what is not allowed is not shown."""
        return is_allowed(self.user.role, action)


class Needs:
    """What lets a request through whose user may do something."""

    def __init__(self, action: Action) -> None:
        self.action: Action = action

    async def __call__(self, request: Request) -> Visit:
        """Return the visit, or raise."""
        visit = await visit_of(request)
        if visit is None:
            raise SignInNeeded(_address(request) if request.method in _SAFE else "")
        visit.door.limit.spend(f"user {visit.user.id}")
        if not is_allowed(visit.user.role, self.action):
            raise ProblemError("not-allowed", f"It takes {' or '.join(roles_for(self.action))}.")
        if request.method not in _SAFE:
            visit.form = await _checked_form(request, visit.owner)
        return visit


def needs(action: Action) -> Any:
    """What gives a route its visit, by somebody who may do something."""
    return Depends(Needs(action))


async def _guest(request: Request) -> Guest:
    owner = cookies.visitor_of(request)
    form = Form() if request.method in _SAFE else await _checked_form(request, owner)
    return Guest(request, form, owner or cookies.new_visitor())


#: What gives a route its visit, by anybody.
anybody: Any = Depends(_guest)


async def visit_of(request: Request) -> Visit | None:
    """Who has signed in at the browser that asks; None if nobody."""
    token = cookies.session_token(request)
    if not token:
        return None
    door: WebDoor = request.app.state.door
    found = await run_in_threadpool(door.people.sessions.find, token)
    return None if found is None else Visit(request, Form(), *found)


def see_other(request: Request, address: str) -> Response:
    """Have a browser show another page; htmx, too, the whole of it."""
    if request.headers.get("hx-request") == "true":
        return Response(status_code=204, headers={"hx-redirect": address})
    return RedirectResponse(address, 303)


def sign_in_first(request: Request, error: Exception) -> Response:
    """Answer who has to sign in first."""
    assert isinstance(error, SignInNeeded)
    back = f"?next={quote(error.back, safe='/')}" if error.back not in ("", HOME) else ""
    return see_other(request, SIGN_IN + back)


async def _checked_form(request: Request, owner: str) -> Form:
    """What a form has sent, if it came from a page that this browser was shown."""
    form, door = await read_form(request), request.app.state.door
    sent = request.headers.get("x-csrf-token") or form["csrf"]
    if not cookies.is_from_here(request) or not cookies.is_right_token(door.secret, owner, sent):
        raise ProblemError("malformed", "The form is too old, or came from another site.", "csrf")
    return form


def _address(request: Request) -> str:
    """The page that was asked for, to go back to."""
    if request.headers.get("hx-request") == "true":
        return ""
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")
