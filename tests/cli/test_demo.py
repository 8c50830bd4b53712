import json
import re
import sys

import numpy as np
import pytest

from rarefind.cli._demo import Demo, Result, verdict
from rarefind.metrics import Interval

# One small world with more fraud: every part of the demo, in seconds.
SMALL = ("--customers", "400", "--worlds", "1", "--one-in", "100")
OURS = "SGBAP (rarefind)"


@pytest.fixture(scope="module")
def small(installed, tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "page.html"
    result = installed("demo", *SMALL, "--json", "--report", str(page))
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), page


def test_machines_get_the_list_and_what_the_budget_finds(small):
    found, _ = small
    assert [row["rank"] for row in found["list"]] == list(range(1, 11))
    probabilities = [row["probability"] for row in found["list"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({row["customer"] for row in found["list"]}) == 10
    assert all(row["time"].startswith(found["day"]) for row in found["list"])
    assert all(row["reason"].startswith("Score ") for row in found["list"])
    assert found["ranked"]["days"] == 28
    pytest.importorskip("lightgbm")
    assert list(found["models"]) == [
        OURS,
        "XGBoost",
        "LightGBM, min_child_weight=1",
        "LightGBM",
    ]


def test_every_model_has_its_hits_with_an_interval(small):
    found, _ = small
    for name, model in found["models"].items():
        hits = model["hits_a_day"]
        assert 0 <= hits["low"] <= hits["value"] <= hits["high"] <= found["budget_a_day"]
        assert model["hits_a_day_by_world"] == pytest.approx([hits["value"]], abs=1e-3)
        if name == OURS:
            assert model["behind_ours"] is None
        else:
            ours = found["models"][OURS]["hits_a_day"]["value"]
            assert model["behind_ours"]["value"] == pytest.approx(ours - hits["value"], abs=1e-3)
    share = found["ranked"]["positives"] / found["ranked"]["rows"]
    assert found["models"][OURS]["average_precision"][0] > 10 * share


def test_the_page_stands_alone(small):
    _, path = small
    page = path.read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 2
    assert not re.search(r"""(src|href)=["']?https?:""", page), "nothing is fetched"
    assert "What the checks find" in page
    assert "columns kept out on purpose" in page
    assert "terminal" in page
    assert [p.name for p in path.parent.iterdir()] == ["page.html"]


def test_the_same_numbers_every_time(rarefind, small, tmp_path):
    found, page = small
    again = tmp_path / "again.html"
    result = rarefind("demo", *SMALL, "--report", str(again))
    assert result.returncode == 0, result.stderr
    assert again.read_bytes() == page.read_bytes()
    assert f"{found['models'][OURS]['average_precision'][0]:.3f}" in result.stdout
    assert result.stderr == "", "nobody watches, so no progress is shown"


def test_without_lightgbm_the_demo_goes_on_and_says_so(monkeypatch, tmp_path, capsys):
    from rarefind.cli import _demo, _demo_worlds

    monkeypatch.setattr(_demo_worlds, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    _demo.demo(
        report=tmp_path / "page.html", customers=400, worlds=1, one_in=100, seed=1, quiet=True
    )
    said = capsys.readouterr().out
    assert "XGBoost" in said
    assert "LightGBM is not installed and is left out" in said
    assert "LightGBM is not installed" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ((0.5, 0.2, 0.8), "SGBAP finds 0.50 (0.20 to 0.80) hits a day more than XGBoost."),
        ((0.1, -0.2, 0.4), "the difference is within noise"),
        ((-0.5, -0.8, -0.2), "SGBAP finds fewer hits than XGBoost"),
    ],
)
def test_the_verdict_is_what_the_figures_say(more, sentence):
    ours = Result(OURS, [0.5], Interval(4, 3, 5), [4.0], None)
    plain = Result("XGBoost", [0.5], Interval(4 - more[0], 3, 5), [4.0], Interval(*more))
    worse = Result("LightGBM", [0.5], Interval(1, 0, 2), [1.0], Interval(3, 2, 4))
    assert sentence in verdict(Demo(10, [], [ours, plain, worse], "", None))


def test_an_interval_holds_its_mean_and_shrinks_with_days():
    from rarefind.cli._demo_worlds import interval

    daily = np.random.default_rng(0).poisson(4, 1000).astype(float)
    few, many = interval(daily[:50]), interval(daily)
    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["demo", "--report", "/nowhere/at/all.html", *SMALL],
            "rarefind: There is no folder /nowhere/at",
        ),
        (["demo", "--budget", "many"], "budget"),
        (["demo", "--budget", "0"], "budget"),
        (["demo", "--customers", "10"], "customers"),
    ],
)
def test_mistakes_end_with_code_2(rarefind, arguments, message):
    result = rarefind(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
