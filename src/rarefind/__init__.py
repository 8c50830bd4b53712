"""Find the few that matter: learning from extremely imbalanced data."""

__version__ = "0.1.0"
