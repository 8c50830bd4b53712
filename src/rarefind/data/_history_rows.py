"""One entity's history: its rows in order of time, described and changed a row at a time.

A history has ``size`` rows from ``place`` on, in room for ``room`` of them. ``time`` is in order;
rows of one time are in the order of their arrival. ``total`` is the sum of all amounts up to a row,
from ``base`` before the first. ``codes`` has, for each column whose different values are counted,
twice the value's number, and 1 more in the last row with that value; -2 where it is missing.
``low`` and ``high`` are extremes of amounts, a block of rows at a time, of histories with many.
"""

from __future__ import annotations

import numpy as np

from rarefind._core.kernels import kernel
from rarefind._core.types import Array, Floats

__all__ = [
    "BLOCK",
    "describe_row",
    "find_row",
    "first_after",
    "insert_row",
    "remove_row",
    "set_extremes",
]

#: Rows of a block. Histories with room for two or more begin at a multiple of it.
BLOCK = 256
_CHUNK = 64  # rows that are compared at once
_EARLIEST = np.iinfo(np.int64).min
_SECOND = 1_000_000_000


@kernel
def first_after(time: Array, start: int, stop: int, when: int) -> int:
    """The first of some rows that is later than a time; ``stop`` if none is."""
    if start == stop or time[stop - 1] <= when:
        return stop
    stop -= 1
    while start < stop:
        middle = (start + stop) >> 1
        if time[middle] <= when:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def _earlier(when: int, length: int) -> int:
    """A time so much before another, or the earliest there is."""
    return when - length if when >= _EARLIEST + length else _EARLIEST


@kernel
def _last_with(codes: Array, start: int, count: int, code: int) -> int:
    """The last of some rows with a value, counted from ``start``; -1 if none has it."""
    wanted = np.int32(code)
    stop = start + count
    while stop - start >= _CHUNK:
        found = 0
        for i in range(stop - _CHUNK, stop):
            found += (codes[i] >> 1) == wanted
        if found:
            break
        stop -= _CHUNK
    for i in range(stop - 1, max(start, stop - _CHUNK) - 1, -1):
        if codes[i] >> 1 == wanted:
            return i - start
    return -1


@kernel
def _plain_extremes(total: Array, first: int, stop: int, before: int) -> tuple[int, int]:
    """Smallest and largest amount of rows, of which there is one, that follow a total."""
    smallest = largest = total[first] - before
    for i in range(first + 1, stop):
        amount = total[i] - total[i - 1]
        smallest = min(smallest, amount)
        largest = max(largest, amount)
    return smallest, largest


@kernel
def _extremes(
    total: Array,
    low: Array,
    high: Array,
    place: int,
    room: int,
    base: int,
    first: int,
    stop: int,
    amount: int,
) -> tuple[int, int]:
    """Smallest and largest of an amount and those of rows, whole blocks at a time."""
    smallest = largest = amount
    while first < stop:
        end = stop
        if room >= 2 * BLOCK:
            block = first // BLOCK
            if first % BLOCK == 0 and first + BLOCK <= stop:
                smallest, largest = min(smallest, low[block]), max(largest, high[block])
                first += BLOCK
                continue
            end = min(stop, (block + 1) * BLOCK)
        before = total[first - 1] if first > place else base
        least, most = _plain_extremes(total, first, end, before)
        smallest, largest = min(smallest, least), max(largest, most)
        first = end
    return smallest, largest


@kernel
def set_extremes(
    total: Array, low: Array, high: Array, place: int, size: int, base: int, first: int
) -> None:
    """Compute anew the extremes of blocks from the one of a row on."""
    stop = place + size
    start = max(place, first // BLOCK * BLOCK)
    while start < stop:
        end = min(stop, start + BLOCK)
        before = total[start - 1] if start > place else base
        low[start // BLOCK], high[start // BLOCK] = _plain_extremes(total, start, end, before)
        start = end


@kernel
def _distinct(
    codes: Array, origin: int, size: int, first: int, stop: int, own: int, last: int, seen: Array
) -> int:
    """Count the different values of some rows and of one more.

    ``last`` is the last row with the value of that one. ``seen`` says at which count a value was
    last met; its first entry counts the counts.
    """
    found = 0
    if stop == size:
        for i in range(origin + first, origin + stop):
            found += codes[i] & 1
        return found + int(own >= 0 and last < first)
    seen[0] += 1
    turn = seen[0]
    if own >= 0:
        seen[own + 1] = turn
        found = 1
    for i in range(origin + first, origin + stop):
        code = codes[i] >> 1
        if code >= 0 and seen[code + 1] != turn:
            seen[code + 1] = turn
            found += 1
    return found


@kernel
def describe_row(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    place: int,
    room: int,
    size: int,
    base: int,
    frauds: Array,
    seen: Array,
    when: int,
    amount: int,
    own: Array,
    windows: Array,
    statistics: Array,
    options: Array,
    scale: float,
    out: Floats,
    k: int,
) -> None:
    """Write the features of a row from ``out[k]`` on, in the order of their names.

    ``options`` are: since_last, last, ratio, risk, delay, memory. ``frauds`` are the times of the
    entity's known frauds in order.
    """
    since_last, last, ratio, risk, delay, memory = options
    end = place + size
    stop = first_after(time, place, end, when)
    until = total[stop - 1] if stop > place else base
    longest = 0
    for window in windows:
        longest = max(longest, window)
        first = first_after(time, place, stop, _earlier(when, window))
        count = stop - first + 1
        paid = until - (total[first - 1] if first > place else base) + amount
        smallest = largest = amount
        if 3 in statistics or 4 in statistics:
            smallest, largest = _extremes(total, low, high, place, room, base, first, stop, amount)
        for statistic in statistics:
            if statistic == 0:
                out[k] = count
            elif statistic == 1:
                out[k] = paid / count / scale
            elif statistic == 2:
                out[k] = paid / scale
            elif statistic == 3:
                out[k] = smallest / scale
            else:
                out[k] = largest / scale
            k += 1
    if since_last or last:
        remembered = first_after(time, place, stop, _earlier(when, memory))
        if since_last:
            out[k] = (when - time[stop - 1]) / _SECOND if stop > remembered else np.nan
            k += 1
        if last:
            first = max(remembered, stop - last + 1)
            paid = until - (total[first - 1] if first > place else base) + amount
            out[k] = paid / (stop - first + 1) / scale
            k += 1
    if ratio:
        first = first_after(time, place, stop, _earlier(when, longest))
        paid = until - (total[first - 1] if first > place else base)
        out[k] = np.nan
        if paid != 0:
            out[k] = float(amount) * (stop - first) / paid
        k += 1
    for column in range(len(own)):
        origin = len(own) * place + column * room
        before = -1
        if own[column] >= 0:
            before = _last_with(codes, origin, stop - place, own[column])
        for window in windows:
            first = first_after(time, place, stop, _earlier(when, window))
            out[k] = _distinct(
                codes, origin, size, first - place, stop - place, own[column], before, seen
            )
            k += 1
    if risk:
        ripe = _earlier(when, delay)
        stop = first_after(time, place, stop, ripe)
        known = first_after(frauds, 0, len(frauds), ripe)
        for window in windows:
            edge = _earlier(ripe, window)
            count = stop - first_after(time, place, stop, edge)
            fraud = known - first_after(frauds, 0, known, edge)
            out[k] = fraud / count if count else 0.0
            out[k + 1] = fraud
            k += 2


@kernel
def insert_row(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    place: int,
    room: int,
    size: int,
    base: int,
    when: int,
    amount: int,
    own: Array,
) -> None:
    """Add a row behind those of its time or earlier; there is room for it."""
    end = place + size
    at = first_after(time, place, end, when)
    for i in range(end, at, -1):
        time[i] = time[i - 1]
        total[i] = total[i - 1] + amount
    time[at] = when
    total[at] = (total[at - 1] if at > place else base) + amount
    for column in range(len(own)):
        origin = len(own) * place + column * room
        row = origin + at - place
        code = own[column]
        is_last = 0
        if code >= 0:
            last = _last_with(codes, origin, size, code)
            is_last = int(last < at - place)
            if is_last and last >= 0:
                codes[origin + last] -= 1
        for i in range(origin + size, row, -1):
            codes[i] = codes[i - 1]
        codes[row] = 2 * code + is_last
    if room >= 2 * BLOCK:
        if at == end and at % BLOCK:
            low[at // BLOCK] = min(low[at // BLOCK], amount)
            high[at // BLOCK] = max(high[at // BLOCK], amount)
        else:
            set_extremes(total, low, high, place, size + 1, base, at)


@kernel
def find_row(
    time: Array,
    total: Array,
    codes: Array,
    place: int,
    room: int,
    size: int,
    base: int,
    when: int,
    amount: int,
    own: Array,
) -> int:
    """The last row with this time, amount and these values; -1 if there is none."""
    at = first_after(time, place, place + size, when) - 1
    while at >= place and time[at] == when:
        same = total[at] - (total[at - 1] if at > place else base) == amount
        for column in range(len(own)):
            row = len(own) * place + column * room + at - place
            same &= (codes[row] >> 1) == own[column]
        if same:
            return at
        at -= 1
    return -1


@kernel
def remove_row(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    place: int,
    room: int,
    size: int,
    base: int,
    at: int,
    n_columns: int,
) -> None:
    """Take a row away."""
    end = place + size
    amount = total[at] - (total[at - 1] if at > place else base)
    for i in range(at, end - 1):
        time[i] = time[i + 1]
        total[i] = total[i + 1] - amount
    for column in range(n_columns):
        origin = n_columns * place + column * room
        gone = codes[origin + at - place]
        for i in range(origin + at - place, origin + size - 1):
            codes[i] = codes[i + 1]
        if gone & 1:
            last = _last_with(codes, origin, size - 1, gone >> 1)
            if last >= 0:
                codes[origin + last] += 1
    if room >= 2 * BLOCK:
        set_extremes(total, low, high, place, size - 1, base, at)
