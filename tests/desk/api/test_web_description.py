"""Every route says who may use it, has an example, and answers as it is described."""

import re
from functools import cache

import msgspec
import pytest
from desk_described import examples_of_requests, longer, try_description
from desk_served import served
from desk_web import SHAPE, check_problem

from rarefind.desk import messages
from rarefind.desk.api.roles import ROLES

OPEN = {"/healthz", "/readyz", "/metrics"}


@cache
def _routes(app):
    from rarefind.desk.api.described import describe_web

    described = describe_web(app, "cards")
    return [
        (method.upper(), path, route)
        for path, methods in described["paths"].items()
        for method, route in methods.items()
    ]


def filled(path):
    """An address with something in the place of its names."""
    return re.sub(r"\{(\w+)\}", lambda found: "card" if found[1] == "entity" else "1", path)


def test_no_route_is_open_but_those_without_personal_data(web):
    closed = [each for each in _routes(web.app) if each[1] not in OPEN]
    assert len(closed) > 40
    for method, path, route in closed:
        answer = web.ask(method, filled(path), None)
        check_problem(answer, 401, "unknown-token")
        check_problem(web.ask(method, filled(path), "ingest"), 403, "not-allowed")
        for role in ROLES:
            status = web.ask(method, filled(path), role).status_code
            assert (status == 403) == (role not in route["x-roles"]), (method, path, role)


def test_a_request_without_a_right_token_changes_nothing(web):
    for method, path, _ in _routes(web.app):
        if method != "GET":
            web.ask(method, filled(path), "auditor", json={})
            web.ask(method, filled(path), None, json={})
    assert {row.action for row in web.door.control.audit.read()} == {"make token"}


def test_every_route_has_a_sentence_and_examples_that_are_what_they_show(web):
    described = web.get("/openapi.json", None).json()
    schemas = described["components"]["schemas"]
    for method, path, route in _routes(web.app):
        assert route["description"].endswith("."), path
        assert route["operationId"], path
        contents = [route["responses"]["200"]["content"]]
        if "requestBody" in route:
            contents.append(route["requestBody"]["content"])
        for content in contents:
            for kind, each in content.items():
                if kind == "application/json":
                    _check_example(each, path, method)
    for name in messages.__all__:
        assert name in schemas
    assert set(schemas["Problem"]["required"]) == SHAPE


def _check_example(content, path, method):
    assert "example" in content, (method, path)
    reference = content["schema"].get("$ref") or content["schema"].get("items", {}).get("$ref")
    if reference is None:
        return
    kind = getattr(messages, reference.rsplit("/", 1)[-1])
    is_list = "items" in content["schema"]
    msgspec.convert(content["example"], list[kind] if is_list else kind)


def test_the_web_process_answers_as_it_is_described(web):
    for card in ("card-7", "a/b", "<b>"):
        web.pay(card, 2000)
    web.door.control.lists.save("countries", ["FR"], "eve")
    web.door.control.rules.save("1", "amount > 5", "eve")
    with served(web.app) as url:
        token = web.tokens["admin"]
        assert try_description(url, token, examples=longer(2)) > 80


def test_examples_of_requests_are_taken(web):
    web.pay("card-7", 2000, id="a1")
    web.door.tokens.make("eve", "expert", 1)
    taken = {}
    for path, method, body in examples_of_requests(web.get("/openapi.json", None).json()):
        taken[method, path] = web.ask(method, filled(path), "admin", json=body)
    refused = {each: answer.text for each, answer in taken.items() if answer.status_code != 200}
    # What needs something that is not there, or a name of the world outside.
    assert {path for _, path in refused} <= {
        "/cases/{case}/verdict",
        "/models/{digest}/promote",
        "/rules/{name}/role",
        "/lists/{name}/add",
        "/lists/{name}/remove",
        "/blocks/{block}/lift",
        "/cases/{case}/snooze",
        "/settings/{name}",
    }, refused


@pytest.mark.parametrize("path", sorted(OPEN))
def test_what_is_open_needs_no_token(web, path):
    assert web.get(path, None).status_code == 200
