"""What may be chosen by, and what is run once at the end: the one place where that is written.

Defaults, candidates and rules are chosen on the block ``choose``. The block ``final`` is run when
all choices are made, by ``--final``; after that it is spent, and what comes of it stands.

Small sets are split by a hash of their names. Some of both blocks are made from one source (the
yeast and the ecoli sets, for example), so they are not wholly strangers to each other. Large
tables of the two blocks are of other seeds and, with the exception of payments and flights, of
other kinds.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Literal

Block = Literal["choose", "final"]
Half = Literal["small", "large"]

LARGE: dict[Block, tuple[str, ...]] = {
    "choose": (
        "crash deaths",
        "mate in five",
        "many columns",
        "clusters",
        "profiles",
        "web pages",
        "flights from Newark",
        "heavy tails",
        "copies",
        "needles",
        "payments, world 11",
        "payments, world 12",
        "payments, 2 million",
    ),
    "final": (
        "letter H",
        "words",
        "slabs",
        "flights from LaGuardia",
        "machines",
        "severity unknown",
        "survey",
        "contracts",
        "poker",
        "payments, world 21",
        "payments, world 22",
        "payments, a million",
    ),
}

#: Worlds of the prequential page: the seeds of the simulator.
WORLDS: dict[Block, tuple[int, ...]] = {
    "choose": tuple(range(300, 310)),
    "final": tuple(range(900, 910)),
}


def small_block(name: str) -> Block:
    """The block of a small set: half of all names, whichever sets are at hand."""
    return "choose" if hashlib.sha256(name.encode()).digest()[-1] % 2 == 0 else "final"


def add_block_options(parser: argparse.ArgumentParser) -> None:
    """Give a program ``--block`` and ``--final``."""
    parser.add_argument("--block", choices=["choose", "final"], default="choose")
    parser.add_argument(
        "--final", action="store_true", help="all choices are made: run the block final"
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Give a program the options of a long run, besides those of the block."""
    add_block_options(parser)
    parser.add_argument("--methods", nargs="+", default=["all"], help="names, or names of groups")
    parser.add_argument("--again", action="store_true", help="also run what was run before")
    page = parser.add_mutually_exclusive_group()
    page.add_argument("--page", action="store_true", help="run nothing, write the page")
    page.add_argument("--no-page", action="store_true", help="write no page")
    parser.add_argument("--quick", action="store_true", help="little, to see it work")
    parser.add_argument("--jobs", type=int, default=1, help="processes")


def check_block(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Block:
    """The block asked for; the final one by both options only."""
    if given.final != (given.block == "final"):
        parser.error(
            "The final block is run once, when all choices are made: ask for it by "
            "--block final --final."
        )
    return given.block
