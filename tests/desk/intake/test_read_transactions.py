"""JSON becomes a checked transaction, or a refusal that names what is wrong and where."""

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.desk import Schema
from rarefind.desk.intake import Intake, IntakeError

TEXT = """
name = "cards"
[transaction]
id = "id"
time = "time"
amount = "amount"
outcome = "checked"
time_zone = "Europe/Paris"
[transaction.columns]
country = "text"
ecommerce = "boolean"
"card limit" = "number"
opened = "time"
[entities.card]
column = "card"
distinct = ["terminal", "country"]
[entities.terminal]
column = "terminal"
[alerts]
entity = "card"
[limits]
text = 40
batch = 5
body = 20_000
"""
SCHEMA = Schema.from_text(TEXT)
INTAKE = Intake(SCHEMA)
SENT = {
    "id": "a1",
    "time": "2026-01-31T12:30:00Z",
    "amount": 12.34,
    "card": "c7",
    "terminal": "t1",
    "checked": "accepted",
    "country": "FR",
    "ecommerce": False,
}


def read(**changes):
    return INTAKE.decode(json.dumps(SENT | changes).encode()).transactions[0]


def refusal(body):
    with pytest.raises(IntakeError) as caught:
        INTAKE.decode(body)
    return caught.value.refusal


def test_a_transaction_is_read():
    found = read()
    assert found.id == "a1"
    assert found.time == 1_769_862_600 * 10**9
    assert found.amount == 1234
    assert found.entities == ("c7", "t1")
    assert found.accepted
    assert found.values["card limit"] is None
    assert found.values["time"] == datetime(2026, 1, 31, 13, 30, tzinfo=ZoneInfo("Europe/Paris"))
    assert found.values["time"].hour == 13
    assert json.loads(found.body) == SENT
    assert not read(checked="wrong pin").accepted


def test_a_list_is_a_batch():
    one = INTAKE.decode(json.dumps(SENT).encode())
    many = INTAKE.decode(b" " + json.dumps([SENT, SENT | {"id": "a2"}]).encode())
    assert not one.is_batch
    assert many.is_batch
    assert [each.id for each in many.transactions] == ["a1", "a2"]
    assert many.transactions[0] == one.transactions[0]


def test_what_is_missing_is_the_same_as_null():
    without = {name: value for name, value in SENT.items() if name != "country"}
    absent = INTAKE.decode(json.dumps(without).encode()).transactions[0]
    assert absent == read(country=None)
    assert b"country" not in absent.body


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-01-31T13:30:00", "2026-01-31T12:30:00Z"),
        ("2026-07-31 13:30:00", "2026-07-31T11:30:00Z"),
        ("2026-01-31T18:00:00+05:30", "2026-01-31T12:30:00Z"),
        ("2026-01-31T12:30:00.123456789Z", "2026-01-31T12:30:00.123457Z"),
    ],
)
def test_times_are_instants(written, instant):
    assert read(time=written) == read(time=instant)


def test_minus_zero_is_zero():
    assert read(amount=-0.0).body == read(amount=0).body
    assert read(**{"card limit": -0.0}).body == read(**{"card limit": 0}).body


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE ledger; --",
        "<script>alert(1)</script>",
        "{{ 7 * 7 }}",
        "Zürich 東京 🙂",
        "\xa0",
    ],
)
def test_texts_are_data(text):
    assert read(country=text, card=text).values["country"] == text
    assert read(card=text).entities[0] == text


BAD = [
    ({"amont": 1}, "amont", "There is no column 'amont': did you mean 'amount'?"),
    ({"amount": "12.34"}, "amount", "'amount' needs a number, and a text was sent"),
    ({"amount": True}, "amount", "needs a number, and true or false was sent"),
    ({"amount": None}, "amount", "needs a number, and null was sent"),
    ({"amount": [1]}, "amount", "needs a number, and a list was sent"),
    ({"amount": 12.345}, "amount", "more than 2 digits after the decimal point"),
    ({"amount": 0.1 + 0.2}, "amount", "more than 2 digits after the decimal point"),
    ({"amount": 2**70}, "amount", "too large to be kept exactly"),
    ({"amount": 10**13 + 1}, "amount", "too large to be kept exactly"),
    ({"card limit": 2**70}, "card limit", "too large to be kept exactly"),
    ({"card limit": "much"}, "card limit", "needs a number, and a text was sent"),
    ({"id": 7}, "id", "needs a text in quotes, and a number was sent"),
    ({"id": ""}, "id", "'id' is empty"),
    ({"card": ""}, "card", "'card' is empty"),
    ({"card": None}, "card", "null was sent"),
    ({"country": "x" * 41}, "country", "has 41 characters; at most 40 are taken"),
    ({"country": "a\x00b"}, "country", "control character U+0000 as character 2"),
    ({"country": "a\x85b"}, "country", "control character U+0085"),
    ({"card": "a\nb"}, "card", "control character U+000A"),
    ({"card": "a\x7f"}, "card", "control character U+007F"),
    ({"ecommerce": 1}, "ecommerce", "needs true or false, and a number was sent"),
    ({"time": "yesterday"}, "time", "needs a time as 2026-01-31T12:30:00Z"),
    ({"time": 1769862600}, "time", "needs a time as 2026-01-31T12:30:00Z, and a number was sent"),
    ({"time": "0001-01-01T00:00:00Z"}, "time", "year 1; years from 1678 to 2261 are taken"),
    ({"time": "9999-12-31T23:59:59Z"}, "time", "year 9999"),
    ({"opened": "9999-12-31T23:59:59"}, "opened", "year 9999"),
    ({"time": "2026-02-30T00:00:00Z"}, "time", "needs a time"),
    ({"country": {"a": {"b": 1}}}, "country", "an object was sent"),
]


@pytest.mark.parametrize(("change", "where", "message"), BAD)
def test_what_does_not_fit_is_refused(change, where, message):
    one = refusal(json.dumps(SENT | change).encode())
    assert (one.kind, one.where) == ("invalid", where)
    assert message in one.detail
    batch = refusal(json.dumps([SENT, SENT, SENT, SENT | change]).encode())
    assert batch.where == f"transactions[3].{where}"
    assert batch.detail == one.detail


def test_a_needed_column_is_named():
    without = {name: value for name, value in SENT.items() if name != "card"}
    found = refusal(json.dumps(without).encode())
    assert found.where == "card"
    assert found.detail == "The column 'card' is missing: send it."


PLAIN = json.dumps(SENT).encode()


@pytest.mark.parametrize(
    ("body", "kind", "where", "message"),
    [
        (b"", "malformed", "", "The body is not JSON: input data was truncated."),
        (PLAIN.replace(b"12.34", b"NaN"), "malformed", "", "not JSON"),
        (PLAIN.replace(b"12.34", b"Infinity"), "malformed", "", "not JSON"),
        (
            PLAIN.replace(b"12.34", b"1e400"),
            "invalid",
            "amount",
            "The number in 'amount' is too large",
        ),
        (PLAIN.replace(b"12.34", b"9" * 5000), "invalid", "amount", "too large"),
        (PLAIN.replace(b'"c7"', rb'"\ud800"'), "malformed", "", "surrogate"),
        (PLAIN.replace(b'"c7"', b'"\xed\xa0\x80"'), "malformed", "", "not UTF-8"),
        (PLAIN.replace(b'"c7"', b'"\xff"'), "malformed", "", "not UTF-8"),
        (PLAIN.replace(b'"c7"', b'"a\nb"'), "malformed", "", "not JSON"),
        (PLAIN + b"x", "malformed", "", "trailing characters"),
        (b"[" * 10_000, "invalid", "transactions[0]", "A transaction is an object, and a list was"),
        (b'{"country": ' + b"[" * 10_000, "invalid", "country", "a list was sent"),
        (b'{"deep": ' + b"[" * 10_000, "invalid", "deep", "There is no column 'deep'"),
        (b"null", "invalid", "", "A transaction is an object, and null was sent."),
        (b"[]", "invalid", "transactions", "The list is empty"),
        (b"[" + b",".join([PLAIN] * 6) + b"]", "large", "transactions", "at most 5 are taken"),
        (b" " * 20_001, "large", "", "The body has 20,001 bytes; at most 20,000 are taken."),
        (b"[" + PLAIN + b", 3]", "invalid", "transactions[1]", "and a number was sent"),
        (PLAIN[:-1] + b', "card": "c7"}', "invalid", "card", "sent twice"),
        (PLAIN[:-1] + b', "amount": 1}', "invalid", "amount", "sent twice"),
        (PLAIN[:-1] + rb', "c\u0061rd": "c7"}', "invalid", "card", "sent twice"),
        (PLAIN[:-1] + b', "opened": null, "opened": null}', "invalid", "opened", "sent twice"),
        (
            b"[" + PLAIN + b", " + PLAIN[:-1] + b', "id": "a2"}]',
            *("invalid", "transactions[1].id", "sent twice"),
        ),
    ],
)
def test_a_broken_request_is_refused(body, kind, where, message):
    found = refusal(body)
    assert (found.kind, found.where) == (kind, where)
    assert message in found.detail


def test_a_strange_name_is_shown_short_and_safe():
    found = refusal(json.dumps(SENT | {"\x1b[2J" + "x" * 500: 1}).encode())
    assert "\x1b" not in found.detail + found.where
    assert len(found.detail) < 200


texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)
zones = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
times = st.datetimes(
    datetime(1679, 1, 1), datetime(2260, 12, 31), timezones=st.one_of(st.none(), zones)
).map(datetime.isoformat)
sent = st.fixed_dictionaries(
    {
        "id": texts,
        "time": times,
        "amount": st.integers(-(10**15), 10**15).map(lambda cents: cents / 100),
        "card": texts,
        "terminal": texts,
        "checked": texts,
    },
    optional={
        "country": st.none() | texts,
        "ecommerce": st.none() | st.booleans(),
        "card limit": st.none()
        | st.floats(-(2**53) + 1, 2**53 - 1)
        | st.integers(-(2**53) + 1, 2**53 - 1),
        "opened": st.none() | times,
    },
)


@settings(max_examples=200, deadline=None)
@given(sent, st.randoms(), st.booleans())
def test_the_stored_body_is_the_same_transaction_in_any_order_of_keys(values, random, ascii_only):
    found = INTAKE.decode(json.dumps(values, ensure_ascii=ascii_only).encode()).transactions[0]
    assert found.amount == round(values["amount"] * 100)
    assert INTAKE.decode(found.body).transactions[0] == found
    assert INTAKE.stored(found.body) == found
    assert INTAKE.stored(found.body).body == found.body
    mixed = list(values.items())
    random.shuffle(mixed)
    again = INTAKE.decode(json.dumps(dict(mixed), indent=1).encode()).transactions[0]
    assert again == found
    for name in ("time", "opened"):
        if values.get(name):
            given_time = datetime.fromisoformat(values[name])
            if given_time.tzinfo is not None:
                assert found.values[name] == given_time.astimezone(UTC)


def test_a_stored_body_is_read_whatever_the_limits_are():
    short = Intake(Schema.from_text(TEXT.replace("text = 40", "text = 2")))
    with pytest.raises(IntakeError, match="at most 2 are taken"):
        short.decode(read().body)
    assert short.stored(read().body) == read()


def test_a_column_that_was_added_leaves_old_bodies_as_they_are():
    more = Intake(
        Schema.from_text(TEXT.replace('country = "text"', 'country = "text"\nage = "number"'))
    )
    found = more.stored(read().body)
    assert found.body == read().body
    assert found.values["age"] is None
