"""The one list against its definition: a loop over the rows of each group."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefind._core.budget import check_budget
from rarefind.data.frames import entity_codes
from rarefind.metrics import budget as checks_bought
from rarefind.tables.lists import Groups, ListRequest, on_list

ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 0.5, 1.0, -np.inf, np.inf]),  # many ties
        st.sampled_from(["north", "south", None]),
        st.sampled_from(["a", "b", "c", None]),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
)
BUDGETS = st.sampled_from([1, 2, 7, "10%", 0.5, "100%"])


def naive_list(rows, budget, one_per, among):
    """The highest rows of each group; of equal ones the earlier, an owner once."""
    chosen = []
    for region in ("north", "south", None):
        own = [i for i, row in enumerate(rows) if row[1] is region and (row[3] or not among)]
        checks = checks_bought(budget, len(own)) if own else 0
        seen, listed = set(), 0
        for i in sorted(own, key=lambda i: (-rows[i][0], i)):
            owner = rows[i][2]
            if listed < checks and not (one_per and owner is not None and owner in seen):
                seen.add(owner)
                chosen.append(i)
                listed += 1
    return sorted(chosen)


@given(ROWS, BUDGETS, st.booleans(), st.booleans(), st.data())
@settings(max_examples=100, deadline=None)
def test_the_list_is_its_definition_in_any_cut(rows, budget, one_per, among, data):
    table = pd.DataFrame(rows, columns=["priority", "region", "card", "known"])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    groups = Groups("region", None)
    pieces = [table[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    numbers = np.concatenate([groups.of(piece) for piece in pieces])
    found = on_list(
        table["priority"].to_numpy(),
        budget,
        numbers,
        entity_codes(table["card"]) if one_per else None,
        table["known"].to_numpy() if among else None,
    )
    assert np.flatnonzero(found).tolist() == naive_list(rows, budget, one_per, among)
    names = groups.names(numbers)
    assert [None if pd.isna(name) else name for name in names] == [row[1] for row in rows]
    order = {"north": 0, "south": 1, None: 2}
    by_name = sorted(range(len(rows)), key=lambda i: order[rows[i][1]])
    by_place = np.argsort(groups.places(numbers), kind="stable")
    assert by_place.tolist() == by_name, "by name, and those without one at the end"


def test_numbers_and_values_of_several_types_are_groups():
    groups = Groups("shop", None)
    first = groups.of(pd.DataFrame({"shop": [3, 1]}))
    second = groups.of(pd.DataFrame({"shop": [1.0, np.nan, 2.0]}))
    assert second[0] == first[1], "1 and 1.0 are the same shop"
    assert groups.places(np.append(first, second)).tolist() == [2, 0, 0, 3, 1]
    mixed = groups.of(pd.DataFrame({"shop": pd.Series(["x", 2], dtype=object)}))
    assert mixed[1] == second[2]
    assert sorted(groups.places(mixed)) == groups.places(mixed[::-1]).tolist()
    assert groups.of(pd.DataFrame({"shop": pd.Categorical(["x"])}))[0] == mixed[0]


def test_without_periods_there_is_one_list():
    groups = Groups(None, None)
    assert groups.column(["a"]) is None
    assert groups.of(pd.DataFrame({"a": [1, 2]})).tolist() == [0, 0]
    assert on_list(np.array([1.0, 3.0, 2.0]), 2).tolist() == [False, True, True]


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(ValueError, match="did you mean 'region'"):
        Groups("regoin", None).column(["region", "amount"])
    with pytest.raises(ValueError, match="needs the column with the time of a row"):
        Groups("day", None)
    with pytest.raises(ValueError, match="needs the column with the time, 'when', and"):
        Groups("day", "when").column(["amount"])
    with pytest.raises(ValueError, match="one_per='shop' does not name a column"):
        ListRequest(5, None, "shop").owner_column("card", ["card"])
    assert ListRequest(5, None, True).owner_column("card", ["card"]) == "card"
    with pytest.raises(ValueError, match="buys nothing"):
        check_budget(" 0 %")
    with pytest.raises(
        ValueError, match=r"budget of 1,001 checks is larger than today\.csv, which"
    ):
        check_budget("1001", 1000, "today.csv")
    check_budget("100%", 1)
