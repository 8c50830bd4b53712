from types import SimpleNamespace

from rarefind.auto._families import family, of_different_families
from rarefind.boosting import SGBAPClassifier
from rarefind.neighbors import GammaKNNClassifier
from rarefind.trees import MetaAPForestClassifier

FAMILIES = {"b": SGBAPClassifier(), "n": GammaKNNClassifier(), "t": MetaAPForestClassifier()}


def candidates(letters):
    return [SimpleNamespace(name=f"{k}{i}", estimator=FAMILIES[k]) for i, k in enumerate(letters)]


def names(found):
    return " ".join(candidate.name for candidate in found)


def test_a_family_is_the_package_of_the_estimator():
    assert [family(c) for c in candidates("bnt")] == ["boosting", "neighbors", "trees"]


def test_a_class_of_ones_own_is_of_the_family_that_it_is_made_of():
    class Own(GammaKNNClassifier):
        pass

    assert family(SimpleNamespace(estimator=Own())) == "neighbors"


def test_the_first_two_of_each_family_stay_in_their_order():
    assert names(of_different_families(candidates("bbbntbt"))) == "b0 b1 n3 t4 t6"


def test_others_fill_up_only_what_is_missing():
    found = candidates("bbbbn")
    assert names(of_different_families(found)) == "b0 b1 n4"
    assert names(of_different_families(found, fill=4)) == "b0 b1 n4 b2"
    assert names(of_different_families(found, fill=2)) == "b0 b1 n4"
    assert of_different_families([], fill=3) == []
