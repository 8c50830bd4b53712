"""A program works the queue of a desk that runs, with each of the two clients."""

import asyncio
import inspect
from datetime import UTC, datetime

import httpx
import pytest
from desk_served import served
from desk_web import WebDesk

from rarefind.desk import AsyncClient, Client
from rarefind.desk.client import DeskError
from rarefind.desk.client._web_calls import DeskCalls

LATER = datetime(2026, 2, 2, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    desk = WebDesk(tmp_path_factory.mktemp("desk"))
    with served(desk.app) as url:
        desk.url = url
        yield desk
    desk.close()


@pytest.fixture(params=["sync", "async"])
def ask(request, web):
    """Call a method as somebody: ``ask("take", 7, who="bob")``."""

    def run(method, *arguments, who="admin", **options):
        token = web.tokens[who]
        if request.param == "sync":
            with Client(token=token, web=web.url, retries=0) as client:
                return getattr(client, method)(*arguments, **options)

        async def wait():
            async with AsyncClient(token=token, web=web.url, retries=0) as client:
                return await getattr(client, method)(*arguments, **options)

        return asyncio.run(wait())

    run.name = f"{request.param}/"
    return run


def test_a_case_is_taken_and_decided(web, ask):
    web.pay(f"a{ask.name}", 2000)
    case = ask("next_case")
    assert (case.state, case.holder) == ("taken", "admin")
    assert ask("queue").cases[0].id == case.id
    file = ask("case", case.id)
    assert file.alerts[0].transaction.features["card_count_1h"] == 1.0
    with pytest.raises(DeskError, match=r"is taken by admin\.") as caught:
        ask("take", case.id, who="bob")
    assert (caught.value.status, caught.value.problem.type) == (409, "conflict")
    assert ask("release", case.id).state == "open"
    assert ask("snooze", case.id, LATER).until == LATER
    assert ask("take", case.id).state == "taken"
    assert ask("verdict", case.id, "fraud", "called").verdict == "fraud"
    assert ask("verdicts", case.id).verdicts[0].note == "called"
    assert ask("cases", "decided", limit=1).cases[0].id == case.id
    assert ask("next_case") is None


def test_claims_and_transactions(web, ask):
    first, second = (web.pay(f"b/{ask.name}", 10).id for _ in range(2))
    claim = ask("claim", first, "not mine")
    assert ask("claim_many", [first, second])[0] == claim
    assert ask("confirm_claim", claim.id).state == "confirmed"
    assert ask("claims", "new").claims[-1].transaction == second
    assert ask("reject_claim", claim.id + 1).state == "rejected"
    assert ask("transaction", first).transaction["card"] == f"b/{ask.name}"
    page = ask("entity", "card", f"b/{ask.name}", limit=1)
    assert [each.id for each in page.transactions] == [second]
    assert len(ask("export", "card", f"b/{ask.name}").transactions) == 2
    order = ask("erase", "card", f"b/{ask.name}")
    assert ask("order", order.id) == order == ask("orders").orders[0]
    assert ask("approve_order", order.id).state == "approved"
    with pytest.raises(DeskError, match="is approved already"):
        ask("reject_order", order.id)


def test_rules_lists_and_blocks(ask):
    name = f"rule/{ask.name}"
    assert ask("save_list", name, ["FR"]).values == ["FR"]
    assert ask("add_to_list", name, ["DE"]).values == ["DE", "FR"]
    assert ask("remove_from_list", name, ["FR"]) == ask("values_of_list", name)
    assert name in ask("lists").names
    assert ask("try_rule", "amount > x", constants={"x": 5}).alerts == 0
    rule = ask("save_rule", name, "amount > x", constants={"x": 5}, weight=2.0, based_on=0)
    assert (rule.role, rule.constants) == ("shadow", {"x": 5})
    assert ask("set_role", name, "off") == ask("rule", name)
    assert [each.version for each in ask("rule_history", name).versions] == [1, 2]
    assert name in [each.name for each in ask("rules")]
    assert name not in ask("delete_list", name).names
    block = ask("block", f"card {name}", "fraud")
    assert ask("approve_block", block.id) == block
    assert ask("blocks").blocks[0] == block
    assert ask("lift_block", block.id).state == "lifted"
    with pytest.raises(DeskError, match="lifted already"):
        ask("reject_block", block.id)


def test_models_tokens_webhooks_and_the_log(tmp_path, ask):
    (tmp_path / "m").write_bytes(b"not a model")
    with pytest.raises(DeskError) as caught:
        ask("add_model", tmp_path / "m")
    assert caught.value.problem.where == "body"
    assert ask("models") == []
    for method in ("promote", "retire"):
        with pytest.raises(DeskError, match="There is no model 'none'"):
            ask(method, "none")
    made = ask("make_token", f"new {ask.name}", "auditor")
    assert made.token.startswith("rarefind_auditor_")
    assert ask("revoke_token", made.name) in ask("tokens").tokens
    webhook = ask("make_webhook", "https://example.com", ["alert.raised"]).webhook
    assert ask("webhooks") == [webhook]
    assert ask("remove_webhook", webhook.id) == []
    page = ask("audit", 0, 1)
    assert (page.rows[0].number, page.next) == (1, 1)


def test_both_clients_can_do_all_that_there_is():
    for name, method in inspect.getmembers(DeskCalls, inspect.isfunction):
        if not name.startswith("_"):
            own = inspect.signature(getattr(Client, name))
            assert own == inspect.signature(getattr(AsyncClient, name))
            wanted = inspect.signature(method)
            assert own.parameters == wanted.parameters
            assert f"Call[{own.return_annotation}]" == wanted.return_annotation
            assert inspect.iscoroutinefunction(getattr(AsyncClient, name))


@pytest.mark.parametrize(
    ("method", "arguments", "times"),
    [
        ("take", (7,), 3),
        ("verdict", (7, "fraud"), 3),
        ("claim", ("p1",), 3),
        ("release", (7,), 1),
        ("make_token", ("ann", "auditor"), 1),
        ("save_rule", ("a", "b > 1"), 1),
    ],
)
def test_what_may_not_be_done_twice_is_sent_once(monkeypatch, method, arguments, times):
    monkeypatch.setattr("rarefind.desk.client._sync.sleep", lambda seconds: None)
    for failure in (httpx.ReadError("gone"), httpx.Response(504), httpx.Response(503)):
        sent = []

        def answer(request, failure=failure, sent=sent):
            sent.append(request)
            if isinstance(failure, Exception):
                raise failure
            return failure

        client = Client(token="t", retries=2, transport=httpx.MockTransport(answer))
        with client, pytest.raises(DeskError):
            getattr(client, method)(*arguments)
        assert len(sent) == times


def test_an_answer_of_something_else_is_told():
    def answer(request):
        return httpx.Response(200, text="<html>Sign in</html>")

    client = Client(token="t", transport=httpx.MockTransport(answer))
    with client, pytest.raises(DeskError, match="is this the address of a desk"):
        client.queue()


def test_settings_are_changed_and_approved(web, ask):
    (budget,) = [row for row in ask("settings") if row.name == "alerts.budget"]
    assert (budget.value, budget.declared, budget.changed_by) == (3, 3, None)
    changed = ask("change_setting", "alerts.budget", 7)
    assert (changed.value, changed.declared, changed.changed_by) == (7, 3, "admin")
    assert ask("queue").budget == 7
    assert ask("reset_setting", "alerts.budget").value == 3
    with pytest.raises(DeskError, match="from 0 to below 1") as caught:
        ask("change_setting", "alerts.random_share", 2.0)
    assert (caught.value.status, caught.value.problem.where) == (422, "value")
    ask("change_setting", "alerts.second_person", True)
    waiting = ask("change_setting", "alerts.second_person", False).waiting
    assert waiting in [each.id for each in ask("changes").changes]
    with pytest.raises(DeskError, match="another person"):
        ask("approve_change", "setting", waiting)
    assert ask("reject_change", "setting", waiting).state == "rejected"
    name = f"large{ask.name}".strip("/")
    ask("save_rule", name, "amount > 10", role="blocking", who="expert")
    found = ask("rule", name)
    assert found.role == "shadow"
    assert ask("approve_change", "rule", found.waiting).answered_by == "admin"
    assert ask("rule", name).role == "blocking"
    last = ask("change_setting", "alerts.second_person", False).waiting
    web.door.control.requests.approve(last, "eve", "setting")
    web.door.follow_settings()
