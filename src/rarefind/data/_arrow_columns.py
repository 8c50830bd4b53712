"""Columns of Arrow tables as an encoder needs them, without a way through pandas where it pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rarefind._core.types import Floats
from rarefind.data.columns import LevelCodesPlan, LevelsPlan, NumberPlan, Plan
from rarefind.data.decode import check_no_infinity
from rarefind.data.types import clean, from_arrow


def encode_column(plan: Plan, table: Any, outputs: Floats) -> None:
    """Write the outputs of a plan's column, side by side."""
    column = table.column(plan.column)
    kind = column.type
    if isinstance(plan, NumberPlan) and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        _write_numbers(plan, column, outputs)
    elif isinstance(plan, LevelsPlan | LevelCodesPlan) and _is_text(kind):
        _write_levels(plan, column, outputs)
    else:
        outputs[:] = plan.encode(from_arrow(table.select([plan.column]))[plan.column])


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _write_numbers(plan: NumberPlan, column: Any, outputs: Floats) -> None:
    values = outputs[:, 0]
    start = 0
    for chunk in column.chunks:
        stop = start + len(chunk)
        if chunk.null_count and pa.types.is_integer(chunk.type):
            chunk = chunk.cast(pa.float64(), safe=False)
        values[start:stop] = chunk.to_numpy(zero_copy_only=False)
        start = stop
    check_no_infinity(plan.column, values)
    if plan.marks_missing:
        outputs[:, 1] = np.isnan(values)
    if not plan.spread.is_none:
        values[:] = plan.spread.apply(values)


def _write_levels(plan: LevelsPlan | LevelCodesPlan, column: Any, outputs: Floats) -> None:
    """Each different value is encoded once."""
    start = 0
    for chunk in column.chunks:
        stop = start + len(chunk)
        if not pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary_encode()
        levels = pa.concat_arrays([chunk.dictionary.cast(pa.string()), pa.nulls(1, pa.string())])
        of_level = plan.encode_texts(clean(levels))
        place = chunk.indices
        if place.null_count:
            place = place.fill_null(pa.scalar(len(levels) - 1, pa.int64()).cast(place.type))
        for j in range(outputs.shape[1]):
            np.take(of_level[:, j], place.to_numpy(), out=outputs[start:stop, j])
        start = stop
