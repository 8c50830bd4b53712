"""What decides at one time: rules, blocked entities and the model, and what people should know."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rarefind.desk.control._audit import revision
from rarefind.desk.control._blocks import read_blocked
from rarefind.desk.control._book_maker import BookMaker
from rarefind.desk.control._desk_model import TableDeskModel, check_fits, digest_of
from rarefind.desk.control._lists import read_lists, read_versions
from rarefind.desk.control._models import ModelRow, model_path, read_champion
from rarefind.desk.control._rule_rows import current_rules
from rarefind.desk.control._rules import rule_columns
from rarefind.desk.database import Database
from rarefind.desk.decision import DeskModel, RuleBook
from rarefind.desk.schema import Schema
from rarefind.desk.settings import read_settings

__all__ = ["NO_MODEL", "InForce", "load_in_force"]

NO_MODEL = "There is no model yet: rules alone decide."
#: So often everything is read again where it changes meanwhile.
_ATTEMPTS = 5


@dataclass(frozen=True)
class InForce:
    """What is in force as of a revision.

    Attributes
    ----------
    revision : int
    rules : RuleBook
    blocked : frozenset of str
        Entities of the kind that ``alerts.entity`` names.
    model : DeskModel or None
    notes : list of str
        Sentences for people, such as that there is no model yet.
    is_complete : bool
        Whether the file of the champion is there and can be used. Where not, ask
        :meth:`Control.changed` now and then: the file may come back, and no revision tells.
    maker : BookMaker or None
        Made the rules, and knows them still.
    schema : Schema or None
        The settings that count.
    """

    revision: int
    rules: RuleBook
    blocked: frozenset[str]
    model: DeskModel | None
    notes: list[str] = field(default_factory=list)
    is_complete: bool = True
    maker: BookMaker | None = field(default=None, repr=False, compare=False)
    schema: Schema | None = None


def load_in_force(
    database: Database, declared: Schema, models: Path, before: InForce | None = None
) -> InForce:
    """Read what is in force; a rule or a model that cannot be used is left out with a note.

    Parameters
    ----------
    database : Database
        That of the desk, with the tables of :class:`Control`.
    declared : Schema
        What desk.toml says.
    models : Path
        The folder of model files.
    before : InForce, optional
        What was in force until now: rules and a model that still are are not made again, and the
        model goes on deciding even if its file is gone.

    Returns
    -------
    InForce
    """
    maker = (before and before.maker) or BookMaker(rule_columns(declared))
    for _ in range(_ATTEMPTS):
        number = revision(database)
        rules, versions = current_rules(database), read_versions(database)
        lists = read_lists(database, maker.lists_to_read(rules, versions))
        blocked, champion = read_blocked(database), read_champion(database)
        schema, not_fitting = read_settings(declared, database)
        if revision(database) == number:
            break
    book, notes = maker.make(rules, versions, lists)
    model, is_complete = _model(champion, schema, models, before, notes)
    return InForce(number, book, blocked, model, notes + not_fitting, is_complete, maker, schema)


def _model(
    champion: ModelRow | None,
    schema: Schema,
    folder: Path,
    before: InForce | None,
    notes: list[str],
) -> tuple[DeskModel | None, bool]:
    """The champion's model, and whether its file could be used."""
    if champion is None:
        notes.append(NO_MODEL)
        return None, True
    path = model_path(folder, champion.digest)
    known = None if before is None else before.model
    if isinstance(known, TableDeskModel) and known.digest == champion.digest:
        is_there = path.is_file()
        if not is_there:
            notes.append(
                f"The model file {path} is gone: put it back, or rules alone decide after a "
                "restart."
            )
        if known.threshold == champion.threshold:
            return known, is_there
        return TableDeskModel(known.digest, known.model, champion.threshold), is_there
    try:
        return _open(path, champion, schema), True
    except FileNotFoundError:
        notes.append(f"The model file {path} is gone: rules alone decide.")
    except Exception as error:
        # Whatever is wrong with a model, payments go on.
        notes.append(f"The model file {path} cannot be used: rules alone decide. {error}")
    return None, False


def _open(path: Path, champion: ModelRow, schema: Schema) -> TableDeskModel:
    from rarefind.tables import open_model

    if digest_of(path) != champion.digest:
        raise ValueError("It is not the file that was brought: put a copy of it back.")
    model = open_model(path)
    check_fits(model, schema)
    return TableDeskModel(champion.digest, model, champion.threshold)
