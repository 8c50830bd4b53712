import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import rarefind
from rarefind import TableModel, load, save
from rarefind._core.files import MARK
from rarefind.data import read_table
from rarefind.neighbors import GammaKNNClassifier
from rarefind.rules import Condition, Reason
from rarefind.tables._reasons import Words
from rarefind.trees import MetaAPClassifier, MetaAPForestClassifier, TreeRankClassifier


def payments(n=300, seed=0):
    """Fraud is dear, abroad and at night; with text, dates and holes."""
    rng = np.random.default_rng(seed)
    fraud = np.arange(n) % 10 == 0
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 30 * 24, n), "h")
    table = pd.DataFrame(
        {
            "id": [f"T{i:04d}" for i in range(n)],
            "when": when,
            "card": rng.integers(0, 60, n),
            "amount": np.where(fraud, rng.normal(300, 40, n), rng.normal(50, 20, n)).round(2),
            "country": np.where(fraud, rng.choice(["XX", "YY"], n), rng.choice(["FR", "BE"], n)),
            "opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "member": rng.random(n) < 0.5,
            "sex": rng.choice(["f", "m"], n),
            "verdict": np.where(fraud, "fraud", "fine"),
        }
    )
    table.loc[rng.choice(n, 20, replace=False), "amount"] = np.nan
    table.loc[rng.choice(n, 20, replace=False), "country"] = None
    return table


def model_of(**changes):
    arguments = {
        "estimator": GammaKNNClassifier(random_state=0),
        "target": "verdict",
        "time": "when",
        "entity": "card",
        "amount": "amount",
        "id": "id",
        "drop": ["sex"],
    }
    return TableModel(**{**arguments, **changes})


@pytest.fixture(scope="module")
def fitted():
    return model_of().fit(payments())


def test_a_table_as_people_have_it_is_learned(fitted):
    new = payments(seed=1)
    label = fitted.predict(new.drop(columns="verdict"))
    assert (label == new["verdict"]).mean() > 0.95
    assert fitted.positive_ == "fraud"
    column = list(fitted.classes_).index("fraud")
    chance = fitted.predict_proba(new)[:, column]
    order = np.argsort(fitted.priority(new), kind="stable")
    assert np.all(np.diff(chance[order]) >= 0)


def test_reasons_speak_of_the_table(fitted):
    new = payments(seed=1)
    case = new[(new["verdict"] == "fraud") & new["amount"].notna() & new["country"].notna()][:1]
    (reason,) = fitted.explain(case)
    columns = [c.feature for c in reason.because]
    assert set(columns) <= {"amount", "country", "opened", "member"}
    assert len(columns) == len(set(columns)), "each column once"
    amount = next(c for c in reason.because if c.feature == "amount")
    assert str(amount).startswith("amount ")
    own = float(str(amount).split()[1])
    assert own == pytest.approx(case["amount"].iloc[0], rel=0.01)
    known = payments().set_index("id")
    assert {similar.name for similar in reason.similar} == {""}, "identifiers are not kept"
    assert f"row {reason.similar[0].row}" in str(reason)
    naming = model_of(estimator=fitted.estimator, keep_ids=True).fit(payments())
    (reason,) = naming.explain(case)
    for similar in reason.similar:
        assert known.loc[similar.name, "verdict"] == "fraud"
    assert reason.similar[0].name in str(reason)


def in_file(path):
    """The text of all parts of a model file that is not numbers."""
    with zipfile.ZipFile(BytesIO(path.read_bytes().split(MARK, 1)[1])) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_identifiers_are_in_the_file_only_if_asked_for(fitted, tmp_path):
    table = payments().assign(id=lambda t: "person-" + t["id"].astype(str))
    known = table[table["verdict"] == "fraud"]["id"]
    path = tmp_path / "model.rarefind"
    model = model_of(estimator=fitted.estimator).fit(table)
    save(model, path)
    assert b"person-" not in path.read_bytes() + in_file(path)
    assert "No identifiers of rows or entities." in model.card().holds
    assert model.card().holds[0].startswith("Rows that it learned from, as numbers, in 4 columns")
    model = model_of(estimator=fitted.estimator, keep_ids=True).fit(table)
    save(model, path)
    assert all(name.encode() in in_file(path) for name in known)
    assert f"The identifiers (id) of {len(known)} known positives." in model.card().holds
    save(load(path).forget_ids(), path)
    assert b"person-" not in in_file(path)


def test_what_reasons_never_speak_of_is_not_kept():
    trees = model_of(estimator=MetaAPClassifier(random_state=0)).fit(payments())
    assert (trees.known_names_, trees.known_rows_, trees.known_values_) == ({}, {}, {})
    assert trees.card().holds == [
        "The frequent values of text columns: country.",
        "No identifiers of rows or entities.",
    ]


def test_known_rows_are_called_by_their_lines(fitted):
    model = model_of(estimator=fitted.estimator).fit(payments())
    model.name_known_rows(np.arange(300) + 2)
    (reason,) = model.explain(payments()[:1])
    assert [s.name for s in reason.similar] == [f"row {s.row + 2}" for s in reason.similar]


def test_columns_kept_out_change_nothing(fitted):
    new = payments(seed=1)
    swapped = new.assign(sex="?", id="?", when=pd.Timestamp("2030-01-01"), card=-1)
    np.testing.assert_array_equal(fitted.priority(new), fitted.priority(swapped))
    without = new.drop(columns=["sex", "verdict", "id", "card", "when"])
    np.testing.assert_array_equal(fitted.priority(new), fitted.priority(without))
    card = fitted.card()
    assert card.kept_out == ["sex"]
    assert "sex" not in card.used
    assert (card.rows, card.positives) == (300, 30)
    assert card.roles == {"time": "when", "entity": "card", "id": "id"}
    assert card.as_dict()["positive"] == "fraud"


@given(st.permutations(["amount", "country", "opened", "member", "sex", "when", "card"]))
@settings(max_examples=10)
def test_the_order_of_columns_and_extra_ones_do_not_matter(fitted, order):
    new = payments(50, seed=2)
    other = new[order].assign(extra=1)
    np.testing.assert_array_equal(fitted.priority(new), fitted.priority(other))


def test_frames_of_all_kinds_give_the_same(fitted):
    new = payments(50, seed=2)
    expected = fitted.priority(new)
    np.testing.assert_array_equal(fitted.priority(pl.from_pandas(new)), expected)
    np.testing.assert_array_equal(fitted.priority(pa.Table.from_pandas(new)), expected)


def test_unseen_levels_and_new_holes_are_handled(fitted):
    new = payments(50, seed=2).assign(country="Atlantis", amount=np.nan, member=None)
    assert np.isfinite(fitted.priority(new)).all()


def test_a_missing_column_is_named(fitted):
    with pytest.raises(ValueError, match=r"amount.*country|country.*amount"):
        fitted.priority(payments(50).drop(columns=["amount", "country"]))


def test_the_list_spends_the_budget(fitted):
    new = payments(seed=1)
    listed = fitted.rank(new, 20)
    priority = fitted.priority(new)
    assert listed["rank"].tolist() == list(range(1, 21))
    np.testing.assert_array_equal(listed["priority"], np.sort(priority)[::-1][:20])
    np.testing.assert_array_equal(listed["priority"], priority[listed.index])
    assert {"id", "card", "when", "amount", "probability", "reason"} < set(listed.columns)
    assert listed["reason"].str.startswith("Score ").all()
    assert len(fitted.rank(new, "2%", reasons=False)) == 6


def test_the_list_of_each_day_holds_each_card_once(fitted):
    new = payments(seed=1)
    listed = fitted.rank(new, 3, per="day", one_per=True)
    assert listed.groupby("day").size().max() <= 3
    assert not listed.duplicated(["day", "card"]).any()
    priority = pd.Series(fitted.priority(new), index=new.index)
    day = new["when"].dt.strftime("%Y-%m-%d")
    for name, today in listed.groupby("day"):
        best = priority[day == name].groupby(new["card"]).max().nlargest(3)
        np.testing.assert_array_equal(today["priority"], best)
        assert today["rank"].tolist() == list(range(1, len(today) + 1))


def test_rows_of_one_entity_are_held_out_together():
    twins = pd.concat([payments(), payments()], ignore_index=True).assign(
        card=np.tile(np.arange(300), 2), country="FR", amount=1.0
    )
    nearest = GammaKNNClassifier(k=1, random_state=0)
    shared = model_of(estimator=nearest, entity=None, drop=["sex", "card"]).fit(twins)
    apart = model_of(estimator=nearest).fit(twins)
    assert shared.estimator_.value_ > 0.9, "each row sees its twin"
    assert apart.estimator_.value_ < 0.5


def test_a_saved_model_ranks_and_explains_the_same(fitted, tmp_path):
    rarefind.save(fitted, tmp_path / "model.rarefind")
    again = rarefind.load(tmp_path / "model.rarefind")
    new = payments(seed=1)
    pd.testing.assert_frame_equal(again.rank(new, 10), fitted.rank(new, 10), check_exact=True)
    assert again.card() == fitted.card()
    assert again.get_params()["drop"] == ["sex"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "nothing"}, "nothing"),
        ({"target": "country"}, "country"),
        ({"positive": "theft"}, "theft"),
        ({"time": "hour"}, "no column 'hour'"),
        ({"drop": ["age", "sex"]}, "no column 'age'"),
    ],
)
def test_mistakes_get_a_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        model_of(**changes).fit(payments())


def test_lists_that_cannot_be_made_are_refused(fitted):
    new = payments(20)
    with pytest.raises(
        ValueError, match=r"neither a period \(hour, day, week, month, quarter\) nor a column"
    ):
        fitted.rank(new, 5, per="year")
    with pytest.raises(ValueError, match="needs the column with the time"):
        fitted.rank(new.drop(columns="when"), 5, per="day")
    with pytest.raises(ValueError, match="does not name a column"):
        fitted.rank(new, 5, one_per="shop")
    with pytest.raises(ValueError, match="A budget is"):
        fitted.rank(new, "many")


def test_a_file_read_later_has_the_types_of_the_fit(tmp_path):
    payments().to_csv(tmp_path / "known.csv", index=False)
    model = model_of().fit(read_table(tmp_path / "known.csv", target="verdict"))
    rarefind.save(model, tmp_path / "model.rarefind")
    again = rarefind.load(tmp_path / "model.rarefind")
    # Read by itself, a country of numbers only would be a column of numbers.
    payments(40, seed=3).assign(country=75).to_csv(tmp_path / "new.csv", index=False, sep=";")
    new = read_table(tmp_path / "new.csv", like=again.types_)
    assert new["country"].iloc[0] == "75"
    assert again.types_ == model.types_
    assert set(again.types_) >= {"amount", "country", "when"}
    assert np.isfinite(again.priority(new)).all()


def test_reasons_of_levels_and_holes_name_what_is_shared():
    rng = np.random.default_rng(0)
    fraud = np.arange(200) % 10 == 0
    table = pd.DataFrame(
        {
            "flag": np.where(fraud, "x", rng.choice(["a", "b", "c"], 200)),
            "score": np.where(fraud, np.nan, rng.normal(size=200)),
            "y": fraud.astype(int),
        }
    )
    model = TableModel(GammaKNNClassifier(k=1)).fit(table)
    (shared, foreign) = model.explain(
        pd.DataFrame({"flag": ["x", "never seen"], "score": [np.nan, np.nan]})
    )
    assert {str(c) for c in shared.because} == {"flag x", "score missing"}
    assert {str(c) for c in foreign.because} == {"score missing"}


@given(st.data())
@settings(max_examples=25)
def test_any_table_of_these_columns_is_scored_row_by_row(fitted, data):
    new = payments(40, seed=4)[:12].drop(columns="verdict")
    new = new.astype({"country": object, "member": object})
    for column, other in (("country", "Atlantis"), ("amount", 1e6), ("member", None)):
        rows = data.draw(st.lists(st.integers(0, 11), max_size=6))
        new.loc[rows, column] = data.draw(st.sampled_from([other, None]))
    new = new[data.draw(st.permutations(list(new.columns)))].assign(extra="?")
    together = fitted.priority(new)
    assert np.isfinite(together).all()
    alone = [fitted.priority(new.iloc[[i]])[0] for i in range(12)]
    np.testing.assert_array_equal(together, alone)


def test_rows_of_nobody_are_nobody_s(fitted):
    new = payments(40, seed=2).assign(card=None)
    assert len(fitted.rank(new, 5, one_per=True, reasons=False)) == 5
    table = payments().astype({"card": object})
    table.loc[:50, "card"] = None
    assert model_of().fit(table).estimator_.gamma_ > 0


def test_an_empty_table_has_an_empty_list(fitted):
    assert len(fitted.rank(payments()[:0], 5)) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": LogisticRegression()}, "LogisticRegression gives no priority"),
        ({"drop": "sex"}, r"drop= is a list of columns: \['sex'\]"),
        ({"drop": ["amount"]}, "'amount' cannot be the amount and be kept out"),
    ],
)
def test_roles_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        model_of(**changes).fit(payments())


def test_numbers_are_no_days(fitted):
    with pytest.raises(ValueError, match="'when' has numbers, such as 0"):
        fitted.rank(payments(20).assign(when=range(20)), 5, per="day")


# Trees split on sets of levels ---------------------------------------------------------------


def orders(n=600, seed=0):
    """Two of five countries are risky, and there the large orders."""
    rng = np.random.default_rng(seed)
    country = rng.choice(["BE", "DE", "FR", "LU", "XX"], n).astype(object)
    amount = rng.normal(50, 20, n).round(1)
    risky = np.isin(country, ["BE", "XX"]) & (amount > 50)
    table = pd.DataFrame(
        {
            "amount": amount,
            "country": country,
            "shop": rng.choice([f"shop {i}" for i in range(50)], n),
            "member": rng.random(n) < 0.5,
            "y": (risky ^ (rng.random(n) < 0.01)).astype(int),
        }
    )
    table.loc[rng.choice(n, 10, replace=False), "amount"] = np.nan
    table.loc[rng.choice(n, 10, replace=False), "country"] = None
    return table


TREES = [
    MetaAPClassifier(random_state=0),
    MetaAPForestClassifier(n_estimators=5, random_state=0),
    TreeRankClassifier(random_state=0),
]


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: type(tree).__name__)
def any_tree(request):
    return TableModel(request.param).fit(orders())


@pytest.fixture(scope="module")
def one_tree():
    return TableModel(MetaAPClassifier(random_state=0)).fit(orders())


def words(model, table, column="country"):
    """What the reasons say of a column; empty where they say nothing."""
    found = ([c for c in r.because if c.feature == column] for r in model.explain(table))
    return [str(conditions[0]) if conditions else "" for conditions in found]


def test_trees_are_given_the_levels(any_tree):
    assert any_tree.encoder_.get_feature_names_out().tolist() == [
        "amount",
        "country",
        "shop",
        "member",
    ]
    assert any_tree.estimator_.categorical_features == ["country", "shop"]
    assert any_tree.estimator.categorical_features is None, "the user's own stays as it is"


def test_a_reason_names_the_set_of_levels_that_a_tree_splits_on(one_tree):
    case = pd.DataFrame({"amount": 80.0, "country": ["XX", "BE"], "shop": "shop 1", "member": True})
    for reason in one_tree.explain(case):
        country = next(c for c in reason.because if c.feature == "country")
        assert str(country) == "country in {BE, XX}"
        assert (country.op, country.value) == ("in", ("BE", "XX"))


def test_trees_rank_unseen_levels_and_holes_and_say_so(any_tree):
    new = orders(200, seed=1)
    order = np.argsort(-any_tree.priority(new), kind="stable")
    assert new["y"].iloc[order[:20]].mean() > 0.7, "about a fifth of all rows are positive"
    odd = new[:3].assign(country=["Atlantis", None, "LU"], amount=[80.0, 80.0, np.nan])
    assert np.isfinite(any_tree.priority(odd)).all()
    said = words(any_tree, odd)
    assert said[0] in ("country = Atlantis, a new level", "")
    assert said[1] in ("country is missing", "")
    assert any(said)


def test_a_saved_model_of_levels_ranks_and_explains_the_same(any_tree, tmp_path):
    rarefind.save(any_tree, tmp_path / "model.rarefind")
    again = rarefind.load(tmp_path / "model.rarefind")
    new = orders(100, seed=1)
    new.loc[:10, "country"] = "Atlantis"
    assert again.priority(new).tobytes() == any_tree.priority(new).tobytes()
    pd.testing.assert_frame_equal(again.rank(new, 10), any_tree.rank(new, 10), check_exact=True)
    assert again.encoder_.level_outputs_ == ["country", "shop"]
    assert again.estimator_.categorical_features == ["country", "shop"]


def test_columns_of_levels_that_the_user_names_are_left_to_him():
    tree = MetaAPClassifier(categorical_features=["member"], random_state=0)
    model = TableModel(tree).fit(orders())
    assert model.encoder_.level_outputs_ == []
    assert "country = XX" in model.encoder_.get_feature_names_out()
    assert model.estimator_.categorical_features == ["member"]
    assert "country = XX" in words(model, orders(100, seed=1))


def test_a_table_without_text_has_no_levels():
    model = TableModel(MetaAPClassifier(random_state=0)).fit(orders()[["amount", "member", "y"]])
    assert model.estimator_.categorical_features is None


@pytest.mark.parametrize(
    ("column", "value", "op", "code", "text", "said"),
    [
        ("country", "XX", "in", (4.0,), "country = XX", ("=", "XX")),
        ("country", "XX", "=", 4.0, "country = XX", ("=", "XX")),
        ("country", "XX", "in", (0.0, 4.0), "country in {BE, XX}", ("in", ("BE", "XX"))),
        ("country", "XX", "not in", (2.0,), "country not FR", ("not in", ("FR",))),
        (
            "country",
            "XX",
            "not in",
            (1.0, 2.0),
            "country not in {DE, FR}",
            ("not in", ("DE", "FR")),
        ),
        ("country", "ZZ", "=", 5.0, "country = ZZ, a new level", ("=", "ZZ")),
        ("country", None, "=", "missing", "country is missing", ("=", "missing")),
        ("country", "XX", "=", "present", "country is present", ("=", "present")),
        ("shop", "shop 1", "not in", (30.0,), "shop = a frequent value", ("=", "a frequent value")),
        ("shop", "kiosk", "=", 30.0, "shop = kiosk, a rare or new level", ("=", "kiosk")),
        ("shop", "kiosk", "in", (30.0,), "shop = kiosk, a rare or new level", ("=", "kiosk")),
    ],
)
def test_numbers_of_levels_in_words(one_tree, column, value, op, code, text, said):
    condition = spoken(one_tree, column, value, op, code)
    assert str(condition) == text
    assert (condition.op, condition.value) == said
    assert condition.weight == 0.5


def spoken(model, column, value, op, code):
    """What the model makes of a condition of its trees, for a row with this value."""
    table = orders(20).astype({column: object})[:1].assign(**{column: [value]})
    reason = Reason(1.0, None, [Condition(column, op, code, weight=0.5)])
    encoded = model._encode(table)
    words = Words(model.encoder_, model.known_rows_, model.known_values_)
    (condition,) = words.of(reason, table.iloc[0], encoded.iloc[0])
    return condition


@given(st.sets(st.integers(0, 30), min_size=2), st.sampled_from(["in", "not in"]), st.data())
@settings(max_examples=25)
def test_long_sets_are_cut_but_the_level_of_the_row_stays(one_tree, codes, op, data):
    texts = [*one_tree.encoder_.level_codes(2).levels, "another value"]
    levels = tuple(texts[code] for code in sorted(codes))
    own = data.draw(st.sampled_from(levels))
    value = "kiosk" if own == "another value" else own
    condition = spoken(one_tree, "shop", value, op, tuple(map(float, sorted(codes))))
    assert (condition.op, condition.value) == (op, levels)
    shown = str(condition).removeprefix(f"shop {op} {{").removesuffix("}").split(", ")
    more = [f"… {len(levels) - 5} more"] if len(levels) > 5 else []
    assert shown[5:] == more
    assert set(shown[:5]) <= set(levels)
    assert own in shown
    assert len(shown) == min(len(levels), 5) + len(more)


@pytest.mark.parametrize("estimator", [GammaKNNClassifier(), MetaAPClassifier(random_state=0)])
def test_a_table_model_works_in_cross_validation(estimator):
    table = payments()
    model = TableModel(estimator, "verdict", time="when", entity="card", id="id")
    rows, y = table.drop(columns="verdict"), table["verdict"]
    scores = cross_val_score(model, rows, y, scoring="roc_auc", cv=3)
    assert scores.min() > 0.9
    assert cross_val_score(model, rows, y, cv=3).min() > 0.8
    # With y apart it learns what it learns from one table.
    np.testing.assert_array_equal(
        clone(model).fit(rows, y).priority(rows), clone(model).fit(table).priority(rows)
    )


def test_labels_that_differ_from_the_table_are_refused():
    table = payments()
    with pytest.raises(ValueError, match="'verdict' that differs from y"):
        model_of().fit(table, table["verdict"].to_numpy()[::-1])
    model_of().fit(table, table["verdict"])


def test_a_dict_is_a_row():
    table = payments()
    model = model_of().fit(table)
    rows = table.drop(columns="verdict").head(3)
    dicts = rows.to_dict("records")
    np.testing.assert_array_equal(model.priority(dicts), model.priority(rows))
    assert model.priority(dicts[1]) == model.priority(rows)[1]
    assert str(model.explain(dicts[2])[0]) == str(model.explain(rows)[2])
    with pytest.raises(ValueError, match="lacks column 'country'"):
        model.priority({k: v for k, v in dicts[0].items() if k != "country"})
