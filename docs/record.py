"""Type the commands of docs/tutorial.md and write their real answers into it.

``python docs/record.py`` runs every line that begins with ``$`` in a ``console`` block, all in one
empty folder, and puts what it prints below it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("tutorial.md")
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(page: str) -> list[list[str]]:
    """The commands of each block."""
    return [
        [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        for block in _BLOCK.findall(page)
    ]


def answer(command: str, folder: Path) -> str:
    """What a command prints; one that fails ends everything."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise SystemExit(f"{command}\n{result.stdout}{result.stderr}")
    return "\n".join(line.rstrip() for line in result.stdout.splitlines())


def main() -> None:
    """Record the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        blocks = []
        for block in commands(page):
            said = [(command, answer(command, Path(folder))) for command in block]
            text = "\n".join(f"$ {command}\n{out}".rstrip() for command, out in said)
            blocks.append(f"```console\n{text}\n```")
    written = iter(blocks)
    PAGE.write_text(_BLOCK.sub(lambda _: next(written), page), encoding="utf-8")


if __name__ == "__main__":
    main()
