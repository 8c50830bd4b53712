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
from {module} import {names}
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


def run_with_memory(
    megabytes: int,
    module: str,
    names: tuple[str, ...],
    columns: int,
    work: str,
    before: str = "",
) -> str:
    code = LIMITED.format(
        module=module,
        names=", ".join(names),
        columns=columns,
        before=before,
        allowed=megabytes * 2**20,
        work=work,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_square_matrices_of_too_many_columns_are_refused_before_the_work() -> None:
    said = run_with_memory(
        1000,
        "rarefind.neighbors",
        ("ME2Classifier", "IMLClassifier", "MLFPClassifier"),
        8000,
        "for learner in (ME2Classifier, IMLClassifier, MLFPClassifier):\n"
        "    try:\n"
        "        learner(n_jobs=1).fit(X, y)\n"
        "    except ValueError as error:\n"
        "        print(str(error))",
    ).splitlines()
    assert len(said) == 3, said
    for line in said:
        assert "matrices of 8,000 × 8,000 columns" in line
        assert "sklearn.decomposition.PCA" in line


def test_reasons_of_a_stream_take_no_square_of_the_columns() -> None:
    said = run_with_memory(
        250,
        "rarefind.streams",
        ("ONLBClassifier",),
        6000,  # of which the square takes 290 MB
        "print(len(model.explain(X[:1])), 'reason')",
        "model = ONLBClassifier(epochs=1, threshold=None, n_jobs=1, random_state=0).fit(X, y)\n"
        "model.explain(X[:1])",
    )
    assert said == "1 reason\n"


def test_memory_is_counted_in_bytes() -> None:
    assert 2**27 < total_memory() < 2**50
