"""An expert writes a rule, changes it and turns it off; every version stays."""

from desk_web import check_problem

RULE = {"text": "amount > factor * card_mean_30D", "constants": {"factor": 5}, "weight": 0.5}


def save(web, body=RULE, name="far%20above%2Fmean", who="expert"):
    return web.ask("PUT", f"/rules/{name}", who, json=body)


def test_a_rule_is_saved_watched_and_then_raises_alerts(web):
    saved = save(web).json()
    assert saved["name"] == "far above/mean"
    assert (saved["version"], saved["role"], saved["person"]) == (1, "shadow", "expert")
    name = "far%20above%2Fmean"
    scoring = web.post(f"/rules/{name}/role", {"role": "scoring", "note": "good"}, "expert").json()
    assert (scoring["version"], scoring["role"]) == (2, "scoring")
    assert web.get(f"/rules/{name}").json() == scoring
    assert web.get("/rules").json() == [scoring]
    history = web.get(f"/rules/{name}/history").json()["versions"]
    assert [each["role"] for each in history] == ["shadow", "scoring"]
    assert [rule.name for rule in web.door.control.in_force().rules.scoring] == ["far above/mean"]
    actions = [row.action for row in web.door.control.audit.read() if row.person == "expert"]
    assert actions == ["save rule", "set role of rule"]


def test_a_rule_that_could_not_run_is_not_saved(web):
    for text, word in (("amount > ", "too early"), ("amont > 5", "amount"), ("country > 5", "")):
        problem = check_problem(save(web, {"text": text}), 422, "invalid")
        assert word in problem["detail"]
        assert problem["where"] == "text"
    assert web.get("/rules").json() == []


def test_nobody_undoes_the_change_of_another_unseen(web):
    save(web)
    save(web, RULE | {"based_on": 1})
    problem = check_problem(save(web, RULE | {"based_on": 1}), 409, "conflict")
    assert "has version 2 by now" in problem["detail"]


def test_who_may_not_write_rules_reads_them(web):
    check_problem(save(web, who="investigator"), 403, "not-allowed")
    check_problem(save(web, who="scientist"), 403, "not-allowed")
    save(web)
    assert len(web.get("/rules", "auditor").json()) == 1
    check_problem(web.get("/rules/none"), 404, "not-found")
    check_problem(web.post("/rules/none/role", {"role": "off"}, "expert"), 404, "not-found")
    check_problem(web.post("/rules/none/role", {"role": "on"}, "expert"), 422, "invalid")
    check_problem(save(web, name="blocked"), 422, "invalid")


def test_a_rule_is_tried_and_not_saved(web):
    answer = web.post("/rules/try", {"text": "amount > x", "constants": {"x": 5}}, "expert")
    assert answer.status_code == 200
    assert (answer.json()["rows"], answer.json()["precision"]) == (0, None)
    problem = check_problem(
        web.post("/rules/try", {"text": "amuont > 5"}, "expert"), 422, "invalid"
    )
    assert "amuont" in problem["detail"]
    check_problem(web.post("/rules/try", {"text": "amount > 5"}, "auditor"), 403, "not-allowed")
    assert web.get("/rules", "expert").json() == []


def test_a_rule_has_limits_of_its_own(web):
    sent = {"text": "amount > 5", "limits": {"min_precision": 0.05}, "sunset": "2026-12-31"}
    answer = web.ask("PUT", "/rules/mine", "expert", json=sent)
    assert answer.json()["limits"] == {"min_precision": 0.05}
    answer = web.ask("PUT", "/rules/mine", "expert", json={"text": "amount > 6"})
    assert answer.json()["sunset"] == "2026-12-31"
    wrong = sent | {"limits": {"min_luck": 1}}
    check_problem(web.ask("PUT", "/rules/mine", "expert", json=wrong), 422, "invalid")
