"""Print every dependency of rarefind itself at its lower bound."""

import tomllib
from pathlib import Path

# What rarefind is built, tested and compared with may be newer.
TOOLS = {"bench", "demo", "dev", "docs"}

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
lowest = set(project["dependencies"])
for name, requirements in project["optional-dependencies"].items():
    if name not in TOOLS:
        lowest.update(each for each in requirements if not each.startswith("rarefind["))
for requirement in sorted(lowest):
    # Without spaces, as one word also where it holds for some systems only.
    print(requirement.replace(">=", "==").replace(" ", ""))
