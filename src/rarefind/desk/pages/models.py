"""Models: champion and challengers on the same ripe weeks, and who lets which of them decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter
from starlette.responses import Response

from rarefind.desk.charts import Bin, Chart, calibration
from rarefind.desk.control import ControlError, ModelRow
from rarefind.desk.ledger import Listed
from rarefind.desk.measures.comparisons import CalibrationBin, ModelComparison
from rarefind.desk.measures.side_by_side import Disagreement
from rarefind.desk.pages.chart_words import chart_words
from rarefind.desk.pages.menu import in_menu
from rarefind.desk.pages.visit import Visit, needs

router = APIRouter(include_in_schema=False)

PATH: Final = "/desk/models"
in_menu(40, "models.title", PATH, "read")

#: Rows on which models disagree that a page shows, and changes.
_ROWS, _CHANGES = 50, 50


@router.get(PATH)
def show_models(visit: Annotated[Visit, needs("read")]) -> Response:
    """Show all models, those that are not retired side by side."""
    models, figures = visit.door.control.models, visit.door.figures
    compared = figures.comparisons.read()
    rows = models.all()
    return visit.page(
        "models.html",
        models=[row for row in rows if row.state != "retired"],
        retired=[row for row in rows if row.state == "retired"],
        champion=models.champion(),
        former=models.former(),
        compared=compared,
        names={row.digest: row.name for row in rows},
        history=models.history(limit=_CHANGES),
        waiting=visit.door.control.requests.waiting("model"),
        alerts=visit.door.schema.alerts,
    )


@router.get(f"{PATH}/{{digest}}")
def show_model(visit: Annotated[Visit, needs("read")], digest: str) -> Response:
    """Show one model: what it is made from, and what it is worth beside the champion."""
    return _model(visit, visit.door.control.models.get(digest))


@router.post(f"{PATH}/roll-back")
def roll_back(visit: Annotated[Visit, needs("model")]) -> Response:
    """Let the model decide again that did before."""
    models = visit.door.control.models
    former = models.former()
    # Somebody may have promoted another one since the page was opened.
    if former is None or former.digest != visit.form["model"]:
        return visit.go(PATH, said="models_changed")
    models.promote(former.digest, visit.person)
    return visit.go(PATH, said="rolled_back")


@router.post(f"{PATH}/{{digest}}/promote")
def promote(visit: Annotated[Visit, needs("model")], digest: str) -> Response:
    """Let a model decide, from a probability on that a person may choose."""
    models = visit.door.control.models
    model = models.get(digest)
    try:
        threshold = _threshold(visit.form["threshold"])
    except ValueError:
        return _model(visit, model, 422, {"threshold": visit.t("models.bad_threshold")})
    try:
        models.promote(model.digest, visit.person, threshold)
    except ControlError as error:
        return _model(visit, model, 422, {"threshold": str(error)})
    if visit.door.control.requests.waiting("model", model.digest):
        return visit.go(PATH, said="change_asked")
    return visit.go(PATH, said="promoted")


@router.post(f"{PATH}/{{digest}}/retire")
def retire(visit: Annotated[Visit, needs("model")], digest: str) -> Response:
    """Let a model rest."""
    visit.door.control.models.retire(digest, visit.person)
    return visit.go(PATH, said="retired")


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """A row on which two models disagree, as the page shows it."""

    row: Disagreement
    transaction: Listed
    case: int | None
    entity: str


def _model(
    visit: Visit, model: ModelRow, status: int = 200, errors: dict[str, str] | None = None
) -> Response:
    door = visit.door
    champion = door.control.models.champion()
    pair = [model.digest]
    if champion is not None and champion.digest != model.digest:
        pair.append(champion.digest)
    comparisons = door.figures.comparisons
    compared = comparisons.read(pair)
    return visit.page(
        "model.html",
        status,
        errors=errors or {},
        model=model,
        champion=champion,
        compared=compared,
        pair=[digest for digest in pair if digest in compared.models],
        names={row.digest: row.name for row in door.control.models.all()},
        pictures=_pictures(visit, compared, pair),
        disagreements=_disagreements(visit, compared),
        all_disagreements=len(compared.disagreements),
        card=comparisons.card(model.digest),
        history=door.control.models.history(model.digest, _CHANGES),
        waiting=door.control.requests.waiting("model", model.digest),
        alerts=door.schema.alerts,
    )


def _threshold(text: str) -> float | None:
    """The number of a field; None where it is left empty."""
    text = text.strip().replace(",", ".")
    if not text:
        return None
    found = float(text)
    if not math.isfinite(found) or not 0 <= found <= 1:
        raise ValueError(text)
    return found


def _pictures(visit: Visit, compared: ModelComparison, pair: list[str]) -> list[Chart]:
    names = {row.digest: row.name for row in visit.door.control.models.all()}
    return [
        calibration(
            [bin for each in compared.models[digest].bins if (bin := _bin(each)) is not None],
            name=f"calibration-{place}",
            title=visit.t("models.calibration_of", name=names[digest]),
            description=visit.t("models.calibration_description"),
            share=lambda share: visit.show.percent(share, 0 if share >= 0.01 or not share else 2),
            words=chart_words(visit.t),
        )
        for place, digest in enumerate(pair)
        if digest in compared.models
    ]


def _bin(each: CalibrationBin) -> Bin | None:
    """A bin of the picture; None where it has no rows."""
    if each.said is None or each.share is None:
        return None
    return Bin(each.said, each.share.value, each.rows, each.share.low, each.share.high)


def _disagreements(visit: Visit, compared: ModelComparison) -> list[DisagreementView]:
    """Rows with their transactions; whoever was erased is left out."""
    door = visit.door
    # Some more than are shown: of some the entity may be erased.
    rows = compared.disagreements[: 2 * _ROWS]
    listed = door.ledger.listed([row.sequence for row in rows])
    cases = door.lists.cases_of([row.sequence for row in rows])
    place = list(door.schema.entities).index(door.schema.alerts.entity)
    found = [
        DisagreementView(row, known, cases.get(row.sequence), known.entities[place])
        for row in rows
        if (known := listed.get(row.sequence)) is not None and known.entities
    ]
    return found[:_ROWS]
