"""Which of two labels is the positive one, for all who have to choose."""

from __future__ import annotations

from rarefind._core.types import Array, Label


def choose_positive(labels: Array, counts: Array, pos_label: Label = None) -> Label:
    """``pos_label``, or by default the rarer of the two labels, the second when equal."""
    if pos_label is None:
        return labels[0] if counts[0] < counts[1] else labels[1]
    if pos_label not in labels:
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels {labels[0]!s} and {labels[1]!s}."
        )
    return pos_label
