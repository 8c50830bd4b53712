"""What torture tries besides kills: a full disk, a clock that jumps, load; and whom it copies."""

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

pytest.importorskip("uvicorn")

from rarefind.desk.control import Control
from rarefind.desk.folder import DeskFolder
from rarefind.desk.intake import Intake
from rarefind.desk.schema import Schema
from rarefind.desk.torture.clock import findings_of_clock
from rarefind.desk.torture.full_disk import findings_of_full_disk
from rarefind.desk.torture.load import finding_of_load, fsync_times
from rarefind.desk.torture.made_up import MadeUpTransactions
from rarefind.desk.torture.open_loop import LoadPlan, LoadResult, send_here
from rarefind.desk.torture.trial_desk import PLAIN, make_trial_desk


@pytest.mark.skipif(sys.platform == "win32", reason="files of a process cannot be limited there")
def test_a_full_disk_is_told_and_costs_nothing(tmp_path):
    found = findings_of_full_disk(make_trial_desk(tmp_path / "desk"))
    assert [str(each) for each in found if not each.holds] == []


def test_a_clock_that_jumps_changes_no_decision(tmp_path):
    found = findings_of_clock(make_trial_desk(tmp_path / "desk"))
    assert [str(each) for each in found if not each.holds] == []


def test_a_trial_has_the_rules_of_the_desk_that_is_named_and_leaves_it_alone(tmp_path):
    with DeskFolder.create(tmp_path / "own", Schema.from_text(PLAIN)) as folder:
        control = Control.of(folder)
        control.lists.save("risky", ["XX"], "ann")
        control.rules.save("a", "country in list('risky')", "ann", role="blocking")
        control.rules.save("b", "amount > most", "ann", weight=2.0, constants={"most": 7})
    before = (tmp_path / "own" / "desk.db").read_bytes()
    desk = make_trial_desk(tmp_path / "trial", tmp_path / "own")
    with DeskFolder(desk.path) as folder:
        rules = Control.of(folder).in_force().rules
    assert [rule.name for rule in rules.blocking] == ["a"]
    assert [(rule.name, rule.weight, rule.constants) for rule in rules.shadow] == [
        ("b", 2.0, {"most": 7})
    ]
    assert (tmp_path / "own" / "desk.db").read_bytes() == before
    assert desk.schema.limits.rate == 0


def test_made_up_transactions_are_taken_by_their_schema():
    schema = Schema.from_text(PLAIN)
    times = [1_769_860_800 * 10**9 + n for n in range(0, 5_000_000, 1_000)]
    bodies = list(MadeUpTransactions(schema, keys=3).bodies(times))
    read = [Intake(schema).decode(body).transactions[0] for body in bodies]
    assert len({each.id for each in read}) == len(times)
    assert [each.time for each in read] == times
    assert {each.entities[0] for each in read} == {"card-0", "card-1", "card-2"}
    assert 0 < sum(not each.accepted for each in read) < 500
    assert bodies == list(MadeUpTransactions(schema, keys=3).bodies(times))


@contextmanager
def answering(statuses):
    """A server that answers with one status after another, and again from the first."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            status = statuses[len(seen) % len(statuses)]
            seen.append(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address, seen
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("poisson", [True, False])
def test_the_open_loop_sends_each_line_once_and_counts_what_came(poisson, tmp_path):
    lines = tmp_path / "lines"
    lines.write_bytes(b"".join(b'{"id": %d}\n' % n for n in range(100)))
    with answering([200, 200, 200, 503]) as (address, seen):
        result = send_here(LoadPlan(address, "token", lines, 400, 0.25, poisson))
    assert sorted(seen) == sorted(lines.read_bytes().splitlines())
    assert result.statuses == {200: 75, 503: 25}
    assert (result.answered, result.failed) == (75, 25)
    assert result.latencies.min() > 0
    assert result.milliseconds(50) <= result.milliseconds(100)


def test_a_desk_that_is_not_there_is_not_loaded(tmp_path):
    lines = tmp_path / "lines"
    lines.write_bytes(b"{}\n" * 10)
    with answering([200]) as (address, _):
        plan = LoadPlan(address, "token", lines, 100, 0.1)
    with pytest.raises(ConnectionRefusedError):
        send_here(plan)


def test_load_is_judged_by_its_slowest_hundredth_and_by_failures():
    quick = np.full(1_000, 0.002)
    assert finding_of_load(LoadResult(quick, {200: 1_000}, 1, 0.1), "disk", 800).holds
    failed = finding_of_load(LoadResult(quick, {200: 1_000, 0: 1, 503: 2}, 1, 0.1), "disk", 800)
    assert not failed.holds
    assert failed.detail.endswith("1 × no answer, 2 × 503")
    slow = np.concatenate([quick, np.full(20, 0.05)])
    assert not finding_of_load(LoadResult(slow, {200: 1_020}, 1, 0.1), "disk", 800).holds


def test_the_time_of_an_fsync_is_measured(tmp_path):
    found = fsync_times(tmp_path)
    assert 0 < found.median <= found.p99 <= found.longest
    assert list(tmp_path.iterdir()) == []
