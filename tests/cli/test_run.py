"""What holds for all commands: how they start and end, and options from a file."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.main import get_command

from rarefind.cli import app
from rarefind.cli._run import _in_words
from rarefind.persistence import load

COMMANDS = {
    (name, *inner): command
    for name, group in get_command(app).commands.items()
    for inner, command in (
        [((key,), each) for key, each in group.commands.items()]
        if hasattr(group, "commands")
        else [((), group)]
    )
}


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
    assert installed("--version").stdout == "rarefind 0.1.0\n"


def test_options_come_from_a_file(rarefind, files, tmp_path):
    (tmp_path / "rarefind.toml").write_text(
        'target = "false"\nid = "claim"\njson = true\n\n'
        '[fit]\nbudget = 20\nmodel = "gamma-knn"\ndrop = ["day", "customer"]\n'
        'output = "model.rarefind"\n\n[rank]\nbudget = "2%"\n'
    )
    fitted = rarefind("fit", files.known, cwd=tmp_path)
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
    ],
)
def test_mistakes_in_that_file(rarefind, tmp_path, text, sentence):
    (tmp_path / "mine.toml").write_text(text)
    result = rarefind("--config", "mine.toml", "simulate", "-o", "p.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert not (tmp_path / "p.csv").exists()


def test_ctrl_c_leaves_no_broken_file(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "rarefind", "simulate", "--features", "-v", "-o", "p.csv"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stderr.readline()
    assert "Simulating" in line, "the first step is done, the second under way"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert rest.endswith("rarefind: Stopped; no file was left half-written.\n")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_of_a_fit_keeps_what_is_done(tmp_path, files):
    """The search ends with the best model so far, which is written; the estimate is left out."""
    options = "--target false --drop claim --budget 20 --time-limit 5m --jobs 1 -v -o m.rarefind"
    command = ["fit", files.known, *options.split()]
    process = subprocess.Popen(
        [sys.executable, "-m", "rarefind", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = iter(process.stderr.readline, "")
    assert any("Looking through" in line for line in lines), "the search has begun"
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    shown, rest = process.communicate(timeout=120)
    names = [path.name for path in tmp_path.iterdir()]
    if process.returncode == 130:  # it came before there was any model
        assert rest.endswith("rarefind: Stopped; no file was left half-written.\n")
        assert names == []
        return
    assert process.returncode == 0, rest
    assert names == ["m.rarefind"]
    assert "The fit was stopped before rows could be held out" in " ".join(shown.split())
    assert load(tmp_path / "m.rarefind").target == "false"


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
