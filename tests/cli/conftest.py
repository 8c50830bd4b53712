"""A small file with labels, a model of it, and the command: as installed, and preloaded."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

INSTALLED = Path(sys.executable).with_name("rarefind")
COMMAND = [str(INSTALLED)] if INSTALLED.exists() else [sys.executable, "-m", "rarefind"]


def run_installed(*arguments, **given):
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **given,
    )


@pytest.fixture(scope="session")
def installed():
    """The command as a person starts it: each command is tested so at least once."""
    return run_installed


@pytest.fixture(scope="session")
def rarefind(preloaded):
    """The same command and answers, without the seconds that its imports take each time."""
    if preloaded is None:
        return run_installed

    def run(*arguments, cwd=None):
        return preloaded.run([str(each) for each in arguments], cwd or Path.cwd())

    return run


def claims(rows=900, seed=0):
    """Claims of an insurer: large ones of one region are false more often."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(4, 1, rows).round(2)
    region = rng.choice(["north", "south", "east", None], rows, p=[0.3, 0.3, 0.3, 0.1])
    risk = np.log(amount) - 4 + 1.2 * (region == "south") + rng.normal(0, 0.4, rows)
    return pd.DataFrame(
        {
            "claim": [f"C{i}" for i in range(rows)],
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(rows) // 15, unit="D"),
            "customer": rng.integers(300, size=rows),
            "amount": amount,
            "region": region,
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 90, rows)),
            "false": np.where(risk > 2.1, "yes", "no"),
        }
    )


@pytest.fixture(scope="session")
def files(installed, tmp_path_factory):
    """What most tests start from: files with labels and without, and a model."""
    folder = tmp_path_factory.mktemp("files")
    known, new, model = folder / "known.csv", folder / "new.csv", folder / "model.rarefind"
    claims().to_csv(known, index=False)
    ahead = claims(300, seed=1).assign(day=lambda table: table["day"] + pd.Timedelta("60D"))
    ahead.drop(columns="false").to_csv(new, index=False)
    fitted = installed(
        *("fit", known, "--target", "false", "--time", "day", "--id", "claim"),
        *("--entity", "customer", "--amount", "amount", "--budget", "20"),
        *("--model", "gamma-knn", "--json", "-o", model),
    )
    assert fitted.returncode == 0, fitted.stderr
    return SimpleNamespace(
        folder=folder,
        known=known,
        new=new,
        labelled=ahead,
        model=model,
        fitted=json.loads(fitted.stdout),
    )
