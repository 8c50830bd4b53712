"""What pages ask of the databases goes through indexes, however many cases and rows there are."""

import re

import pytest
from desk_pages import PagesDesk
from desk_worker import make_models, pay_and_compare

from rarefind.desk.pages.site import page_routes
from rarefind.desk.pages.warming import warm_up

#: Tables with few rows, such as one a rule, a person or a day; all others may have millions.
SMALL = {
    "rule_versions", "measured_rules", "proposals", "proposing", "models", "model_periods",
    "saved_figures", "parity", "parity_read", "users", "lists", "webhooks", "revisions", "days",
    "anchors", "erasures", "labels_read", "tokens", "figures_read", "read_up_to", "found",
    "setting_changes", "change_requests",
}  # fmt: skip
#: Columns whose value many rows share: who looks for one and sets no limit reads all of them.
SHARED = ("closed", "state", "verdict", "kind", "action")
#: Counted through the index of open cases; there are as many as the desk lets wait.
COUNTED = ("count(*) FROM cases WHERE closed IS NULL", "count(*) FROM claims WHERE state = 'new'")
#: Read and then sorted, though only some are shown: changes of models, of which there are few.
FEW = ("FROM audit WHERE action IN",)
#: Pages that show one of many, or a part of a list.
SOME = (
    "/desk/queue?show=all&amount=5&rule=large&after=3.5,7",
    "/desk/queue?show=snoozed",
    "/desk/queue?show=others&kind=random",
    "/desk/cases/{case}",
    "/desk/cases/{decided}",
    "/desk/cases/{case}/today",
    "/desk/entities/card/c1",
    "/desk/entities/card/c1?before=1000",
    "/desk/entities/terminal/t1",
    "/desk/search?q=c1",
    "/desk/search?q=p1",
    "/desk/search?q={case}",
    "/desk/rules/edit?name=mine",
    "/desk/rules/history?name=mine",
    "/desk/models/{model}",
    "/desk/monitoring?days=56",
    "/desk/audit?person=ann&before=9",
    "/desk/audit?action=make+token",
    "/status",
)


@pytest.fixture
def web(tmp_path):
    desk = PagesDesk(tmp_path)
    desk.pay("c0")
    desk.door.cases.take(desk.case_of("c0"), "expert")
    desk.door.cases.decide(desk.case_of("c0"), "expert", "fraud")
    desk.pay("c1")
    desk.door.control.rules.save("mine", "amount > 5", "eve", role="scoring")
    yield desk
    desk.close()


@pytest.fixture
def asked(web, monkeypatch):
    """All that the databases are asked, with its plans."""
    kind, found = type(web.database), {}
    read = kind.read

    def watched(database, sql, **parameters):
        if sql not in found and re.match(r"\s*(SELECT|WITH)\b", sql):
            plan = read(database, f"EXPLAIN QUERY PLAN {sql}", **parameters)
            found[sql] = [step for *_, step in plan]
        return read(database, sql, **parameters)

    monkeypatch.setattr(kind, "read", watched)
    return found


def faults(sql, plan):
    """What makes a statement slow where tables are long."""
    text = " ".join(sql.split())
    if any(each in text for each in COUNTED):
        return
    is_limited = re.search(r"\bLIMIT\b", text) is not None
    is_sorted = any("TEMP B-TREE FOR ORDER BY" in step for step in plan)
    for step in plan:
        word, table = (*step.split()[:2], "")[:2]
        if word not in ("SCAN", "SEARCH") or table in SMALL or not _is_table(table, text):
            continue
        # In the order of the table itself, or of an index, no more is read than is given.
        if re.search(rf"FROM {table} ORDER BY (number|sequence)( DESC)? LIMIT", text):
            continue
        if is_limited and not is_sorted and (word == "SEARCH" or "USING" in step):
            continue
        is_shared = any(f"({name}=?" in step for name in SHARED)
        if word == "SCAN" or ((is_shared or is_limited) and not any(each in text for each in FEW)):
            yield f"{step}: {text}"


def _is_table(name, text):
    return re.search(rf"\b(FROM|JOIN) {name}\b", text) is not None


def test_no_page_reads_a_large_table_whole(web, asked, tmp_path):
    make_models(tmp_path)
    models = web.door.control.models
    for name in ("one", "two"):
        model = models.add(tmp_path / name, "ann")
    models.promote(model.digest, "ann", 0.25)
    pay_and_compare(web)
    names = {"case": web.case_of("c1"), "decided": 1, "model": model.digest}
    asked.clear()
    alone = [each.path for each in page_routes() if each.method == "GET" and "{" not in each.path]
    pages = [*alone, *(each.format(**names) for each in SOME)]
    answers = {page: web.visit(page, "admin").status_code for page in pages}
    assert {code for code in answers.values() if code >= 500} == set(), answers
    assert [answers[page.format(**names)] for page in SOME] == [200] * len(SOME), answers
    assert len(asked) > 50
    found = [fault for one in asked.items() for fault in faults(*one)]
    assert not found, "\n".join(found)


def test_a_statement_that_reads_too_much_is_noticed(web, asked):
    for sql in (
        "SELECT id FROM cases WHERE state = 'open'",
        "SELECT id FROM cases ORDER BY opened LIMIT 5",
        "SELECT id FROM cases WHERE closed IS NULL ORDER BY opened LIMIT 5",
        "SELECT number FROM audit WHERE action = 'save rule'",
        "SELECT id FROM cases WHERE entity IN (SELECT entity FROM blocks)",
    ):
        web.database.read(sql)
        assert list(faults(sql, asked[sql])), sql


def test_pages_are_written_before_anybody_asks_and_nothing_changes(web, asked):
    before = web.door.control.audit.last, web.door.cases.get(2)
    asked.clear()
    warm_up(web.app)
    warmed = set(asked)
    assert (web.door.control.audit.last, web.door.cases.get(2)) == before
    asked.clear()
    for page in ("/desk/queue", "/desk/cases/2", "/desk/rules", "/desk/monitoring", "/desk/audit"):
        assert web.visit(page, "admin").status_code == 200
    # What is left is whose session it is.
    assert [sql for sql in asked if sql not in warmed and "FROM sessions" not in sql] == []
