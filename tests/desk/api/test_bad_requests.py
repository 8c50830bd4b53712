import asyncio
import json

import pytest
from desk_in_memory import Desk, payment

from rarefind.desk import Schema
from rarefind.desk.api import limits

SHAPE = {"type", "title", "detail", "where"}


def check_problem(answer, status, kind):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == SHAPE
    assert body["type"] == kind
    assert body["detail"].endswith((".", "?"))
    return body


@pytest.mark.parametrize(
    ("body", "status", "kind", "where"),
    [
        (b"", 400, "malformed", ""),
        (b"{", 400, "malformed", ""),
        (b"\xff\xfe", 400, "malformed", ""),
        (b"[" * 20_000, 422, "invalid", "transactions[0]"),
        (b'{"a":' * 8_000 + b"1" + b"}" * 8_000, 422, "invalid", "a"),
        (b"[]", 422, "invalid", "transactions"),
        (b"7", 422, "invalid", ""),
        (payment(colour="red"), 422, "invalid", "colour"),
        ([payment(), payment(2, amount="12")], 422, "invalid", "transactions[1].amount"),
        (json.dumps(payment(amount=float("nan"))).encode(), 400, "malformed", ""),
        (json.dumps(payment()).replace("12.5", "1e400").encode(), 422, "invalid", "amount"),
        (json.dumps(payment()).replace("12.5", str(2**70)).encode(), 422, "invalid", "amount"),
        (payment(time="0001-01-01T00:00:00Z"), 422, "invalid", "time"),
        (payment(time="9999-12-31T23:59:59Z"), 422, "invalid", "time"),
        (payment(card="\x00"), 422, "invalid", "card"),
        (payment(card="c" * 257), 422, "invalid", "card"),
        ([payment(n) for n in range(101)], 413, "too-large", "transactions"),
        (b" " * 50_001, 413, "too-large", "body"),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, int) else str(value),
)
def test_a_wrong_body_is_told_in_a_sentence_and_nothing_is_stored(desk, body, status, kind, where):
    problem = check_problem(desk.post(body), status, kind)
    if where:
        assert problem["where"] == where
    assert not desk.decider.stored
    assert not desk.decider.groups


@pytest.mark.parametrize("text", ["'; DROP TABLE tokens; --", "<script>alert(1)</script>"])
def test_sql_and_html_in_a_text_are_only_text(desk, text):
    answer = desk.post(payment(id=text, card=text, terminal=text, country=text))
    assert answer.json()["id"] == text
    assert answer.headers["content-type"] == "application/json"


def test_a_hundred_megabytes_are_refused_before_they_are_read(desk):
    sent = 0

    async def body():
        nonlocal sent
        for _ in range(100):
            sent += 1_000_000
            yield b" " * 1_000_000

    async def send(client):
        return await client.post(
            "/transactions",
            content=body(),
            headers={"content-type": "application/json", "content-length": "100000000"},
        )

    check_problem(desk.do(send), 413, "too-large")

    async def send_without_length(client):
        return await client.post(
            "/transactions", content=body(), headers={"content-type": "application/json"}
        )

    check_problem(desk.do(send_without_length), 413, "too-large")
    assert sent < 100_000_000


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_another_content_type_is_refused(desk, kind):
    problem = check_problem(desk.post(payment(), content_type=kind), 415, "not-json")
    assert problem["where"] == "content-type"


def test_a_charset_may_be_named(desk):
    answer = desk.post(payment(), content_type="application/json; charset=utf-8")
    assert answer.status_code == 200


@pytest.mark.parametrize("header", ["Bearer wrong", "Basic eDp5", "Bearer", ""])
def test_a_wrong_token_is_refused(desk, header):
    answer = desk.post(payment(), authorization=header)
    check_problem(answer, 401, "unknown-token")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_token_of_another_role_may_not_send(desk):
    token = desk.door.tokens.make("eve", "auditor", 2)
    answer = desk.post(payment(), authorization=f"Bearer {token}")
    problem = check_problem(answer, 403, "not-allowed")
    assert problem["detail"] == (
        "A token of role auditor may not do this; it takes ingest or admin."
    )


def test_too_many_transactions_a_second_wait_for_their_turn(tmp_path):
    from desk_in_memory import TEXT

    desk = Desk(tmp_path, Schema.from_text(TEXT.replace("rate = 0", "rate = 10")))
    now = 0.0
    desk.door.limit = limits.RateLimit(10, lambda: now)
    assert desk.post([payment(n) for n in range(10)]).status_code == 200
    answer = desk.post(payment(11))
    check_problem(answer, 429, "too-many")
    assert answer.headers["retry-after"] == "1"
    assert "p11" not in desk.decider.stored
    now = 0.1
    assert desk.post(payment(11)).status_code == 200


def test_a_request_beyond_the_rate_is_answered_and_the_next_ones_wait():
    now = 0.0
    limit = limits.RateLimit(10, lambda: now)
    limit.spend("till", 25)
    now = 1.0
    with pytest.raises(Exception, match="Try again in 1 s"):
        limit.spend("till")
    limit.spend("other till")
    now = 1.7
    limit.spend("till")


@pytest.mark.parametrize("begins", [True, False])
def test_a_body_that_does_not_arrive_is_given_up(desk, monkeypatch, begins):
    monkeypatch.setattr(limits, "PATIENCE", 0.02)

    async def body():
        if begins:
            yield b"{"
        await asyncio.sleep(60)
        yield b"}"

    async def send(client):
        return await client.post(
            "/transactions", content=body(), headers={"content-type": "application/json"}
        )

    check_problem(desk.do(send), 408, "too-slow")


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [("GET", "/transactions", 405, "wrong-method"), ("GET", "/nothing", 404, "not-found")],
)
def test_a_wrong_address_has_the_same_shape(desk, method, path, status, kind):
    async def send(client):
        return await client.request(method, path)

    check_problem(desk.do(send), status, kind)


def test_logs_are_lines_of_json_without_what_was_sent(desk):
    desk.post(payment(card="4111-1111", colour="red"))
    (line,) = desk.log.getvalue().splitlines()
    found = json.loads(line)
    assert found["event"] == "refused"
    assert found["where"] == "colour"
    assert "4111" not in line


def test_a_mistake_of_ours_is_told_without_what_was_sent(tmp_path, monkeypatch):
    desk = Desk(tmp_path)

    def fail(body):
        raise RuntimeError(f"cannot read {body!r}")

    monkeypatch.setattr(desk.door.intake, "decode", fail)
    problem = check_problem(desk.post(payment(card="4111")), 500, "internal")
    assert "4111" not in problem["detail"]
    line = json.loads(desk.log.getvalue().splitlines()[-1])
    assert (line["event"], line["route"], line["error"]) == (
        "failed",
        "/transactions",
        "RuntimeError",
    )
    assert "4111" not in desk.log.getvalue()
