"""Models: brought by a person, checked against the desk, promoted and retired."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from rarefind._core.files import atomic_write
from rarefind.desk.clock import DeskClock
from rarefind.desk.control._alert_level import alert_level
from rarefind.desk.control._audit import Audit, AuditRow, record_change
from rarefind.desk.control._change_requests import ChangeRequest
from rarefind.desk.control._desk_model import check_fits, digest_of, own_threshold
from rarefind.desk.control._errors import ControlError, NotThere, check_name
from rarefind.desk.control._settings import SettingChanges
from rarefind.desk.database import Database, Row, Writer
from rarefind.desk.records import Entry

__all__ = ["ModelRow", "ModelState", "Models", "model_path", "read_champion"]

ModelState = Literal["challenger", "champion", "retired"]
_COLUMNS = (
    "digest, name, estimator, columns, own_threshold, threshold, state, added, added_by, changed, "
    "changed_by"
)
_FEWEST_CHARACTERS = 6
_ADDED, _PROMOTED, _RETIRED = _ACTIONS = ("add model", "promote model", "retire model")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of a desk.

    Attributes
    ----------
    digest : str
        Of its file; ``models/<digest>.rarefind`` in the desk's folder.
    name : str
        What people call it.
    estimator : str
        What it was fitted by, such as ``SGBAPClassifier``.
    columns : tuple of str
        What it needs.
    own_threshold, threshold : float
        The probability from which a transaction is an alert: as the model was fitted; and as it
        fills the budget, or as the person who promoted it wants it.
    state : {"challenger", "champion", "retired"}
    added, changed : int
        When.
    added_by, changed_by : str
        Who.
    """

    digest: str
    name: str
    estimator: str
    columns: tuple[str, ...]
    own_threshold: float
    threshold: float
    state: ModelState
    added: int
    added_by: str
    changed: int
    changed_by: str


class Models:
    """The models of a desk: one champion at most, which decides what is an alert.

    Parameters
    ----------
    database : Database
        That of the desk.
    settings : SettingChanges
        What a model must be able to score, the budget it fills, and whether it takes two people to
        promote it.
    folder : Path
        Where model files are kept.
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        settings: SettingChanges,
        folder: Path,
        audit: Audit,
        clock: DeskClock,
    ) -> None:
        self._database, self._settings, self._folder = database, settings, folder
        self._audit, self._clock, self._requests = audit, clock, settings.requests
        self._requests.applied_by("model", self._approved)

    def all(self) -> list[ModelRow]:
        """Return the models, the newest first."""
        rows = self._database.read(f"SELECT {_COLUMNS} FROM models ORDER BY added DESC, digest")
        return [_as_model(row) for row in rows]

    def get(self, digest: str) -> ModelRow:
        """Return a model by its digest, or by the first characters of it if no other has them."""
        return _get(self._database, digest)

    def champion(self) -> ModelRow | None:
        """Return the model that decides; None where there is none."""
        return read_champion(self._database)

    def former(self, reader: Writer | None = None) -> ModelRow | None:
        """Return the model that decided before the champion; None if there is none to go back to.

        To promote it is to roll back.
        """
        door = reader or self._database
        champion = read_champion(door)
        if champion is None:
            return None
        for row in self._audit.of_actions(_ACTIONS, subject=champion.digest, reader=reader):
            before = row.detail.get("before") if row.action == _PROMOTED else None
            if before and before != champion.digest:
                found = _find(door, str(before))
                return found[0] if found else None
        return None

    def history(self, subject: str | None = None, limit: int = 100) -> list[AuditRow]:
        """Return who has brought, promoted and retired models, the last first.

        Parameters
        ----------
        subject : str, optional
            The digest of one of them.
        limit : int
        """
        return self._audit.of_actions(_ACTIONS, subject=subject, limit=limit)

    def path(self, digest: str) -> Path:
        """Return where the file of a model is."""
        return model_path(self._folder, self.get(digest).digest)

    def add(
        self,
        path: Path,
        person: str,
        name: str | None = None,
        recent: Sequence[Entry] = (),
    ) -> ModelRow:
        """Bring a model file: it is checked, copied, and a challenger from then on.

        The same file again is the same model, in the state it has; a copy that is gone or damaged
        is made anew.

        Parameters
        ----------
        path : Path
        person : str
        name : str, optional
            By default that of the file.
        recent : sequence of Entry
            Transactions that the desk has decided: the threshold is such that they would have
            filled the budget.

        Raises
        ------
        ValueError
            If the file is not a model of a table.
        ControlError
            If the model needs columns that the desk does not have, or has as something else.
        """
        from rarefind.tables import open_model

        check_name("person", person)
        own = check_name("model", name or path.name)
        if not path.is_file():
            raise ControlError(f"There is no file {path}: check the name and the folder.")
        digest = digest_of(path)
        self._folder.mkdir(exist_ok=True)
        with atomic_write(model_path(self._folder, digest)) as part:
            shutil.copyfile(path, part)
            # What is kept is what was checked, whatever becomes of the file meanwhile.
            if digest_of(part) != digest:
                raise ControlError(f"{path} was changed while it was read: try again.")
            try:
                model = open_model(part)
            except ValueError as error:
                # The person who reads it knows the file that was brought, and not its copy.
                raise ValueError(str(error).replace(str(part), str(path))) from error
            schema = self._settings.schema()
            columns = check_fits(model, schema)
            scorer = model.row_scorer()
            own_level = own_threshold(model, scorer)
            threshold = alert_level(scorer.probability, schema, recent, own_level)
        now = self._clock.now()
        added = ModelRow(
            digest,
            own,
            type(model.estimator_).__name__,
            tuple(columns),
            own_level,
            threshold,
            "challenger",
            now,
            person,
            now,
            person,
        )
        with self._database.write() as writer:
            if not _find(writer, digest):
                self._insert(writer, added)
            return _get(writer, digest)

    def promote(self, digest: str, person: str, threshold: float | None = None) -> ModelRow:
        """Let a model decide; the champion before it becomes a challenger.

        To roll back, promote the former one. Where the desk wants a second person, it decides when
        one has approved it, unless it goes back to what has decided before.

        Parameters
        ----------
        digest, person : str
        threshold : float, optional
            The probability from which a transaction is an alert; by default the one it had, which
            is one that fills the budget to begin with.
        """
        check_name("person", person)
        if threshold is not None and not 0 <= threshold <= 1:
            raise ControlError(f"A threshold is a probability from 0 to 1, not {threshold!r}.")
        with self._database.write() as writer:
            known = _get(writer, digest)
            wanted = known.threshold if threshold is None else float(threshold)
            if known.state == "champion" and wanted == known.threshold:
                return known
            if self._requests.are_wanted(writer) and not self._goes_back(writer, known, wanted):
                content = {"name": known.name, "threshold": wanted}
                self._requests.ask(writer, "model", known.digest, content, person)
            else:
                self._promote(writer, known, wanted, person, {})
            return _get(writer, known.digest)

    def _goes_back(self, reader: Writer, known: ModelRow, threshold: float) -> bool:
        """Whether a model has decided before the champion, as it was promoted then."""
        former = self.former(reader)
        return former is not None and (former.digest, former.threshold) == (known.digest, threshold)

    def _approved(self, writer: Writer, request: ChangeRequest) -> None:
        known = _get(writer, request.subject)
        detail = {"change": request.id, "approved_by": request.answered_by}
        self._promote(writer, known, request.content["threshold"], request.asked_by, detail)

    def _promote(
        self,
        writer: Writer,
        known: ModelRow,
        threshold: float,
        person: str,
        more: dict[str, Any],
    ) -> None:
        before = read_champion(writer)
        if before is not None and before.digest != known.digest:
            self._set(writer, before.digest, "challenger", before.threshold, person)
        self._set(writer, known.digest, "champion", threshold, person)
        detail = {
            "name": known.name,
            "threshold": threshold,
            "before": None if before is None else before.digest,
        }
        record_change(self._audit, writer, person, _PROMOTED, known.digest, detail | more)

    def retire(self, digest: str, person: str) -> ModelRow:
        """Let a model rest; without a champion rules alone decide."""
        check_name("person", person)
        with self._database.write() as writer:
            known = _get(writer, digest)
            if known.state == "retired":
                return known
            self._set(writer, known.digest, "retired", known.threshold, person)
            detail = {"name": known.name, "was": known.state}
            record_change(self._audit, writer, person, _RETIRED, known.digest, detail)
            return _get(writer, known.digest)

    def _insert(self, writer: Writer, model: ModelRow) -> None:
        marks = ", ".join(f":{name}" for name in _COLUMNS.split(", "))
        values: dict[str, Any] = {name: getattr(model, name) for name in _COLUMNS.split(", ")}
        values["columns"] = msgspec.json.encode(model.columns).decode()
        writer.execute(f"INSERT INTO models ({_COLUMNS}) VALUES ({marks})", **values)
        detail = {
            "name": model.name,
            "estimator": model.estimator,
            "columns": model.columns,
            "threshold": model.threshold,
        }
        record_change(self._audit, writer, model.added_by, _ADDED, model.digest, detail)

    def _set(
        self, writer: Writer, digest: str, state: ModelState, threshold: float, person: str
    ) -> None:
        writer.execute(
            "UPDATE models SET state = :state, threshold = :threshold, changed = :now, "
            "changed_by = :person WHERE digest = :digest",
            digest=digest,
            state=state,
            threshold=threshold,
            now=self._clock.now(),
            person=person,
        )


def model_path(folder: Path, digest: str) -> Path:
    """Return where the file of a model is kept."""
    return folder / f"{digest}.rarefind"


def read_champion(reader: Database | Writer) -> ModelRow | None:
    """Return the model that decides; None where there is none."""
    rows = reader.read(f"SELECT {_COLUMNS} FROM models WHERE state = 'champion'")
    return _as_model(rows[0]) if rows else None


def _find(reader: Database | Writer, digest: str) -> list[ModelRow]:
    # The characters of a digest cannot be read as marks of LIKE.
    if not digest.isalnum() or len(digest) < _FEWEST_CHARACTERS:
        return []
    rows = reader.read(
        f"SELECT {_COLUMNS} FROM models WHERE digest LIKE :beginning", beginning=f"{digest}%"
    )
    return [_as_model(row) for row in rows]


def _get(reader: Database | Writer, digest: str) -> ModelRow:
    found = _find(reader, digest)
    if not found:
        raise NotThere(
            f"There is no model {digest!r}: give its digest, or at least "
            f"{_FEWEST_CHARACTERS} characters that it begins with."
        )
    if len(found) > 1:
        raise ControlError(f"{len(found)} models begin with {digest!r}: give more characters.")
    return found[0]


def _as_model(row: Row) -> ModelRow:
    digest, name, estimator, columns, *rest = row
    return ModelRow(digest, name, estimator, tuple(msgspec.json.decode(columns)), *rest)
