"""Write docs/commands.md, every command with every option: ``python docs/commands.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.main import get_command

from rarefind.cli import app

PAGE = Path(__file__).with_name("commands.md")
HEAD = """# The command line

*Written by `python docs/commands.py` from the commands themselves. For a walk through them, see the
[tutorial](tutorial.md).*

What holds for all commands:

- Results go to standard output, progress and notes to standard error. Progress is shown on a
  terminal only, or with `-v`; `-q` leaves it out. `--json` prints one JSON document for machines.
- A mistake ends with exit code 2 and one sentence. A file is written whole or not at all. Ctrl-C
  ends with exit code 130; a search for a model that it stops still writes the model found so far.
- `rarefind.toml` in the folder where a command is started, or the file that `--config` names, holds
  options that need not be typed: keys at the top for all commands, keys in a section for one. What
  is typed comes first. Files to write to are always typed.
- The number of a row is its line in the file, where the header is line 1: in lists, in errors and
  for `explain --row`. A file without lines, such as Parquet, is numbered as if it had a header.
- `rarefind --install-completion` teaches your shell to complete commands and options.

```toml
target = "fraud"          # for every command that has a --target
time = "time"

[fit]
budget = 200
drop = ["terminal"]
```
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    root = get_command(app)
    parts = [HEAD, _section("rarefind", root, 2)]
    return "\n".join([*parts, *_sections("rarefind", root, 2)])


def _sections(name: str, group: Any, level: int) -> list[str]:
    """The commands of a group, each followed by its own."""
    found = []
    for inner, command in getattr(group, "commands", {}).items():
        found.append(_section(f"{name} {inner}", command, level))
        found += _sections(f"{name} {inner}", command, level + 1)
    return found


def _section(name: str, command: Any, level: int) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([name, *(p.name.upper() for p in arguments)])
    lines = [
        f"{'#' * level} {name}",
        "",
        command.help or "",
        "",
        f"```\n{usage} [OPTIONS]\n```",
        "",
    ]
    if arguments or options:
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{p.name.upper()}` | {_cell(p.help)} |" for p in arguments]
        lines += [f"| {_typed(p)} | {_cell(p.help)}{_default(p)} |" for p in options]
        lines.append("")
    if command.epilog:
        lines += [f"{_cell(command.epilog)}", ""]
    return "\n".join(lines)


def _typed(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    if param.is_flag:
        return names
    value = param.metavar or param.name.upper()
    return f"{names} {_cell(value)}"


def _default(param: Any) -> str:
    if param.required:
        return " Needed."
    if param.is_flag or param.default in (None, (), []):
        return ""
    return f" By default {param.default}."


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
