"""What rules and models are worth, by ripe labels alone: measured on what the desk has seen."""

from rarefind.desk.measures._ripe import SOURCES, RipeColumns, RipeLabels

__all__ = ["SOURCES", "RipeColumns", "RipeLabels"]
