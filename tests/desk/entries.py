"""Rows of a ledger, made from a number."""

from rarefind.desk.records import Entry, LabelEntry, Outcome


def entry(number, *, decision="accept", by="", score=0.25, alert="", card=None, day=0):
    """A transaction of one of seven cards at one of three terminals."""
    card = f"card {number % 7}" if card is None else card
    return Entry(
        sequence=number,
        id=f"transaction {number}",
        time=day * 86_400 * 10**9 + number * 10**9,
        arrived=day * 86_400 * 10**9 + number * 10**9 + 5,
        amount=number * 100,
        entities=(card, f"terminal {number % 3}"),
        body=b'{"id": "transaction %d"}' % number,
        features=bytes([number % 256]) * 16,
        outcome=Outcome(
            decision,
            by,
            ("first", "second")[: number % 3],
            score,
            1.5,
            alert,
            0.01,
            "rules",
            "model",
        ),
    )


def label(number, *, of=1, fraud=True, source="verdict", day=0):
    """A label of a transaction."""
    arrived = day * 86_400 * 10**9 + number * 10**9
    return LabelEntry(number, f"transaction {of}", arrived, fraud, source)
