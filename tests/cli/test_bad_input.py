"""Every mistake a user can make: one sentence, exit code 2, nothing written."""

import shutil
import struct

import numpy as np
import pandas as pd
import pytest

from rarefind import save
from rarefind.neighbors import GammaKNNClassifier

MARK = b"rarefind\n"
FIT = ("--target", "false", "--budget", "20", "--model", "gamma-knn")


@pytest.fixture
def refused(rarefind, tmp_path):
    """Run a command that must fail; its one sentence."""

    def run(*arguments):
        before = sorted(path.name for path in tmp_path.iterdir())
        result = rarefind(*arguments, cwd=tmp_path)
        assert result.returncode == 2, result.stdout + result.stderr
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        line = result.stderr.removesuffix("\n")
        assert line.startswith("rarefind: ")
        assert "\n" not in line, "one line"
        assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing is written"
        return line.removeprefix("rarefind: ")

    return run


def written(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("command", ["fit", "rank", "explain", "compare", "report", "monitor"])
def test_a_file_that_is_not_there(refused, files, command):
    model = [] if command in ("fit", "compare") else [files.model]
    more = {
        "fit": (*FIT, "-o", "m"),
        "compare": FIT,
        "rank": ("--budget", "5"),
        "explain": ("--row", "1"),
    }.get(command, ())
    assert refused(command, *model, "gone.csv", *more) == (
        "There is no file gone.csv: check the name and the folder."
    )


def test_a_model_that_is_not_there(refused, files):
    for command in ("rank", "explain", "report", "monitor"):
        more = {"rank": ("--budget", "5"), "explain": ("--row", "1")}.get(command, ())
        assert "There is no file gone.rarefind" in refused(
            command, "gone.rarefind", files.new, *more
        )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("amount,false\n", "has a header but no rows"),
        ("a,false\n1,no\n2,no,yes\n", "ine 3"),
        ("a,b\n1,no\n2,yes\n", "There is no column 'false'"),
        ("a,fals\n1,no\n2,yes\n", "did you mean 'fals'?"),
        ("a,false\n1,no\n2,yes\n3,maybe\n", "3 values"),
        ("a,false\n1,no\n2,no\n", "1 value"),
        ("a,false\n" + "1,no\n" * 30 + "2,yes\n" * 4, "4 positives (false = True): learning needs"),
    ],
)
def test_files_to_learn_from(refused, tmp_path, text, sentence):
    assert sentence in refused("fit", written(tmp_path, text), *FIT, "-o", "model.rarefind")


def test_a_file_with_one_label_once_blank_ones_are_left_out(rarefind, tmp_path):
    path = written(tmp_path, "a,false\n1,no\n2,\n")
    result = rarefind("fit", path, *FIT, "-o", "model.rarefind", cwd=tmp_path)
    assert result.returncode == 2
    note, sentence = result.stderr.removesuffix("\n").split("\n")
    assert "1 of 2 rows have no label" in note
    assert "holds 1 value (False), where two labels are needed" in sentence


def test_files_that_are_no_tables(refused, tmp_path):
    (tmp_path / "data.parquet").write_bytes(b"no table at all")
    assert "is not a complete parquet file" in refused(
        "fit", "data.parquet", *FIT, "-o", "m.rarefind"
    )
    (tmp_path / "data.xlsx").write_bytes(b"PK")
    assert "is not a complete Excel file" in refused("fit", "data.xlsx", *FIT, "-o", "m.rarefind")
    (tmp_path / "data.doc").write_bytes(b"PK")
    assert "is not of a known kind" in refused("fit", "data.doc", *FIT, "-o", "m.rarefind")
    assert "is a folder" in refused("fit", tmp_path, *FIT, "-o", "m.rarefind")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--budget", "0"), "A budget of 0 checks buys nothing"),
        (("--budget", "many"), "A budget is a number of checks (200) or a share"),
        (("--budget", "901"), "larger than the file, which has 900 rows"),
        (("--time", "claim"), "Column 'claim' has 'C0', which is not a date"),
        (("--time", "amount"), "Column 'amount' has numbers, such as"),
        (("--time", "dya"), "There is no column 'dya': did you mean 'day'?"),
        (("--per", "day"), "A budget for each day needs the column with the time"),
        (("--per", "regoin"), "neither a period (hour, day, week, month, quarter) nor a column"),
        (("--one-per", "custmer"), "did you mean 'customer'?"),
        (
            ("--time", "day", "--per", "year"),
            "'year' is neither a period (hour, day, week, month, quarter) nor",
        ),
        (("--delay", "7D"), "A delay needs the column with the time"),
        (("--drop", "regoin"), "did you mean 'region'?"),
        (("--positive", "perhaps"), "has no label 'perhaps'"),
        (("--model", "metap"), "There is no model 'metap': did you mean metaap?"),
        (("--time-limit", "soon"), "such as '90s', '5m' or '1h', not 'soon'"),
        (("--trials", "3"), "is for --model auto"),
        (("-o", "/nowhere/model.rarefind"), "There is no folder /nowhere"),
        (("--seed", "-1"), "'--seed'"),
        (("--colour",), "--colour"),
    ],
)
def test_options_of_fit(refused, files, arguments, sentence):
    assert sentence in refused("fit", files.known, *FIT, "-o", "model.rarefind", *arguments)


def test_an_option_that_is_needed(refused, files):
    assert "--target" in refused("fit", files.known, "--budget", "20", "-o", "m.rarefind")


def _cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def _other(path):
    path.write_bytes(b"PK" + path.read_bytes())


def _forbidden(path):
    content = path.read_bytes()
    _resealed(path, content.replace(b'"gamma-knn"', b'"os.system"'))


def _newer(path):
    content = path.read_bytes()
    _resealed(path, content.replace(b'"format":2', b'"format":9'))


def _resealed(path, content):
    """Other content with a right checksum, as somebody with bad intentions would write it."""
    import hashlib
    import io
    import zipfile

    start = len(MARK) + 32
    body = content[start:]
    packed = io.BytesIO()
    # Sums of the parts are written anew.
    raw, crc = zipfile.ZipFile(io.BytesIO(body)), zipfile.ZipFile(packed, "w")
    for member in raw.infolist():
        offset = member.header_offset
        name, extra = struct.unpack("<HH", body[offset + 26 : offset + 30])
        first = offset + 30 + name + extra
        crc.writestr(zipfile.ZipInfo(member.filename), body[first : first + member.file_size])
    crc.close()
    body = packed.getvalue()
    path.write_bytes(MARK + hashlib.sha256(body).digest() + body)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_cut, "is damaged: it is cut short or was changed"),
        (_other, "is not a rarefind model file"),
        (_forbidden, "names 'os.system', which is not part of a rarefind model"),
        (_newer, "has format 9"),
    ],
)
def test_model_files(refused, files, tmp_path, change, sentence):
    model = tmp_path / "model.rarefind"
    shutil.copy(files.model, model)
    change(model)
    assert sentence in refused("rank", model, files.new, "--budget", "5", "-o", "list.csv")


def test_a_model_without_its_table(refused, files, tmp_path):
    X = np.arange(20.0).reshape(-1, 1)
    save(GammaKNNClassifier(k=1).fit(X, X.ravel() > 15), tmp_path / "bare.rarefind")
    assert "holds a GammaKNNClassifier without its table's columns" in refused(
        "explain", "bare.rarefind", files.new, "--row", "1"
    )


def test_columns_other_than_at_the_fit(refused, files, tmp_path):
    table = pd.read_csv(files.new)
    table.drop(columns=["amount", "region"]).to_csv(tmp_path / "fewer.csv", index=False)
    table.assign(amount="much").to_csv(tmp_path / "other.csv", index=False)
    sentence = refused("rank", files.model, "fewer.csv", "--budget", "5", "-o", "list.csv")
    assert "'amount', 'region'" in sentence
    sentence = refused("rank", files.model, "other.csv", "--budget", "5", "-o", "list.csv")
    assert "'amount'" in sentence
    assert "'much'" in sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--budget", "301"), "301 checks"),
        (("--budget", "0"), "A budget of 0 checks buys nothing"),
        (("--budget", "5", "--one-per", "nobody"), "nobody"),
        (("--budget", "5", "-o", "list.doc"), "should end in .csv, .xlsx, .parquet, .json"),
    ],
)
def test_options_of_rank(refused, files, arguments, sentence):
    assert sentence in refused("rank", files.model, files.new, *arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Name one row: by --id, or by --row"),
        (("--row", "1", "--id", "C1"), "Name one row: by --id, or by --row"),
        (("--row", "302"), "has its rows in lines 2 to 301, and none in line 302"),
        (("--row", "C17"), "--row takes the number of a row, not C17: name its identifier by --id"),
        (("--id", "nobody"), "has no row whose claim is nobody"),
        (("--row", "1", "--picture", "why.gif"), "should end in .svg, .png, .pdf"),
    ],
)
def test_options_of_explain(refused, files, arguments, sentence):
    assert sentence in refused("explain", files.model, files.new, *arguments)


def test_a_full_disk_leaves_nothing_behind(installed, files, tmp_path):
    # Everything beyond 2 kB is refused by the system, as on a full disk.
    def limited():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    result = installed(
        *("rank", files.model, files.new, "--budget", "100", "-o", "list.csv"),
        cwd=tmp_path,
        preexec_fn=limited,
    )
    assert result.returncode == 2
    assert result.stderr == "rarefind: list.csv: it would be too large.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_file_kept_from_us(refused, files, tmp_path):
    import os

    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = tmp_path / "kept.csv"
    path.write_text("a,false\n1,no\n")
    path.chmod(0)
    assert (
        refused("fit", path, *FIT, "-o", "m.rarefind") == f"{path}: you may not read or write it."
    )
