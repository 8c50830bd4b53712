"""Print the requirements with every run-time dependency at its lower bound."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"]:
    print(requirement.replace(">=", "=="))
for requirement in project["optional-dependencies"]["dev"]:
    print(requirement)
