"""What holds for all commands: how they start and end, and options from a file."""

import errno
import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from typer.main import get_command

from rarefind.cli import app
from rarefind.cli._run import _in_words
from rarefind.persistence import load


def commands_of(group, above=()):
    """Every command by the words that one types, those of groups in groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*above, name))
        else:
            yield (*above, name), command


COMMANDS = dict(commands_of(get_command(app)))


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does_with_an_example(name):
    command = COMMANDS[name]
    assert command.help
    assert command.epilog.startswith("Example: rarefind " + " ".join(name))
    for param in command.params:
        if param.name != "help":
            assert param.help, f"{name}: {param.name}"


def test_commands_start_without_the_heavy_libraries(installed):
    code = (
        "import sys, rarefind.cli._app; "
        "print([m for m in ('numpy', 'pandas', 'sklearn', 'pyarrow', 'numba') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"
    assert "rank" in installed("--help").stdout
    assert installed("--version").stdout == "rarefind 0.2.0.dev0\n"


def test_options_come_from_a_file(rarefind, files, tmp_path):
    (tmp_path / "rarefind.toml").write_text(
        'target = "false"\nid = "claim"\njson = true\n\n'
        '[fit]\nbudget = 20\nmodel = "gamma-knn"\ndrop = ["day", "customer"]\n'
        '\n[rank]\nbudget = "2%"\n'
    )
    fitted = rarefind("fit", files.known, "-o", "model.rarefind", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    card = json.loads(fitted.stdout)["card"]
    assert card["kept_out"] == ["day", "customer"]
    ranked = rarefind("rank", "model.rarefind", files.new, cwd=tmp_path)
    assert len(json.loads(ranked.stdout)["list"]) == 6, "2 % of 300"
    typed = rarefind("rank", "model.rarefind", files.new, "--budget", "3", cwd=tmp_path)
    assert len(json.loads(typed.stdout)["list"]) == 3, "what is typed comes first"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("targt = 1", "has 'targt', which is not known: did you mean 'target'?"),
        ("[fitt]\nbudget = 1", "has command 'fitt', which is not known: did you mean 'fit'?"),
        ("[rank]\ntarget = 1", "has [rank] 'target', which is not known"),
        ("target", "is not TOML"),
        ('output = "known.csv"', "has 'output', a file to write to, which belongs on the command"),
        ('[rank]\noutput = "known.csv"', "has [rank] 'output', a file to write to"),
        ('[explain]\npicture = "why.svg"', "has [explain] 'picture', a file to write to"),
        ('[simulate]\nahead = "new.csv"', "has [simulate] 'ahead', a file to write to"),
        ('[demo]\nreport = "new.html"', "has [demo] 'report', a file to write to"),
    ],
)
def test_mistakes_in_that_file(rarefind, tmp_path, text, sentence):
    (tmp_path / "mine.toml").write_text(text)
    result = rarefind("--config", "mine.toml", "simulate", "-o", "p.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert not (tmp_path / "p.csv").exists()


def interrupted(held_up, *command, cwd):
    """Press Ctrl-C when a command has come to where the script holds it up."""
    script = f"{held_up}\nfrom rarefind.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, command)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if line == "held up\n":
            process.send_signal(signal.SIGINT)
            break
    shown, rest = process.communicate()
    return process.returncode, shown, rest


def test_ctrl_c_leaves_no_broken_file(tmp_path):
    while_writing = """
import sys, time
import pandas as pd

def to_csv(table, path, **given):
    with open(path, "w") as file:
        file.write("half a line")
    print("held up", file=sys.stderr, flush=True)
    time.sleep(3600)

pd.DataFrame.to_csv = to_csv
"""
    command = ["simulate", "--customers", "5", "--days", "5", "-o", "p.csv"]
    code, _, errors = interrupted(while_writing, *command, cwd=tmp_path)
    assert code == 130
    assert errors.endswith("rarefind: Stopped; no file was left half-written.\n")
    assert list(tmp_path.iterdir()) == []


STOP_AT_NEIGHBOURS = """
import sys, time
from rarefind.neighbors import GammaKNNClassifier

def fit(self, X, y):
    print("held up", file=sys.stderr, flush=True)
    time.sleep(3600)

GammaKNNClassifier.fit = fit
"""
FIT = ["--target", "false", "--drop", "claim", "--budget", "20", "--jobs", "1", "-o", "m.rarefind"]


def test_ctrl_c_of_a_fit_keeps_what_is_done(tmp_path, tmp_path_factory, files):
    """The search ends with the best model so far, which is written; the estimate is left out."""
    known = tmp_path_factory.mktemp("few") / "known.csv"
    pd.read_csv(files.known).head(200).to_csv(known, index=False)
    command = ["fit", known, *FIT, "--time-limit", "1h"]
    code, shown, errors = interrupted(STOP_AT_NEIGHBOURS, *command, cwd=tmp_path)
    assert code == 0, errors
    assert [path.name for path in tmp_path.iterdir()] == ["m.rarefind"]
    assert "The fit was stopped before rows could be held out" in " ".join(shown.split())
    assert load(tmp_path / "m.rarefind").target == "false"


def test_ctrl_c_of_a_fit_before_there_is_a_model_leaves_nothing(tmp_path, files):
    command = ["fit", files.known, *FIT, "--model", "gamma-knn"]
    code, _, errors = interrupted(STOP_AT_NEIGHBOURS, *command, cwd=tmp_path)
    assert code == 130
    assert errors.endswith("rarefind: Stopped; no file was left half-written.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "you may not read or write it")],
)
def test_the_system_s_words_become_a_sentence(number, words):
    error = OSError(number, os.strerror(number), "list.csv")
    assert _in_words(error) == f"list.csv: {words}."
    assert _in_words(OSError("A sentence of our own.")) == "A sentence of our own."


def test_completion_is_there(installed, monkeypatch):
    # Who started the tests is no matter.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    result = installed("--show-completion", "bash")
    assert result.returncode == 0
    assert "rarefind" in result.stdout
