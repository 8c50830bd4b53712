import json
import pickle

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.boosting._trees import Trees

REFUSED = "the trees are not as XGBoost writes them"


def table(n=300):
    """Two columns of numbers with missing values, and one of levels."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 12, n)]).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0.5) | (X[:, 2] % 3 == 0)
    X[rng.random(n) < 0.1, 0] = np.nan
    return X, y


def as_matrix(X, y=None, levels=False):
    kinds = ["q", "q", "c"] if levels else ["q"] * 3
    return xgboost.DMatrix(X, y, feature_types=kinds, enable_categorical=levels)


def boosted(method="hist", levels=False, rounds=4, **params):
    shared = {
        "base_score": 0.0,
        "tree_method": method,
        "max_depth": 3,
        "min_child_weight": 0.0,
        "max_cat_to_onehot": 1,
        "nthread": 1,
        "verbosity": 0,
    }
    return xgboost.train(shared | params, as_matrix(*table(), levels), rounds)


# Exact splits know no sets of levels.
GROWN = {
    "hist": {},
    "approx": {"method": "approx"},
    "exact": {"method": "exact"},
    "sets of levels": {"levels": True},
    "sets by approx": {"method": "approx", "levels": True},
    "one level against the rest": {"levels": True, "max_cat_to_onehot": 99},
    "stumps": {"max_depth": 1},
    "exact stumps": {"method": "exact", "max_depth": 1},
    "deep": {"max_depth": 12},
    "best leaf first": {"grow_policy": "lossguide", "max_leaves": 9},
    "a cost of splits": {"gamma": 3.0},
    "a cost of splits, by sets": {"gamma": 3.0, "levels": True},
    "leaves only": {"gamma": 1e9},
    "no rounds": {"rounds": 0},
    "exact, pruned": {"method": "exact", "gamma": 1.0, "max_depth": 6},
    "exact, pruned to leaves": {"method": "exact", "gamma": 1e9},
}
every_booster = pytest.mark.parametrize("how", GROWN.values(), ids=GROWN)


@every_booster
def test_what_xgboost_writes_is_not_refused(how):
    Trees.of(boosted(**how)).check([None, None, 12 if how.get("levels") else None])


def test_these_boosters_are_what_their_names_say():
    def trees(name):
        return learner_of(Trees.of(boosted(**GROWN[name])))["gradient_booster"]["model"]["trees"]

    assert all(len(tree["parents"]) == 1 for tree in trees("leaves only"))
    assert all(len(tree["parents"]) == 3 for tree in trees("stumps"))
    assert any(tree["categories_nodes"] for tree in trees("sets of levels"))
    assert max(len(tree["parents"]) for tree in trees("deep")) > 15
    assert any(int(tree["tree_param"]["num_deleted"]) for tree in trees("exact, pruned"))


def same_again(trees):
    return Trees(np.frombuffer(trees.text.tobytes(), dtype=np.uint8))


def pickled(trees):
    assert trees.booster() is trees.booster()
    again = pickle.loads(pickle.dumps(trees))
    assert again._booster is None
    return again


@every_booster
@pytest.mark.parametrize("copy", [same_again, pickled])
def test_trees_are_the_same_after_a_round_trip(copy, how):
    booster = boosted(**how)
    data = as_matrix(table()[0], levels=how.get("levels", False))
    again = copy(Trees.of(booster))
    for what in ({"output_margin": True}, {"pred_leaf": True}, {"pred_contribs": True}):
        expected = booster.predict(data, **what)
        np.testing.assert_array_equal(again.booster().predict(data, **what), expected)


@every_booster
def test_a_score_is_the_sum_of_its_leaves(how):
    booster = boosted(**how)
    if not booster.num_boosted_rounds():
        assert Trees.of(booster).leaf_values() == []
        return
    data = as_matrix(table()[0], levels=how.get("levels", False))
    values = Trees.of(booster).leaf_values()
    leaves = booster.predict(data, pred_leaf=True).reshape(data.num_row(), -1).astype(int)
    expected = [sum(tree[leaf] for tree, leaf in zip(values, row, strict=True)) for row in leaves]
    np.testing.assert_allclose(booster.predict(data, output_margin=True), expected, atol=1e-5)


def learner_of(trees):
    return json.loads(trees.text.tobytes())["learner"]


def as_text(text):
    return Trees(np.frombuffer(text, dtype=np.uint8))


def written(learner):
    return as_text(json.dumps({"learner": learner, "version": [3, 0, 0]}).encode())


@pytest.fixture(scope="module", params=["hist", "exact", "sets of levels"])
def grown(request):
    return Trees.of(boosted(**GROWN[request.param]))


@pytest.fixture
def learner(grown):
    return learner_of(grown)


def tree_of(learner):
    """A tree with several splits."""
    return max(learner["gradient_booster"]["model"]["trees"], key=lambda t: len(t["parents"]))


def inner_node(tree, number=1):
    return [i for i, child in enumerate(tree["left_children"]) if child != -1][number]


def leaf_node(tree):
    return tree["left_children"].index(-1)


def levels_of(learner):
    """How many categories its columns have."""
    return [12 if kind == "c" else None for kind in learner["feature_types"]]


def refuse(learner):
    with pytest.raises(ValueError, match=REFUSED) as caught:
        written(learner).check(levels_of(learner))
    assert str(caught.value) == REFUSED


def test_what_is_written_again_is_not_refused(learner):
    written(learner).check(levels_of(learner))


ARRAYS = [
    "left_children", "right_children", "parents", "split_indices", "split_type", "default_left",
    "split_conditions", "base_weights", "loss_changes", "sum_hessian",
]  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[:-1],
        lambda values: [*values, values[-1]],
        lambda values: [],
        lambda values: 5,
        lambda values: None,
    ],
    ids=["shorter", "longer", "empty", "a number", "nothing"],
)
def test_arrays_of_another_length_are_refused(learner, name, change):
    tree = tree_of(learner)
    tree[name] = change(tree[name])
    refuse(learner)


@pytest.mark.parametrize("name", [*ARRAYS, "categories", "categories_nodes", "tree_param"])
def test_a_tree_that_lacks_something_is_refused(learner, name):
    del tree_of(learner)[name]
    refuse(learner)


@pytest.mark.parametrize("name", ["left_children", "right_children"])
@pytest.mark.parametrize("child", [10**6, 2**31, 2**63, 2**70, -2, -(2**31), 0, None, "x", [1]])
def test_children_beyond_the_tree_are_refused(learner, name, child):
    tree = tree_of(learner)
    tree[name][inner_node(tree)] = child
    refuse(learner)


@pytest.mark.parametrize("name", ["left_children", "right_children"])
def test_a_node_with_one_child_is_refused(learner, name):
    tree = tree_of(learner)
    tree[name][inner_node(tree)] = -1
    refuse(learner)


def test_a_child_of_two_nodes_is_refused(learner):
    tree = tree_of(learner)
    node = inner_node(tree)
    tree["left_children"][node] = tree["right_children"][node]
    refuse(learner)


def test_a_leaf_that_leads_back_to_the_root_is_refused(learner):
    tree = tree_of(learner)
    leaf = leaf_node(tree)
    tree["left_children"][leaf] = tree["right_children"][leaf] = 0
    refuse(learner)


def test_a_way_round_beside_the_tree_is_refused(learner):
    """Each node has one parent, all as they should be, but two of them lead to each other."""
    tree = tree_of(learner)
    tree |= {
        "left_children": [1, -1, -1, 4, 3],
        "right_children": [2, -1, -1, 6, 5],
        "parents": [2147483647, 0, 0, 4, 3],
    }
    tree["left_children"] += [-1, -1]
    tree["right_children"] += [-1, -1]
    tree["parents"] += [4, 3]
    tree["tree_param"]["num_nodes"] = "7"
    for name in set(ARRAYS) - {"left_children", "right_children", "parents"}:
        tree[name] = [0] * 7
    for name in ("categories", "categories_nodes", "categories_segments", "categories_sizes"):
        tree[name] = []
    refuse(learner)


def test_a_parent_that_is_not_is_refused(learner):
    tree = tree_of(learner)
    for node in range(1, len(tree["parents"])):
        right = tree["parents"][node]
        for wrong in (-1, 2147483647, node, 10**6):
            tree["parents"][node] = wrong
            refuse(learner)
        tree["parents"][node] = right


def test_a_root_with_a_parent_is_refused(learner):
    tree_of(learner)["parents"][0] = 1
    refuse(learner)


@pytest.mark.parametrize("feature", [3, 10**6, 2**31 - 1, 2**40, -1, -(2**31), None, [0]])
def test_a_column_that_is_not_there_is_refused(learner, feature):
    tree = tree_of(learner)
    tree["split_indices"][inner_node(tree)] = feature
    refuse(learner)


@pytest.mark.parametrize("kind", [2, -1, 255, None])
def test_an_unknown_kind_of_split_is_refused(learner, kind):
    tree = tree_of(learner)
    tree["split_type"][inner_node(tree)] = kind
    refuse(learner)


def test_a_split_by_a_set_without_its_set_is_refused(learner):
    tree = tree_of(learner)
    numbers = [i for i, kind in enumerate(tree["split_type"]) if not kind]
    node = next(i for i in numbers if tree["left_children"][i] != -1)
    tree["split_type"][node] = 1
    refuse(learner)


@pytest.mark.parametrize(
    "number", ["0", "-1", "2", "1000000", "2147483648", "x", "", None, [], {}, "1e3"]
)
def test_another_number_of_nodes_is_refused(learner, number):
    tree_of(learner)["tree_param"]["num_nodes"] = number
    refuse(learner)


@pytest.mark.parametrize("size", ["2", "1000000", "-1", "-2147483648", "x", None])
def test_leaves_with_many_values_are_refused(learner, size):
    tree_of(learner)["tree_param"]["size_leaf_vector"] = size
    refuse(learner)


@pytest.mark.parametrize("name", ["num_feature", "num_class", "num_target"])
@pytest.mark.parametrize("value", ["5", "-1", "2147483647", "x", None, [3]])
def test_a_model_of_something_else_is_refused(learner, name, value):
    learner["learner_model_param"][name] = value
    refuse(learner)


@pytest.mark.parametrize("n_features", [0, 1, 2, 4, 100])
def test_trees_of_another_table_are_refused(grown, n_features):
    with pytest.raises(ValueError, match=REFUSED):
        grown.check([None] * n_features)


@pytest.mark.parametrize(
    "info", [[], [0] * 3, [0] * 5, [1] * 4, [0, 0, 0, -1], [0, 0, 0, 10**6], 0]
)
def test_trees_of_other_classes_are_refused(learner, info):
    learner["gradient_booster"]["model"]["tree_info"] = info
    refuse(learner)


@pytest.mark.parametrize("number", ["0", "3", "5", "-1", "1000000", "x", None])
def test_another_number_of_trees_is_refused(learner, number):
    learner["gradient_booster"]["model"]["gbtree_model_param"]["num_trees"] = number
    refuse(learner)


@pytest.mark.parametrize("rounds", [[], [0], [0, 4], [0, 1, 2, 3, 5], [0, 1, 2, 3, -1], 4])
def test_rounds_of_other_trees_are_refused(learner, rounds):
    learner["gradient_booster"]["model"]["iteration_indptr"] = rounds
    refuse(learner)


@pytest.mark.parametrize("trees", [[], [{}] * 4, [[]] * 4, [None] * 4, {}, None, 4, "tree"])
def test_trees_that_are_none_are_refused(learner, trees):
    learner["gradient_booster"]["model"]["trees"] = trees
    refuse(learner)


@pytest.mark.parametrize(
    "ids", [[0, 0, 2, 3], [1, 1, 2, 3], [0, 1, 3, 2], [0, 1, 2, 4], [-1, 1, 2, 3]]
)
def test_trees_that_would_take_the_place_of_others_are_refused(learner, ids):
    """XGBoost puts a tree where its id says, and dies of a place that stays empty."""
    for tree, number in zip(learner["gradient_booster"]["model"]["trees"], ids, strict=True):
        tree["id"] = number
    refuse(learner)


@pytest.mark.parametrize("name", ["gblinear", "dart", "", None, ["gbtree"]])
def test_other_boosters_are_refused(learner, name):
    learner["gradient_booster"]["name"] = name
    refuse(learner)


SETS = {
    "starts beyond": lambda t: t["categories_segments"].__setitem__(0, 10**9),
    "starts before": lambda t: t["categories_segments"].__setitem__(0, -1),
    "ends beyond": lambda t: t["categories_sizes"].__setitem__(0, len(t["categories"]) + 1),
    "huge": lambda t: t["categories_sizes"].__setitem__(0, 2**40),
    "so huge that it overflows": lambda t: (
        t["categories_sizes"].__setitem__(0, 2**63 - 1),
        t["categories_segments"].__setitem__(0, 1),
    ),
    "no numbers": lambda t: t["categories_sizes"].__setitem__(0, 2**64),
    "negative": lambda t: t["categories_sizes"].__setitem__(0, -1),
    "of another node": lambda t: t["categories_nodes"].__setitem__(0, leaf_node(t)),
    "of no node": lambda t: t["categories_nodes"].__setitem__(0, 10**6),
    "of too many nodes": lambda t: t["categories_nodes"].append(leaf_node(t)),
    "one fewer": lambda t: t["categories_sizes"].pop(),
    "one more": lambda t: t["categories_segments"].append(0),
    "cut short": lambda t: t["categories"].clear(),
    "a level below 0": lambda t: t["categories"].__setitem__(0, -1),
    "a level without end": lambda t: t["categories"].__setitem__(0, 2**31 - 1),
    "a level that is no number": lambda t: t["categories"].__setitem__(0, [0]),
    "no list": lambda t: t.__setitem__("categories", {}),
}


@pytest.mark.parametrize("change", SETS.values(), ids=SETS)
def test_sets_of_levels_that_are_not_there_are_refused(change):
    learner = learner_of(Trees.of(boosted(levels=True)))
    change(next(t for t in learner["gradient_booster"]["model"]["trees"] if t["categories_nodes"]))
    refuse(learner)


DEEP = b'{"learner": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"0",
        b'"learner"',
        b"{}",
        b'{"learner": 1}',
        b"\xff\xfe\x00",
        DEEP,
    ],
    ids=["", "{", "null", "[]", "0", "text", "{}", "a number", "bytes", "deep"],
)
def test_what_is_no_model_is_refused(text):
    with pytest.raises(ValueError, match=REFUSED):
        as_text(text).check([None, None, 12])


def test_a_model_that_was_cut_off_is_refused(grown):
    text = grown.text.tobytes()
    for end in (1, 10, len(text) // 2, len(text) - 1):
        with pytest.raises(ValueError, match=REFUSED):
            as_text(text[:end]).check([None, None, 12])


def test_a_name_that_xgboost_would_read_in_another_way_is_refused(grown):
    """It leaves escapes as they are: of two lists of children it takes the other one."""
    text = grown.text.tobytes().decode()
    wrong = '"left_children":[1000000],"left_childre\\u006e":'
    assert '"left_children":' in text
    with pytest.raises(ValueError, match=REFUSED):
        as_text(text.replace('"left_children":', wrong, 1).encode()).check([None, None, 12])


@pytest.mark.parametrize(
    "write",
    [
        lambda text: b" " + text,
        lambda text: b"\n" + text,
        lambda text: text.decode().encode("utf-8-sig"),
        lambda text: text.decode().encode("utf-16"),
        lambda text: text.decode().encode("utf-16-le"),
        lambda text: text.decode().encode("utf-32-be"),
    ],
    ids=["space", "newline", "utf-8 with a mark", "utf-16", "utf-16-le", "utf-32-be"],
)
def test_what_only_python_takes_for_json_is_refused(grown, write):
    """XGBoost 2.1 takes what does not begin with a brace for its old binary form."""
    with pytest.raises(ValueError, match=REFUSED):
        as_text(write(grown.text.tobytes())).check([None, None, 12])


def test_the_binary_form_is_refused():
    text = bytes(boosted().save_raw("ubj"))
    with pytest.raises(ValueError, match=REFUSED):
        as_text(text).check([None, None, 12])


TEXT = Trees.of(boosted(levels=True)).text.tobytes()


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_whatever_stands_in_the_file_the_answer_is_one_sentence(data):
    """A number, a list or nothing in any place: it is taken or refused, and nothing else."""
    model = json.loads(TEXT)
    place, keys = model, [data.draw(st.sampled_from(sorted(model)))]
    while isinstance(place[keys[-1]], dict | list) and place[keys[-1]] and data.draw(st.booleans()):
        place = place[keys[-1]]
        choices = sorted(place) if isinstance(place, dict) else range(len(place))
        keys.append(data.draw(st.sampled_from(choices)))
    junk = st.sampled_from([None, True, -1, 0, 2**70, 1e300, float("nan"), "", "x", [], [[]], {}])
    place[keys[-1]] = data.draw(junk)
    try:
        as_text(json.dumps(model).encode()).check([None, None, 12])
    except ValueError as error:
        assert str(error) == REFUSED  # noqa: PT017
