"""A desk from a file: it decides, is killed, and answers the same when it runs again."""

import os
import re
import subprocess
import sys

import pandas as pd
import pytest

pytest.importorskip("uvicorn")


def start(folder):
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "rarefind",
            "serve",
            str(folder),
            "--port",
            "0",
            "--only",
            "decision",
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    return process, re.search(r"http://[\d.]+:\d+", process.stdout.readline()).group()


def test_a_desk_that_is_killed_answers_the_same_again(installed, rarefind, tmp_path):
    from rarefind.desk import Client

    data, folder = tmp_path / "payments.csv", tmp_path / "desk"
    rarefind("simulate", "--customers", 20, "--days", 9, "-o", data)
    made = installed("desk", "init", data, folder)
    assert made.returncode == 0, made.stderr
    token = rarefind("desk", "token", folder, "ingest").stdout.strip()
    table = pd.read_csv(data, dtype={"transaction_id": str, "customer": str, "terminal": str})
    table["time"] = table["time"].str.replace(" ", "T") + "Z"
    sent = table.drop(columns="fraud").head(30).to_dict("records")
    found = []
    for _ in range(2):
        process, url = start(folder)
        try:
            # On a busy machine a start takes a while.
            with Client(url, token, id_column="transaction_id", retries=12) as desk:
                found.append(desk.send_many(sent))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    assert [each.decision for each in found[0]] == ["accept"] * len(sent)
    assert found[1] == found[0]
    verified = rarefind("desk", "verify", folder)
    assert verified.returncode == 0, verified.stderr
    assert verified.stdout.startswith(f"{len(sent)} transactions and 0 labels are as they were")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("serve", "."), "is not a desk"),
        (("desk", "verify", "."), "is not a desk"),
        (("serve", ".", "--durability", "x"), "process or disk"),
    ],
)
def test_what_is_no_desk_is_told_in_a_sentence(rarefind, tmp_path, arguments, sentence):
    ended = rarefind(*arguments, cwd=tmp_path)
    assert ended.returncode == 2
    assert sentence in ended.stderr


def test_the_features_of_a_day_are_compared(rarefind, tmp_path):
    from desk.parity.test_compare_features import Desk

    desk = Desk(tmp_path / "desk")
    desk.decide(40)
    desk.folder.close()
    told = rarefind("desk", "parity", desk.folder.path, "--day", "2026-01-31")
    assert (told.returncode, told.stdout) == (0, "0 of 40 differ on 2026-01-31.\n")
    ended = rarefind("desk", "parity", desk.folder.path, "--day", "yesterday")
    assert ended.returncode == 2
    assert "'yesterday' is not a day" in ended.stderr
