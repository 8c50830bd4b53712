"""A data scientist brings a model, which is checked, promoted and retired."""

import numpy as np
import pandas as pd
import pytest
from desk_web import check_problem

from rarefind import TableModel, save
from rarefind.desk.api import models
from rarefind.trees import MetaAPClassifier


def content(tmp_path, **columns):
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"amount": random.gamma(2, 30, 200).round(2)} | columns)
    rows["fraud"] = ((rows["amount"] > 150) | (random.random(200) < 0.02)).astype(int)
    save(TableModel(MetaAPClassifier(random_state=0), target="fraud").fit(rows), tmp_path / "m")
    return (tmp_path / "m").read_bytes()


def send(web, body, who="scientist", kind="application/octet-stream", path="/models"):
    return web.ask("POST", path, who, content=body, headers={"content-type": kind})


def test_a_model_is_brought_promoted_and_retired(web, tmp_path):
    file = content(tmp_path)
    brought = send(web, file, path="/models?name=january").json()
    assert (brought["name"], brought["state"]) == ("january", "challenger")
    assert brought["columns"] == ["amount"]
    assert send(web, file).json() == brought
    promoted = web.post(f"/models/{brought['digest']}/promote", {"threshold": 0.4}, "scientist")
    assert (promoted.json()["state"], promoted.json()["threshold"]) == ("champion", 0.4)
    assert web.door.control.in_force().model.threshold == 0.4
    assert web.get("/models", "auditor").json() == [promoted.json()]
    retired = web.post(f"/models/{brought['digest'][:8]}/retire", who="scientist").json()
    assert (retired["state"], retired["changed_by"]) == ("retired", "scientist")
    assert [path.suffix for path in web.door.models.iterdir()] == [".rarefind"]
    check_problem(web.post("/models/none/promote", {}, "scientist"), 404, "not-found")


def test_a_model_that_does_not_fit_is_refused_with_its_columns(web, tmp_path):
    problem = check_problem(
        send(web, content(tmp_path, distance=np.arange(200) % 7)), 422, "invalid"
    )
    assert "'distance'" in problem["detail"]
    assert list(web.door.models.iterdir()) == []


@pytest.mark.parametrize("body", [b"", b"not a model", b"PK\x03\x04" + bytes(100)])
def test_what_is_not_a_model_is_refused(web, body):
    problem = check_problem(send(web, body), 422, "invalid")
    assert problem["detail"].startswith("The file ")
    assert str(web.door.models) not in problem["detail"]
    assert list(web.door.models.iterdir()) == []


def test_an_upload_has_bounds(web, monkeypatch):
    monkeypatch.setattr(models, "LARGEST_MODEL", 100_000)
    check_problem(send(web, bytes(100_001)), 413, "too-large")
    check_problem(send(web, bytes(60_000)), 422, "invalid")  # more than other bodies may have
    assert list(web.door.models.iterdir()) == []
    check_problem(send(web, b"{}", kind="application/json"), 415, "not-json")
    check_problem(send(web, b"", "expert"), 403, "not-allowed")
