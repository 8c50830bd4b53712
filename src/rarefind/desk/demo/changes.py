"""How the expert of the demo has written rules and kept a list in the past weeks."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from rarefind.desk.control import Control
from rarefind.desk.demo.agenda import AgendaItem
from rarefind.desk.demo.rules import RULES, WATCHED, DemoRule
from rarefind.desk.demo.staff import EXPERT
from rarefind.desk.demo.world import DAY, DemoWorld

__all__ = ["expert_agenda"]

#: The list is looked through so often; a terminal with so many claimed payments goes on it.
_EVERY, _CLAIMS = 7 * DAY, 3


def expert_agenda(control: Control, world: DemoWorld) -> list[AgendaItem]:
    """What the expert does, and when."""
    found = [
        AgendaItem(time, partial(_keep_list, control, world, time))
        for time in range(world.at(0.0), world.now, _EVERY)
    ]
    for rule in RULES:
        for place, (share, role) in enumerate(rule.steps):
            step = (
                partial(_write, control, world, rule)
                if not place
                else partial(control.rules.set_role, rule.name, role, EXPERT)
            )
            found.append(AgendaItem(world.at(share), step))
    return found


def _write(control: Control, world: DemoWorld, rule: DemoRule) -> None:
    sunset = None
    if rule.ends_after is not None:
        last = world.now + rule.ends_after * DAY
        sunset = datetime.fromtimestamp(last // 10**9, UTC).date().isoformat()
    control.rules.save(
        *(rule.name, rule.text, EXPERT),
        role=rule.steps[0][1],
        weight=rule.weight,
        note=rule.note,
        limits=rule.limits,
        sunset=sunset,
    )


def _keep_list(control: Control, world: DemoWorld, time: int) -> None:
    """Put the terminals on the list of whose payments customers have claimed several."""
    past = world.past
    claimed = past["claimed_at"].astype("datetime64[ns]").astype("int64")
    recent = past[past["claimed_at"].notna() & (claimed <= time) & (claimed > time - 4 * _EVERY)]
    counts = recent["terminal"].value_counts()
    control.lists.save(WATCHED, sorted(counts[counts >= _CLAIMS].index), EXPERT)
