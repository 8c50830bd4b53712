"""Pictures for the pages of a desk: SVG that is safe in a page, with a table of the same.

Each function returns a :class:`Chart`. It is a text of HTML in which every label is escaped, and a
Jinja2 template writes it as it is: ``{{ chart }}``. Shapes are SVG that stretches with the page;
numbers and names are HTML beside it, which stays readable on a phone. There are no ``style``
attributes: colours come from the classes of ``charts.css``, for light and dark.
Numbers and days are written by the functions that the caller gives, in the reader's language.

Examples
--------
>>> from rarefind.desk.charts import ChartLine, day_lines
>>> chart = day_lines(
...     ["Mon", "Tue", "Wed"],
...     [ChartLine("precision", [0.4, 0.5, None], low=[0.2, 0.3, None], high=[0.6, 0.7, None])],
...     name="precision",
...     title="Precision by day",
...     ripe=[True, True, False],
...     number=lambda share: f"{share:.0%}",
... )
>>> '<th scope="row">Tue</th><td>50% (30%–70%)</td>' in str(chart)
True
"""

from rarefind.desk.charts._bars import Bar, Push, bars, reason_bars
from rarefind.desk.charts._calibration import Bin, calibration
from rarefind.desk.charts._chart import Chart, ChartWords
from rarefind.desk.charts._lines import ChartLine, day_lines
from rarefind.desk.charts._timeline import Payment, timeline

__all__ = [
    "Bar",
    "Bin",
    "Chart",
    "ChartLine",
    "ChartWords",
    "Payment",
    "Push",
    "bars",
    "calibration",
    "day_lines",
    "reason_bars",
    "timeline",
]
