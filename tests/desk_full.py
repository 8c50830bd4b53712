"""A desk with something on every page, in which every text of strangers is of one kind."""

import re
from html.parser import HTMLParser
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
from desk_pages import NOON, PagesDesk
from desk_web import SCHEMA
from msgspec.structs import replace

from rarefind import TableModel, save
from rarefind.desk.api.roles import is_allowed
from rarefind.desk.explained import Because, write_parts
from rarefind.desk.intake import Intake
from rarefind.desk.ledger import Position
from rarefind.desk.measures import RuleCounts, RuleMeasures
from rarefind.desk.measures.comparisons import Comparisons
from rarefind.desk.measures.day_cases import CaseCounter
from rarefind.desk.measures.day_counts import DayCounter
from rarefind.desk.measures.day_labels import LabelCounter
from rarefind.desk.measures.drift import DriftMeasure
from rarefind.desk.measures.shadow_scores import ShadowScores
from rarefind.desk.pages.site import page_routes
from rarefind.desk.parity import ParityDay
from rarefind.desk.people import USER_ROLES
from rarefind.trees import MetaAPClassifier

DAY = 86_400 * 10**9
MEASURES = RuleMeasures(RuleCounts(9, 3, 5, 1, 2, 900, 500), 40, 600, 7, 100_000, 42)


class FullDesk(PagesDesk):
    """A desk of which every page has something to show.

    ``text(field)`` gives what a stranger has written into a field.
    """

    def __init__(self, folder, text):
        self.text = text
        own, column = SCHEMA.transaction, text("column").replace('"', "")
        labels = {column: text("label"), "country": text("label of a column")}
        schema = replace(
            SCHEMA,
            name=text("desk"),
            transaction=replace(own, columns=own.columns | {column: "text"}),
            alerts=replace(SCHEMA.alerts, budget=30, second_person=True),
            feature_labels=labels,
        )
        super().__init__(folder, schema=schema)
        self.column = column
        self._write_rules()
        self._bring_models(folder)
        self._let_pay()
        self._work_cases()
        self._work_for_the_worker()
        self._add_people()

    def _write_rules(self):
        rules, text = self.door.control.rules, self.text
        quoted = text("text of a rule").replace("'", "''")
        self.door.control.lists.save("names", [text("value of a list")], text("list maker"))
        rules.save(
            text("rule"),
            f"country = '{quoted}'",
            text("expert"),
            note=text("note of a rule"),
            constants={"unused": text("constant")},
            limits={"min_precision": 0.02, "max_false_alerts_a_day": 40.0},
            sunset="2026-12-31",
        )
        rules.set_role(text("rule"), "scoring", "expert", text("why a rule goes on"))
        rules.save("old", "amount > 9000", "expert")
        rules.retire(rules.get("old"), "Its last day was the one before 2026-01-31.")
        self.door.measured.store({text("rule"): (2, MEASURES)}, NOON)
        self.door.proposals.store({f"country != '{quoted}'": MEASURES}, NOON, text("proposals"))

    def _bring_models(self, folder):
        random, found = np.random.default_rng(0), []
        for name, sign in ((self.text("champion"), 1), (self.text("challenger"), -1)):
            amount = random.uniform(0, 2_500, 120).round(2)
            fraud = sign * amount > sign * 1_250 + 600
            table = pd.DataFrame({"amount": amount, self.column: "a", "fraud": fraud.astype(int)})
            model = TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(table)
            save(model, folder / "a model")
            found.append(self.door.control.models.add(folder / "a model", self.text("sci"), name))
        self.models = [each.digest for each in found]
        self.door.control.models.promote(self.models[0], self.text("promoter"))

    def _let_pay(self):
        more = {"country": self.text("country"), self.column: self.text("value of a column")}
        self.clock.advance(-40 * DAY)
        for number in range(6):
            made = "2025-12-22T12:00:00Z"
            self.pay(f"c{number}", 100 + 300 * number, time=made, id=f"old{number}", **more)
        self.clock.set(NOON)
        for number, card in enumerate((self.text("card"), "decided", "held", "blocked")):
            sent = {"id": f"{self.text('id')} {number}", "terminal": self.text("terminal")}
            self.pay(card, 1_500, **sent, **more)

    def _work_cases(self):
        cases, blocks, text = self.door.cases, self.door.control.blocks, self.text
        self.case = self.case_of(text("card"))
        parts = (Because(self.column, text("reason"), 0.7, text("value of a reason")),)
        (alert,) = cases.alerts(self.case)
        why = write_parts(parts)
        cases.set_reasons([(alert.sequence, 0.6, text("reason"))], because={alert.sequence: why})
        for card, verdict in (("decided", "fraud"), ("c5", "fraud")):
            case = self.case_of(card)
            cases.take(case, text("investigator"))
            cases.decide(case, text("investigator"), verdict, text("note of a verdict"))
            self.decided = case
        cases.take(self.case_of("held"), text("holder"))
        cases.notes.add(self.case, text("writer"), text("note"))
        for card in (text("card"), "blocked"):
            blocks.ask(card, text("asker"), text("note of a block"))
        blocks.approve(blocks.current("blocked").id, text("approver"))

    def _work_for_the_worker(self):
        door, database, schema = self.door, self.database, self.schema
        models, files, intake = door.control.models, door.models, Intake(schema)
        for job in (
            DayCounter(database, door.ledger, schema),
            LabelCounter(database, door.ledger, door.labels, schema),
            CaseCounter(database, schema, self.clock),
            ShadowScores(database, door.ledger, models, files, intake, self.clock),
            Comparisons(database, door.ledger, models, schema, self.clock),
        ):
            while job.run():
                continue
        DriftMeasure(database, door.ledger, models, files, intake, self.clock).run()
        door.parity.add([ParityDay("2026-01-30", 680_000, 2, 0, None)], Position(1, b""), 0)
        door.figures.latency.add("2026-01-31", (0.005, 0.01), (980, 15, 5))

    def _add_people(self):
        people, text = self.door.people, self.text
        self.link = people.invite(text("user"), "investigator", text("inviter"))
        with self.database.write() as writer:
            for role in USER_ROLES:
                user, _ = people.sessions.find(self.sessions[role])
                people.sessions.begin(writer, user, text("address"), text("browser"))
            self.door.control.audit.add(
                writer, text("person"), text("action"), text("subject"), {text("detail"): text("x")}
            )
        self.door.tokens.make(text("token"), "ingest", NOON)
        url = f"https://example.com/?{quote(text('webhook'), safe='<>{}()*=/')}"
        self.door.webhooks.make(url, ["alert.raised"], text("webhook maker"))

    def addresses(self):
        """The addresses of all pages: of each route, with what its names can stand for."""
        filled = {
            "case": [str(self.case), str(self.case_of("held")), str(self.decided), "999"],
            "digest": [*self.models, self.text("digest")[:40]],
            "link": [self.link, "gone"],
            "entity/key": [
                f"card/{self.text('card')}",
                f"terminal/{self.text('terminal')}",
                "card/x",
            ],
        }
        asked = {
            "/desk/rules/edit": [{"name": self.text("rule")}, {"text": self.text("asked")}],
            "/desk/rules/history": [{"name": self.text("rule")}, {"name": self.text("asked")}],
            "/desk/search": [
                {"q": self.text(each)[:1_000]} for each in ("card", "id", "terminal", "asked")
            ],
            "/desk/queue": [{"show": "all", "rule": self.text("asked"), "amount": "1"}],
            "/desk/audit": [{"person": self.text("asked"), "about": self.text("asked")}],
            "/desk/monitoring": [{"days": "56"}],
        }
        for route in page_routes():
            if route.method != "GET" or route.path == "/desk/static/{name}":
                continue
            path = route.path.replace("{entity}/{key}", "{entity/key}")
            (name,) = re.findall(r"\{([\w/]+)\}", path) or [""]
            for value in filled[name] if name else [""]:
                parts = [quote(part, safe="") for part in value.split("/", 1)]
                at = path.replace(f"{{{name}}}", "/".join(parts))
                yield route, at
                for query in asked.get(route.path, []):
                    yield route, f"{at}?{urlencode(query)}"

    def roles(self, route):
        """Who may open a page; None for somebody who has not signed in."""
        if route.action is None:
            return [None]
        return [role for role in USER_ROLES if is_allowed(role, route.action)]


class Page(HTMLParser):
    """A page as its elements (with their attributes), its texts and the fields of its forms."""

    def __init__(self, answer):
        super().__init__()
        self.elements, self.texts, self.fields = [], [], set()
        self.feed(answer.text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in ("input", "textarea", "select", "button") and dict(attributes).get("name"):
            self.fields.add(dict(attributes)["name"])

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        """All that can be read, in texts and in attributes."""
        shown = [value or "" for _, attributes in self.elements for value in attributes.values()]
        return re.sub(r"\s+", " ", " ".join(self.texts + shown))
