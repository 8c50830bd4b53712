"""Where transactions come in: JSON and rows of files become the same checked transactions."""

from rarefind.desk.intake.decode import Intake, Request
from rarefind.desk.intake.guess import Guess, guess_schema
from rarefind.desk.intake.refused import IntakeError
from rarefind.desk.intake.rows import read_transactions

__all__ = ["Guess", "Intake", "IntakeError", "Request", "guess_schema", "read_transactions"]
