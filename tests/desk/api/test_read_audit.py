"""An auditor reads who did what, a page at a time."""


def test_the_log_is_read_a_page_at_a_time(web):
    web.ask("PUT", "/lists/countries", "expert", json={"values": ["FR"]})
    everything = web.get("/audit?limit=1000", "auditor").json()
    last = everything["rows"][-1]
    assert (last["person"], last["action"], last["subject"]) == (
        "expert",
        "save list",
        "countries",
    )
    assert everything["last"].startswith(f"{last['number']}:")
    read, after = [], 0
    while after is not None:
        page = web.get(f"/audit?limit=3&after={after}", "auditor").json()
        read += page["rows"]
        after = page["next"]
    assert read == everything["rows"]
    assert web.door.control.audit.verify().is_whole
