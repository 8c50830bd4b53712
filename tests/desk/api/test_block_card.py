"""A card is blocked after fraud was confirmed, by a person and where wanted by two."""

from desk_web import SCHEMA, WebDesk, check_problem
from msgspec.structs import replace


def test_a_block_is_asked_for_and_lifted(web):
    block = web.post("/blocks", {"key": "4111/7", "note": "fraud"}).json()
    assert (block["state"], block["entity"], block["key"]) == ("in force", "card", "4111/7")
    assert web.post("/blocks", {"key": "4111/7"}).json() == block
    assert web.get("/blocks").json() == {"blocks": [block], "next": None}
    assert web.door.control.in_force().blocked == {"4111/7"}
    check_problem(web.post(f"/blocks/{block['id']}/lift", {}), 403, "not-allowed")
    lifted = web.post(f"/blocks/{block['id']}/lift", {"note": "new card"}, "expert").json()
    assert (lifted["state"], lifted["lifted_by"]) == ("lifted", "expert")
    assert web.get("/blocks").json()["blocks"] == []
    check_problem(web.post("/blocks/99/approve", who="expert"), 404, "not-found")


def test_a_second_person_approves_where_the_desk_wants_it(tmp_path):
    alerts = replace(SCHEMA.alerts, second_person=True)
    web = WebDesk(tmp_path, replace(SCHEMA, alerts=alerts))
    block = web.post("/blocks", {"key": "a"}, "expert").json()
    assert block["state"] == "waiting"
    problem = check_problem(
        web.post(f"/blocks/{block['id']}/approve", who="expert"), 409, "conflict"
    )
    assert "another person has to approve it" in problem["detail"]
    approved = web.post(f"/blocks/{block['id']}/approve", who="admin").json()
    assert (approved["state"], approved["answered_by"]) == ("in force", "admin")
    second = web.post("/blocks", {"key": "b"}).json()
    assert web.post(f"/blocks/{second['id']}/reject", who="expert").json()["state"] == "rejected"
    assert web.get("/blocks?state=rejected").json()["blocks"][0]["key"] == "b"
    web.close()
