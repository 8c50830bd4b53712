"""Write the table of docs/desk/pages.md, who may open what: ``python docs/pages.py``."""

from pathlib import Path

from rarefind.desk.api.roles import is_allowed
from rarefind.desk.pages.site import page_routes
from rarefind.desk.people import USER_ROLES

PAGE = Path(__file__).with_name("desk") / "pages.md"
HEADING = "## Every page and action\n"


def table() -> str:
    """The table: a row a route, a column a role."""
    lines = [f"| route | {' | '.join(USER_ROLES)} | what it does |"]
    lines += ["|---|" + ":-:|" * len(USER_ROLES) + "---|"]
    for route in page_routes():
        cells = [
            "✓" if route.action is None or is_allowed(role, route.action) else "–"
            for role in USER_ROLES
        ]
        lines += [f"| `{route.method} {route.path}` | {' | '.join(cells)} | {route.does} |"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Put the table under its heading."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(f"{before}{HEADING}\n{table()}", encoding="utf-8")


if __name__ == "__main__":
    main()
