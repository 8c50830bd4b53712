"""Whether features are today what they were when it was decided: computed again, bit for bit."""

from rarefind.desk.parity._compare import Comparison, compare_day, compare_new
from rarefind.desk.parity._days import ParityDay, ParityDays

__all__ = ["Comparison", "ParityDay", "ParityDays", "compare_day", "compare_new"]
