"""The menu: pages put themselves into it, and people see what their role may open."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rarefind.desk.api.roles import Action, Role, is_allowed

__all__ = ["Item", "in_menu", "menu_of"]

#: The parts of the menu: daily work, and what administers a desk.
Part = Literal["work", "desk"]


class Item(NamedTuple):
    """A page in the menu: ``place`` orders them, ``title`` is the key of its text."""

    place: int
    title: str
    path: str
    action: Action
    part: Part


_ITEMS: list[Item] = []


def in_menu(place: int, title: str, path: str, action: Action, part: Part = "work") -> None:
    """Put a page into the menu; its module says so once."""
    _ITEMS.append(Item(place, title, path, action, part))


def menu_of(role: Role) -> list[Item]:
    """What a role may open, in order."""
    return sorted(item for item in _ITEMS if is_allowed(role, item.action))
