"""What the made-up table of an insurer has in it, in some seconds.

python benchmarks/insurance.py
"""

from __future__ import annotations

import numpy as np

from studies.insurance import CHOICE_SEEDS, NUMBERS, STUDY_SEEDS, TEXTS, draw_with_kinds, insurance


def main() -> None:
    for seed in (*STUDY_SEEDS, *CHOICE_SEEDS):
        X, y, kinds = draw_with_kinds(300_000, seed)
        again = insurance(300_000, seed)
        assert again[0].equals(X)
        assert (again[1] == y).all()
        ideal = np.any(list(kinds.values()), axis=0)
        f1 = 2 * (ideal & (y == 1)).sum() / (ideal.sum() + y.sum())
        levels = sum(X[name].nunique() for name in TEXTS)
        numbers = X[list(NUMBERS)]
        print(
            f"seed {seed}: {X.shape}, {levels} levels, {y.mean():.2%} lapse, F1 of the kinds "
            f"{f1:.3f}, numbers from {numbers.min().min():.3f} to {numbers.max().max():.3f}"
        )
    print({name: f"{found.mean():.2%}" for name, found in kinds.items()})


if __name__ == "__main__":
    main()
