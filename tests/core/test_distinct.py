from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rarefind._core.distinct import DistinctPoints


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.floats(-2, 2))
    | hnp.arrays(
        float,
        st.tuples(st.integers(1, 30), st.integers(1, 3)),
        elements=st.sampled_from([-0.0, 0.0, 1.0, 1e308, -1e308]),
    )
)
@settings(max_examples=150)
def test_copies_are_rows_with_equal_values(rows):
    found = DistinctPoints.of(rows)
    groups = {}
    for i, row in enumerate(rows.tolist()):
        groups.setdefault(tuple(value + 0.0 for value in row), []).append(i)
    if len(groups) == len(rows):
        assert found is None
        return
    assert found.first.tolist() == [members[0] for members in groups.values()]
    assert found.multiplicity.tolist() == [len(members) for members in groups.values()]
    for number, members in enumerate(groups.values()):
        assert (found.kind[members] == number).all()
        assert found.members[found.starts[number] : found.starts[number + 1]].tolist() == members
