"""The command with its imports already made, for tests that start it over and over.

``python preloaded.py`` imports rarefind once and waits. For each line on its standard input it
forks: the child goes to the folder asked for, takes the arguments and runs the command to the end
of the process, as a new interpreter would. Before the fork nothing is computed that could start a
thread, which a child would miss.
"""

import gc
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path


class Preloaded:
    """The waiting process, and how it is asked."""

    def __init__(self, environment):
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, arguments, cwd):
        """As ``subprocess.run(["rarefind", *arguments], capture_output=True, text=True)``."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            asked = [arguments, *map(str, (cwd, out, err))]
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            texts = (path.read_text(encoding="utf-8") for path in (out, err))
            return subprocess.CompletedProcess(arguments, code, *texts)

    def end(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def preload():
    """Import all modules of rarefind, and what they import when called."""
    import rarefind

    for module in pkgutil.walk_packages(rarefind.__path__, "rarefind."):
        if not module.name.endswith("__main__"):
            __import__(module.name)
    # Else each child would look through all these objects when it ends.
    gc.freeze()


def warm_up():
    """What else each child would do again: set up the compiler, and the commands of the app."""
    from functools import cache

    import numpy as np
    import typer.main

    from rarefind.cli import app
    from rarefind.neighbors import GammaKNNClassifier

    before = len(os.listdir("/proc/self/task"))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 5 == 0
    model = GammaKNNClassifier(n_jobs=1).fit(X, y)
    model.predict_proba(X)
    model.explain(X[:2])
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(app)
    assert len(os.listdir("/proc/self/task")) == before, "a thread was started"


def serve():
    """Answer until nobody asks any more; in a child it returns, and the command is to follow."""
    answers = os.dup(1)
    for line in sys.stdin:
        arguments, cwd, out, err = json.loads(line)
        child = os.fork()
        if not child:
            os.close(answers)
            for number, path in enumerate((os.devnull, out, err)):
                opened = os.open(path, os.O_RDWR | os.O_CREAT)
                os.dup2(opened, number)
                os.close(opened)
            os.chdir(cwd)
            sys.argv = ["rarefind", *arguments]
            return
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(answers, f"{code}\n".encode())
    raise SystemExit


if __name__ == "__main__":
    preload()
    warm_up()
    gc.freeze()
    serve()
    from rarefind.cli import main

    try:
        main()
    except SystemExit as end:
        # To take down all that was imported would take longer than most commands.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code or 0)
