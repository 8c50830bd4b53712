"""Write docs/estimators.md, the estimators of the registry: ``python docs/estimators.py``."""

from __future__ import annotations

from pathlib import Path

from rarefind.auto import EstimatorInfo, estimators

PAGE = Path(__file__).with_name("estimators.md")
HEAD = """# All estimators

*Written by `python docs/estimators.py` from the registry, {func}`rarefind.auto.estimators`. For
advice, see [Choose an estimator](howto/choosing.rst).*

Offered by `--model` of `rarefind fit` and `rarefind compare`:

"""
# What a reader chooses by; how fits keep a time limit is for AutoClassifier.
SHOWN = (
    "missing values",
    "categories",
    "more classes",
    "sample weights",
    "streams",
    "rules",
    "SQL",
)


def page() -> str:
    """The whole page."""
    offered, others = table(on_command_line=True), table(on_command_line=False)
    return f"{HEAD}{offered}\n\nFrom Python only:\n\n{others}\n"


def table(*, on_command_line: bool | None = None) -> str:
    """The estimators, or those that the command line offers, or the others: one a row."""
    rows = [_row(each) for each in estimators(on_command_line=on_command_line)]
    lines = [["name", "estimator, and what it takes or gives"], ["---"] * 2, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _row(info: EstimatorInfo) -> list[str]:
    link = f"{{class}}`~rarefind.{info.family}.{info.class_name}`"
    able = ", ".join(each for each in SHOWN if each in info.capabilities)
    return [f"`{info.name}`", f"{link}: {info.description}" + (f" (*{able}*)" if able else "")]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
