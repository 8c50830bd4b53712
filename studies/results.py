"""What the parts of a study gave, in a Parquet file that grows while it runs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

import rarefind
from studies.files import atomic_write, lock_folder
from studies.study import Part, Row, Study

_KEY = ["dataset", "run", "what"]
_KEY_IN_FILE = ["protocol", *_KEY]
_KINDS: dict[str, Any] = {
    **dict.fromkeys(["study", "dataset", "what", "method", "measure", "params", "version"], str),
    "protocol": "int64",
    "quick": bool,
    "run": "int64",
    "k": "int64",
    "value": float,
    "seconds": float,
}


class Results:
    """All values of one study; a part is there with all its values, or not at all."""

    def __init__(self, study: Study, folder: Path, quick: bool = False) -> None:
        self._study, self._quick = study, quick
        self.path = folder / f"{study.name}{'-quick' if quick else ''}.parquet"
        self._parts: list[pd.DataFrame] = []
        self._news: set[Part] = set()
        if self.path.exists():
            found = self._in_file()
            # Of another protocol nothing can be used.
            self._parts.append(found[found["protocol"] == study.protocol])

    def _in_file(self) -> pd.DataFrame:
        try:
            # By one open file: asked by its path, Arrow opens it twice, and another process may
            # replace it in between.
            with self.path.open("rb") as file:
                found = pd.read_parquet(file)
        except (OSError, ValueError):
            raise ValueError(
                f"{self.path} is not a file of results: move it away to begin anew."
            ) from None
        if set(found.columns) != set(_KINDS):
            raise ValueError(f"{self.path} is not a file of results: move it away to begin anew.")
        return found

    def table(self, parts: Collection[Part] | None = None) -> pd.DataFrame:
        """Every value, one a row, or those of some parts."""
        if not self._parts:
            return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in _KINDS.items()})
        found = pd.concat(self._parts, ignore_index=True)
        if parts is None:
            return found
        keys = pd.MultiIndex.from_frame(found[_KEY])
        return found[keys.isin(parts)].reset_index(drop=True)

    def done(self) -> set[Part]:
        """The parts that need not be run again."""
        keys = self.table()[_KEY].drop_duplicates()
        return {Part(str(d), int(r), str(w)) for d, r, w in keys.itertuples(index=False)}

    def add(self, part: Part, rows: list[Row]) -> None:
        """Take in what a part gave, in place of what it gave before."""
        if not rows:
            raise ValueError(f"The part {part} of the study {self._study.name} gave no values.")
        table = pd.DataFrame([{**part._asdict(), **row._asdict()} for row in rows])
        table = table.assign(
            study=self._study.name,
            protocol=self._study.protocol,
            quick=self._quick,
            version=rarefind.__version__,
        )
        self._parts = [
            old[~pd.MultiIndex.from_frame(old[_KEY]).isin([part])] for old in self._parts
        ]
        self._parts.append(table.astype(_KINDS)[list(_KINDS)])
        self._news.add(part)

    def write(self) -> None:
        """Write the file again if there is something new.

        Values of another protocol stay in it, and so do parts that another process has written.
        """
        if not self._news:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock_folder(self.path.parent):
            table = self.table(self._news if self.path.exists() else None)
            if self.path.exists():
                kept = self._in_file()
                ours, theirs = (pd.MultiIndex.from_frame(t[_KEY_IN_FILE]) for t in (table, kept))
                table = pd.concat([kept[~theirs.isin(ours)], table], ignore_index=True)
            table = table.sort_values(_KEY_IN_FILE, kind="stable", ignore_index=True)
            with atomic_write(self.path) as part:
                table.to_parquet(part, index=False)
        self._news = set()
