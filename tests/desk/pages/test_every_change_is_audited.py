"""Whatever changes something leaves a row of the audit log: every route of pages and of the API."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from desk.control.test_bring_models import fitted
from desk_pages import NOON, PASSWORD, _Asked

from rarefind.desk.control import ModelRow
from rarefind.desk.pages import cookies
from rarefind.desk.pages.site import page_routes

#: Routes that leave no row, and why.
WITHOUT = {
    "POST /desk/account": "how pages look to oneself",
    "POST /desk/account/theme": "how pages look to oneself",
    "POST /desk/queue/next": "who holds a case for minutes; the verdict says who had it",
    "POST /desk/cases/{case}/take": "who holds a case for minutes; the verdict says who had it",
    "POST /desk/cases/{case}/release": "who holds a case for minutes",
    "POST /desk/rules/try": "nothing is stored",
    "POST /desk/audit/verify": "nothing is stored",
    "POST /queue/next": "who holds a case for minutes; the verdict says who had it",
    "POST /cases/{case}/take": "who holds a case for minutes; the verdict says who had it",
    "POST /cases/{case}/release": "who holds a case for minutes",
    "POST /rules/try": "nothing is stored",
}


class Steps:
    """For each route something to send that changes something; and what has to be there before."""

    def __init__(self, web, folder):
        self.web, self.control, self.folder = web, web.door.control, folder
        self._numbers = itertools.count(1)

    def new(self, kind):
        return f"{kind}{next(self._numbers)}"

    def card(self):
        card = self.new("card")
        self.web.pay(card, 2000)
        return card

    def taken(self, person="admin"):
        case = self.web.case_of(self.card())
        self.web.door.cases.take(case, person)
        return case

    def rule(self):
        return self.control.rules.save(self.new("rule"), "amount > 7", "ann").name

    def list(self):
        name = self.new("list")
        self.control.lists.save(name, ["XX"], "ann")
        return name

    def model(self):
        random = np.random.default_rng(0)
        rows = pd.DataFrame({"amount": random.gamma(2, 30, 200).round(2)})
        rows["fraud"] = (rows["amount"] > 100).astype(int)
        fitted(self.folder / "model", rows)
        return self.folder / "model"

    def brought(self):
        """A model whose file nobody opens here."""
        digest, own = f"{next(self._numbers):064x}", (("amount",), 0.3, 0.3, "challenger")
        row = ModelRow(digest, "a model", "MetaAPClassifier", *own, NOON, "sam", NOON, "sam")
        with self.web.database.write() as writer:
            self.control.models._insert(writer, row)
        return digest

    def asked(self, kind):
        """A change that waits for a second person."""
        self.control.settings.change("alerts.second_person", True, "ann")
        if kind == "rules":
            self.control.rules.set_role(self.rule(), "blocking", "ann")
        elif kind == "models":
            self.control.models.promote(self.brought(), "ann")
        else:
            days = 100 + next(self._numbers)
            self.control.settings.change("retention.days", days, "ann")
        return self.control.requests.waiting(kind.removesuffix("s"))[0].id

    def block(self):
        return self.control.blocks.ask(self.card(), "ann").id

    def webhook(self):
        url = f"https://example.com/{self.new('in')}"
        return self.web.door.webhooks.make(url, ["alert.raised"], "ann")[0].id

    def token(self):
        name = self.new("token")
        self.web.door.tokens.make(name, "ingest", 1, "ann")
        return name

    def user(self):
        name = self.new("user")
        self.web.door.people.invite(name, "auditor", "admin")
        return name

    def claim(self):
        return self.web.door.claims.make(self.paid(), "not me").id

    def paid(self):
        return self.web.pay(self.new("card"), 2000).id

    def waiting_block(self):
        """A case whose entity somebody else wants blocked."""
        self.control.settings.change("alerts.second_person", True, "ann")
        card = self.card()
        self.control.blocks.ask(card, "ann")
        return self.web.case_of(card)

    def order(self):
        self.control.settings.change("alerts.second_person", True, "ann")
        return self.control.orders.erase("card", self.card(), "ann").id

    def page(self, path, **fields):
        return lambda: self.web.submit(path, "admin", **fields)

    def api(self, method, path, **body):
        return lambda: self.web.ask(method, path, "admin", json=body)


def rolled_back(steps):
    models = steps.control.models
    for digest in (steps.brought(), steps.brought()):
        models.promote(digest, "sam")
    return steps.page("/desk/models/roll-back", model=models.former().digest)


def signed_in(steps, password=PASSWORD):
    visitor = cookies.new_visitor()
    token = cookies.form_token(steps.web.door.secret, visitor)
    cookie = f"{cookies._name(_Asked(steps.web.app, 'http'), 'visitor')}={visitor}"
    data = {"name": "expert", "password": password, "csrf": token}
    return lambda: steps.web.ask(
        "POST", "/desk/sign-in", None, data=data, headers={"cookie": cookie}
    )


def welcomed(steps):
    link = steps.web.door.people.invite(steps.new("user"), "auditor", "admin")
    visitor = cookies.new_visitor()
    cookie = f"{cookies._name(_Asked(steps.web.app, 'http'), 'visitor')}={visitor}"
    token = cookies.form_token(steps.web.door.secret, visitor)
    data = {"name": "", "password": PASSWORD, "password_again": PASSWORD, "csrf": token}
    return lambda: steps.web.ask(
        "POST", f"/desk/welcome/{link}", None, data=data, headers={"cookie": cookie}
    )


def other_session(steps):
    user = steps.web.door.people.users.get("admin")
    with steps.web.database.write() as writer:
        steps.web.door.people.sessions.begin(writer, user, "", "")
    sessions = steps.web.door.people.sessions.of(user)
    own = steps.web.door.people.sessions.find(steps.web.sessions["admin"])[1].id
    other = next(each.id for each in sessions if each.id != own)
    return steps.page(f"/desk/account/sessions/{other}/end")


def sent_model(steps):
    content = steps.model().read_bytes()
    kind = {"content-type": "application/octet-stream"}
    return lambda: steps.web.ask("POST", "/models", "admin", content=content, headers=kind)


NEW_PASSWORD = {
    "present_password": PASSWORD,
    "password": "four green herons",
    "password_again": "four green herons",
}
LATER = "2026-02-02T09:00:00Z"
DOES = {
    "POST /desk/sign-in": signed_in,
    "POST /desk/welcome/{link}": welcomed,
    "POST /desk/account/sessions/{session}/end": other_session,
    "POST /desk/cases/{case}/snooze": lambda s: s.page(
        f"/desk/cases/{s.taken()}/snooze", length="1D"
    ),
    "POST /desk/cases/{case}/verdict": lambda s: s.page(
        f"/desk/cases/{s.taken()}/verdict", verdict="fraud"
    ),
    "POST /desk/cases/{case}/note": lambda s: s.page(f"/desk/cases/{s.taken()}/note", note="x"),
    "POST /desk/cases/{case}/block": lambda s: s.page(f"/desk/cases/{s.taken()}/block"),
    "POST /desk/rules/edit": lambda s: s.page(
        "/desk/rules/edit", name=s.new("rule"), text="amount > 8", based_on="0"
    ),
    "POST /desk/rules/role": lambda s: s.page("/desk/rules/role", name=s.rule(), role="scoring"),
    "POST /desk/rules/proposals": lambda s: s.page("/desk/rules/proposals"),
    "POST /desk/users": lambda s: s.page("/desk/users", name=s.new("user"), role="auditor"),
    "POST /desk/users/{name}/role": lambda s: s.page(f"/desk/users/{s.user()}/role", role="expert"),
    "POST /desk/users/{name}/reset": lambda s: s.page(f"/desk/users/{s.user()}/reset"),
    "POST /desk/users/{name}/disable": lambda s: s.page(f"/desk/users/{s.user()}/disable"),
    "POST /desk/tokens": lambda s: s.page("/desk/tokens", name=s.new("token"), role="ingest"),
    "POST /desk/tokens/{name}/revoke": lambda s: s.page(f"/desk/tokens/{s.token()}/revoke"),
    "POST /desk/settings/change/{name}": lambda s: s.page(
        "/desk/settings/change/alerts.budget", value="44"
    ),
    "POST /desk/settings/reset/{name}": lambda s: s.page("/desk/settings/reset/alerts.budget"),
    "POST /desk/settings/webhooks": lambda s: s.page(
        "/desk/settings/webhooks", url="https://example.com/x", events="alert.raised"
    ),
    "POST /desk/settings/webhooks/{webhook}/remove": lambda s: s.page(
        f"/desk/settings/webhooks/{s.webhook()}/remove"
    ),
    "POST /desk/models/roll-back": rolled_back,
    "POST /desk/models/{digest}/promote": lambda s: s.page(f"/desk/models/{s.brought()}/promote"),
    "POST /desk/models/{digest}/retire": lambda s: s.page(f"/desk/models/{s.brought()}/retire"),
    "POST /desk/entities/{entity}/{key}/export": lambda s: s.page(
        f"/desk/entities/card/{s.card()}/export"
    ),
    "POST /cases/{case}/snooze": lambda s: s.api("POST", f"/cases/{s.taken()}/snooze", until=LATER),
    "POST /cases/{case}/verdict": lambda s: s.api(
        "POST", f"/cases/{s.taken()}/verdict", verdict="genuine"
    ),
    "POST /claims": lambda s: s.api("POST", "/claims", transaction=s.paid()),
    "POST /claims/{claim}/confirm": lambda s: s.api("POST", f"/claims/{s.claim()}/confirm"),
    "POST /claims/{claim}/reject": lambda s: s.api("POST", f"/claims/{s.claim()}/reject"),
    "POST /entities/{entity}/{key}/erase": lambda s: s.api(
        "POST", f"/entities/card/{s.card()}/erase"
    ),
    "PUT /rules/{name}": lambda s: s.api("PUT", f"/rules/{s.new('rule')}", text="amount > 9"),
    "POST /rules/{name}/role": lambda s: s.api("POST", f"/rules/{s.rule()}/role", role="scoring"),
    "PUT /lists/{name}": lambda s: s.api("PUT", f"/lists/{s.new('list')}", values=["XX"]),
    "DELETE /lists/{name}": lambda s: s.api("DELETE", f"/lists/{s.list()}"),
    "POST /lists/{name}/add": lambda s: s.api("POST", f"/lists/{s.list()}/add", values=["YY"]),
    "POST /lists/{name}/remove": lambda s: s.api(
        "POST", f"/lists/{s.list()}/remove", values=["XX"]
    ),
    "POST /blocks": lambda s: s.api("POST", "/blocks", key=s.card()),
    "POST /blocks/{block}/lift": lambda s: s.api("POST", f"/blocks/{s.block()}/lift"),
    "POST /models": sent_model,
    "POST /models/{digest}/promote": lambda s: s.api("POST", f"/models/{s.brought()}/promote"),
    "POST /models/{digest}/retire": lambda s: s.api("POST", f"/models/{s.brought()}/retire"),
    "PUT /settings/{name}": lambda s: s.api("PUT", "/settings/alerts.budget", value=45),
    "DELETE /settings/{name}": lambda s: s.api("DELETE", "/settings/alerts.budget"),
    "POST /webhooks": lambda s: s.api(
        "POST", "/webhooks", url="https://example.com/y", events=["alert.raised"]
    ),
    "DELETE /webhooks/{webhook}": lambda s: s.api("DELETE", f"/webhooks/{s.webhook()}"),
    "POST /tokens": lambda s: s.api("POST", "/tokens", name=s.new("token"), role="ingest"),
    "POST /tokens/{name}/revoke": lambda s: s.api("POST", f"/tokens/{s.token()}/revoke"),
    # From here on the desk wants a second person.
    "POST /desk/cases/{case}/block/{answer}": lambda s: s.page(
        f"/desk/cases/{s.waiting_block()}/block/approve"
    ),
    **{
        f"POST {'/desk' * page}/changes/{kind}/{{change}}/{answer}": (
            lambda s, page=page, kind=kind, answer=answer: (
                s.page(f"/desk/changes/{kind}/{s.asked(kind)}/{answer}")
                if page
                else s.api("POST", f"/changes/{kind}/{s.asked(kind)}/{answer}")
            )
        )
        for page in (1, 0)
        for kind in ("rules", "models", "settings")
        for answer in ("approve", "reject")
    },
    "POST /blocks/{block}/approve": lambda s: s.api("POST", f"/blocks/{s.block()}/approve"),
    "POST /blocks/{block}/reject": lambda s: s.api("POST", f"/blocks/{s.block()}/reject"),
    "POST /orders/{order}/approve": lambda s: s.api("POST", f"/orders/{s.order()}/approve"),
    "POST /orders/{order}/reject": lambda s: s.api("POST", f"/orders/{s.order()}/reject"),
    # These end the session that the others need.
    "POST /desk/account/password": lambda s: s.page("/desk/account/password", **NEW_PASSWORD),
    "POST /desk/sign-out": lambda s: lambda: s.web.submit("/desk/sign-out", "expert"),
    "POST /desk/sign-out-everywhere": lambda s: (
        lambda: s.web.submit("/desk/sign-out-everywhere", "auditor")
    ),
}


def changing_routes(web):
    for route in page_routes():
        yield f"{route.method} {route.path}"
    for path, methods in web.get("/openapi.json", None).json()["paths"].items():
        yield from (f"{method.upper()} {path}" for method in methods)


def test_every_route_that_changes_something_leaves_a_row_of_the_log(web, tmp_path):
    known = {route for route in changing_routes(web) if not route.startswith("GET ")}
    assert known == {*DOES, *WITHOUT}
    assert not {*DOES} & {*WITHOUT}
    steps, audit = Steps(web, tmp_path), web.door.control.audit
    for route, does in DOES.items():
        send = does(steps)
        before = audit.last.sequence
        answer = send()
        assert answer.status_code in (200, 303), (route, answer.status_code, answer.text[:500])
        rows = audit.read(before)
        assert rows, f"{route} has changed something, and the audit log does not say so"
        assert not any(re.search(r"card\d", f"{row.subject}{row.detail}") for row in rows), route
    assert audit.verify().is_whole


def test_an_attempt_to_sign_in_that_fails_is_in_the_log_without_a_wrong_name(web, tmp_path):
    steps, audit = Steps(web, tmp_path), web.door.control.audit
    assert signed_in(steps, "not the password")().status_code == 422
    row = audit.newest(limit=1)[0]
    assert (row.person, row.action) == ("expert", "fail to sign in")
    with pytest.raises(ValueError, match="is wrong"):
        web.door.people.sign_in("my secret password", "x", "", "")
    assert "my secret" not in str(audit.newest(limit=1)[0])
