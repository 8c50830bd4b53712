"""Histories as plain arrays, and what is checked of these before any kernel sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from rarefind._core.types import Array

__all__ = ["check_rows", "pack_texts", "taken", "unpack_texts"]


def pack_texts(texts: Iterable[str]) -> tuple[Array, Array]:
    """The bytes of texts one behind the other, and the length of each."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(each) for each in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), lengths


def unpack_texts(text: Array, lengths: Array) -> list[str]:
    """The texts that were packed, which must all differ."""
    _check_lengths(lengths, len(text))
    whole, found, start = text.tobytes(), [], 0
    for length in lengths.tolist():
        found.append(whole[start : start + length].decode("utf-8", "surrogatepass"))
        start += length
    if len(set(found)) < len(found):
        raise ValueError("a name is there twice")
    return found


def taken(arrays: Mapping[str, Array], name: str, dtype: type, shape: tuple[int, ...]) -> Array:
    """The array of a name, with its type and shape checked; -1 is any length."""
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != len(shape):
        raise ValueError(f"{name} is not there, or of another type")
    if any(wanted not in (-1, is_) for wanted, is_ in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} is of another length")
    return array


def check_rows(size: Array, time: Array, codes: Array, newest: int, names: list[int]) -> None:
    """Check entities' rows: as many as they say, in order of time, with values that have names."""
    _check_lengths(size, len(time))
    is_first = np.zeros(len(time) + 1, dtype=bool)
    is_first[np.cumsum(size) - size] = True
    if np.any((time[1:] < time[:-1]) & ~is_first[1:-1]) or np.any(time > newest):
        raise ValueError("times are not in order")
    for column, count in enumerate(names):
        if np.any(codes[:, column] < -1) or np.any(codes[:, column] >= count):
            raise ValueError("a value has no name")


def _check_lengths(lengths: Array, total: int) -> None:
    if np.any(lengths < 0) or np.any(lengths > total) or lengths.sum() != total:
        raise ValueError("lengths do not add up")
