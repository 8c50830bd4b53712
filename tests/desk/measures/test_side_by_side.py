"""Models side by side, against lists that are made row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind.desk.ledger import Listed
from rarefind.desk.measures.side_by_side import BIN_EDGES, compare_models
from rarefind.metrics import average_precision

row = st.tuples(
    st.integers(0, 1),  # group
    st.sampled_from("abcde"),  # card
    st.sampled_from((0.0, 0.1, 0.5, 0.9, 1.0)),
    st.sampled_from((0.0, 0.1, 0.5, 0.9, None)),
    st.booleans(),  # fraud
    st.booleans(),  # checked
    st.booleans(),  # erased
)


def naive_list(rows, place, budget):
    """Sequences on the list: of each group the best row of each card, as many as the budget."""
    chosen = []
    for group in sorted({each[0] for each in rows.values()}):
        own = sorted(
            (sequence for sequence, each in rows.items() if each[0] == group),
            key=lambda sequence: (-rows[sequence][place], sequence),
        )
        seen, listed = set(), []
        for sequence in own:
            _, card, *_, erased = rows[sequence]
            name = sequence if erased else card
            if name not in seen and len(listed) < budget:
                seen.add(name)
                listed.append(sequence)
        chosen += listed
    return chosen


@settings(max_examples=150)
@given(st.lists(row, max_size=25), st.integers(1, 4))
def test_figures_are_those_of_lists_made_by_hand(made, budget):
    sequence = np.arange(10, 10 + len(made))
    everything = dict(zip(sequence.tolist(), made, strict=True))

    def look(sequences):
        return {
            each: Listed(
                each, f"t{each}", 0, each, () if everything[each][6] else ("x", everything[each][1])
            )
            for each in sequences
        }

    scores = {
        name: np.array([np.nan if each[at] is None else each[at] for each in made], dtype=float)
        for name, at in (("one", 2), ("two", 3))
    }
    found = compare_models(
        sequence,
        np.array([each[0] for each in made], dtype=np.int64),
        scores | {"cannot": np.full(len(made), np.nan)},
        {each for each, about in everything.items() if about[4]},
        {each for each, about in everything.items() if about[5]},
        budget,
        look,
        1,
    )
    two_is_able = any(each[3] is not None for each in made)
    rows = {n: e for n, e in everything.items() if e[3] is not None or not two_is_able}
    assert found.rows == len(rows)
    assert found.others == len(made) - len(rows)
    assert found.frauds == sum(e[4] for e in rows.values())
    assert set(found.models) == (({"one"} if made else set()) | ({"two"} if two_is_able else set()))
    bad = {(e[0], e[1]) for e in rows.values() if e[4] and not e[6]}
    lists = {}
    for name, at in (("one", 2), ("two", 3)):
        if name not in found.models:
            continue
        own, listed = found.models[name], naive_list(rows, at, budget)
        lists[name] = set(listed)
        assert own.listed == len(listed)
        assert own.hits == sum(rows[n][4] for n in listed)
        assert own.money == sum(n for n in listed if rows[n][4])
        assert own.checked == sum(rows[n][5] for n in listed)
        assert own.entity_hits == sum(
            rows[n][4] if rows[n][6] else rows[n][:2] in bad for n in listed
        )
        said = np.array([e[at] for e in rows.values()], dtype=float)
        fraud = np.array([e[4] for e in rows.values()], dtype=bool)
        if fraud.any():
            assert own.average_precision == pytest.approx(average_precision(fraud, said))
        else:
            assert own.average_precision is None
        for low, high, count, total, frauds in zip(
            BIN_EDGES, BIN_EDGES[1:], own.counts, own.sums, own.frauds, strict=False
        ):
            inside = (said >= low) & ((said < high) | ((high == 1) & (said == 1)))
            assert count == inside.sum()
            assert total == pytest.approx(said[inside].sum())
            assert frauds == fraud[inside].sum()
    some = set().union(*lists.values()) if lists else set()
    apart = {n for n in some if any(n not in own for own in lists.values())}
    assert {each.sequence for each in found.disagreements} == apart
    for each in found.disagreements:
        assert {name: place is not None for name, place in each.places.items()} == {
            name: each.sequence in own for name, own in lists.items()
        }
