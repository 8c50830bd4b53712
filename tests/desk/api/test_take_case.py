"""People take cases from the queue; two of them never have the same one."""

from desk_web import check_problem


def test_the_queue_is_what_there_is_to_check_today(web):
    for card, amount in (("a", 1000), ("b", 2000), ("c", 3000), ("d", 4000)):
        web.pay(card, amount)
    queue = web.get("/queue", "auditor").json()
    assert (queue["budget"], queue["done"], queue["hits"]) == (3, 0, 0)
    assert (len(queue["cases"]), queue["waiting"]) == (3, 1)
    assert queue["amount"] == sum(int(1000 * (ord(each["key"]) - 96)) for each in queue["cases"])
    assert queue["begins"] == "2026-01-31T00:00:00Z"
    assert queue["expected"] == {"hits": 0.0, "low": 0, "high": 0, "known": 0}
    assert queue["cases"][0]["entity"] == "card"


def test_the_next_case_is_taken_until_the_lease_ends(web):
    web.pay("a")
    case = web.post("/queue/next").json()["case"]
    assert (case["key"], case["state"], case["holder"]) == ("a", "taken", "investigator")
    assert case["until"] == "2026-01-31T12:30:00Z"
    assert web.post("/queue/next").json()["case"]["id"] == case["id"]
    assert web.post("/queue/next", who="bob").json() == {"case": None}
    web.clock.advance("31min")
    assert web.post("/queue/next", who="bob").json()["case"]["holder"] == "bob"


def test_a_case_that_another_has_is_a_conflict_that_names_who(web):
    web.pay("a")
    case = web.case_of("a")
    assert web.post(f"/cases/{case}/take").status_code == 200
    problem = check_problem(web.post(f"/cases/{case}/take", who="bob"), 409, "conflict")
    assert problem["detail"] == f"Case {case} is taken by investigator."
    check_problem(web.post(f"/cases/{case}/release", who="bob"), 409, "conflict")
    assert web.post(f"/cases/{case}/release").json()["state"] == "open"
    assert web.post(f"/cases/{case}/take", who="bob").json()["holder"] == "bob"


def test_a_case_file_has_what_helps_to_decide(web):
    web.pay("a", 10)
    web.pay("b", 10)
    web.pay("a", 1500, country="<script>")
    web.pay("a", 6000)
    found = web.get(f"/cases/{web.case_of('a')}", "auditor").json()
    assert found["case"]["key"] == "a"
    assert found["alert_count"] == 2
    newest, first = found["alerts"]
    assert (newest["id"], newest["transaction"]["decision"]) == ("p4", "deny")
    assert newest["transaction"]["by"] == "very large"
    transaction = first["transaction"]
    assert transaction["rules"] == ["large"]
    assert transaction["transaction"]["country"] == "<script>"
    assert transaction["features"]["card_count_1D"] == 2.0
    assert transaction["amount"] == 1500
    assert first["reason"] is None
    assert [each["id"] for each in found["transactions"]] == ["p4", "p3", "p1"]
    assert found["verdicts"] == []


def test_a_case_is_put_aside_and_comes_back(web):
    web.pay("a")
    case = web.case_of("a")
    snoozed = web.post(f"/cases/{case}/snooze", {"until": "2026-02-01T10:00:00+01:00"}).json()
    assert (snoozed["state"], snoozed["until"]) == ("snoozed", "2026-02-01T09:00:00Z")
    assert web.get("/queue").json()["cases"] == []
    web.clock.advance("22h")
    assert len(web.get("/queue").json()["cases"]) == 1
    for until in ("2026-01-31T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"):
        answer = web.post(f"/cases/{case}/snooze", {"until": until})
        assert check_problem(answer, 422, "invalid")["where"] == "until"
    answer = web.post(f"/cases/{case}/snooze", {"until": "2026-02-03T00:00:00"})
    check_problem(answer, 422, "invalid")


def test_cases_are_listed_by_state_a_page_at_a_time(web):
    for card in "abcd":
        web.pay(card)
    web.post(f"/cases/{web.case_of('b')}/take")
    web.post(f"/cases/{web.case_of('c')}/snooze", {"until": "2026-02-01T09:00:00Z"})

    def keys(path):
        return [case["key"] for case in web.get(path).json()["cases"]]

    assert keys("/cases") == ["d", "c", "b", "a"]
    assert keys("/cases?state=open") == ["d", "a"]
    assert keys("/cases?state=taken") == ["b"]
    assert keys("/cases?state=snoozed") == ["c"]
    assert keys("/cases?state=decided") == []
    web.clock.advance("1h")
    assert keys("/cases?state=open") == ["d", "b", "a"]
    assert keys("/cases?state=taken") == []
    first = web.get("/cases?limit=3").json()
    assert keys(f"/cases?limit=3&before={first['next']}") == ["a"]
    assert web.get("/cases?limit=5").json()["next"] is None
    check_problem(web.get("/cases?limit=1001"), 422, "invalid")
    check_problem(web.get("/cases?state=closed"), 422, "invalid")


def test_a_case_that_is_not_there_is_told(web):
    problem = check_problem(web.get("/cases/99"), 404, "not-found")
    assert problem["detail"] == "There is no case 99."
    check_problem(web.post("/cases/99/take"), 404, "not-found")
