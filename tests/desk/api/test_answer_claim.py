"""A customer denies a payment; an expert answers, and what is confirmed is a label."""

from desk_web import check_problem


def test_a_claim_is_recorded_once_and_confirmed_by_an_expert(web):
    web.pay("a", 10)
    claim = web.post("/claims", {"transaction": "p1", "note": "not mine"}).json()
    assert (claim["state"], claim["transaction"]) == ("new", "p1")
    assert web.post("/claims", {"transaction": "p1"}).json() == claim
    check_problem(web.post(f"/claims/{claim['id']}/confirm"), 403, "not-allowed")
    answered = web.post(f"/claims/{claim['id']}/confirm", who="expert").json()
    assert (answered["state"], answered["person"]) == ("confirmed", "expert")
    assert [label.fraud for label in web.door.labels.after(0)] == [True]
    assert web.post(f"/claims/{claim['id']}/confirm", who="expert").json() == answered
    problem = check_problem(web.post(f"/claims/{claim['id']}/reject", who="admin"), 409, "conflict")
    assert problem["detail"] == f"Claim {claim['id']} was confirmed by expert."


def test_many_claims_come_at_once_or_not_at_all(web):
    for _ in range(3):
        web.pay("a", 10)
    problem = check_problem(
        web.post("/claims", [{"transaction": "p1"}, {"transaction": "p9"}]), 422, "invalid"
    )
    assert problem["where"] == "[1].transaction"
    assert web.get("/claims").json() == {"claims": [], "next": None}
    made = web.post("/claims", [{"transaction": f"p{n}"} for n in (3, 1)]).json()
    assert [each["transaction"] for each in made] == ["p3", "p1"]
    web.post(f"/claims/{made[0]['id']}/reject", who="expert")
    assert [each["transaction"] for each in web.get("/claims?state=new").json()["claims"]] == ["p1"]
    page = web.get("/claims?limit=1").json()
    assert [each["transaction"] for each in page["claims"]] == ["p3"]
    rest = web.get(f"/claims?limit=1&after={page['next']}").json()
    assert [each["transaction"] for each in rest["claims"]] == ["p1"]


def test_mistakes_get_a_sentence(web):
    check_problem(web.post("/claims/99/confirm", who="expert"), 404, "not-found")
    problem = check_problem(web.post("/claims", []), 422, "invalid")
    assert problem["detail"].startswith("The body is not right: ")
    problem = check_problem(web.post("/claims", [{"transaction": "p1"}, 7]), 422, "invalid")
    assert problem["where"] == "[1]"
    check_problem(web.post("/claims", {"transaction": ""}), 422, "invalid")
