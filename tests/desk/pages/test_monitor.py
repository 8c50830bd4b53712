"""Monitoring: days, recall, drift, latency and parity, as people see them."""

import pytest
from desk_pages import text_of
from desk_web import NOON
from desk_worker import count_days

from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Position
from rarefind.desk.measures.drift import DriftMeasure
from rarefind.desk.parity import ParityDay

DAY = 86_400 * 10**9


def test_an_empty_desk_has_a_page(web):
    said = text_of(web.visit("/desk/monitoring"))
    assert "No check has come to a result." in said
    assert "The first night is yet to come." in said
    assert "No decision was timed yet." in said


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_says_what_was_found(web, language):
    for card in ("c1", "c2", "c3"):
        web.pay(card)
    for card, verdict in (("c1", "fraud"), ("c2", "genuine")):
        case = web.case_of(card)
        web.door.cases.take(case, "ann")
        web.door.cases.decide(case, "ann", verdict)
    web.door.parity.add([ParityDay("2026-01-30", 680_000, 0, 0, None)], Position(1, b""), 0)
    web.door.figures.latency.add("2026-01-31", (0.005, 0.01), (980, 15, 5))
    count_days(web)
    page = web.visit("/desk/monitoring?days=7", headers={"accept-language": language})
    said = text_of(page)
    assert page.status_code == 200
    if language == "en":
        assert "50%" in said
        assert "0 of 680,000 differ" in said
        assert "≤ 10 ms" in said  # 99 of 100 answers
        assert "99.50%" in said
        assert "large" in said  # the rule has a line of its own
    else:
        assert "0 sur 680 000 diffèrent" in said
        assert "50 %" in said


def test_only_known_lengths_are_shown(web):
    for asked in ("3", "-1", "x", "9" * 30):
        assert web.visit(f"/desk/monitoring?days={asked}").status_code == 200


def test_drift_is_measured_beside_the_weeks_before(web):
    for number in range(60):
        web.clock.set(NOON - (20 * DAY if number < 40 else DAY))
        made = "2026-01-11T12:00:00Z" if number < 40 else "2026-01-30T12:00:00Z"
        amount = 10 + number % 7 if number < 40 else 700 + number % 7
        web.pay(f"c{number % 9}", amount=amount, time=made)
    web.clock.set(NOON)
    assert "Nothing is compared yet" in text_of(web.visit("/desk/monitoring"))
    measure = DriftMeasure(
        web.database,
        web.door.ledger,
        web.door.control.models,
        web.door.models,
        Intake(web.schema),
        web.clock,
    )
    measure.run()
    said = text_of(web.visit("/desk/monitoring"))
    assert "20 transactions of" in said
    assert "beside the four weeks before" in said
    assert "amount Changed" in said
