"""Draw the README's picture: `python docs/images/demo.py`."""

from pathlib import Path

from rarefind.cli._demo import run
from rarefind.cli._demo_report import budget_picture
from rarefind.cli._steps import steps

with steps() as say:
    found = run(budget=20, customers=2_000, days=90, seed=0, say=say)
budget_picture(found).savefig(Path(__file__).with_suffix(".png"), dpi=140)
