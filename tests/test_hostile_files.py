"""Model files that somebody made to do harm: honest ones of 0.1.0, changed and sealed again."""

import io
import json
import os
import tracemalloc
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from fuzz.sealed import Parts

from rarefind.persistence import load, read_manifest

OLD = Path(__file__).parent / "files" / "0.1.0"


class Hostile:
    """An honest file in parts, whose values are found by what they are called."""

    def __init__(self, name):
        self.parts = Parts.read(OLD / f"{name}.rarefind")

    def objects(self, tag):
        """The states of all objects with a tag (in format 1 the name of the class)."""
        return [tree["state"] for tree in _trees(self.parts.tree) if tree.get("$") == tag]

    def array(self, state, field):
        """The array that a field of an object is."""
        return self.parts.arrays[state[field]["$array"]]

    def replace(self, state, field, array):
        """Put another array there."""
        self.parts.arrays[state[field]["$array"]] = np.asarray(array)

    def write(self, folder):
        """Seal it."""
        self.parts.write(folder / "hostile.rarefind")
        return folder / "hostile.rarefind"

    def refuse(self, folder, match):
        """See that it is refused, in one sentence that names the file."""
        path = self.write(folder)
        with pytest.raises(ValueError, match=match) as caught:
            load(path)
        text = str(caught.value)
        assert text.startswith(str(path))
        assert text.endswith(".")
        assert "\n" not in text


def _trees(tree):
    if isinstance(tree, dict):
        yield tree
        for part in tree.values():
            yield from _trees(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _trees(part)


def booster(hostile):
    (state,) = hostile.objects("Trees")
    return state, json.loads(hostile.array(state, "text").tobytes())


def with_booster(hostile, state, whole):
    text = json.dumps(whole, separators=(",", ":")).encode()
    hostile.replace(state, "text", np.frombuffer(text, np.uint8))


def first_tree(whole):
    return whole["learner"]["gradient_booster"]["model"]["trees"][0]


@pytest.mark.parametrize("name", ["SGBAPClassifier-1", "NLBClassifier-1", "LambdaMARTClassifier-1"])
def test_the_parent_of_a_pruned_node_is_a_node(tmp_path, name):
    """XGBoost goes up from it: the interpreter ended with 139."""
    hostile = Hostile(name)
    state, whole = booster(hostile)
    tree = first_tree(whole)
    for part in ("left_children", "right_children"):
        tree[part].append(-1)
    tree["parents"].append(2**30)
    tree["split_indices"].append(2**31 - 1)
    for part in ("split_type", "default_left", "split_conditions"):
        tree[part].append(0)
    for part in ("base_weights", "loss_changes", "sum_hessian"):
        tree[part].append(0.0)
    tree["tree_param"]["num_nodes"] = str(len(tree["parents"]))
    with_booster(hostile, state, whole)
    hostile.refuse(tmp_path, "the trees are not as XGBoost writes them")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38, 1e300])
def test_leaves_are_finite(tmp_path, value):
    hostile = Hostile("SGBAPClassifier-1")
    state, whole = booster(hostile)
    tree = first_tree(whole)
    tree["split_conditions"][tree["left_children"].index(-1)] = value
    with_booster(hostile, state, whole)
    hostile.refuse(tmp_path, "the trees are not as XGBoost writes them")


def test_categories_are_those_of_the_column(tmp_path):
    """A set with a category of 2**24 takes 2 MB of memory for each node."""
    hostile = Hostile("table-sgbap")
    state, whole = booster(hostile)
    trees = whole["learner"]["gradient_booster"]["model"]["trees"]
    split = next(tree for tree in trees if tree["categories"])
    split["categories"][0] = 2**24 - 1
    with_booster(hostile, state, whole)
    hostile.refuse(tmp_path, "the trees are not as XGBoost writes them")


@pytest.mark.parametrize("field", ["positives", "negatives"])
@pytest.mark.parametrize("row", [10**9, -(10**9), 70])
def test_rows_of_an_ellipsoid_are_rows(tmp_path, field, row):
    hostile = Hostile("ME2Classifier-1")
    state = hostile.objects("Ellipsoid")[0]
    hostile.array(state, field)[0] = row
    hostile.refuse(tmp_path, "whole model")


def test_starts_of_conditions_rise_also_for_unsigned_numbers(tmp_path):
    hostile = Hostile("ConditionClassifier-1")
    (state,) = hostile.objects("Branches")
    start = hostile.array(state, "start")
    for dtype in (np.uint32, np.int32):
        broken = start.astype(dtype)
        broken[1] = broken[-1] + 5
        hostile.replace(state, "start", broken)
        hostile.refuse(tmp_path, "a branches: ")


def test_a_member_is_given_the_columns_of_auto(tmp_path):
    hostile = Hostile("AutoClassifier-1")
    for state in hostile.objects("MetaAPClassifier"):
        state["n_features_in_"] = 400
    hostile.refuse(tmp_path, "whole model")


def test_members_of_another_number_of_columns_are_refused(tmp_path):
    """All of a member may be sound, and of another table."""
    hostile = Hostile("AutoClassifier-1")
    hostile.objects("AutoClassifier")[0]["n_features_in_"] = 3
    hostile.refuse(tmp_path, "whole model")


NEIGHBOURS = ["GammaKNNClassifier-1", "KRNNClassifier-1", "DuplicatedKNNClassifier-1"]


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_points_have_the_columns_of_the_model(tmp_path, name):
    hostile = Hostile(name)
    state = hostile.objects("NeighborSearch")[0]
    hostile.replace(state, "points", hostile.array(state, "points")[:, :2].copy())
    hostile.refuse(tmp_path, "whole model")


@pytest.mark.parametrize("name", ["MLFPClassifier-1", "IMLClassifier-1"])
@pytest.mark.parametrize("shape", [(2, 1), (4,), (4, 5), (0, 1)])
def test_maps_of_distances_have_the_columns_of_the_model(tmp_path, name, shape):
    hostile = Hostile(name)
    state = next(s for s in hostile.objects("NeighborSearch") if s["components"] is not None)
    hostile.replace(state, "components", np.ones(shape))
    hostile.refuse(tmp_path, "whole model")


def test_centres_of_regions_have_the_columns_of_the_model(tmp_path):
    hostile = Hostile("LocalGammaKNNClassifier-2")
    (state,) = hostile.objects("Regions")
    hostile.replace(state, "centres", hostile.array(state, "centres")[:, :1].copy())
    hostile.refuse(tmp_path, "whole model")


@pytest.mark.parametrize("tag", ["PointSet", "KRNNClassifier"])
def test_no_more_neighbours_are_asked_for_than_there_are_points(tmp_path, tag):
    hostile = Hostile("KRNNClassifier-1")
    hostile.objects(tag)[0]["k"] = 10**7
    hostile.refuse(tmp_path, "whole model")


def test_an_array_is_referred_to_once(tmp_path):
    """2,000 references to one array of 2 MB took 4.2 GB."""
    hostile = Hostile("GammaKNNClassifier-1")
    (state,) = hostile.objects("GammaKNNClassifier")
    state["metric"] = [{"$array": 0}] * 2000
    hostile.refuse(tmp_path, "refers twice to its array 0")


@pytest.mark.parametrize("shape", [(10**12, 0), (0, 10**12), (10**12,)])
def test_arrays_are_not_longer_than_the_file(tmp_path, shape):
    hostile = Hostile("GammaKNNClassifier-1")
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    hostile.parts.arrays[0] = _header(header)
    hostile.refuse(tmp_path, "not as long as it says")


def _header(header):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


def test_arrays_of_texts_have_a_shape_too(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    (state,) = hostile.objects("GammaKNNClassifier")
    state["feature_names_in_"] = {"$objects": [], "shape": [0, 10**12]}
    hostile.refuse(tmp_path, "not as long as it says")


def test_threads_are_at_most_the_cores(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    for tree in _trees(hostile.parts.tree):
        if "n_jobs" in tree:
            tree["n_jobs"] = 100_000
    model = load(hostile.write(tmp_path))
    assert model.n_jobs == os.cpu_count()
    assert {s.search.n_jobs for s in model._sets} == {os.cpu_count()}


def test_no_threads_are_refused(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.objects("GammaKNNClassifier")[0]["n_jobs"] = 0
    hostile.refuse(tmp_path, "n_jobs")


@pytest.mark.parametrize(
    ("name", "value"), [("k", -1), ("k", "3"), ("distance", "taxi"), ("metric", "f"), ("p", 0.5)]
)
def test_parameters_are_what_fit_would_take(tmp_path, name, value):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.objects("GammaKNNClassifier")[0][name] = value
    hostile.refuse(tmp_path, "whole model")


def test_what_is_refused_is_said_in_a_sentence_however_long_it_is(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.objects("GammaKNNClassifier")[0]["k"] = [3] * 2000
    hostile.refuse(tmp_path, "The 'k' parameter")
    with pytest.raises(ValueError, match="'k'") as caught:
        load(tmp_path / "hostile.rarefind")
    assert len(str(caught.value)) < 600


def test_what_nothing_describes_is_refused(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.objects("GammaKNNClassifier")[0]["_priority"] = 5
    hostile.refuse(tmp_path, "has '_priority', which does not belong there")


@pytest.mark.parametrize("field", ["_sets", "threshold_", "classes_"])
def test_what_is_lacking_is_missed(tmp_path, field):
    hostile = Hostile("ClassWeightedKNNClassifier-1")
    del hostile.objects("ClassWeightedKNNClassifier")[0][field]
    hostile.refuse(tmp_path, f"has no '{field}'")


def test_whole_numbers_have_a_size(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.objects("GammaKNNClassifier")[0]["random_state"] = 10**4000
    hostile.refuse(tmp_path, "far too large")


def nothing(parts):
    parts.manifest = []


def no_manifest(parts):
    parts.members["manifest.json"] = None


def compressed(parts):
    parts.compressed = {"manifest.json"}


def cut(parts):
    parts.damage = lambda body: body[: len(body) // 2]


def no_json(parts):
    parts.manifest = b"{"


def deep(parts):
    parts.manifest = b"[" * 100_000


@pytest.mark.parametrize("change", [nothing, no_manifest, compressed, cut, no_json, deep])
def test_a_manifest_is_read_or_refused_in_a_sentence(tmp_path, change):
    """KeyError, TypeError and BadZipFile came through, and compressed parts were read."""
    hostile = Hostile("GammaKNNClassifier-1")
    change(hostile.parts)
    path = hostile.write(tmp_path)
    with pytest.raises(ValueError, match=r"hostile\.rarefind .*\.$"):
        read_manifest(path)


def twice(body):
    """The archive with a member that is there twice."""
    return _appended(body, "0.npy", b"again")


def further(body):
    return _appended(body, "more.npy", b"more")


def _appended(body, name, content):
    packed = io.BytesIO(body)
    expected = pytest.warns(UserWarning, match="Duplicate") if name == "0.npy" else nullcontext()
    with expected, zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def overlapping(body):
    """Two entries of the directory lead to one member."""
    first, second = (body.rfind(name) for name in (b"0.npy", b"1.npy"))
    changed = bytearray(body)
    # The offset of the member stands right before its name.
    changed[second - 4 : second] = changed[first - 4 : first]
    return bytes(changed)


@pytest.mark.parametrize("damage", [twice, further, overlapping])
def test_parts_are_there_once_and_apart(tmp_path, damage):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.parts.damage = damage
    hostile.refuse(tmp_path, "holds other parts|lie in each other")


def test_arrays_that_nothing_refers_to_are_refused(tmp_path):
    hostile = Hostile("GammaKNNClassifier-1")
    hostile.parts.arrays.append(np.zeros(3))
    hostile.refuse(tmp_path, "does not refer to")


def test_positives_of_a_stream_are_remembered_where_there_is_room(tmp_path):
    """A count without room made the kernel divide by zero and read at random."""
    hostile = Hostile("ONLBClassifier-1")
    (state,) = hostile.objects("Memory")
    hostile.replace(state, "rows", np.zeros((0, 4)))
    hostile.array(state, "count")[0] = 3
    hostile.refuse(tmp_path, "no room")


@pytest.mark.parametrize(
    ("tag", "field", "value"),
    [
        ("TableModel", "positive_", "somebody"),
        ("TableModel", "known_rows_", {"$dict": [[3, 7]]}),
        ("TableModel", "types_", 5),
        ("Evidence", "budget", "much"),
        ("DriftReference", "rows", -1),
        ("ColumnReference", "levels", ["a", "b"]),
        ("ColumnReference", "zone", "Nowhere/Else"),
    ],
)
def test_the_parts_of_a_table_model_belong_together(tmp_path, tag, field, value):
    hostile = Hostile("table-gamma-knn")
    kind = {"zone": "date", "levels": "text"}.get(field)
    state = next(s for s in hostile.objects(tag) if kind is None or s["kind"] == kind)
    state[field] = value
    hostile.refuse(tmp_path, "whole model")


def test_opening_takes_no_more_memory_than_the_file(tmp_path):
    """A file that is refused for its last array has not been read three times."""
    hostile = Hostile("GammaKNNClassifier-1")
    state = hostile.objects("NeighborSearch")[0]
    hostile.replace(state, "points", np.zeros((200_000, 4)))
    path = hostile.write(tmp_path)
    load(OLD / "GammaKNNClassifier-1.rarefind")  # what is imported for it is
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="whole model"):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * path.stat().st_size


def test_the_threshold_is_there(tmp_path):
    file = Hostile("GammaKNNClassifier-3")
    (state,) = file.objects("GammaKNNClassifier")
    del state["threshold_"]
    file.refuse(tmp_path, "threshold is missing")


def test_maps_of_distances_have_numbers_to_square(tmp_path):
    file = Hostile("IMLClassifier-1")
    for state in file.objects("NeighborSearch"):
        file.array(state, "components")[0] = 1e200
    file.refuse(tmp_path, "out of their bounds")


def test_numbers_among_the_parameters_are_not_objects_of_others(tmp_path):
    file = Hostile("OnlineBoostingClassifier-2")
    (state,) = file.objects("OnlineBoostingClassifier")
    state["epochs"] = {"$unsaved": "3"}
    file.refuse(tmp_path, "'epochs' parameter")


def test_the_estimator_of_a_table_knows_its_columns_by_name(tmp_path):
    file = Hostile("table-metaap")
    (state,) = (s for s in file.objects("MetaAPClassifier") if "feature_names_in_" in s)
    del state["feature_names_in_"]
    file.refuse(tmp_path, "other columns than 'encoder_' makes")


def test_voters_are_as_many_as_the_parameter_says(tmp_path):
    file = Hostile("DistanceWeightedKNNClassifier-1")
    (state,) = file.objects("DistanceWeightedKNNClassifier")
    state["k"] -= 1
    file.refuse(tmp_path, "do not ask for 'k' points each")


def test_directions_have_loadings_to_square(tmp_path):
    file = Hostile("ProjectionBoostingClassifier-1")
    (state,) = file.objects("Projection")
    file.array(state, "loadings")[0] = 1e300
    file.refuse(tmp_path, "too large to be squared")


@pytest.mark.parametrize("columns", [2**31 - 1, 2**20 + 1])
def test_no_table_has_so_many_columns(tmp_path, columns):
    """Rules hold nothing by the column, so that any number of them was taken."""
    hostile = Hostile("RuleListClassifier-1")
    (state,) = hostile.objects("RuleListClassifier")
    state["n_features_in_"] = columns
    hostile.refuse(tmp_path, f"'n_features_in_' is {columns}, not a whole number within its bounds")


def test_classes_that_ask_for_different_numbers_of_rows_are_refused(tmp_path):
    """It opened, and failed when it scored."""
    hostile = Hostile("GammaKNNClassifier-three-classes")
    hostile.objects("PointSet")[-1]["k"] = 1
    hostile.refuse(tmp_path, "'_sets' ask for another number of rows of each class")
