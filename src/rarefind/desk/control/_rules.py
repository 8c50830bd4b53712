"""Rules that experts write, change and turn off; every version stays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from rarefind.desk.clock import DeskClock
from rarefind.desk.control._audit import Audit, record_change
from rarefind.desk.control._change_requests import ChangeRequest, ChangeRequests
from rarefind.desk.control._errors import (
    ControlConflict,
    ControlError,
    NotThere,
    check_name,
    check_note,
)
from rarefind.desk.control._limits import THE_DESK, check_limits, check_sunset
from rarefind.desk.control._lists import StoredLists
from rarefind.desk.control._rule_rows import (
    ROLES,
    DeskRule,
    RuleRole,
    current_rules,
    last_version,
    versions_of,
)
from rarefind.desk.database import Database, Writer
from rarefind.desk.schema import Schema
from rarefind.rules import Rule, RuleError

__all__ = ["Rules", "rule_columns"]

#: What a decision says it was made by, where it was not a rule.
_TAKEN = ("terminal", "blocked")
_MOST = 1_000
_MOST_CONSTANTS, _LONGEST_CONSTANT = 100, 1_000
_KINDS = {"text": "text", "number": "number", "boolean": "truth", "time": "time"}


def rule_columns(schema: Schema) -> dict[str, str]:
    """Return what rules may name: the columns of a transaction and its features, with kinds."""
    found = dict.fromkeys(schema.features.names, "number")
    return found | {name: _KINDS[kind] for name, kind in schema.columns.items()}


class Rules:
    """The rules of a desk, in the language of :mod:`rarefind.rules`.

    Parameters
    ----------
    database : Database
        That of the desk.
    schema : Schema
        Whose columns and features rules may name.
    requests : ChangeRequests
        Where a rule waits that is to deny payments, if the desk wants a second person.
    audit : Audit
    clock : DeskClock
    """

    def __init__(
        self,
        database: Database,
        schema: Schema,
        requests: ChangeRequests,
        audit: Audit,
        clock: DeskClock,
    ) -> None:
        self._database, self._audit, self._clock = database, audit, clock
        self._requests = requests
        requests.applied_by("rule", self._approved)
        self._columns = rule_columns(schema)

    def all(self) -> list[DeskRule]:
        """Return each rule as it is now, in the order in which they were first saved."""
        return current_rules(self._database)

    def get(self, name: str) -> DeskRule:
        """Return a rule as it is now."""
        return _last(self._database, name)

    def history(self, name: str, *, after: int = 0, limit: int = 2**31) -> list[DeskRule]:
        """Return the versions of a rule after one, the first first."""
        found = versions_of(self._database, name, after=after, limit=limit)
        if not found:
            _last(self._database, name)
        return found

    def check(
        self,
        text: str,
        *,
        name: str | None = None,
        constants: Mapping[str, Any] | None = None,
        weight: float | None = None,
    ) -> Rule:
        """Return a rule that would run on this desk, without saving it.

        Raises
        ------
        RuleError
            If it cannot be read, or names something that the desk does not have, or uses a column
            as what it is not; the sentence says where, and what was probably meant.
        """
        return self._rule(self._database, text, name, constants or {}, weight)

    def save(
        self,
        name: str,
        text: str,
        person: str,
        *,
        role: RuleRole | None = None,
        weight: float | None = None,
        constants: Mapping[str, Any] | None = None,
        note: str = "",
        based_on: int | None = None,
        limits: Mapping[str, float] | None = None,
        sunset: str | None = None,
    ) -> DeskRule:
        """Save a new rule, or another version of one that is there.

        Where the desk wants a second person, a rule that denies payments, or another condition of
        one, waits for approval. Then the version that is in force is returned; a new rule is saved
        as one that is only watched.

        Parameters
        ----------
        name, text, person : str
        role : {"off", "shadow", "scoring", "blocking"}, optional
            By default that of the version before; a new rule is only watched.
        weight : float, optional
            What it adds to the priority of a transaction where it fires as a scoring rule.
        constants : dict, optional
            Values of names in the text that are not columns.
        note : str
            Why.
        based_on : int, optional
            The version that the person has changed (0 for a new rule): if there is a newer one by
            now, it is refused, so that nobody undoes another's change unseen.
        limits : dict of float, optional
            What retires it, by the names in ``LIMITS``; by default as before.
        sunset : str, optional
            The day from which on it is off, as 2026-12-31; empty for none; by default as before.

        Raises
        ------
        RuleError
            As from :meth:`check`.
        ControlConflict
            If it is based on a version that is not the last one.
        """
        self._check_words(name, person, role, weight, note)
        limits = None if limits is None else check_limits(limits)
        sunset = None if sunset is None else check_sunset(sunset)
        with self._database.write() as writer:
            rule = self._rule(writer, text, name, constants or {}, weight)
            before = last_version(writer, name)
            version = before.version if before else 0
            if based_on is not None and based_on != version:
                raise ControlConflict(
                    f"The rule {name!r} has version {version} by now, and yours is based on "
                    f"{based_on}: read it again, and make your change there."
                )
            if not before and len(current_rules(writer)) >= _MOST:
                raise ControlError(f"A desk has at most {_MOST:,} rules.")
            kept = role or (before.role if before else "shadow")
            if limits is None:
                limits = before.limits if before else {}
            if sunset is None:
                sunset = (before.sunset or "") if before else ""
            saved = DeskRule(
                name=name,
                version=version + 1,
                text=text,
                role=kept,
                weight=rule.weight,
                constants=dict(rule.constants),
                lists=tuple(rule.lists),
                note=note,
                person=person,
                at=self._clock.now(),
                limits=dict(limits),
                sunset=sunset or None,
            )
            return self._settle(writer, saved, before, "save rule")

    def set_role(self, name: str, role: RuleRole, person: str, note: str = "") -> DeskRule:
        """Let a rule deny, raise alerts, be watched or be off; this is a version of it, too."""
        self._check_words(name, person, role, None, note)
        with self._database.write() as writer:
            before = _last(writer, name)
            if before.role == role:
                return before
            if role != "off":
                # A list that it asks may be gone since it was turned off.
                self._rule(writer, before.text, name, before.constants, before.weight)
            saved = replace(
                before,
                version=before.version + 1,
                role=role,
                person=person,
                note=note,
                at=self._clock.now(),
            )
            return self._settle(writer, saved, before, "set role of rule")

    def retire(self, rule: DeskRule, why: str) -> DeskRule | None:
        """Turn a rule off by its own limits; None where a person has changed it meanwhile.

        A person turns it on again by :meth:`set_role`; then it is judged by what comes after.
        """
        with self._database.write() as writer:
            now = _last(writer, rule.name)
            if now.version != rule.version or now.role == "off":
                return None
            saved = replace(
                now,
                version=now.version + 1,
                role="off",
                person=THE_DESK,
                note=check_note(why),
                at=self._clock.now(),
            )
            self._add(writer, saved, "retire rule")
        return saved

    def _settle(
        self, writer: Writer, saved: DeskRule, before: DeskRule | None, action: str
    ) -> DeskRule:
        """Save a version, or ask a second person first; returns the version that counts."""
        if not _denies_more(saved, before) or not self._requests.are_wanted(writer):
            self._add(writer, saved, action)
            return saved
        if before is None:
            # There is something to try and to approve then.
            before = replace(saved, role="shadow")
            self._add(writer, before, action)
        content = {
            "text": saved.text,
            "role": saved.role,
            "weight": saved.weight,
            "constants": saved.constants,
            "limits": saved.limits,
            "sunset": saved.sunset or "",
            "note": saved.note,
            "based_on": before.version,
        }
        self._requests.ask(writer, "rule", saved.name, content, saved.person)
        return before

    def _approved(self, writer: Writer, request: ChangeRequest) -> None:
        content, before = request.content, _last(writer, request.subject)
        if content["based_on"] != before.version:
            raise ControlConflict(
                f"The rule {before.name!r} has version {before.version} by now, and what was asked "
                f"for is based on {content['based_on']}: reject it, and ask for it again."
            )
        # A list that it asks may be gone meanwhile.
        text, constants, weight = content["text"], content["constants"], content["weight"]
        rule = self._rule(writer, text, before.name, constants, weight)
        saved = DeskRule(
            name=before.name,
            version=before.version + 1,
            text=text,
            role=content["role"],
            weight=rule.weight,
            constants=dict(rule.constants),
            lists=tuple(rule.lists),
            note=content["note"],
            person=request.asked_by,
            at=self._clock.now(),
            limits=content["limits"],
            sunset=content["sunset"] or None,
        )
        more = {"change": request.id, "approved_by": request.answered_by}
        self._add(writer, saved, "save rule", more)

    def _rule(
        self,
        reader: Database | Writer,
        text: str,
        name: str | None,
        constants: Mapping[str, Any],
        weight: float | None,
    ) -> Rule:
        if "\0" in text:
            raise RuleError("The rule has a NUL character, which is not kept: leave it out.")
        _check_constants(constants, self._columns)
        return Rule(
            text,
            name=name,
            columns=self._columns,
            constants=constants,
            lists=StoredLists(reader),
            weight=weight,
        )

    def _add(
        self, writer: Writer, rule: DeskRule, action: str, more: Mapping[str, Any] | None = None
    ) -> None:
        encode = msgspec.json.encode
        writer.execute(
            "INSERT INTO rule_versions "
            "(name, version, text, role, weight, constants, lists, note, person, at, limits, "
            "sunset) VALUES (:name, :version, :text, :role, :weight, :constants, :lists, :note, "
            ":person, :at, :limits, :sunset)",
            name=rule.name,
            version=rule.version,
            text=rule.text,
            role=rule.role,
            weight=rule.weight,
            constants=encode(rule.constants).decode(),
            lists=encode(rule.lists).decode(),
            note=rule.note,
            person=rule.person,
            at=rule.at,
            limits=encode(rule.limits).decode(),
            sunset=rule.sunset,
        )
        detail: dict[str, Any] = {
            "version": rule.version,
            "text": rule.text,
            "role": rule.role,
            "weight": rule.weight,
            "constants": rule.constants,
            "note": rule.note,
        }
        if rule.limits or rule.sunset:
            detail |= {"limits": rule.limits, "sunset": rule.sunset}
        detail |= more or {}
        record_change(self._audit, writer, rule.person, action, rule.name, detail)

    def _check_words(
        self, name: str, person: str, role: str | None, weight: float | None, note: str
    ) -> None:
        check_name("rule", name)
        check_name("person", person)
        check_note(note)
        if name in _TAKEN:
            raise ControlError(
                f"{name!r} is what decisions by something else are said to be made by: give the "
                "rule another name.",
                "name",
            )
        if role is not None and role not in ROLES:
            raise ControlError(f"A role is one of {', '.join(ROLES)}, not {role!r}.")
        if weight is not None and not math.isfinite(weight):
            raise ControlError(f"A weight is a number, not {weight!r}.", "weight")


def _denies_more(rule: DeskRule, before: DeskRule | None) -> bool:
    """Whether a version denies payments that the one before did not deny."""
    if rule.role != "blocking":
        return False
    return before is None or (before.role, before.text, before.constants) != (
        rule.role,
        rule.text,
        rule.constants,
    )


def _last(reader: Database | Writer, name: str) -> DeskRule:
    found = last_version(reader, name)
    if found is None:
        raise NotThere(f"There is no rule {name!r}.")
    return found


def _check_constants(constants: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    if len(constants) > _MOST_CONSTANTS:
        raise RuleError(
            f"There are {len(constants):,} constants; at most {_MOST_CONSTANTS} are taken."
        )
    for name, value in constants.items():
        if name in columns:
            raise RuleError(f"{name!r} is a column: give the constant another name.")
        if isinstance(value, str) and (len(value) > _LONGEST_CONSTANT or "\0" in value):
            raise RuleError(
                f"The constant {name!r} has more than {_LONGEST_CONSTANT:,} characters, or NUL."
            )
