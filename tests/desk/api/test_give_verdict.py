"""A person says what was found; it is kept for ever, and corrected by another verdict."""

from desk_web import check_problem


def taken(web):
    web.pay("a", 2000)
    case = web.case_of("a")
    web.post(f"/cases/{case}/take")
    return case


def test_a_verdict_closes_the_case_and_counts_as_a_hit(web):
    case = taken(web)
    answer = web.post(f"/cases/{case}/verdict", {"verdict": "fraud", "note": "called: <b>no</b>"})
    decided = answer.json()
    assert (decided["state"], decided["verdict"], decided["holder"]) == ("decided", "fraud", None)
    queue = web.get("/queue").json()
    assert (queue["done"], queue["hits"], queue["cases"]) == (1, 1, [])
    (verdict,) = web.get(f"/cases/{case}").json()["verdicts"]
    assert verdict == {
        "id": 1,
        "verdict": "fraud",
        "person": "investigator",
        "at": "2026-01-31T12:00:00Z",
        "note": "called: <b>no</b>",
    }
    assert [label.fraud for label in web.door.labels.after(0)] == [True]


def test_the_same_verdict_sent_again_is_the_same(web):
    case = taken(web)
    sent = {"verdict": "genuine", "note": "asked"}
    first = web.post(f"/cases/{case}/verdict", sent).json()
    assert web.post(f"/cases/{case}/verdict", sent).json() == first
    assert len(web.get(f"/cases/{case}").json()["verdicts"]) == 1
    assert len(web.door.labels.after(0)) == 1


def test_a_correction_is_another_verdict(web):
    case = taken(web)
    web.post(f"/cases/{case}/verdict", {"verdict": "fraud"})
    web.post(f"/cases/{case}/verdict", {"verdict": "genuine"}, who="bob")
    web.post(f"/cases/{case}/verdict", {"verdict": "fraud"})
    found = web.get(f"/cases/{case}").json()
    assert [(each["verdict"], each["person"]) for each in found["verdicts"]] == [
        ("fraud", "investigator"),
        ("genuine", "bob"),
        ("fraud", "investigator"),
    ]
    assert found["case"]["verdict"] == "fraud"


def test_who_does_not_have_the_case_cannot_decide_it(web):
    case = taken(web)
    answer = web.post(f"/cases/{case}/verdict", {"verdict": "fraud"}, who="bob")
    assert check_problem(answer, 409, "conflict")["detail"] == (
        f"Case {case} is taken by investigator."
    )
    web.clock.advance("31min")
    answer = web.post(f"/cases/{case}/verdict", {"verdict": "fraud"})
    assert "the time for it is over" in check_problem(answer, 409, "conflict")["detail"]


def test_what_is_not_a_verdict_is_told_with_what_is(web):
    case = taken(web)
    problem = check_problem(
        web.post(f"/cases/{case}/verdict", {"verdict": "maybe"}), 422, "invalid"
    )
    assert problem["where"] == "verdict"
    assert problem["detail"] == "The field 'verdict' is one of fraud, genuine, unclear."
    for body, where in (
        ({}, "verdict"),
        ({"verdict": "fraud", "notes": ""}, "notes"),
        ({"verdict": "fraud", "note": 7}, "note"),
        ({"verdict": "fraud", "note": "\0"}, "note"),
        ({"verdict": "fraud", "note": "x" * 10_001}, "note"),
        ([], ""),
    ):
        problem = check_problem(web.post(f"/cases/{case}/verdict", body), 422, "invalid")
        assert problem["where"] == where
    assert web.get(f"/cases/{case}").json()["verdicts"] == []
