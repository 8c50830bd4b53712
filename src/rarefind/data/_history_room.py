"""Room for histories that grow: a buddy allocator over the arrays that they share.

Histories have room for a power of two of rows and begin at a multiple of it. What a history leaves
behind when it moves joins its free neighbour (its buddy), so that small pieces become large ones.
Free pieces are chained through the arrays themselves: ``time`` has the next one of the same size,
``total`` the one before. ``free`` has the first free piece of each size, and at its end where the
part of the arrays begins that was never used. ``mark`` says of which size the free piece is that
begins at a row, in units of the smallest.
"""

from __future__ import annotations

from rarefind._core.kernels import kernel
from rarefind._core.types import Array
from rarefind.data._history_rows import BLOCK, first_after, insert_row, set_extremes

__all__ = ["SIZES", "SMALLEST", "add_rows", "forget_rows"]

#: Log2 of the rows of the smallest piece, and the number of sizes.
SMALLEST = 2
SIZES = 40


@kernel
def _give(time: Array, total: Array, free: Array, mark: Array, place: int, size: int) -> None:
    """Give back a piece of 2**size rows, joined with its buddy while that is free too."""
    while True:
        buddy = place ^ (1 << size)
        if buddy >= free[SIZES] or mark[buddy >> SMALLEST] != size:
            break
        _unchain(time, total, free, mark, buddy, size)
        place, size = min(place, buddy), size + 1
    after = free[size]
    time[place], total[place] = after, -1
    if after >= 0:
        total[after] = place
    free[size] = place
    mark[place >> SMALLEST] = size


@kernel
def _unchain(time: Array, total: Array, free: Array, mark: Array, place: int, size: int) -> None:
    after, before = time[place], total[place]
    if before >= 0:
        time[before] = after
    else:
        free[size] = after
    if after >= 0:
        total[after] = before
    mark[place >> SMALLEST] = 0


@kernel
def _take(time: Array, total: Array, free: Array, mark: Array, size: int) -> int:
    """Find a piece of 2**size rows; -1 if the arrays are too short."""
    larger = size
    while larger < SIZES and free[larger] < 0:
        larger += 1
    if larger < SIZES:
        place = free[larger]
        _unchain(time, total, free, mark, place, larger)
        while larger > size:
            larger -= 1
            _give(time, total, free, mark, place + (1 << larger), larger)
        return place
    while free[SIZES] & ((1 << size) - 1):
        unused, odd = free[SIZES], SMALLEST
        while not unused & (1 << odd):
            odd += 1
        if unused + (1 << odd) > len(time):
            return -1
        free[SIZES] += 1 << odd
        _give(time, total, free, mark, unused, odd)
    place = free[SIZES]
    if place + (1 << size) > len(time):
        return -1
    free[SIZES] += 1 << size
    return place


@kernel
def _move(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    old: int,
    old_room: int,
    new: int,
    new_room: int,
    first: int,
    size: int,
    base: int,
    n_columns: int,
) -> None:
    """Copy the rows of a history from the first one that stays."""
    for i in range(size):
        time[new + i], total[new + i] = time[old + first + i], total[old + first + i]
    for column in range(n_columns):
        source = n_columns * old + column * old_room + first
        target = n_columns * new + column * new_room
        for i in range(size):
            codes[target + i] = codes[source + i]
    if new_room >= 2 * BLOCK:
        set_extremes(total, low, high, new, size, base, new)


@kernel
def add_rows(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    free: Array,
    mark: Array,
    place: Array,
    room: Array,
    size: Array,
    base: Array,
    entities: Array,
    whens: Array,
    amounts: Array,
    owns: Array,
    start: int,
) -> int:
    """Add rows in the order of their arrival from the one of ``start`` on.

    Returns how far it came: the arrays are too short for the next one.
    """
    n_columns = owns.shape[1]
    for row in range(start, len(entities)):
        who = entities[row]
        if size[who] == room[who]:
            new_size = SMALLEST
            while (1 << new_size) <= room[who]:
                new_size += 1
            new = _take(time, total, free, mark, new_size)
            if new < 0:
                return row
            old, old_room, new_room = place[who], room[who], 1 << new_size
            _move(
                time,
                total,
                codes,
                low,
                high,
                old,
                old_room,
                new,
                new_room,
                0,
                size[who],
                base[who],
                n_columns,
            )
            place[who], room[who] = new, new_room
            if old_room:
                _give(time, total, free, mark, old, new_size - 1)
        insert_row(
            time,
            total,
            codes,
            low,
            high,
            place[who],
            room[who],
            size[who],
            base[who],
            whens[row],
            amounts[row],
            owns[row],
        )
        size[who] += 1
    return len(entities)


@kernel
def forget_rows(
    time: Array,
    total: Array,
    codes: Array,
    low: Array,
    high: Array,
    free: Array,
    mark: Array,
    place: Array,
    room: Array,
    size: Array,
    base: Array,
    n_columns: int,
    first: int,
    stop: int,
    before: int,
    kept: int,
    long_before: int,
) -> int:
    """Forget the rows of some entities up to a time, but for the last few of these.

    Even those are forgotten that are older than ``long_before``. Returns how many were forgotten.
    """
    forgotten = 0
    for who in range(first, stop):
        old, count = place[who], size[who]
        gone = max(0, first_after(time, old, old + count, before) - old - kept)
        gone = max(gone, first_after(time, old, old + count, long_before) - old)
        if not gone:
            continue
        forgotten += gone
        base[who] = total[old + gone - 1]
        left = count - gone
        smaller = SMALLEST
        while (1 << smaller) < left:
            smaller += 1
        own = smaller
        while (1 << own) < room[who]:
            own += 1
        new, new_room = old, room[who]
        if left == 0:
            _give(time, total, free, mark, old, own)
            place[who] = room[who] = size[who] = base[who] = 0
            continue
        if own - smaller >= 2:
            # Twice what is needed: the next row shall not move it again.
            found = _take(time, total, free, mark, smaller + 1)
            if found >= 0:
                new, new_room = found, 1 << (smaller + 1)
        _move(
            time,
            total,
            codes,
            low,
            high,
            old,
            room[who],
            new,
            new_room,
            gone,
            left,
            base[who],
            n_columns,
        )
        if new != old:
            _give(time, total, free, mark, old, own)
        place[who], room[who], size[who] = new, new_room, left
    return forgotten
