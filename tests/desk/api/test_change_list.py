"""An expert keeps lists that rules ask."""

from desk_web import check_problem


def test_a_list_is_made_changed_and_deleted(web):
    made = web.ask("PUT", "/lists/countries", "expert", json={"values": ["US", "FR"]}).json()
    assert (made["values"], made["person"]) == (["FR", "US"], "expert")
    assert (made["count"], made["next"]) == (2, None)
    web.post("/lists/countries/add", {"values": ["DE", "FR"]}, "expert")
    web.post("/lists/countries/remove", {"values": ["US", "XX"]}, "expert")
    assert web.get("/lists/countries").json()["values"] == ["DE", "FR"]
    assert web.get("/lists").json() == {"names": ["countries"], "next": None}
    rule = {"text": "country in list('countries')"}
    web.ask("PUT", "/rules/abroad", "expert", json=rule)
    problem = check_problem(web.ask("DELETE", "/lists/countries", "expert"), 409, "conflict")
    assert "abroad" in problem["detail"]
    web.post("/rules/abroad/role", {"role": "off"}, "expert")
    assert web.ask("DELETE", "/lists/countries", "expert").json()["names"] == []
    check_problem(web.get("/lists/countries"), 404, "not-found")


def test_values_have_bounds(web):
    for values in ([""], ["x" * 257], ["a\0"], [1], "FR"):
        answer = web.ask("PUT", "/lists/countries", "expert", json={"values": values})
        check_problem(answer, 422, "invalid")
    check_problem(web.post("/lists/none/add", {"values": ["FR"]}, "expert"), 404, "not-found")
