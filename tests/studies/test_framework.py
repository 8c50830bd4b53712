"""How any study runs, stops, goes on and reports."""

import sys
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest

from studies import Results, run_study
from studies import published as published_figures
from studies.catalogue import About
from studies.gamma_knn import STUDY as GAMMA_KNN
from studies.published import published
from studies.report import Claim, Report, write_report
from studies.sets import Sets
from studies.study import Part, Row, Study
from studies.tables import beside, compare, rounded, standard_error


class Toy(Study):
    """Two sets, two methods, a value a run."""

    about = About("toy", "A toy", "nobody", 3)

    def __init__(self, stops_at=None):
        self.ran = []
        self._stops_at = stops_at

    def parts(self, sets, runs, quick):
        return [Part(name, run) for run in range(runs) for name in ("a", "b")]

    def run(self, part, sets, quick):
        if len(self.ran) == self._stops_at:
            raise KeyboardInterrupt
        self.ran.append(part)
        value = 0.5 + 0.1 * (part.dataset == "b") + 0.01 * part.run
        return [Row("ours", "F1", value, 1), Row("theirs", "F1", value - 0.1, 1)]

    def report(self, found, quick):
        report = Report(self.title, "A toy.")
        published_values = pd.DataFrame(
            [
                {"dataset": "a", "method": "OURS", "metric": "F1", "k": 1, "value": 0.5},
                {"dataset": "c", "method": "OURS", "metric": "F1", "k": 1, "value": 0.9},
            ]
        )
        table = beside(found, published_values, "F1", 1, {"ours": "OURS"})
        line = table.means().set_index("method").loc["ours"]
        report.claims.append(
            Claim("As good.", bool(line["difference"] >= 0), f"{line['ours']:.3f}")
        )
        report.table("Means", rounded(table.means()))
        report.table("Sets", table.listed(["ours"]))
        report.picture("line", "A line.", lambda figure: figure.add_subplot().plot([0, 1]))
        return report


def test_a_study_that_was_stopped_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_study(Toy(stops_at=3), tmp_path)
    kept = Results(Toy(), tmp_path)
    assert kept.done() == {Part("a", 0), Part("b", 0), Part("a", 1)}
    rest = Toy()
    found = run_study(rest, tmp_path)
    assert rest.ran == [Part("b", 1), Part("a", 2), Part("b", 2)]
    whole = run_study(Toy(), tmp_path / "elsewhere")
    order = ["dataset", "run", "method"]
    pd.testing.assert_frame_equal(
        *(t.sort_values(order, ignore_index=True) for t in (found, whole))
    )
    nothing = Toy()
    run_study(nothing, tmp_path)
    assert nothing.ran == []


def test_more_runs_are_added_and_fewer_are_shown(tmp_path):
    assert len(run_study(Toy(), tmp_path, runs=1)) == 4
    more = Toy()
    assert len(run_study(more, tmp_path, runs=2)) == 8
    assert more.ran == [Part("a", 1), Part("b", 1)]
    assert set(run_study(Toy(), tmp_path, runs=1)["run"]) == {0}


def test_values_of_another_protocol_are_not_used(tmp_path):
    run_study(Toy(), tmp_path, runs=1)
    newer = Toy()
    newer.protocol = 2
    run_study(newer, tmp_path, runs=1)
    assert len(newer.ran) == 2
    older = Toy()
    assert len(run_study(older, tmp_path, runs=1)) == 4
    assert older.ran == [], "they are still in the file"


def test_what_two_processes_add_is_kept(tmp_path):
    one, two = Results(Toy(), tmp_path), Results(Toy(), tmp_path)
    for results, part in ((one, Part("a", 0)), (two, Part("b", 0)), (one, Part("a", 1))):
        results.add(part, [Row("ours", "F1", 0.5, 1)])
        results.write()
    assert Results(Toy(), tmp_path).done() == {Part("a", 0), Part("b", 0), Part("a", 1)}
    assert len(Results(Toy(), tmp_path).table()) == 3


def test_what_is_run_again_replaces_what_was_there(tmp_path):
    run_study(Toy(), tmp_path, runs=2)
    other = Results(Toy(), tmp_path)
    again = Toy()
    run_study(again, tmp_path, runs=1, again=True)
    assert again.ran == [Part("a", 0), Part("b", 0)]
    newer = Results(Toy(), tmp_path)
    newer.add(Part("a", 0), [Row("ours", "F1", 0.9, 1)])
    newer.write()
    # One that read the file before writes its own part only.
    other.add(Part("b", 1), [Row("ours", "F1", 0.8, 1)])
    other.write()
    found = Results(Toy(), tmp_path).table().groupby(["dataset", "run"])["value"].agg(list)
    assert found["a", 0] == [0.9]
    assert found["b", 1] == [0.8]
    assert len(found["b", 0]) == len(found["a", 1]) == 2


def test_a_part_without_values_and_a_study_without_runs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="gave no values"):
        Results(Toy(), tmp_path).add(Part("a", 0), [])
    with pytest.raises(ValueError, match="at least one"):
        run_study(Toy(), tmp_path, runs=0)


def test_a_method_without_published_values_is_averaged_over_the_same_sets(tmp_path):
    found = run_study(Toy(), tmp_path, runs=1)
    published_values = pd.DataFrame(
        [{"dataset": "a", "method": "ours", "metric": "F1", "k": 1, "value": 0.5}]
    )
    means = beside(found, published_values, "F1", 1).means().set_index("method")
    assert list(means["sets"]) == [1, 1]
    assert means.at["theirs", "ours"] == pytest.approx(0.4)


def test_the_standard_error_is_that_of_the_means_of_runs(tmp_path):
    found = run_study(Toy(), tmp_path)
    # The means of the three runs are 0.55, 0.56 and 0.57.
    error = standard_error(found, "ours", "F1", 1, ["a", "b"])
    assert error == pytest.approx(0.01 / np.sqrt(3))
    assert np.isnan(standard_error(found[found["run"] == 0], "ours", "F1", 1, ["a"]))


def test_processes_give_the_same_values(tmp_path):
    one = run_study(Toy(), tmp_path / "one")
    two = run_study(Toy(), tmp_path / "two", n_jobs=2)
    order = ["dataset", "run", "method"]
    pd.testing.assert_frame_equal(*(t.sort_values(order, ignore_index=True) for t in (one, two)))


def test_a_file_without_results_is_refused(tmp_path):
    (tmp_path / "toy.parquet").write_text("no table")
    with pytest.raises(ValueError, match="not a file of results: move it away"):
        run_study(Toy(), tmp_path)
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "toy.parquet")
    with pytest.raises(ValueError, match="not a file of results: move it away"):
        run_study(Toy(), tmp_path)


def test_a_study_without_data_says_so(tmp_path):
    class Nowhere(Toy):
        def parts(self, sets, runs, quick):
            return [Part(name, 0) for name in self.available(["dgfip-5-3"], sets)]

    with pytest.raises(ValueError, match="No data set of the study toy is at hand"):
        run_study(Nowhere(), tmp_path)


def test_values_stand_beside_the_published_ones_of_the_same_sets(tmp_path):
    found = run_study(Toy(), tmp_path)
    page = write_report(Toy().report(found, False), "toy", tmp_path, "make study …", found)
    text = page.read_text()
    assert "**Holds:** As good. 0.510" in text
    assert "| ours | 1 | 0.500 | 0.510 | +0.010 |" in text, "b has no published value, c is not run"
    assert "| a | 3 | 0.500 | 0.510 ± 0.010 | +0.010 |" in text
    assert "| b | 3 | – | 0.610 ± 0.010 | – |" in text
    assert "It rests on 3 runs of each of 2 sets: 12 values of 6 parts." in text
    assert "![A line.](toy-line.svg)" in text
    assert (tmp_path / "toy-line.svg").exists()


def test_ranks_wins_and_p_values_are_those_of_their_definitions():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.random((12, 3)), columns=["x", "y", "z"])
    found = pd.DataFrame(
        [
            {"dataset": f"s{i}", "run": 0, "measure": "AP", "k": 0, "method": m, "value": v}
            for i, row in values.iterrows()
            for m, v in row.items()
        ]
    )
    published_values = pd.DataFrame(columns=["dataset", "method", "metric", "k", "value"])
    standing = beside(found, published_values, "AP").standing("x").set_index("method")
    ranks = values.rank(axis=1, ascending=False)
    for m in values:
        assert standing.at[m, "mean rank"] == pytest.approx(ranks[m].mean())
        assert standing.at[m, "first on"] == (values.idxmax(axis=1) == m).sum()
        assert standing.at[m, "x ahead"] == (values["x"] > values[m]).sum()
    down = (
        beside(found, published_values, "AP")
        .standing("x", larger_is_better=False)
        .set_index("method")
    )
    assert down.at["x", "mean rank"] == pytest.approx(4 - standing.at["x", "mean rank"])
    gap = values["x"] - values["y"]
    against = compare(values["x"], values["y"])
    assert (against.ahead, against.behind) == ((gap > 5e-4).sum(), (gap < -5e-4).sum())
    assert np.isnan(compare(values["x"], values["x"]).p)


def test_a_wrong_published_value_is_noticed(monkeypatch, tmp_path):
    """The comparison is computed: with other figures it says something else."""
    rows = []
    for run in range(2):
        for name in published("000", "2.6")["dataset"].unique()[:5]:
            for k in (1, 3):
                for method in ("k-NN", "dupk-NN", "wk-NN", "cwk-NN", "kRNN", "LMNN", "γk-NN"):
                    rows += [(name, run, f"k={k}", method, m, 0.95, k) for m in ("F1", "BA")]
                    rows += [(name, run, f"k={k}", method, m, 0.95, k) for m in ("GM", "G1")]
                    rows.append((name, run, f"k={k}", method, "missed F1", 0.1, k))
                for method in ("γk-NN, grid", "SMOTE", "SMOTE + γk-NN"):
                    rows += [(name, run, f"k={k}", method, m, 0.9, k) for m in ("F1", "BA")]
                    rows += [(name, run, f"k={k}", method, m, 0.9, k) for m in ("GM", "G1")]
    names = ["dataset", "run", "what", "method", "measure", "value", "k"]
    found = pd.DataFrame(rows, columns=names).assign(params="{}", seconds=0.0)
    claim = GAMMA_KNN.report(found, False).claims[0]
    assert claim.holds
    right = published_figures.all_figures()
    wrong = right.assign(value=right["value"] + (right["method"] == "gammak-NN"))
    monkeypatch.setattr(published_figures, "all_figures", lambda: wrong)
    assert not GAMMA_KNN.report(found, False).claims[0].holds


def test_published_figures_go_by_our_names():
    table = published("000", "2.6")
    assert {"hayes-roth", "yeast-1_vs_7", "yeast-0-5-6-7-9_vs_4"} <= set(table["dataset"])
    assert "mean" not in set(table["dataset"])
    assert "redwinequality4" in set(published("003", "2")["dataset"])
    with pytest.raises(ValueError, match=r"No figures of table 9\.9"):
        published("000", "9.9")


def test_sets_come_from_the_folder_first(tmp_path):
    assert Sets().has("ecoli3")
    assert not Sets().has("oil")
    (tmp_path / "manifest.json").write_text('[{"name": "ecoli3", "file": "mine.csv"}]')
    (tmp_path / "mine.csv").write_text("f0,y\n1,0\n2,1\n3,0\n")
    own = Sets(tmp_path).load("ecoli3")
    assert own.X.tolist() == [[1], [2], [3]]
    assert own.y.tolist() == [False, True, False]
    assert len(Sets(tmp_path).load("glass4").X) == 214


def _add_parts(folder, name, parts):
    for run in range(parts):
        results = Results(Toy(), folder)
        results.add(Part(name, run), [Row("ours", "F1", 0.5, 1)])
        results.write()


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_processes_that_write_at_the_same_time_lose_no_part(tmp_path):
    work = [get_context("spawn").Process(target=_add_parts, args=(tmp_path, n, 20)) for n in "ab"]
    for process in work:
        process.start()
    for process in work:
        process.join()
        assert process.exitcode == 0
    assert len(Results(Toy(), tmp_path).done()) == 40
