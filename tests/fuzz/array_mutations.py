"""Arrays of a model file with odd values, types, shapes and headers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from fuzz.sealed import Parts

FLOATS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 5e-324, 0.0, -0.0, -1.0, 1.5, 1e18]
_LARGE = 4 * 2**20  # bytes
WHOLE = [0, -1, 1, 2, 3, 4, 5, 60, 255, 2**15, 2**24, 2**30, 2**31 - 1, 2**31, -(2**31), 2**62]
TYPES = [
    *("f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?", "U3", "S2", "c16", "M8[ns]"),
    *("m8[s]", ">f8", ">i4", "g", "V4"),
]


def _pick(parts: Parts, rng: np.random.Generator) -> int | None:
    known = [
        i for i, array in enumerate(parts.arrays) if isinstance(array, np.ndarray) and array.size
    ]
    return int(rng.choice(known)) if known else None


def values(parts: Parts, rng: np.random.Generator) -> str | None:
    """Some cells of an array set to odd values."""
    i = _pick(parts, rng)
    if i is None:
        return None
    array = parts.arrays[i] = parts.arrays[i].copy()
    flat = array.reshape(-1)
    some = rng.integers(flat.size, size=int(rng.choice([1, 1, 1, 2, flat.size])))
    how = str(rng.choice(["odd", "odd", "odd", "step", "swap", "negate", "reverse", "same"]))
    with np.errstate(all="ignore"):
        if how == "swap":
            other = rng.integers(flat.size, size=some.size)
            flat[some], flat[other] = flat[other], flat[some]
        elif how == "reverse":
            flat[:] = flat[::-1].copy()
        elif how == "same":
            flat[:] = flat[some[0]]
        elif array.dtype.kind == "f":
            flat[some] = {"odd": rng.choice(FLOATS), "step": flat[some] + 1, "negate": -flat[some]}[
                how
            ]
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            odd = [*WHOLE, limits.max, limits.min, limits.max - 1, flat.size, flat.size - 1]
            fits = [value for value in odd if limits.min <= value <= limits.max]
            odd_value = fits[rng.integers(len(fits))]
            step = flat[some] + flat.dtype.type(rng.choice([1, 3]))
            flat[some] = {"odd": odd_value, "step": step, "negate": ~flat[some]}[how]
        elif array.dtype.kind == "b":
            flat[some] = ~flat[some]
        elif array.dtype.kind in "US":
            flat[some] = str(rng.choice(["", "\0", "=1+1", "é" * 40, "nan"]))
        else:
            flat[some] = np.zeros(1, array.dtype)
    return f"array {i} {array.dtype}{array.shape}: {how} at {some[:3].tolist()} → {flat[some][:2]}"


def dtype(parts: Parts, rng: np.random.Generator) -> str | None:
    """An array of another type."""
    i = _pick(parts, rng)
    if i is None:
        return None
    was, wanted = parts.arrays[i].dtype, str(rng.choice(TYPES))
    with np.errstate(all="ignore"):
        try:
            same_bytes = rng.random() < 0.3
            parts.arrays[i] = (
                parts.arrays[i].view(wanted) if same_bytes else parts.arrays[i].astype(wanted)
            )
        except (TypeError, ValueError):
            return None
    return f"array {i}: {was} became {parts.arrays[i].dtype}"


def shape(parts: Parts, rng: np.random.Generator) -> str | None:
    """An array of another shape."""
    i = _pick(parts, rng)
    if i is None:
        return None
    array = parts.arrays[i]
    last = array.shape[-1] if array.ndim else 1
    changes: dict[str, Any] = {
        "transposed": lambda: np.ascontiguousarray(array.T),
        "a row fewer": lambda: array[:-1],
        "a row more": lambda: np.concatenate([array, array[-1:]]),
        "a column fewer": lambda: array[..., :-1],
        "a column more": lambda: np.concatenate([array, array[..., -1:]], axis=-1),
        "one column": lambda: array[..., :1],
        "one row": lambda: array[:1],
        "no rows": lambda: array[:0],
        "no columns": lambda: array[..., :0],
        "10**12 rows of nothing": lambda: np.empty((10**12, 0), array.dtype),
        "one number": lambda: array.reshape(-1)[0].reshape(()),
        "flat": lambda: array.reshape(-1),
        "an axis more": lambda: array[None],
        "an axis at the end": lambda: array[..., None],
        "twice": lambda: np.concatenate([array, array]),
        "another width": lambda: array.reshape(-1, max(1, last // 2)),
        "by columns": lambda: np.asfortranarray(array),
        "half": lambda: array[: len(array) // 2],
        "large": lambda: np.resize(array, (_LARGE // array[:1].nbytes, *array.shape[1:])),
    }
    how = str(rng.choice(list(changes)))
    try:
        parts.arrays[i] = changes[how]()
    except (IndexError, ValueError, TypeError):
        return None
    return f"array {i} {array.dtype}{array.shape}: {how}, {parts.arrays[i].shape}"


def exchange(parts: Parts, rng: np.random.Generator) -> str | None:
    """Two arrays exchanged, or one in the place of another."""
    if len(parts.arrays) < 2:
        return None
    i, j = (int(k) for k in rng.choice(len(parts.arrays), 2, replace=False))
    if rng.random() < 0.5:
        parts.arrays[i], parts.arrays[j] = parts.arrays[j], parts.arrays[i]
        return f"arrays {i} and {j} exchanged"
    parts.arrays[i] = parts.arrays[j]
    return f"array {j} in the place of {i} too"


def header(parts: Parts, rng: np.random.Generator) -> str | None:
    """An array whose header lies, or that would have to be unpickled."""
    i = _pick(parts, rng)
    if i is None:
        return None
    array = parts.arrays[i]
    how = int(rng.integers(5))
    if how == 0:
        parts.arrays[i] = np.array([None] * max(1, array.size), dtype=object)
        return f"array {i} is pickled"
    buffer = io.BytesIO()
    np.save(buffer, array)
    content = bytearray(buffer.getvalue())
    if how == 1:
        at = int(rng.integers(6, 90))
        content[at] ^= int(rng.integers(1, 256))
        what = f"byte {at} of the header changed"
    elif how == 2:
        content = content[: int(rng.integers(len(content)))]
        what = "cut"
    elif how == 3:
        content += b"\0" * int(rng.choice([1, 8, 64]))
        what = "longer than it says"
    else:
        sized = np.lib.format.header_data_from_array_1_0(array)
        sized["shape"] = tuple(int(s) for s in rng.choice([0, 1, 2**40, 2**62, -1, 3], 2))
        other = io.BytesIO()
        np.lib.format.write_array_header_2_0(other, sized)
        content = bytearray(other.getvalue() + array.tobytes())
        what = f"says {sized['shape']}"
    parts.arrays[i] = bytes(content)
    return f"array {i}: {what}"
