"""The history as columns follows the ledger, and loses what the ledger loses."""

import pytest
from desk.databases import KINDS
from desk.measures.desks import DAY, HistoryDesk

from rarefind.desk.measures import History, _pieces, delete_pieces_with
from rarefind.desk.records import Entry


@pytest.fixture
def short_pieces(monkeypatch):
    monkeypatch.setattr(_pieces, "LENGTH", 8)


@pytest.fixture(params=KINDS)
def desk(request, tmp_path, short_pieces):
    made = HistoryDesk(tmp_path / "desk", kind=request.param)
    yield made
    made.folder.close()


def entries(desk):
    return [row for row in desk.ledger.read(0, 10_000) if isinstance(row, Entry)]


def files(desk):
    return sorted(path.name for path in desk.folder.history.iterdir())


def test_rows_are_those_of_the_ledger_in_its_order(desk):
    for number in range(20):
        desk.decide(card=f"c{number % 3}")
        if number % 6 == 0:
            rows = desk.keep()
    rows = desk.keep()
    assert rows.values("sequence").tolist() == [row.sequence for row in entries(desk)]
    assert rows.frame["id"].to_list() == [f"p{n}" for n in range(1, 21)]
    assert rows.frame["entity"].to_list() == [f"c{n % 3}" for n in range(20)]
    assert rows.missing == 0
    assert len(files(desk)) == 3
    assert [len(piece) for piece in desk.history.pieces()] == [8, 8, 4]


def test_what_is_missing_or_damaged_is_made_again_and_told(desk):
    for _ in range(20):
        desk.decide()
    before = desk.keep().frame
    first, second, third = (desk.folder.history / name for name in files(desk))
    first.unlink()
    content = bytearray(second.read_bytes())
    content[len(content) // 2] ^= 1
    second.write_bytes(content)
    third.write_bytes(b"not a file of columns")
    assert History.of(desk.folder, desk.clock).rows().missing == 20
    desk.keeper = desk.new_keeper()
    rows = desk.keep()
    assert rows.frame.equals(before)
    assert desk.log.getvalue().count("history-damaged") == 2
    first.unlink()
    assert desk.history.rows().missing == desk.history.missing() == 8


def test_a_ledger_that_was_cut_off_has_another_history(desk):
    for _ in range(3):
        desk.decide()
    desk.keep()
    (path,) = desk.folder.history.iterdir()
    path.rename(path.with_name(path.name.replace("-000000000000003-", "-000000000000007-")))
    desk.keeper = desk.new_keeper()
    assert len(desk.keep()) == 3
    assert "history-of-another-ledger" in desk.log.getvalue()


def test_who_is_erased_is_in_no_file_and_stays_out(desk):
    for number in range(20):
        desk.decide(card="4711" if number in (2, 9) else "other")
    desk.keep()
    desk.ledger.erase(0, "4711", by="ann", now=desk.clock.now(), order=5)
    assert desk.ledger.erased_rows(5) == [3, 10]
    assert delete_pieces_with(desk.folder.history, desk.ledger.erased_rows(5)) == 2
    assert desk.history.rows().missing == 16
    rows = desk.keep()
    assert len(rows) == 18
    assert rows.missing == 0
    for path in desk.folder.history.iterdir():
        assert b"4711" not in path.read_bytes()


def test_a_piece_that_was_read_before_an_erasure_is_not_kept(desk, monkeypatch):
    for number in range(3):
        desk.decide(card=f"c{number}")
    write = _pieces.write_piece

    def erase_meanwhile(*given):
        desk.ledger.erase(0, "c1", by="ann", now=desk.clock.now(), order=1)
        return write(*given)

    monkeypatch.setattr("rarefind.desk.measures._keeper.write_piece", erase_meanwhile)
    assert desk.keeper.run()
    assert files(desk) == []
    rows = desk.keep()
    assert rows.frame["entity"].to_list() == ["c0", "c2"]


def test_what_retention_deletes_leaves_the_history(desk):
    for _ in range(20):
        desk.decide()
    desk.keep()
    young = entries(desk)[10].time
    desk.ledger.delete_before(young, now=desk.clock.now())
    assert desk.history.rows().values("sequence").tolist() == list(range(11, 21))
    desk.keeper = desk.new_keeper()
    assert desk.keep().values("sequence").tolist() == list(range(11, 21))
    assert len(files(desk)) == 2
    desk.clock.advance(91 * DAY)
    desk.keeper = desk.new_keeper()
    desk.keep()
    assert desk.history.rows().values("sequence").tolist() == list(range(17, 21))
