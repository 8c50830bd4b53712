"""What pages ask of the databases goes through indexes, however many cases and rows there are."""

import pytest
from desk_pages import PagesDesk

#: So large that reading all of them would be slow; others are read whole.
LARGE = ("cases", "alerts", "verdicts", "notes", "labels", "entries", "members", "blocks")
#: Counted, not read: through the index of open cases alone.
ALLOWED = ("SCAN cases USING COVERING INDEX cases_waiting",)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A desk with a case, and all that its databases are asked."""
    web = PagesDesk(tmp_path)
    web.pay("c0")
    web.door.cases.take(web.case_of("c0"), "expert")
    web.door.cases.decide(web.case_of("c0"), "expert", "fraud")
    web.pay("c1")
    found = []
    kind = type(web.database)
    read = kind.read

    def watched(database, sql, **parameters):
        found.append((database, sql, parameters))
        return read(database, sql, **parameters)

    monkeypatch.setattr(kind, "read", watched)
    yield web, found, lambda one: read(one[0], f"EXPLAIN QUERY PLAN {one[1]}", **one[2])
    web.close()


@pytest.mark.parametrize(
    "path",
    [
        "/desk/queue",
        "/desk/queue?show=all&amount=5&rule=large&after=3.5,7",
        "/desk/queue?show=snoozed",
        "/desk/cases/{}",
    ],
)
def test_no_page_reads_a_large_table_whole(asked, path):
    web, found, plan_of = asked
    path = path.format(web.case_of("c1"))
    found.clear()
    assert web.visit(path).status_code == 200
    scans = []
    for one in list(found):
        if not one[1].lstrip().upper().startswith(("SELECT", "WITH")):
            continue
        for *_, step in plan_of(one):
            table = step.removeprefix("SCAN ").split()[0]
            if step.startswith("SCAN ") and table in LARGE and step not in ALLOWED:
                scans.append((step, one[1]))
    assert found
    # A scan in the order of an index that stops at its limit reads no more than it gives.
    assert [each for each in scans if "LIMIT" not in each[1] or "USING" not in each[0]] == []
