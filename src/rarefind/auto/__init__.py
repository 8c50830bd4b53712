"""The choice among the estimators for a budget."""
