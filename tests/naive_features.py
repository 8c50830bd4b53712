"""The features of a transaction as they are defined: over all that arrived before it."""

import math
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pandas as pd


@cache
def nanoseconds(length):
    return pd.Timedelta(length).value


class NaiveHistories:
    """Keeps everything, and goes over all of it for each transaction."""

    def __init__(self, features):
        self.features = features
        self.rows = []  # (id, entities, time, amount, distinct)
        self.labels = {}

    def add(self, id, entities, time, amount, distinct):
        self.rows.append((id, entities, time, amount, distinct))

    def describe(self, entities, time, amount, distinct):
        found = []
        for i, entity in enumerate(self.features.entities):
            past = [row for row in self.rows if row[1][i] == entities[i] and row[2] <= time]
            past.sort(key=lambda row: row[2])  # stable: those of one time as they arrived
            found += self.of_entity(entity, past, time, amount, distinct)
        local = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time // 1000)
        local = local.astimezone(ZoneInfo(self.features.time_zone or "UTC"))
        found += [amount / self.scale, local.hour, local.weekday() in (5, 6), local.hour < 7]
        return [float(value) for value in found]

    @property
    def scale(self):
        return 10**self.features.minor_units

    def of_entity(self, entity, past, time, amount, distinct):
        found = []
        for name in entity.windows:
            amounts = [row[3] for row in past if row[2] > time - nanoseconds(name)] + [amount]
            said = {
                "count": len(amounts),
                "mean": float(sum(amounts)) / len(amounts) / self.scale,
                "sum": float(sum(amounts)) / self.scale,
                "min": min(amounts) / self.scale,
                "max": max(amounts) / self.scale,
            }
            found += [said[each] for each in entity.statistics]
        memory = self.features.memory
        kept = [row for row in past if memory is None or row[2] > time - nanoseconds(memory)]
        if entity.since_last:
            found.append((time - kept[-1][2]) / 10**9 if kept else math.nan)
        if entity.last:
            amounts = [*(row[3] for row in kept), amount][-entity.last :]
            found.append(float(sum(amounts)) / len(amounts) / self.scale)
        if entity.ratio:
            longest = max(map(nanoseconds, entity.windows))
            amounts = [row[3] for row in past if row[2] > time - longest]
            total = sum(amounts)
            found.append(float(amount) * len(amounts) / float(total) if total else math.nan)
        for column in entity.distinct:
            j = self.features.distinct.index(column)
            for name in entity.windows:
                inside = [row for row in past if row[2] > time - nanoseconds(name)]
                values = {row[4][j] for row in inside} | {distinct[j]}
                found.append(len(values - {None}))
        if entity.risk:
            ripe = time - nanoseconds(self.features.delay)
            for name in entity.windows:
                inside = [row for row in past if ripe - nanoseconds(name) < row[2] <= ripe]
                frauds = sum(self.labels.get(row[0], False) for row in inside)
                found += [frauds / len(inside) if inside else 0, frauds]
        return found
