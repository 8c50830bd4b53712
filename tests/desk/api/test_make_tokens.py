"""An administrator gives and takes tokens; nobody can read one again."""

from desk_web import check_problem


def test_a_token_is_shown_once_works_and_ends(web):
    made = web.post("/tokens", {"name": "ann", "role": "investigator"}, "admin").json()
    web.tokens["ann"] = made["token"]
    assert web.get("/queue", "ann").status_code == 200
    rows = web.get("/tokens", "admin").json()["tokens"]
    (ann,) = [row for row in rows if row["name"] == "ann"]
    assert ann["role"] == "investigator"
    assert made["token"] not in str(rows)
    revoked = web.post("/tokens/ann/revoke", who="admin").json()
    assert revoked["revoked"] == "2026-01-31T12:00:00Z"
    assert web.post("/tokens/ann/revoke", who="admin").json() == revoked
    check_problem(web.get("/queue", "ann"), 401, "unknown-token")
    rows = [row for row in web.door.control.audit.read() if row.person == "admin"]
    assert [(row.action, row.subject) for row in rows] == [
        ("make token", "ann"),
        ("revoke token", "ann"),
    ]
    assert made["token"] not in str(rows)


def test_mistakes_get_a_sentence(web):
    for body in ({"name": "x", "role": "boss"}, {"name": "", "role": "admin"}, {"name": "a\u0007"}):
        check_problem(web.post("/tokens", body, "admin"), 422, "invalid")
    answer = web.post("/tokens", {"name": "bob", "role": "admin"}, "admin")
    check_problem(answer, 409, "conflict")
    for name in ("a\u0007", " ann"):
        problem = check_problem(
            web.post("/tokens", {"name": name, "role": "admin"}, "admin"), 422, "invalid"
        )
        assert problem["where"] == "name"
    check_problem(web.post("/tokens/none/revoke", who="admin"), 404, "not-found")
