"""What the study of sampling says: its claims, tables and pictures."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from studies.published import published
from studies.report import Claim, Report
from studies.tables import SIGNIFICANT, Beside, beside, compare, means_of, rounded

PAYMENTS = "payments"
MODELS = ("RF", "GB")
PLAIN, UNDER, OVER, EASY = "as it is", "Undersampling", "SMOTE", "EasyEnsemble"
SAMPLED = (UNDER, OVER, EASY)
AUC, F1, AP, DEFAULT = "AUCROC", "F1", "AP", "F1 at 0.5"
MEASURES = (AUC, F1, AP)
# What figures 2.12 to 2.16 are trained on.
BALANCED, CALIBRATED = 0.5, 0.02
# With fewer no test of two methods on the same runs could decide.
_FEWEST_RUNS = 6


def named(sampling: str, model: str) -> str:
    """A method by the name that table 2.2 has for it."""
    return model if sampling == PLAIN else f"{sampling} + {model}"


#: The lines of table 2.2, on payments that nobody else has.
_METHODS = [named(sampling, model) for sampling in (*SAMPLED, PLAIN) for model in MODELS]


def trained(share: float | None, model: str) -> str:
    """A model by what it was trained on: the rows as they are, or a share of positives."""
    return f"{model}, {PLAIN}" if share is None else f"{model}, {share:.0%} positives"


def filled(report: Report, found: pd.DataFrame) -> Report:
    """The report with its claims, tables and pictures."""
    tables = {measure: beside(found, published("001", "2.2"), measure) for measure in MEASURES}
    report.claims += _judged(found, _claims_of_thresholds(found) + _claims_of_shares(found))
    report.claims += _claims_of_methods(tables)
    report.claims += _judged(found, _claims_of_models(tables))
    for measure, table in tables.items():
        report.table(
            f"{measure}: table 2.2 beside the simulated payments. The data differ, so only what "
            "sampling changes can be compared",
            rounded(_changes(table), 4),
        )
    for measure, table in tables.items():
        best = "GB" if "GB" in table.ours.columns else None
        report.table(f"{measure}: standing over all sets", rounded(table.standing(best)))
        report.table(f"{measure}, set by set", _set_by_set(table))
    report.table(
        "Shares of positives chosen on held-out rows, the median over the runs on payments",
        rounded(_shares_chosen(found)),
    )
    report.table("The best threshold, on payments", rounded(_best_thresholds(found)))
    _add_pictures(report, found)
    return report


def _judged(found: pd.DataFrame, claims: list[Claim]) -> list[Claim]:
    """Claims on payments; a few runs, each with tens of frauds to judge on, decide nothing."""
    if found.loc[found["dataset"] == PAYMENTS, "run"].nunique() >= _FEWEST_RUNS:
        return claims
    return [claim._replace(holds=None) for claim in claims]


def _add_pictures(report: Report, found: pd.DataFrame) -> None:
    for model, figures in (("GB", "2.12, 2.13 and 2.16"), ("RF", "2.14 and 2.15")):
        report.picture(
            f"thresholds-{model.lower()}",
            f"Figures {figures} again: F1 at each threshold, {model}, on its own training rows and "
            "on test rows.",
            partial(_draw_thresholds, found, model),
        )
    report.picture(
        "shares",
        "Figures 2.17 and 2.18 again: undersampling to different shares of positives, payments. F1 "
        "is at the threshold tuned on held-out rows, and at 0.5.",
        partial(_draw_shares, found, (*MEASURES, DEFAULT)),
    )


def _mean(found: pd.DataFrame, method: str, measure: str) -> float:
    """The mean over the runs, on payments."""
    own = found[(found["method"] == method) & (found["measure"] == measure)]
    return float(own.loc[own["dataset"] == PAYMENTS, "value"].mean())


def _moved(found: pd.DataFrame, method: str) -> float:
    """How far the best threshold of test rows is from that of training rows, on payments."""
    own = found[(found["method"] == method) & (found["dataset"] == PAYMENTS)]
    test, train = (
        own[own["measure"] == f"best threshold, {side}"].set_index("run")["value"]
        for side in ("test", "train")
    )
    return float((test - train).abs().mean())


def _where_known(holds: bool, *values: float) -> bool | None:
    """Whether something holds; not known where a value is not."""
    return None if np.isnan(values).any() else bool(holds)


def _claims_of_thresholds(found: pd.DataFrame) -> list[Claim]:
    claims = []
    for model in MODELS:
        plain, balanced = trained(None, model), trained(BALANCED, model)
        high, low = (_mean(found, name, "best threshold, test") for name in (balanced, plain))
        claims.append(
            Claim(
                f"{model}: the best threshold on test rows is near 1 after training on balanced "
                "classes and near 0 after training on the rows as they are (here: above 0.8, below "
                "0.3).",
                _where_known(high > 0.8 and low < 0.3, high, low),
                f"{high:.2f} and {low:.2f} on payments.",
            )
        )
        far, near = (_moved(found, name) for name in (balanced, plain))
        claims.append(
            Claim(
                f"{model}: the best threshold moves more from training rows to test rows when "
                "classes were balanced.",
                _where_known(far > near, far, near),
                f"By {far:.2f} balanced and by {near:.2f} as they are.",
            )
        )
    perfect = {model: _mean(found, trained(None, model), "best F1, train") for model in MODELS}
    claims.append(
        Claim(
            "At some threshold RF is perfect on its training rows, and GB is not.",
            _where_known(perfect["RF"] > 0.999 > perfect["GB"], *perfect.values()),
            f"The best F1 there is {perfect['RF']:.3f} of RF and {perfect['GB']:.3f} of GB.",
        )
    )
    best = [_mean(found, trained(s, "GB"), "best F1, test") for s in (CALIBRATED, None)]
    claims.append(
        Claim(
            "GB: undersampling until 0.5 suits as the threshold (about 2 % positives) leaves a "
            "lower best F1 than no sampling (figure 2.16).",
            _where_known(best[0] < best[1], *best),
            f"{best[0]:.3f} and {best[1]:.3f}.",
        )
    )
    return claims


def _claims_of_shares(found: pd.DataFrame) -> list[Claim]:
    claims = []
    for model in MODELS:
        plain, under = named(PLAIN, model), named(UNDER, model)
        tuned, default = _mean(found, plain, F1), _mean(found, plain, DEFAULT)
        claims.append(
            Claim(
                f"{model}: without sampling, F1 at the threshold 0.5 is worse than at the tuned "
                "one.",
                _where_known(default < tuned, default, tuned),
                f"{default:.3f} and {tuned:.3f} on payments.",
            )
        )
        sampled = _mean(found, under, DEFAULT)
        claims.append(
            Claim(
                f"{model}: at the threshold 0.5, undersampling raises F1 (figure 2.18).",
                _where_known(sampled > default, sampled, default),
                f"{sampled:.3f} with the share chosen on held-out rows, {default:.3f} without.",
            )
        )
        curves = {m: _over_shares(found, model, m) for m in MEASURES}
        if min(map(len, curves.values())) < 2:
            continue
        for measure in (AP, F1):
            curve = curves[measure]
            claims.append(
                Claim(
                    f"{model}: {measure} falls as undersampling goes on (figure 2.17): it is lower "
                    "balanced than at the smallest share, and than without sampling.",
                    bool(curve.iloc[-1] < min(curve.iloc[0], _mean(found, plain, measure))),
                    f"{_mean(found, plain, measure):.3f} without, {curve.iloc[0]:.3f} at "
                    f"{curve.index[0] / 1000:.3f}, {curve.iloc[-1]:.3f} at "
                    f"{curve.index[-1] / 1000:.1f}.",
                )
            )
        top = {m: c.index[int(c.to_numpy().argmax())] / 1000 for m, c in curves.items()}
        claims.append(
            Claim(
                f"{model}: AUCROC is best at a higher share of positives than AP and F1.",
                bool(top[AUC] > max(top[AP], top[F1])),
                ", ".join(f"{m} at {share:g}" for m, share in top.items()) + ".",
            )
        )
    curves = {model: _over_shares(found, model, AUC) for model in MODELS}
    spans = {model: float(curve.max() - curve.min()) for model, curve in curves.items()}
    claims.append(
        Claim(
            "The share changes AUCROC of RF much and that of GB little.",
            _where_known(spans["RF"] > spans["GB"], *spans.values()),
            f"From worst to best share by {spans['RF']:.3f} and {spans['GB']:.3f}.",
        )
    )
    return claims


def _over_shares(found: pd.DataFrame, model: str, measure: str) -> pd.Series[float]:
    """The mean on payments at each share that all runs have, in thousandths."""
    own = found[(found["method"] == named(UNDER, model)) & (found["dataset"] == PAYMENTS)]
    by = own[own["measure"] == f"{measure} by share"].groupby("k")["value"].agg(["mean", "count"])
    means: pd.Series[float] = by.loc[by["count"] == by["count"].max(), "mean"]
    return means


def _claims_of_methods(tables: dict[str, Beside]) -> list[Claim]:
    return [
        _none_gains(tables[measure].ours, measure, model)
        for measure in (AP, F1)
        for model in MODELS
    ]


def _none_gains(ours: pd.DataFrame, measure: str, model: str) -> Claim:
    names = [named(sampling, model) for sampling in SAMPLED]
    whole = ours.reindex(columns=[model, *names]).dropna()
    statement = f"{model}: no sampling has a higher {measure} than none, with the threshold tuned."
    if whole.empty:
        return Claim(statement, None, "No set has all values.")
    means = means_of(whole)
    best = max(names, key=means.__getitem__)
    against = compare(whole[best], whole[model])
    # The best of several is picked after the fact: its test counts for all of them.
    p = min(1.0, len(names) * against.p)
    return Claim(
        statement,
        means[best] <= means[model] if p < SIGNIFICANT else None,
        f"{means[model]:.3f} without; the best of the three is {best} with {means[best]:.3f}, "
        f"means over payments and public sets; ahead on {against.ahead} and behind on "
        f"{against.behind}, p = {p:.2g} for the best of three.",
    )


def _claims_of_models(tables: dict[str, Beside]) -> list[Claim]:
    claims = []
    for measure, table in tables.items():
        on = table.ours.reindex(index=[PAYMENTS], columns=list(MODELS)).to_numpy()[0]
        forest, booster = map(float, on)
        claims.append(
            Claim(
                f"GB has a higher {measure} than RF on payments.",
                _where_known(booster > forest, booster, forest),
                f"{booster:.3f} and {forest:.3f}.",
            )
        )
    return claims


def _changes(table: Beside) -> pd.DataFrame:
    """What each sampling changes against the same model without, published and ours."""
    lines = []
    for method in _METHODS:
        model = method.split(" + ")[-1]
        reported = table.published.loc[PAYMENTS]
        own = table.ours.reindex(index=[PAYMENTS], columns=_METHODS).loc[PAYMENTS]
        lines.append(
            {
                "method": method,
                "published": reported[method],
                "ours": own[method],
                "published, difference": reported[method] - reported[model],
                "ours, difference": own[method] - own[model],
            }
        )
    return pd.DataFrame(lines)


def _set_by_set(table: Beside) -> pd.DataFrame:
    shown = table._replace(published=table.published[[]]).listed(_METHODS)
    shown = shown.loc[:, (shown != "–").any()]
    return shown.rename(columns=lambda name: name.removesuffix(", ours"))


def _shares_chosen(found: pd.DataFrame) -> pd.DataFrame:
    own = found[(found["dataset"] == PAYMENTS) & found["measure"].isin([*MEASURES, DEFAULT])]
    own = own.assign(share=[float(json.loads(text)["share"]) for text in own["params"]])
    table = own.pivot_table(index="method", columns="measure", values="share", aggfunc="median")
    return table.rename_axis(columns=None).reset_index()


def _best_thresholds(found: pd.DataFrame) -> pd.DataFrame:
    own = found[found["measure"].str.startswith("best ")]
    table = own.pivot_table(index="method", columns="measure", values="value")
    return table.rename_axis(columns=None).reset_index().rename(columns={"method": "trained"})


def _draw_thresholds(found: pd.DataFrame, model: str, figure: Any) -> None:
    for place, side in enumerate(("train", "test")):
        axes = figure.add_subplot(1, 2, place + 1)
        for share in (None, CALIBRATED, BALANCED):
            own = found[found["method"] == trained(share, model)]
            by = own[own["measure"] == f"F1, {side}"].groupby("k")["value"].mean()
            label = PLAIN if share is None else f"{share:.0%} positives"
            axes.plot(by.index / 100, by, label=label)
        axes.set(title=f"{side} rows", xlabel="threshold", ylabel="F1", ylim=(0, 1.02))
    axes.legend(fontsize="small")


def _draw_shares(found: pd.DataFrame, measures: tuple[str, ...], figure: Any) -> None:
    for place, measure in enumerate(measures):
        axes = figure.add_subplot(1, len(measures), place + 1)
        for i, model in enumerate(MODELS):
            curve = _over_shares(found, model, measure)
            axes.plot(curve.index / 1000, curve, marker="o", color=f"C{i}", label=model)
            plain = _mean(found, model, measure)
            axes.axhline(plain, color=f"C{i}", linestyle=":", label=f"{model}, {PLAIN}")
        axes.set(title=measure, xlabel="share of positives", xscale="log", xlim=(0.0015, 0.7))
        axes.minorticks_off()
    axes.legend(fontsize="small")
