"""``rarefind.toml``: defaults of options."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

NAME = "rarefind.toml"
# What a command writes to is said by the person who starts it: a file that lies in a folder could
# otherwise have anything overwritten.
_COMMAND_LINE_ONLY = ("output", "picture", "report", "ahead")


def settings(path: Path | None, group: Any) -> dict[str, Any]:
    """The defaults of each command's options in a file; none if there is no file.

    Keys outside a section are for all commands with such an option, keys in a section named after
    a command for that one only.
    """
    if path is None:
        path = Path(NAME)
        if not path.is_file():
            return {}
    whole = _read(path)
    known = {name: _options(command) for name, command in group.commands.items()}
    _check_no_outputs(path, whole)
    common = {key: value for key, value in whole.items() if not isinstance(value, dict)}
    everywhere = {key for options in known.values() for key in options}
    _check_known(path, common, everywhere, "")
    sections = {key: value for key, value in whole.items() if isinstance(value, dict)}
    _check_known(path, sections, set(known), "command ")
    found = {}
    for command, options in known.items():
        own = sections.get(command, {})
        _check_known(path, own, set(options), f"[{command}] ")
        given = {**{k: v for k, v in common.items() if k in options}, **own}
        found[command] = {options[key]: _value(value) for key, value in given.items()}
    return found


def _check_no_outputs(path: Path, whole: dict[str, Any]) -> None:
    for section, values in [("", whole), *whole.items()]:
        for key in _COMMAND_LINE_ONLY:
            # A section [report] is about the command.
            if isinstance(values, dict) and not isinstance(values.get(key, {}), dict):
                where = f"[{section}] " if section else ""
                raise ValueError(
                    f"{path} has {where}{key!r}, a file to write to, which belongs on the command "
                    f"line: remove it, and give --{key} there."
                )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"There is no file {path}: check the name and the folder.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}.") from None


def _options(command: Any) -> dict[str, str]:
    """The options by the names that are typed, and the names of their parameters."""
    return {
        typed.removeprefix("--"): param.name
        for param in command.params
        if param.param_type_name == "option"
        for typed in param.opts
        if typed.startswith("--") and typed != "--help"
    }


def _check_known(path: Path, given: dict[str, Any], known: set[str], what: str) -> None:
    for key in given:
        if key not in known:
            close = get_close_matches(key, sorted(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else "remove it."
            raise ValueError(f"{path} has {what}{key!r}, which is not known: {hint}")


def _value(value: Any) -> Any:
    """A value as it would be typed: options read text."""
    if isinstance(value, list):
        return [str(v) for v in value]
    return value if isinstance(value, bool) else str(value)
