"""Threads of OpenMP that count while they wait, threads that sleep, and one thread.

``python benchmarks/openmp.py --busy 2`` runs so many other processes beside the fits; each fit is
in a process of its own, since OpenMP reads its settings once.
"""

import argparse
import os
import subprocess
import sys
import time

WAYS = {
    "two threads that count": (2, None),
    "two threads that sleep": (2, "PASSIVE"),
    "one thread": (1, None),
}


def fit_once(n_jobs):
    import numpy as np
    import sklearn  # noqa: F401  before rarefind, which then leaves OpenMP as it is

    from rarefind.boosting import SGBAPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X[:, 0] + X[:, 1] + rng.normal(size=20_000) > 3.2
    SGBAPClassifier(n_estimators=2, cv=2, n_jobs=n_jobs).fit(X[:500], y[:500])  # compiles
    wall, processor = time.perf_counter(), time.process_time()
    SGBAPClassifier(n_estimators=60, cv=2, n_jobs=n_jobs, random_state=0).fit(X, y)
    print(f"{time.perf_counter() - wall:.1f} {time.process_time() - processor:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=2, help="processes that run beside")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fit", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit_once(given.fit)
        return
    # They end with this process, however it ends.
    code = "import os\nfirst = os.getppid()\nwhile os.getppid() == first: pass"
    loop = [sys.executable, "-c", code]
    others = [subprocess.Popen(loop) for _ in range(given.busy)]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {given.busy} busy processes")
    try:
        for name, (n_jobs, policy) in WAYS.items():
            environment = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
            if policy is not None:
                environment["OMP_WAIT_POLICY"] = policy
            command = [sys.executable, __file__, "--fit", str(n_jobs)]
            for _ in range(given.repeats):
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                )
                wall, processor = done.stdout.split()
                print(f"{name}: {wall} s, {processor} s of processor time", flush=True)
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
