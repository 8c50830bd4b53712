import asyncio

import pytest
from desk_in_memory import payment

from rarefind.desk.api.problems import ProblemError
from rarefind.desk.database import CommitUnknown, DatabaseUnavailable


def test_a_payment_is_answered_after_it_is_stored(desk):
    answer = desk.post(payment())
    assert answer.status_code == 200
    assert answer.json() == {
        "id": "p1",
        "decision": "accept",
        "by": "",
        "score": None,
        "alert": "",
    }
    assert list(desk.decider.stored) == ["p1"]


def test_a_list_is_answered_in_its_order(desk):
    answers = desk.post([payment(3), payment(1, amount=2000), payment(2)]).json()
    assert [each["id"] for each in answers] == ["p3", "p1", "p2"]
    assert [each["decision"] for each in answers] == ["accept", "deny", "accept"]


def test_one_of_a_list_that_contradicts_what_is_stored_has_a_problem(desk):
    desk.post(payment(1))
    answers = desk.post([payment(1, amount=3), payment(2)]).json()
    assert answers[0]["id"] == "p1"
    assert answers[0]["problem"]["type"] == "conflict"
    assert answers[1]["decision"] == "accept"


def test_the_same_id_with_another_body_is_a_conflict(desk):
    desk.post(payment(1))
    answer = desk.post(payment(1, amount=3))
    assert answer.status_code == 409
    assert answer.json()["where"] == "id"
    assert desk.post(payment(1)).status_code == 200


def test_requests_that_wait_are_committed_together(desk):
    async def send(client):
        return await asyncio.gather(
            *(client.post("/transactions", json=payment(n)) for n in range(20))
        )

    answers = desk.do(send)
    assert [each.json()["id"] for each in answers] == [f"p{n}" for n in range(20)]
    assert sum(desk.decider.groups) == 20
    assert len(desk.decider.groups) < 20


def test_a_till_does_not_wait_for_a_file(desk):
    done = []

    async def send(client):
        async def post(name, body):
            await client.post("/transactions", json=body)
            done.append(name)

        file = asyncio.create_task(post("file", [payment(n) for n in range(100)]))
        while not desk.decider.groups:
            await asyncio.sleep(0)
        await asyncio.gather(file, post("till", payment(1000)))

    desk.do(send)
    assert done == ["till", "file"]
    assert len(desk.decider.stored) == 101


@pytest.mark.parametrize("threaded", [False, True])
def test_a_ledger_that_is_lost_gives_503_and_comes_back_by_itself(desk, threaded):
    desk.threaded = threaded

    async def send(client):
        desk.decider.broken = DatabaseUnavailable("the disk is full")
        refused = await client.post("/transactions", json=payment())
        batch = await client.post("/transactions", json=[payment(n) for n in range(70)])
        desk.decider.broken = None
        return refused, batch, await client.post("/transactions", json=payment())

    refused, batch, taken = desk.do(send)
    for answer in (refused, batch):
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert "nothing was stored" in answer.json()["detail"]
    assert taken.status_code == 200
    assert list(desk.decider.stored) == ["p1"]
    assert desk.door.batcher.waiting == 0
    assert desk.decider.undone == 33
    assert '"event":"unavailable"' in desk.log.getvalue()


def test_a_mistake_in_the_decision_is_told_without_what_was_sent(desk):
    def prepare(batch):
        raise KeyError(batch[0].entities[0])

    desk.decider.prepare = prepare
    answer = desk.post(payment(card="4111-1111"))
    assert answer.status_code == 500
    assert answer.json()["type"] == "internal"
    assert "4111" not in answer.text + desk.log.getvalue()
    assert '"error":"KeyError"' in desk.log.getvalue()


def test_more_than_there_is_room_for_is_told_to_come_again(desk):
    async def send(client):
        files = [[payment(100 * k + n) for n in range(100)] for k in range(3)]
        return await asyncio.gather(*(client.post("/transactions", json=file) for file in files))

    answers = desk.do(send)
    assert sorted(each.status_code for each in answers) == [200, 200, 503]
    (refused,) = [each for each in answers if each.status_code == 503]
    assert refused.headers["retry-after"] == "1"
    assert "there is room for 200" in refused.json()["detail"]
    assert len(desk.decider.stored) == 200


def test_a_desk_that_starts_says_so(desk):
    async def send(client):
        desk.door.batcher, running = None, desk.door.batcher
        answers = [
            await client.post("/transactions", json=payment()),
            await client.get("/readyz"),
            await client.get("/healthz"),
        ]
        desk.door.batcher = running
        return [*answers, await client.get("/readyz")]

    *starting, ready = desk.do(send)
    assert [each.status_code for each in starting] == [503, 503, 200]
    assert starting[0].json()["detail"] == "The desk is starting: it reads its ledger."
    assert ready.json() == {"ready": True, "durability": "disk", "notes": []}


def test_what_is_waiting_when_the_desk_stops_is_still_decided(desk):
    async def send(client):
        posts = [
            asyncio.create_task(client.post("/transactions", json=payment(n))) for n in range(5)
        ]
        await asyncio.sleep(0.01)
        await desk.door.batcher.stop()
        late = await client.post("/transactions", json=payment(9))
        return [(await each).status_code for each in posts], late

    statuses, late = desk.do(send)
    assert statuses == [200] * 5
    assert late.status_code == 503
    assert "p9" not in desk.decider.stored


def test_nobody_is_told_that_nothing_was_stored_when_nobody_knows(desk):
    desk.decider.broken = CommitUnknown("the connection is lost")
    answer = desk.post(payment())
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert "it may be stored, or not" in answer.json()["detail"]
    assert desk.decider.undone == 0


@pytest.mark.parametrize("step", ["finish", "abort"])
def test_a_desk_that_fails_answers_all_who_wait_and_is_not_ready(desk, step):
    def fail(prepared):
        raise KeyError("4111")

    setattr(desk.decider, step, fail)
    if step == "abort":
        desk.decider.broken = DatabaseUnavailable("the disk is full")

    async def send(client):
        posts = [client.post("/transactions", json=payment(n)) for n in range(40)]
        posts.append(client.post("/transactions", json=[payment(n) for n in range(90)]))
        answers = await asyncio.wait_for(asyncio.gather(*posts), 20)
        await asyncio.wait_for(desk.door.batcher.ended.wait(), 20)
        later = await client.post("/transactions", json=payment())
        return [*answers, later, await client.get("/readyz")], await client.get("/metrics")

    answers, metrics = desk.do(send)
    assert {each.status_code for each in answers} == {503}
    assert all("must be started again" in each.json()["detail"] for each in answers)
    assert "rarefind_ready 0.0" in metrics.text
    assert desk.door.batcher.waiting == 0
    assert '"event":"ended"' in desk.log.getvalue()
    assert "4111" not in desk.log.getvalue()


def test_a_job_that_comes_when_the_desk_stops_is_told_so(desk):
    async def send(client):
        batcher = desk.door.batcher
        early = asyncio.create_task(batcher.alone(lambda: 7))
        await asyncio.sleep(0)
        await batcher.stop()
        with pytest.raises(ProblemError, match="stopping"):
            await asyncio.wait_for(batcher.alone(lambda: 7), 20)
        return await early

    assert desk.do(send) == 7
