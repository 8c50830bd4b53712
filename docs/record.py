"""Type the commands of pages and write their real answers into them.

``python docs/record.py`` runs every line that begins with ``$`` in a ``console`` block of
docs/tutorial.md and docs/desk/start.md, all of a page in one empty folder, and puts what it prints
below it. What a page starts in the background is ended with it. A page that is named is recorded
alone.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PAGE = DOCS / "tutorial.md"
PAGES = (PAGE, DOCS / "desk" / "start.md")
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(page: str) -> list[list[str]]:
    """The commands of each block."""
    return [
        [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        for block in _BLOCK.findall(page)
    ]


def answer(command: str, folder: Path, group: int = 0) -> str:
    """What a command of a process group prints; one that fails ends everything."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
        process_group=group,
    )
    if result.returncode:
        raise SystemExit(f"{command}\n{result.stdout}{result.stderr}")
    return "\n".join(line.rstrip() for line in result.stdout.splitlines())


def record(path: Path) -> None:
    """Record a page anew."""
    page = path.read_text(encoding="utf-8")
    blocks = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        subprocess.Popen(["sleep", "3600"], process_group=0) as group,
    ):
        try:
            for block in commands(page):
                said = [(command, answer(command, Path(folder), group.pid)) for command in block]
                text = "\n".join(f"$ {command}\n{out}".rstrip() for command, out in said)
                blocks.append(f"```console\n{text}\n```")
        finally:
            os.killpg(group.pid, signal.SIGTERM)
    written = iter(blocks)
    path.write_text(_BLOCK.sub(lambda _: next(written), page), encoding="utf-8")


def main() -> None:
    """Record all pages, or those that are named."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for path in named or [page for page in PAGES if page.exists()]:
        record(path)


if __name__ == "__main__":
    main()
