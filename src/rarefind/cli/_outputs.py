"""Files that commands write: checked before any work is done, and never half-written."""

from __future__ import annotations

from pathlib import Path

from rarefind._core.files import atomic_write, check_replaceable


def check_output(path: Path | None) -> None:
    """Refuse a path that cannot be written to."""
    if path is None:
        return
    check_replaceable(path)
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} to write {path.name} to.")


def write_text(text: str, path: Path) -> None:
    """Write a text file, whole or not at all."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
