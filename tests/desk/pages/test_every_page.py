"""Every page in a real browser, light and dark: axe-core finds nothing serious on any of them."""

import re
from pathlib import Path

import pytest
from desk_hands import PATIENCE
from desk_pages import NOON, PagesDesk
from desk_served import served
from desk_worker import count_days, make_models, measure_rules, pay_and_compare

import rarefind.desk.pages as room
from rarefind.desk.explained import Because, write_parts
from rarefind.desk.ledger import Position
from rarefind.desk.measures import RuleCounts, RuleMeasures
from rarefind.desk.pages import rendering
from rarefind.desk.pages.site import page_routes
from rarefind.desk.parity import ParityDay

TEMPLATES = Path(room.__file__).parent / "templates"
#: What other templates are made of.
PARTS = {"keys", "layout", "model_parts", "parts", "rules_parts"}
AXE = (Path(__file__).parents[2] / "axe" / "axe.min.js").read_text(encoding="utf-8")
#: What is wrong for somebody, by the rules of WCAG 2.2 AA. Dark pages differ in colours alone.
FOUND = """rules => axe.run(document, {runOnly: rules})
  .then(all => all.violations.filter(one => ['serious', 'critical'].includes(one.impact))
  .map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 120)).join(' | ')))"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
LOOKS = (("light", {"type": "tag", "values": RULES}), ("dark", COLOURS))


@pytest.fixture
def shown(monkeypatch):
    """The names of all templates that were shown."""
    names, environment = set(), rendering._environment()
    get_template = environment.get_template

    def noted(name, *more):
        names.add(Path(name).stem)
        return get_template(name, *more)

    monkeypatch.setattr(environment, "get_template", noted)
    return names


@pytest.fixture
def desk(tmp_path):
    """A desk on which all that pages can show has happened."""
    web = PagesDesk(tmp_path)
    door, control = web.door, web.door.control
    files = make_models(tmp_path)
    one, _ = (control.models.add(files / name, "ann", name) for name in ("one", "two"))
    control.models.promote(one.digest, "ann")
    pay_and_compare(web)
    for card, verdict in (("c1", "fraud"), ("c2", "genuine"), ("c3", None), ("c4", None)):
        web.pay(card, 3_000, country="FR")
        case = web.case_of(card)
        (line,) = door.cases.lines([door.cases.get(case)])
        parts = [
            Because("amount_to_card_mean", "…", 0.7, 4.4),
            Because("country", "…", 0.3, "FR", lowers=True),
        ]
        number = line.best.sequence
        door.cases.set_reasons([(number, 0.6, "Why.")], {number: write_parts(parts)})
        door.cases.notes.add(case, "ann", "Look at the terminal.")
        if verdict:
            door.cases.take(case, "ann")
            door.cases.decide(case, "ann", verdict)
    control.blocks.ask("c1", "ann")
    door.cases.take(web.case_of("c3"), "ann")
    rules = control.rules
    rules.save("large", "amount > 500", "ann", role="scoring", limits={"min_precision": 0.1})
    rules.save("large", "amount > 600", "ann", sunset="2026-12-31")
    rules.retire(rules.save("old", "amount > 5", "ann", role="scoring"), "It found nothing.")
    learnt = RuleMeasures(RuleCounts(alerts=5, hits=3, false_alerts=1, added=2), 10, 999, 5, 1, 7)
    door.proposals.store({"amount > 5 and country = 'FR'": learnt}, NOON)
    door.parity.add([ParityDay("2026-01-30", 680_000, 0, 0, None)], Position(1, b""), 0)
    door.figures.latency.add("2026-01-31", (0.005, 0.01), (980, 15, 5))
    door.webhooks.make("https://example.com/in", ["alert.raised"], "admin")
    door.people.users.disable("investigator", "admin")
    measure_rules(web)
    count_days(web)
    yield web
    web.close()


def pages_of(web):
    """All addresses at which there is a page, by who opens them, None for nobody."""
    link = web.door.people.invite("zoe", "scientist", "admin").rpartition("/")[2]
    digests = [model.digest for model in web.door.control.models.all()]
    decided, free, held = web.door.lists.of_entity("c1", 1)[0].id, *map(web.case_of, ("c4", "c3"))
    return {
        None: ["sign-in", f"welcome/{link}", "welcome/over"],
        "admin": [
            *("queue", "queue?show=all", "queue?show=snoozed"),
            *(f"cases/{case}" for case in (decided, free, held)),
            f"cases/{free}/today",
            *("rules", "rules/edit", "rules/edit?name=large", "rules/edit?name=old"),
            *("rules/history?name=large", "rules/proposals"),
            *("models", *(f"models/{digest}" for digest in digests), "monitoring"),
            *("search", "search?q=c1", "search?q=nobody", "entities/card/c1"),
            *("audit", "users", "tokens", "settings", "account", "nothing"),
        ],
        "auditor": ["users", f"cases/{free}"],  # of which the first is not for them
    }


def forms_of(page, url):
    """Fill in forms whose answers are pages; stops at each of them."""
    page.goto(f"{url}/desk/rules/edit")
    page.get_by_label("Name").fill("mine")
    for text, answer in (("amuont > 5", "mark.wrong"), ("amount > 500", "#trial")):
        page.get_by_label("Rule", exact=True).fill(text)
        page.get_by_role("button", name="Try").click()
        page.locator(answer).wait_for()
        yield text
    for path, label, text, button in (
        ("users", "Name", "max", "Make a link"),
        ("tokens", "Name", "till", "Make it"),
        ("audit", "A last row that was written down", "", "Verify the log"),
    ):
        page.goto(f"{url}/desk/{path}")
        page.get_by_label(label).first.fill(text)
        page.get_by_role("button", name=button).click()
        page.locator(".note, .error, .secret").first.wait_for()
        yield button


def test_axe_finds_nothing_serious_on_any_page(browser, desk, shown):
    wrong, opened = {}, set()

    def look(where):
        page.evaluate(AXE)
        for theme, rules in LOOKS:
            page.emulate_media(color_scheme=theme)
            for each in page.evaluate(FOUND, rules):
                wrong.setdefault(each, []).append(f"{where}, {theme}")

    def sign_in(who):
        name, _, value = desk.cookie(who).partition("=")
        context.add_cookies([{"name": name, "value": value, "url": url}])

    with served(desk.app) as url:
        context = browser.new_context(reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        for who, paths in pages_of(desk).items():
            if who is not None:
                sign_in(who)
            for path in paths:
                page.goto(f"{url}/desk/{path}")
                opened.add(f"/desk/{path.partition('?')[0]}")
                look(path)
        sign_in("admin")
        for where in forms_of(page, url):
            look(where)
        context.close()
    assert wrong == {}
    assert shown >= {path.stem for path in TEMPLATES.glob("*.html")} - PARTS
    for route in page_routes():
        pattern = re.sub(r"\\{\w+\\}", r"[^/]+", re.escape(route.path))
        if route.method == "GET" and route.path not in ("/desk", "/desk/static/{name}"):
            assert any(re.fullmatch(pattern, path) for path in opened), route
