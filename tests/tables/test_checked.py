"""A list that comes back with verdicts: which column, which words, which rows."""

import numpy as np
import pandas as pd
import pytest

from rarefind import TableModel
from rarefind.tables import estimate_budget, monitor
from rarefind.tables.cells import safe_cells
from rarefind.trees import MetaAPClassifier


def payments(rng, n):
    amount = rng.lognormal(4, 1, n).round(2)
    return pd.DataFrame(
        {
            "claim": [f"C{i}" for i in range(n)],
            "amount": amount,
            "age": rng.integers(18, 90, n),
            "fraude": np.where(amount * rng.lognormal(0, 0.2, n) > 250, "Oui", "Non"),
        }
    )


@pytest.fixture(scope="module")
def model():
    table = payments(np.random.default_rng(0), 1500)
    return TableModel(MetaAPClassifier(random_state=0), target="fraude", id="claim").fit(table)


@pytest.fixture
def new():
    return payments(np.random.default_rng(1), 400)


@pytest.fixture
def listed(model, new):
    """The list of 20 rows with the true verdicts on the first 15."""
    found = model.rank(new, 20, reasons=False)
    verdict = new["fraude"].reindex(found.index).where(np.arange(20) < 15)
    return found.assign(verdict=verdict)


def counts(report):
    return report.checked.listed, report.checked.checked, report.checked.hits


def test_the_estimate_of_a_list_that_comes_back_is_that_of_the_fit():
    rng = np.random.default_rng(2)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(3000) % 60, unit="D")
    table = payments(rng, 3000).assign(date=days.sort_values())
    model = TableModel(
        MetaAPClassifier(random_state=0), target="fraude", id="claim", time="date"
    ).fit(table[:2000])
    model.estimate_ = estimate_budget(model, table[:2000], 3, per="day")
    new = table[2000:]
    found = model.rank(new, 3, per="day", reasons=False)
    back = found.assign(verdict=new["fraude"].reindex(found.index))
    expected = monitor(model, [new]).checked
    assert expected.held_out is not None
    assert monitor(model, [new], checked=back).checked.held_out == expected.held_out
    partly = back.assign(verdict=back["verdict"].where(np.arange(len(back)) % 10 > 0))
    assert monitor(model, [new], checked=partly).checked.held_out == expected.held_out
    other = monitor(model, [new], checked=back[:-9]).checked
    assert other.held_out != expected.held_out, "a list of fewer rows is judged as one list"


@pytest.mark.parametrize(
    "shape",
    [
        {"one_per": "customer"},
        {"per": "region"},
        {"per": "region", "one_per": "customer"},
        {"per": "day", "one_per": "customer"},
    ],
)
def test_a_list_of_groups_or_owners_is_judged_as_it_was_listed(shape):
    """Only lists of periods were: others were compared with one list of as many held-out rows."""
    rng = np.random.default_rng(3)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(3000) // 150, unit="D")
    table = payments(rng, 3000).assign(
        date=days, region=rng.choice(["a", "b"], 3000), customer=rng.integers(0, 80, 3000)
    )
    model = TableModel(
        *(MetaAPClassifier(random_state=0), "fraude"),
        **{"id": "claim", "time": "date", "entity": "customer"},
    ).fit(table[:2000])
    model.estimate_ = estimate_budget(model, table[:2000], 50, **shape)
    new = table[2000:]

    def held_out(given, **asked):
        verdict = new["fraude"].reindex(given.index)
        return monitor(model, [new], checked=given.assign(verdict=verdict), **asked).checked

    found = model.rank(new, 50, **shape, reasons=False)
    expected = monitor(model, [new]).checked
    assert expected.held_out is not None
    assert held_out(found) == expected
    # Another budget, or another shape than that of the fit.
    fewer = model.rank(new, 45, **shape, reasons=False)
    assert held_out(fewer) == monitor(model, [new], budget=45, **shape).checked
    by_week = model.rank(new, 35, per="week", one_per="customer", reasons=False)
    asked = {"per": "week", "one_per": "customer"}
    assert held_out(by_week, **asked) == monitor(model, [new], budget=35, **asked).checked


def test_the_list_is_judged_by_its_verdicts(model, new, listed):
    report = monitor(model, [new[:100], new[100:]], checked=listed)
    hits = int((listed["verdict"] == "Oui").sum())
    assert counts(report) == (20, 15, hits)
    assert "Of 20 rows on the list 15 have a verdict" in " ".join(report.because)
    assert monitor(model, [new], checked=listed, budget=5).checked.listed == 5
    changed = new.assign(fraude="Non")
    assert counts(monitor(model, [changed], checked=listed)) == (20, 15, hits), "the list decides"


@pytest.mark.parametrize(
    ("yes", "no"),
    [("OUI", "non "), ("yes", "no"), ("1", "0"), (1.0, 0.0), (True, False), ("Vrai", "faux")],
)
def test_words_for_verdicts(model, new, listed, yes, no):
    expected = counts(monitor(model, [new], checked=listed))
    words = listed["verdict"].map({"Oui": yes, "Non": no}).astype(object)
    again = listed.assign(verdict=words.where(words.notna(), ""))
    assert counts(monitor(model, [new], checked=again)) == expected


def test_the_column_with_the_verdicts(model, new, listed):
    expected = counts(monitor(model, [new], checked=listed))
    for name in ("fraude", "Verdict", "checked by Anne"):
        again = listed.rename(columns={"verdict": name}).assign(comment="called her")
        assert counts(monitor(model, [new], checked=again)) == expected, name
    named = listed.rename(columns={"verdict": "found"}).assign(verdict="maybe")
    assert counts(monitor(model, [new], checked=named, verdicts="found")) == expected
    with pytest.raises(ValueError, match="no column with verdicts: add one called verdict"):
        monitor(model, [new], checked=listed.drop(columns="verdict"))
    two = listed.rename(columns={"verdict": "first"}).assign(second="Non")
    with pytest.raises(ValueError, match=r"several columns .*, first, second: name one by --verdi"):
        monitor(model, [new], checked=two)


def test_identifiers_are_those_of_the_file(model, new, listed):
    """Written safely, as numbers beside missing ones, and without their zeros."""
    expected = counts(monitor(model, [new], checked=listed))
    formulas = "=" + new["claim"]
    again = safe_cells(listed.assign(claim="=" + listed["claim"]))
    assert again["claim"].iloc[0].startswith("'=")
    assert counts(monitor(model, [new.assign(claim=formulas)], checked=again)) == expected
    numbered = new.assign(claim=[f"{i:06d}" for i in range(400)])
    excel = listed.assign(claim=listed.index.astype(float)).reset_index(drop=True)
    assert counts(monitor(model, [numbered], checked=excel)) == expected


def test_rows_that_are_unknown_or_there_twice(model, new, listed):
    other = pd.concat([listed, listed.head(2).assign(claim=["X1", "X2"])])
    report = monitor(model, [new], checked=other)
    assert counts(report)[:2] == (20, 15)
    assert report.notes[0] == (
        "2 rows of the list are not in the file (first: X1), and are not counted."
    )
    with pytest.raises(ValueError, match=r"None of the 20 rows of the list is in the file \(first"):
        monitor(model, [new], checked=listed.assign(claim="X1"))
    twice = pd.concat([listed, listed.head(1)])
    report = monitor(model, [new], checked=twice)
    assert counts(report)[:2] == (20, 15)
    assert report.notes[0].startswith("1 row of the list is there again with the same verdict")
    other = {"Oui": "Non", "Non": "Oui"}[listed["verdict"].iloc[0]]
    name = listed["claim"].iloc[0]
    both = pd.concat([listed, listed.head(1).assign(verdict=other)])
    with pytest.raises(ValueError, match=f"two verdicts on {name}, a positive and a negative one"):
        monitor(model, [new], checked=both)


def test_an_identifier_of_several_rows(model, new, listed):
    same = new.assign(claim="C0")
    by_index = listed.assign(claim="C0")
    assert counts(monitor(model, [same], checked=by_index))[:2] == (20, 15), "the index tells"
    one = by_index.head(1).set_axis(["a"], axis=0)
    report = monitor(model, [same], checked=one)
    assert counts(report)[:2] == (1, 1)
    assert report.notes[0] == (
        "1 identifier of the list is found on more than one row of the file (first: C0): the "
        "verdict is taken for the row that ranks highest."
    )


def test_a_word_that_is_no_verdict(model, new, listed):
    listed.loc[listed.index[3], "verdict"] = "peut-être"
    name = listed["claim"].iloc[3]
    with pytest.raises(ValueError, match=rf"verdict 'peut-être' on {name}: write Oui or Non, or"):
        monitor(model, [new], checked=listed)


def test_without_identifiers_rows_are_known_by_their_index(new):
    table = payments(np.random.default_rng(0), 1500).drop(columns="claim")
    model = TableModel(MetaAPClassifier(random_state=0), target="fraude").fit(table)
    new = new.drop(columns="claim")
    listed = model.rank(new, 20, reasons=False)
    listed["verdict"] = new["fraude"].reindex(listed.index)
    hits = int((listed["verdict"] == "Oui").sum())
    assert counts(monitor(model, [new], checked=listed)) == (20, 20, hits)
    listed.loc[listed.index[0], "verdict"] = "?!"
    with pytest.raises(ValueError, match=rf"verdict '\?!' on row {listed.index[0]}: "):
        monitor(model, [new], checked=listed)
