"""What rules cost: 100 of them on one record and on a million rows, beside pandas and XGBoost.

python benchmarks/rules.py            # about a minute on 2 cores
python benchmarks/rules.py --quick
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import xgboost
from _report import write

from rarefind.rules import RuleSet

RULES = 100
RECORDS = 5_000
REPEATS = 3
THREADS = 2
COUNTRIES = ("FR", "BE", "DE", "ES", "IT", "US", "BR", "NG")
MERCHANTS = tuple(f"m{number}" for number in range(40))
NUMBERS = ("amount", "mean_7d", "mean_30d", "count_1d", "count_7d", "fee", "limit", "age", "hour")


def payments(n: int, seed: int = 0) -> pl.DataFrame:
    """Numbers, texts and truths; in every twentieth place of most columns nothing."""
    rng = np.random.default_rng(seed)
    mean = rng.lognormal(3, 1, n)
    table: dict[str, Any] = {
        "amount": mean * rng.lognormal(0, 1, n),
        "mean_7d": mean * rng.lognormal(0, 0.3, n),
        "mean_30d": mean,
        "count_1d": rng.poisson(2, n),
        "count_7d": rng.poisson(12, n),
        "fee": rng.exponential(1, n),
        "limit": rng.choice([0.0, 200.0, 500.0, 2000.0], n),
        "age": rng.uniform(18, 90, n),
        "hour": rng.integers(0, 24, n),
        "country": rng.choice(COUNTRIES, n, p=_uneven(len(COUNTRIES))),
        "card_country": rng.choice(COUNTRIES, n, p=_uneven(len(COUNTRIES))),
        "merchant": rng.choice(MERCHANTS, n, p=_uneven(len(MERCHANTS))),
        "channel": rng.choice(["web", "shop", "phone"], n, p=[0.5, 0.4, 0.1]),
        "ecommerce": rng.random(n) < 0.5,
    }
    frame = pl.DataFrame(table)
    whole = ("count_1d", "count_7d", "hour", "ecommerce")
    return frame.with_columns(
        pl.when(pl.Series(rng.random(n) >= 0.05)).then(pl.col(name)).alias(name)
        for name in frame.columns
        if name not in whole
    )


def _uneven(levels: int) -> np.ndarray:
    frequency = 1 / np.arange(1, levels + 1)
    return frequency / frequency.sum()


def drawn(number: int) -> list[tuple[str, str]]:
    """Rules as ours and as pandas writes them, ten shapes in turn."""
    rng = np.random.default_rng(0)
    found = []
    for i in range(number):
        a, b = (str(c) for c in rng.choice(COUNTRIES, 2, replace=False))
        some = [str(m) for m in rng.choice(MERCHANTS, 4, replace=False)]
        listed = f"({', '.join(map(repr, some))})"
        hour, count = int(rng.integers(3, 20)), int(rng.integers(2, 6))
        u = round(float(rng.uniform(0.5, 2.0)), 2)
        shapes = [
            (f"amount > {5 * u:.2f} * mean_30d",) * 2,
            (f"amount - mean_7d > {60 * u:.2f} and count_1d >= {count}",) * 2,
            (f"country = '{a}' and amount > {90 * u}", f"country == '{a}' and amount > {90 * u}"),
            (f"country != card_country and not ecommerce and amount > {50 * u}",) * 2,
            (f"merchant in {listed} and hour < {hour}", f"merchant in {some} and hour < {hour}"),
            (
                f"country not in ('{a}', '{b}') and fee > {u}",
                f"country not in {[a, b]} and fee > {u}",
            ),
            (f"age is missing and amount > {60 * u}", f"age.isna() and amount > {60 * u}"),
            (f"(amount + fee) / limit > {0.5 * u} or count_1d * 4 > count_7d",) * 2,
            (
                f"channel is not missing and channel = 'web' and 0.5 * amount + 2 * fee > {40 * u}",
                f"channel.notna() and channel == 'web' and 0.5 * amount + 2 * fee > {40 * u}",
            ),
            (f"0.3 * amount - 0.2 * mean_7d + 1.5 * count_1d > {20 * u}",) * 2,
        ]
        found.append(shapes[i % len(shapes)])
    return found


def seconds(work: Callable[[], Any]) -> float:
    """The least of several turns, after one that does not count."""
    work()
    spent = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent)


def by_pandas(texts: list[str], table: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.asarray(table.eval(text), dtype=bool) for text in texts])


def same_in_pandas(pairs: list[tuple[str, str]], table: pl.DataFrame) -> list[int]:
    """The rules for which pandas has words, and the same answer where values are missing."""
    frame = table.to_pandas()
    ours = as_set(pairs).fires_on(table)
    found = []
    for number, (_, text) in enumerate(pairs):
        try:
            answer = by_pandas([text], frame)[:, 0]
        except (TypeError, ValueError, NotImplementedError, AttributeError):
            continue
        if (answer == ours[:, number]).all():
            found.append(number)
    return found


def as_set(pairs: list[tuple[str, str]]) -> RuleSet:
    return RuleSet({f"r{number}": ours for number, (ours, _) in enumerate(pairs)})


def forest(table: pl.DataFrame) -> tuple[xgboost.Booster, np.ndarray]:
    """A booster of 100 trees on the numbers, and these numbers."""
    X = table.select(NUMBERS).to_numpy().astype(np.float32)
    y = (table["amount"] > 5 * table["mean_30d"]).fill_null(False).to_numpy()
    data = xgboost.DMatrix(X[:100_000], y[:100_000])
    params = {"max_depth": 6, "nthread": THREADS, "objective": "binary:logistic"}
    return xgboost.train(params, data, 100), X


def on_records(rules: RuleSet, table: pl.DataFrame) -> pd.DataFrame:
    records = table.head(RECORDS).to_dicts()
    booster, X = forest(table)
    booster.set_param("nthread", 1)
    few = X[:RECORDS]
    by_rules = seconds(lambda: [rules.fires(record) for record in records])
    by_trees = seconds(lambda: [booster.inplace_predict(few[i : i + 1]) for i in range(len(few))])
    rows = [(f"{len(rules)} rules", by_rules), ("XGBoost, 100 trees of depth 6", by_trees)]
    return pd.DataFrame(
        {"one record through": name, "milliseconds": f"{1000 * spent / len(records):.4f}"}
        for name, spent in rows
    )


def on_tables(pairs: list[tuple[str, str]], same: list[int], sizes: list[int]) -> pd.DataFrame:
    whole, part = as_set(pairs), as_set([pairs[i] for i in same])
    texts = [pairs[i][1] for i in same]
    rows: list[dict[str, Any]] = []
    before = np.nan
    for n in sizes:
        table = payments(n)
        frame = table.to_pandas()
        booster, X = forest(table)
        spent = seconds(lambda: whole.fires_on(table))
        ours = seconds(lambda: part.fires_on(table))
        theirs = seconds(lambda: by_pandas(texts, frame))
        trees = seconds(lambda: booster.predict(xgboost.DMatrix(X, nthread=THREADS)))
        rows.append(
            {
                "rows": f"{n:,}",
                f"{len(whole)} rules, s": f"{spent:.3f}",
                "times the size before": "" if np.isnan(before) else f"{spent / before:.1f}",
                f"{len(part)} rules, s": f"{ours:.3f}",
                f"pandas, the same {len(part)}, s": f"{theirs:.3f}",
                "pandas ÷ ours": f"{theirs / ours:.1f}",
                "XGBoost, 100 trees, s": f"{trees:.3f}",
                "peak memory so far (GiB)": (
                    f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}"
                ),
            }
        )
        before = spent
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    pairs = drawn(RULES)
    table = payments(200_000 if not quick else 10_000)
    rules = as_set(pairs)
    same = same_in_pandas(pairs, table)
    sizes = [2_000, 20_000] if quick else [10_000, 100_000, 1_000_000]
    engine = (
        "numexpr" if importlib.util.find_spec("numexpr") else "NumPy (numexpr is not installed)"
    )
    text = (
        f"{RULES} rules of ten shapes: sums and products of columns, divisions, texts, lists, what is "
        "missing; a value is missing in every twentieth place of most columns. First one record "
        f"at a time, mean of {RECORDS:,}, the least of {REPEATS} turns; XGBoost on one thread."
    )
    growth = (
        "`RuleSet.fires_on` of a Polars frame, all rules in one pass. The same rules through "
        f"`pandas.DataFrame.eval` on {engine}: it has words and the same answer for {len(same)} of "
        f"the {RULES}; in the others, `!=` and `not in` hold for a missing value in pandas, and what "
        "is divided by 0 is infinite. XGBoost's prediction for all rows, its matrix included, for scale. "
        f"Polars takes {pl.thread_pool_size()} threads, XGBoost {THREADS}, pandas 1."
    )
    write(
        "rules-quick" if quick else "rules",
        f"python benchmarks/rules.py{' --quick' if quick else ''}",
        [(text, on_records(rules, table)), (growth, on_tables(pairs, same, sizes))],
    )


if __name__ == "__main__":
    main()
