"""A real desk is sent what it cannot take: a sentence each, nothing stored, and it goes on."""

import json
import socket

import pytest
from desk.databases import KINDS
from desk_running import TEXT, new_database, payment, running

from rarefind.desk import Schema

SCHEMA = Schema.from_text(
    TEXT.replace(
        'country = "text"',
        'country = "text"\nonline = "boolean"\npoints = "number"\nborn = "time"',
    )
)
TEXTS = ("id", "card", "terminal", "country")
HOSTILE = (
    "'; DROP TABLE entries; --",
    '" OR 1=1 --',
    "<script>alert(1)</script>",
    "{{7*7}} ${7*7} %s :id",
    "../../etc/passwd",
    "‮ evil",
    "]],[",
    "\\u0000",
)


def raw(**values):
    """A payment whose values are written as they are given."""
    plain = {name: json.dumps(value) for name, value in payment().items()} | values
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in plain.items()) + "}").encode()


BAD = {
    "unknown column": (raw(colour='"red"'), "colour"),
    "number for a text": (raw(country="7"), "country"),
    "text for a number": (raw(points='"7"'), "points"),
    "text for an amount": (raw(amount='"12.5"'), "amount"),
    "number for a truth": (raw(online="1"), "online"),
    "number for a time": (raw(born="1770000000"), "born"),
    "list for a text": (raw(card='["c7"]'), "card"),
    "object for a number": (raw(points="{}"), "points"),
    "missing card": (raw(card="null"), "card"),
    "empty card": (raw(card='""'), "card"),
    "NaN": (raw(amount="NaN"), None),
    "Infinity": (raw(points="-Infinity"), None),
    "1e400": (raw(amount="1e400"), "amount"),
    "1e400 elsewhere": (raw(points="1e400"), "points"),
    "2^70": (raw(amount=str(2**70)), "amount"),
    "2^70 elsewhere": (raw(points=str(-(2**70))), "points"),
    "a part of a cent": (raw(amount="0.001"), "amount"),
    "year 1": (raw(time='"0001-01-01T00:00:00Z"'), "time"),
    "year 9999": (raw(time='"9999-12-31T23:59:59Z"'), "time"),
    "year 1 elsewhere": (raw(born='"0001-01-01T00:00:00+23:59"'), "born"),
    "year 9999 elsewhere": (raw(born='"9999-12-31T23:59:59-23:59"'), "born"),
    "the 31st of February": (raw(time='"2026-02-31T00:00:00Z"'), "time"),
    "deep": (raw(country="[" * 9_000 + "]" * 9_000), None),
    "deep objects": (raw(country='{"a":' * 9_000 + "1" + "}" * 9_000), None),
    "half a surrogate": (raw(card=r'"\ud800"'), None),
    "a NUL": (raw(card=r'"\u0000"'), "card"),
    "a key twice": (b'{"id": "a", ' + raw()[1:], "id"),
    "not UTF-8": (raw(card='"\xff"').decode().encode("latin-1"), None),
    "two documents": (raw() + raw(), None),
    "nothing": (b"", None),
}


@pytest.fixture(scope="module", params=KINDS)
def desk(request, tmp_path_factory):
    url = new_database() if request.param == "postgresql" else None
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        running(tmp_path_factory.mktemp("bad") / "desk", monkeypatch, schema=SCHEMA, url=url) as it,
    ):
        yield it.start()


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_and_not_stored(desk, name):
    body, where = BAD[name]
    before = desk.metric("rarefind_sequence")
    headers = {"content-type": "application/json"}
    for content in (body, b"[" + body + b"]"):
        answer = desk.client.post("/transactions", content=content, headers=headers)
        assert answer.status_code in (400, 422), answer.text
        problem = answer.json()
        assert problem["detail"].endswith((".", "?"))
        assert where is None or problem["where"] in (where, f"transactions[0].{where}")
    assert desk.metric("rarefind_sequence") == before


@pytest.mark.parametrize("text", HOSTILE)
def test_sql_and_html_are_only_text_in_every_field(desk, text):
    sent = payment() | dict.fromkeys(TEXTS, text)
    answer = desk.post(sent)
    assert answer.status_code == 200, answer.text
    assert answer.json()["id"] == sent["id"]
    (row,) = [row for row in desk.rows() if row.id == sent["id"]]
    assert row.entities == (text, text)
    assert json.loads(row.body) == sent
    assert desk.verify().is_whole


def test_a_hundred_megabytes_are_not_read(desk):
    before = desk.metric("rarefind_sequence")
    head = (
        f"POST /transactions HTTP/1.1\r\nhost: desk\r\nauthorization: Bearer {desk.token}\r\n"
        "content-type: application/json\r\ncontent-length: 100000000\r\n\r\n"
    )
    with socket.create_connection(desk.address, timeout=20) as sender:
        sender.sendall(head.encode() + b"[")
        assert sender.recv(4_096).startswith(b"HTTP/1.1 413 ")
    assert desk.post(payment("after")).status_code == 200
    assert desk.metric("rarefind_sequence") == before + 1
