"""``python -m rarefind``."""

from rarefind.cli import main

main()
