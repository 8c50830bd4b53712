"""Bytes and texts that are damaged, or changed as somebody might who means harm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Change = Callable[[bytes, np.random.Generator], tuple[bytes, str]]

_ODD_BYTES = [0, 1, 10, 13, 34, 127, 128, 255]
_ODD_NUMBERS = [0, 1, -1, 2**15, 2**24, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**63)]
#: Pieces of text that mean something to a reader of tables.
CELLS = [
    *('"', '""', "'", ",", ";", "\t", "|", "\n", "\r", "\r\n", "\n\n", "\0", "\ufeff", " ", "\x1a"),
    *("1e999", "-1e-999", "nan", "inf", "-inf", "1,234", "(1.234,5)", "12,5 %", "1" * 400, "0x1f"),
    *("99/99/9999", "2026-02-30", "2026-01-01T00:00:00+25:00", "0001-01-01", "9999-12-31 24:00"),
    *("true", "NA", "?", "=1+1", "\x1b[31m", "é", "\u2028", "\x85", "𝟙", "٣", "a" * 5000),
    *('"a\nb"', '"never closed', ",,,,", "−5", "1_000", "1 000", "\u202e", "$5", "5 €", "٫"),
]


def mutate_bytes(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """Damage bytes in a place or a few, often near an end, where formats have their heads."""
    done = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 4, 12]))):
        change = _CHANGES[rng.integers(len(_CHANGES))]
        data, what = change(data or b"\0", rng)
        done.append(what)
    return data, "; ".join(done)


def mutate_text(text: str, rng: np.random.Generator, cells: list[str]) -> tuple[str, str]:
    """Pieces of text put in, taken out, repeated and exchanged."""
    done = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        at, to = _range(len(text), rng)
        how = int(rng.integers(6))
        cell = cells[rng.integers(len(cells))]
        if how == 0:
            text = text[:at] + cell + text[at:]
        elif how == 1:
            text = text[:at] + cell + text[to:]
        elif how == 2:
            text = text[:at] + text[to:]
        elif how == 3:
            cell = text[at:to]
            text = text[:to] + cell * int(rng.choice([1, 2, 30])) + text[to:]
        elif how == 4:
            cell = text[at:to][::-1]
            text = text[:at] + cell + text[to:]
        else:
            code = [0x00, 0x7F, 0xA0, 0x300, 0xFFFD, 0xFFFF, 0x1F600][rng.integers(7)]
            cell = chr(code)
            text = text[:at] + cell + text[at + 1 :]
        done.append(f"{_TEXT_WAYS[how]} {cell!r:.30} at {at}")
    return text, "; ".join(done)


_TEXT_WAYS = ["put in", "replaced by", "taken out, not", "repeated", "reversed to", "character"]


def _place(data: bytes, rng: np.random.Generator) -> int:
    at = int(rng.integers(len(data)))
    near = min(len(data), 1 + int(rng.integers(300)))
    return [at, at, len(data) - near, near - 1][rng.integers(4)]


def _range(length: int, rng: np.random.Generator) -> tuple[int, int]:
    at = int(rng.integers(length + 1))
    return at, min(length, at + int(rng.choice([1, 1, 2, 5, 20, 100])))


def _flip(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, bit = _place(data, rng), int(rng.integers(8))
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :], f"bit {bit} of {at}"


def _odd_byte(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, byte = _place(data, rng), int(rng.choice(_ODD_BYTES))
    return data[:at] + bytes([byte]) + data[at + 1 :], f"byte {at} is {byte}"


def _odd_number(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, number, size = _place(data, rng), int(rng.choice(_ODD_NUMBERS)), int(rng.choice([2, 4, 8]))
    at -= at % size if rng.random() < 0.7 else 0
    cells = (number % 2 ** (8 * size)).to_bytes(size, "little")
    return data[:at] + cells + data[at + size :], f"{size} bytes at {at} are {number}"


def _other_number(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """A number that is in the file, a little off."""
    at, size = _place(data, rng), int(rng.choice([1, 2, 4, 8]))
    at -= at % size
    off = int(rng.choice([1, -1, 8, 64, 1000]))
    was = int.from_bytes(data[at : at + size], "little")
    cells = ((was + off) % 2 ** (8 * size)).to_bytes(size, "little")
    return data[:at] + cells + data[at + size :], f"{size} bytes at {at} are {off} more"


def _cut(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at = _place(data, rng)
    return data[:at], f"cut at {at}"


def _without(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, to = _range(len(data), rng)
    return data[:at] + data[to:], f"without {at} to {to}"


def _twice(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, to = _range(len(data), rng)
    return data[:to] + data[at:], f"{at} to {to} twice"


def _moved(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, to = _range(len(data), rng)
    other = int(rng.integers(len(data)))
    return data[:other] + data[at:to] + data[other + to - at :], f"{at} to {to} over {other}"


def _random(data: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    at, to = _range(len(data), rng)
    return data[:at] + rng.bytes(to - at) + data[to:], f"random {at} to {to}"


_CHANGES: list[Change] = [
    *(_flip, _flip, _flip, _odd_byte, _odd_byte, _odd_number, _odd_number, _odd_number),
    *(_other_number, _other_number, _cut, _without, _twice, _moved, _random),
]
