"""All that people decide about a desk, from one place."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._audit import Audit, revision
from rarefind.desk.control._blocks import Blocks
from rarefind.desk.control._in_force import InForce, load_in_force
from rarefind.desk.control._lists import Lists
from rarefind.desk.control._models import Models, model_path
from rarefind.desk.control._orders import Orders
from rarefind.desk.control._rules import Rules
from rarefind.desk.control._settings import SettingChanges
from rarefind.desk.database import Database
from rarefind.desk.folder import DeskFolder
from rarefind.desk.schema import Schema

__all__ = ["Control"]


class Control:
    """What people have decided: every change is stored with a row of the audit log, or not at all.

    Parameters
    ----------
    database : Database
        That of the desk, not the ledger.
    declared : Schema
        What desk.toml says; what counts by now is read from the database.
    models : Path
        The folder of model files.
    clock : DeskClock, default=DeskClock()

    Attributes
    ----------
    audit : Audit
    settings : SettingChanges
    requests : ChangeRequests
        Changes that wait for a second person.
    rules : Rules
    lists : Lists
    blocks : Blocks
    models : Models
    orders : Orders
    """

    def __init__(
        self, database: Database, declared: Schema, models: Path, clock: DeskClock | None = None
    ) -> None:
        clock = clock or DeskClock()
        self._database, self._declared, self._folder = database, declared, models
        self.audit = Audit(database, clock)
        self.settings = SettingChanges(database, declared, self.audit, clock)
        self.requests = self.settings.requests
        self.lists = Lists(database, self.audit, clock)
        self.rules = Rules(database, declared, self.requests, self.audit, clock)
        self.blocks = Blocks(database, self.settings, self.audit, clock)
        self.models = Models(database, self.settings, models, self.audit, clock)
        self.orders = Orders(database, self.settings, self.audit, clock)

    @classmethod
    def of(cls, folder: DeskFolder, clock: DeskClock | None = None) -> Self:
        """Open the control of a desk."""
        return cls(folder.open_desk(), folder.declared, folder.models, clock)

    def in_force(self, before: InForce | None = None) -> InForce:
        """Return what is in force; see :func:`load_in_force`."""
        return load_in_force(self._database, self._declared, self._folder, before)

    def changed(self, before: InForce) -> InForce | None:
        """Return what is in force where it may differ from before; None where it does not.

        It asks for the revision and whether the model file is there, and no more where nothing has
        changed. Do not call it on an event loop: another process may be writing.
        """
        is_whole = before.is_complete and (
            before.model is None or model_path(self._folder, before.model.digest).is_file()
        )
        if is_whole and revision(self._database) == before.revision:
            return None
        found = self.in_force(before)
        same = found.revision == before.revision and found.model is before.model
        return None if same and found.notes == before.notes else found
