"""A file is sent to a desk from the command line."""

import json

import pandas as pd
import pytest

pytest.importorskip("uvicorn")

from desk_in_memory import Desk, payment
from desk_served import served


def test_a_file_is_sent_and_the_answers_are_counted(rarefind, tmp_path):
    desk = Desk(tmp_path)
    rows = [payment(n, time=f"2026-01-31T12:{n:02}:00Z") for n in range(20)]
    rows[4]["amount"] = 7_000
    rows[6]["card"] = ""
    pd.DataFrame(rows).assign(fraud=0).to_csv(tmp_path / "payments.csv", index=False)
    with served(desk.app) as url:
        sent = ("replay", tmp_path / "payments.csv", "--to", url, "--token", desk.token)
        told = rarefind(*sent, "--speed", "600000x")
        again = rarefind(*sent, "--json")
        refused = rarefind(*sent[:-1], "rarefind_unknown")
        shifted = rarefind(*sent, "--shift", "2026-02-01T00:00:00Z")
    assert told.returncode == 0, told.stderr
    assert "19 transactions were sent" in told.stdout
    assert "18 accepted, 1 denied, 0 with an alert, 1 refused." in told.stdout
    assert "Refused: row 8.card: The column 'card' is missing: send it." in told.stdout
    counts = json.loads(again.stdout)
    assert (counts["sent"], counts["accepted"], counts["refused"]) == (19, 18, 1)
    assert len(desk.decider.stored) == 19
    assert refused.returncode == 2
    assert refused.stderr.startswith("rarefind: This token is not known")
    assert "--shift 2026-02-01T00:00:00Z" in shifted.stderr
    assert "Another transaction has this id." in shifted.stdout
    assert desk.token not in told.stdout + told.stderr + refused.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--speed", "fast"), "--speed is a number of times such as 60x, or max"),
        (("--speed", "0x"), "--speed is a number of times such as 60x, or max"),
        (("--shift", "yesterday"), "--shift is now, or a time such as"),
        (("--to", "http://127.0.0.1:1"), "did not answer (ConnectError)"),
        (("--to", "not an address"), "did not answer"),
    ],
)
def test_what_cannot_be_sent_is_told_in_a_sentence(rarefind, tmp_path, options, sentence):
    (tmp_path / "payments.csv").write_text("id,time\n1,2026-01-31\n")
    ended = rarefind("replay", tmp_path / "payments.csv", *options)
    assert ended.returncode == 2
    assert sentence in ended.stderr


def test_torture_names_a_folder_that_is_not_a_desk(rarefind, tmp_path):
    ended = rarefind("desk", "torture", tmp_path)
    assert ended.returncode == 2
    assert "is not a desk, since it has no desk.toml" in ended.stderr
