"""The rules of the demo's expert: when each was written, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rarefind.desk.control import RuleRole

__all__ = ["RULES", "WATCHED", "DemoRule"]

#: The list of terminals that the expert keeps.
WATCHED: Final = "watched terminals"


@dataclass(frozen=True)
class DemoRule:
    """A rule with its history.

    Attributes
    ----------
    name, text, note : str
    steps : tuple of (float, str)
        From which share of the past on it had which role.
    weight : float or None
        What it adds to the priority as a scoring rule.
    limits : dict of float
        What retires it.
    ends_after : int or None
        Days from today after which it is off.
    """

    name: str
    text: str
    note: str
    steps: tuple[tuple[float, RuleRole], ...]
    weight: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    ends_after: int | None = None


RULES: Final = (
    DemoRule(
        "far from home",
        "amount > 4 * card_mean_30D and country != card_country",
        "The card is used by somebody else, and not at home.",
        ((0.02, "shadow"), (0.15, "scoring"), (0.3, "blocking")),
    ),
    DemoRule(
        "tried, then used",
        "card_min_1h > 0 and card_min_1h < 2 and amount > 3 * card_mean_30D",
        "A small payment tries the card, a large one follows within the hour.",
        ((0.1, "shadow"), (0.2, "scoring"), (0.45, "blocking")),
        limits={"min_precision": 0.2},
    ),
    DemoRule(
        "large amount",
        "amount > 220",
        "Hardly anybody pays so much by card here.",
        ((0.02, "scoring"),),
        weight=0.3,
    ),
    DemoRule(
        "far above the usual, online",
        "ecommerce and amount_to_card_mean > 4 and card_count_30D >= 5",
        "Leaked cards are used online, for more than their owners spend.",
        ((0.05, "shadow"), (0.12, "scoring")),
        weight=0.2,
    ),
    DemoRule(
        "terminal with known frauds",
        "terminal_fraud_count_7D >= 2 and terminal_risk_7D > 0.3",
        "A compromised terminal stays so for weeks.",
        ((0.08, "shadow"), (0.2, "scoring")),
        weight=0.2,
    ),
    DemoRule(
        "watched terminals",
        f"terminal in list('{WATCHED}') and amount > 0",
        "Terminals that we have asked the bank to look at.",
        ((0.35, "scoring"),),
        weight=0.1,
    ),
    DemoRule(
        "many in an hour",
        "card_count_1h >= 3 and amount > 50",
        "Somebody is in a hurry: so are some of our customers.",
        ((0.1, "scoring"), (0.25, "shadow")),
        weight=0.05,
    ),
    DemoRule(
        "at night, much",
        "hour(time) < 4 and amount > 90",
        "As long as nobody has a better idea.",
        ((0.05, "scoring"),),
        limits={"min_precision": 0.2},
    ),
    DemoRule(
        "two countries in a day",
        "card_distinct_country_1D >= 2 and country != card_country",
        "Holidays, or two people with one card.",
        ((0.2, "shadow"),),
    ),
    DemoRule(
        "most of the limit",
        "amount > 0.5 * card_limit and ecommerce",
        "To be watched: is it only the few with small limits?",
        ((0.4, "shadow"),),
        limits={"min_detection_rate": 0.02},
    ),
    DemoRule(
        "prepaid and precious",
        "card_type = 'prepaid' and merchant_category in ('jewellery', 'electronics')",
        "Asked for by the police of Lyon.",
        ((0.5, "shadow"),),
    ),
    DemoRule(
        "electronics of the season",
        "merchant_category = 'electronics' and amount > 120 and ecommerce",
        "For the weeks before the holidays.",
        ((0.6, "shadow"), (0.8, "scoring")),
        weight=0.05,
        ends_after=40,
    ),
    DemoRule(
        "nothing paid, online",
        "amount = 0 and ecommerce",
        "Fuel stations and hotels do so all day.",
        ((0.1, "shadow"), (0.3, "off")),
    ),
)
