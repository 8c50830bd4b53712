"""The pages of the desk speak of everything that it has: settings, routes, figures, commands."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from desk.test_folder import SCHEMA
from typer.main import get_command

from rarefind.cli import app
from rarefind.desk.api.described import describe_web
from rarefind.desk.api.metrics import Metrics
from rarefind.desk.api.openapi import describe_decisions
from rarefind.desk.api.roles import DESCRIPTIONS, is_allowed
from rarefind.desk.api.web import web_app
from rarefind.desk.api.web_metrics import WebMetrics
from rarefind.desk.pages.site import page_routes
from rarefind.desk.people import USER_ROLES
from rarefind.desk.schema import EntitySchema, Schema

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "desk").glob("*.md")}
ROUTES = PAGES["api"].partition("## All routes")[2]


def settings_of(kind, section=""):
    """All settings: their section, name and default."""
    for field in msgspec.structs.fields(kind):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from settings_of(field.type, field.name)
        elif field.name == "entities":
            yield from settings_of(EntitySchema, "entities.NAME")
        else:
            yield section, field.name, field.default


def routes():
    """All routes of both processes, as the page names them, with who may use each."""
    door = SimpleNamespace(metrics=WebMetrics(), schema=SCHEMA, log=None)
    described = [describe_decisions(SCHEMA), describe_web(web_app(door), SCHEMA.name)]
    for description in described:
        for path, methods in description["paths"].items():
            for method, route in methods.items():
                yield f"{method.upper()} {path}", route


def commands_of(name, command):
    """A command and all those in it, by the names that one types."""
    yield name
    for inner, each in getattr(command, "commands", {}).items():
        yield from commands_of(f"{name} {inner}", each)


@pytest.mark.parametrize(
    ("section", "name", "default"),
    [pytest.param(*each, id=".".join(each[:2])) for each in settings_of(Schema)],
)
def test_every_setting_is_on_the_page_of_settings_with_its_default(section, name, default):
    parts = re.split(r"^## `\[(.*)\]`$", PAGES["settings"], flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[::2], strict=True))[section]
    (written,) = re.findall(rf"^\| `{name}` \| (.*?) \| .+ \|$", text, re.MULTILINE) or [None]
    assert written is not None, f"{section}.{name} is not on docs/desk/settings.md"
    if isinstance(default, str | int | float | tuple):
        assert written == f"`{json.dumps(default)}`"


def test_the_page_of_settings_names_nothing_else():
    known = [name for _, name, _ in settings_of(Schema)]
    written = re.findall(r"^\| `(\w+)` \|", PAGES["settings"], re.MULTILINE)
    assert sorted(written) == sorted(known)


def test_every_route_is_on_the_page_of_the_api_with_its_roles():
    for name, route in routes():
        who = ", ".join(route["x-roles"]) if "x-roles" in route else None
        written = re.findall(rf"^\| `{re.escape(name)}` \| (.*?) \|", ROUTES, re.MULTILINE)
        assert len(written) == 1, f"{name} is not once on docs/desk/api.md"
        assert who is None or written == [who], name


def test_the_page_of_the_api_names_no_route_that_is_not_there():
    known = {name for name, _ in routes()}
    written = re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", ROUTES, re.MULTILINE)
    assert written
    assert set(written) <= known


def test_every_page_is_on_the_page_of_pages_with_who_may_open_it():
    table = PAGES["pages"].partition("## Every page and action")[2]
    written = re.findall(r"^\| `([A-Z]+ /[^`]*)` \| (.*) \| (.+?) \|$", table, re.MULTILINE)
    assert written == [
        (
            f"{route.method} {route.path}",
            " | ".join(
                "✓" if route.action is None or is_allowed(role, route.action) else "–"
                for role in USER_ROLES
            ),
            route.does,
        )
        for route in page_routes()
    ], "python docs/pages.py writes the table"


def test_every_figure_for_prometheus_is_on_the_page_of_running():
    for metrics in (Metrics(), WebMetrics()):
        for figure in metrics.registry.collect():
            assert f"`{figure.name}`" in PAGES["running"], figure.name


def test_every_role_is_on_the_page_of_the_api():
    for role in DESCRIPTIONS:
        assert f"| `{role}` |" in PAGES["api"], role


def test_every_command_of_the_desk_is_on_a_page():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    root = get_command(app).commands
    for command in ("desk", "serve", "replay"):
        for name in commands_of(f"rarefind {command}", root[command]):
            assert re.search(rf"^#+ {name}$", text, re.MULTILINE), name


def test_links_between_the_pages_lead_somewhere():
    for name, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (DOCS / "desk" / target).exists(), f"{name}.md: {target}"
        assert name == "index" or re.search(rf"^{name}$", PAGES["index"], re.MULTILINE), name


def test_every_picture_of_the_pages_is_shown_light_and_dark():
    taken = {picture.name for picture in (DOCS / "images" / "desk").iterdir()}
    shown = re.findall(r"\(\.\./images/desk/([\w-]+\.webp)\)", PAGES["pages"])
    assert sorted(shown) == sorted(taken)
    names = {name.rpartition("-")[0] for name in taken}
    assert taken == {f"{name}-{theme}.webp" for name in names for theme in ("light", "dark")}
