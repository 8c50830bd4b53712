"""Check that a wheel has the package and nothing else: no studies, tests or data."""

import sys
from pathlib import PurePosixPath
from zipfile import ZipFile

# Code, types, the templates of pages with their styles, pictures and texts, the grammar of rules,
# and the licences of what others wrote.
KINDS = {".py", ".typed", ".html", ".css", ".js", ".svg", ".toml", ".lark"}
LICENCE = "LICENSE.txt"

names = [PurePosixPath(name) for name in ZipFile(sys.argv[1]).namelist()]
inside = [name for name in names if not name.parts[0].endswith(".dist-info")]
strange = [
    str(name)
    for name in inside
    if name.parts[0] != "rarefind"
    or (name.suffix not in KINDS and not name.name.endswith(LICENCE))
    or {"studies", "tests", "benchmarks"} & set(name.parts)
]
if strange or not inside:
    raise SystemExit(
        f"The wheel should not have these files: {', '.join(strange) or 'none at all'}"
    )
print(f"The wheel has {len(inside)} files of the package and no others.")
