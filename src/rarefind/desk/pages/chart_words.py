"""The words in pictures, from the catalogue of texts."""

from __future__ import annotations

from dataclasses import fields

from rarefind.desk.charts import ChartWords
from rarefind.desk.pages.texts import Texts

__all__ = ["chart_words"]


def chart_words(t: Texts) -> ChartWords:
    """The words in pictures, in the language of a reader."""
    return ChartWords(**{field.name: t(f"chart.{field.name}") for field in fields(ChartWords)})
