"""Print the table of estimators, in Markdown: ``python docs/estimators.py``."""

from __future__ import annotations

from rarefind.auto import EstimatorInfo, estimators

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


def table(*, on_command_line: bool | None = None) -> str:
    """The estimators, or those that the command line offers, or the others: one a row."""
    heads = ["name", "estimator", "what it is", *SHOWN]
    rows = [_row(each) for each in estimators(on_command_line=on_command_line)]
    lines = [heads, ["---"] * 3 + [":-:"] * len(SHOWN), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _row(info: EstimatorInfo) -> list[str]:
    path = f"`rarefind.{info.family}.{info.class_name}`"
    return [
        f"`{info.name}`",
        path,
        info.description,
        *("✓" if capability in info.capabilities else "" for capability in SHOWN),
    ]


if __name__ == "__main__":
    print(table())
