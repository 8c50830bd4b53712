"""Pictures contain what they were given, escaped, in a form that a strict page shows."""

import re
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from rarefind.desk.charts import (
    Bar,
    Bin,
    ChartLine,
    Payment,
    Push,
    bars,
    calibration,
    day_lines,
    reason_bars,
    timeline,
)

BAD = "<script>alert(1)</script>\"'&{{7*7}}"


def drawn(text):
    """One of each, with a text wherever there is one."""

    def write(_):
        return text

    named = {"name": "n", "title": text, "description": text}
    return [
        timeline([Payment(1, 2.0), Payment(5, -9.0, "this")], **named, when=write, amount=write),
        day_lines([text] * 3, [ChartLine(text, [1, None, 2], [0, None, 1], [3, None, 4])],
                  **named, ripe=[True, True, False], number=write),
        bars([Bar(text, 3, 1, 5)], title=text, number=write),
        reason_bars([Push(text, 0.5), Push(text, 0.2, True)], title=text, share=write),
        calibration([Bin(0.2, 0.3, 10, 0.1, 0.6)], **named, share=write),
    ]  # fmt: skip


@pytest.mark.parametrize("which", range(5))
def test_every_text_is_escaped_and_nothing_needs_an_inline_style(which):
    html = str(drawn(BAD)[which])
    root = ElementTree.fromstring(html)
    tags = {each.tag for each in root.iter()}
    assert "script" not in tags
    assert "svg" in tags
    assert "table" in {root.tag, *tags}
    assert not any("style" in each.attrib for each in root.iter())
    assert not any(name.startswith("on") for each in root.iter() for name in each.attrib)
    assert any(BAD in (each.text or "") for each in root.iter())


@pytest.mark.parametrize(
    "chart",
    [
        timeline([], name="n", title="t"),
        timeline([Payment(7, 0.0)], name="n", title="t"),
        day_lines([], [ChartLine("a", [])], name="n", title="t"),
        day_lines(["d"], [ChartLine("a", [None])], name="n", title="t"),
        bars([], title="t"),
        bars([Bar("a", 0.0)], title="t"),
        reason_bars([], title="t"),
        calibration([], name="n", title="t"),
    ],
    ids=str,
)
def test_nothing_and_one_thing_can_be_drawn(chart):
    html = str(chart)
    ElementTree.fromstring(html)
    assert "nan" not in html
    assert "inf" not in html


def test_the_alert_is_drawn_above_the_others_and_told_first():
    payments = [Payment(1, 10.0), Payment(2, 500.0, "this"), Payment(3, 20.0)]
    html = str(timeline(payments, name="t", title="Payments", amount="{:.0f} €".format))
    dots = re.findall(r'class="chart-dot (\w+)"', html)
    assert dots == ["payment", "payment", "this"]
    assert '<desc id="t-desc">This alert: 500 €, 2</desc>' in html
    rows = re.findall(r'<th scope="row">(\d)</th><td>([^<]*)</td><td>([^<]*)</td>', html)
    assert rows == [
        ("3", "20 €", "Payment"),
        ("2", "500 €", "This alert"),
        ("1", "10 €", "Payment"),
    ]


def test_places_are_in_proportion():
    html = str(timeline([Payment(0, 25.0), Payment(10, 100.0)], name="t", title="t"))
    (x1, y1), (x2, y2) = re.findall(r'd="M([\d.]+) ([\d.]+)h0"', html)
    assert (float(x1), float(x2)) == (8.0, 992.0)
    assert (float(y1), float(y2)) == (180.0, 0.0)


def test_a_missing_day_is_a_gap_and_unripe_days_are_grey():
    line = ChartLine("hits", [1.0, 2.0, None, 4.0])
    html = str(day_lines(list("abcd"), [line], name="t", title="t", ripe=[1, 1, 1, 0]))
    assert len(re.findall("<polyline", html)) == 2
    assert html.count("<rect") == 1
    assert '<th scope="row">c</th><td>–</td>' in html
    assert "d (Labels not ripe yet)" in html


def test_what_lowers_goes_to_the_left():
    html = str(reason_bars([Push("up", 0.8), Push("down", 0.2, True)], title="Why"))
    up, down = re.findall(r'<rect x="([-\d.]+)" y="15" width="([\d.]+)"', html)
    assert (up, down) == (("0", "1000"), ("-250", "250"))
    assert "raises 80%" in html
    assert "lowers 20%" in html


def test_every_class_has_its_rule():
    used = set()
    for chart in drawn("x"):
        for names in re.findall(r'class="([^"]*)"', str(chart)):
            used.update(names.split())
    rules = files("rarefind.desk.charts").joinpath("charts.css").read_text(encoding="utf-8")
    rules += files("rarefind.desk.pages").joinpath("static", "desk.css").read_text(encoding="utf-8")
    # These only group what others colour.
    groups = {
        "chart",
        "chart-lines",
        "chart-timeline",
        "chart-calibration",
        "chart-bars",
        "chart-reasons",
    }
    missing = [name for name in sorted(used - groups) if f".{name}" not in rules]
    assert missing == []
