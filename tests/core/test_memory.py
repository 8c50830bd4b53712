"""Wide tables: memory that grows with the columns, or a sentence before the work."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rarefind._core.memory import total_memory

# Runs in a process of its own, which may have so much more memory than it has by then.
LIMITED = """
import resource
import numpy as np
from {module} import {name}
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, {columns})), np.arange(40) % 4 == 0
{before}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {allowed}, resource.RLIM_INFINITY))
{work}
"""

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory are asked of Linux"
)


def run_with_memory(megabytes: int, path: str, columns: int, work: str, before: str = "") -> str:
    module, _, name = path.rpartition(".")
    code = LIMITED.format(
        module=module,
        name=name,
        columns=columns,
        before=before,
        allowed=megabytes * 2**20,
        work=work,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "path",
    [
        "rarefind.neighbors.ME2Classifier",
        "rarefind.neighbors.IMLClassifier",
        "rarefind.neighbors.MLFPClassifier",
    ],
)
def test_square_matrices_of_too_many_columns_are_refused_before_the_work(path: str) -> None:
    name = path.rpartition(".")[2]
    said = run_with_memory(1000, path, 8000, f"{name}(n_jobs=1).fit(X, y)")
    assert "ValueError" in said
    assert "matrices of 8,000 × 8,000 columns" in said
    assert "sklearn.decomposition.PCA" in said


def test_reasons_of_a_stream_take_no_square_of_the_columns() -> None:
    said = run_with_memory(
        250,
        "rarefind.streams.ONLBClassifier",
        6000,  # of which the square takes 290 MB
        "print(len(model.explain(X[:1])), 'reason')",
        "model = ONLBClassifier(epochs=1, threshold=None, n_jobs=1, random_state=0).fit(X, y)\n"
        "model.explain(X[:1])",
    )
    assert said == "1 reason\n"


def test_memory_is_counted_in_bytes() -> None:
    assert 2**27 < total_memory() < 2**50
