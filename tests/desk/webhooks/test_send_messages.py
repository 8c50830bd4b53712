"""Messages come at least once, signed; what cannot come is tried again, and given up one day."""

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from desk.databases import KINDS, opener

from rarefind.desk.clock import ManualClock
from rarefind.desk.control import Audit
from rarefind.desk.webhooks import (
    Deliverer,
    NoSuchWebhook,
    Outbox,
    Sender,
    WebhookError,
    Webhooks,
    is_signed,
)
from rarefind.desk.webhooks._outbox import MOST_TRIES
from rarefind.desk.webhooks._sender import SendError

SECRET = b"s" * 32
NOON = 1_769_860_800 * 10**9


class Receiver(ThreadingHTTPServer):
    """A server that keeps what it is sent, and answers as it is told."""

    def __init__(self):
        self.answers, self.received, self.body = [], [], b"ok"
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", self.server.url)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def receiving():
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Desk:
    def __init__(self, database):
        self.database, self.clock = database, ManualClock(NOON)
        self.webhooks = Webhooks(
            database, SECRET, Audit(database, self.clock), self.clock, allow_private=True
        )
        self.outbox = Outbox(database, self.clock)

    def raise_alert(self, sequence, event="alert.raised"):
        with self.database.write() as writer:
            return self.outbox.add(writer, event, sequence, {"case": 7, "transaction": "p1"})

    def deliver(self, **settings):
        async def run():
            async with Sender(**{"allow_private": True, "seconds": 5.0} | settings) as sender:
                return await Deliverer(self.outbox, sender, SECRET, self.clock).deliver()

        return asyncio.run(run())

    def states(self):
        return self.database.read("SELECT state, tries, error FROM outbox ORDER BY number")


@pytest.fixture(params=KINDS)
def desk(request, tmp_path):
    database = opener(request.param, tmp_path)()
    yield Desk(database)
    database.close()


def test_a_message_comes_signed_and_once(desk):
    with receiving() as server:
        hook, secret = desk.webhooks.make(server.url, ["alert.raised"], "ann")
        assert (hook.made_by, hook.events, hook.waiting) == ("ann", ("alert.raised",), 0)
        assert desk.raise_alert(1) == 1
        assert desk.raise_alert(1, "case.opened") == 0
        assert desk.deliver() == 1
        assert desk.deliver() == 0
    ((headers, body),) = server.received
    assert json.loads(body) == {
        "id": "alert.raised:1",
        "event": "alert.raised",
        "made": "2026-01-31T12:00:00+00:00",
        "sequence": 1,
        "case": 7,
        "transaction": "p1",
    }
    assert headers["X-Rarefind-Id"] == "alert.raised:1"
    assert headers["Host"] == server.url.split("/")[2]
    now = NOON // 10**9
    assert is_signed(secret, headers, body, now + 200)
    assert not is_signed(secret, headers, body, now + 400)
    assert not is_signed(secret, headers, body + b" ", now)
    assert not is_signed(secret + "0", headers, body, now)
    assert not is_signed(secret, {}, body, now)
    assert desk.database.read("SELECT count(*) FROM webhooks WHERE salt = :s", s=secret) == [(0,)]


@pytest.mark.parametrize("status", [301, 307, 404, 500])
def test_what_is_not_taken_is_sent_again_later_with_the_same_id(desk, status):
    with receiving() as server:
        server.answers = [status]
        desk.webhooks.make(server.url, ["alert.raised"], "ann")
        desk.raise_alert(1)
        assert desk.deliver() == 0
        assert len(server.received) == 1  # a redirect was not followed
        assert desk.states() == [("waiting", 1, f"It answered {status}.")]
        assert desk.deliver() == 0
        assert len(server.received) == 1  # not before its time
        desk.clock.advance("10s")
        assert desk.deliver() == 1
    ids = [headers["X-Rarefind-Id"] for headers, _ in server.received]
    assert ids == ["alert.raised:1"] * 2
    assert desk.states() == [("delivered", 2, "")]


def test_one_that_fails_does_not_hold_up_newer_ones(desk):
    with receiving() as server:
        server.answers = [500]
        desk.webhooks.make(server.url, ["alert.raised"], "ann")
        desk.raise_alert(1)
        desk.raise_alert(2)
        assert desk.deliver() == 0
        desk.clock.advance("2s")
        assert desk.deliver() == 1
        desk.clock.advance("10s")
        assert desk.deliver() == 1
    ids = [headers["X-Rarefind-Id"] for headers, _ in server.received]
    assert ids == ["alert.raised:1", "alert.raised:2", "alert.raised:1"]


def test_after_a_day_of_tries_a_message_is_given_up_and_later_forgotten(desk):
    desk.webhooks.make("http://127.0.0.1:9/", ["alert.raised"], "ann")
    desk.raise_alert(1)
    begin, tries = desk.clock.now(), 0
    while desk.states()[0][0] == "waiting":
        (message,) = desk.outbox.due()
        desk.outbox.mark_failed(message, "It answered 500.")
        tries += 1
        for _ in range(1_000):
            if desk.outbox.due() or desk.states()[0][0] == "dead":
                break
            desk.clock.advance("1min")
    assert tries == MOST_TRIES
    assert 8 < (desk.clock.now() - begin) / 3_600e9 < 24
    assert (desk.webhooks.all()[0].dead, desk.webhooks.all()[0].failures) == (1, tries)
    assert desk.outbox.forget(desk.clock.now() + 1) == 1
    assert desk.states() == []


def test_a_clock_that_is_set_back_does_not_stop_messages(desk):
    desk.webhooks.make("http://127.0.0.1:9/", ["alert.raised"], "ann")
    desk.raise_alert(1)
    desk.outbox.mark_failed(desk.outbox.due()[0], "It answered 500.")
    assert desk.outbox.due() == []
    desk.clock.advance("-1D")
    assert len(desk.outbox.due()) == 1


def test_a_large_answer_is_not_read_and_a_slow_one_not_waited_for(desk):
    with receiving() as server:
        server.body = b"x" * 3_000_000
        desk.webhooks.make(server.url, ["alert.raised"], "ann")
        desk.raise_alert(1)
        assert desk.deliver() == 1

    async def never(reader, writer):
        await asyncio.sleep(60)

    async def run():
        listening = await asyncio.start_server(never, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        async with Sender(allow_private=True, seconds=0.2) as sender:
            with pytest.raises(SendError, match="no answer within"):
                await sender.send(url, {}, b"{}")
        listening.close()

    asyncio.run(run())


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_the_certificate_is_that_of_the_name_and_the_connection_to_the_address(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = f"-keyout {key} -out {certificate} -subj /CN=localhost"
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -addext subjectAltName=DNS:localhost "
        f"{made}".split(),
        check=True,
        capture_output=True,
    )
    with receiving() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        trusted = ssl.create_default_context(cafile=str(certificate))
        port = server.server_address[1]

        def send(host, tls):
            async def run():
                async with Sender(allow_private=True, seconds=5.0, tls=tls) as sender:
                    await sender.send(f"https://{host}:{port}/hook", {}, b"{}")

            asyncio.run(run())

        send("localhost", trusted)
        assert server.received[0][0]["Host"] == f"localhost:{port}"
        for host, tls in (("127.0.0.1", trusted), ("localhost", None)):
            with pytest.raises(SendError, match="could not be reached"):
                send(host, tls)
    assert len(server.received) == 1


def test_the_next_address_of_a_name_is_tried(monkeypatch):
    async def both(self, host, port, **_):
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("127.0.0.99", "127.0.0.1")
        ]

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", both)

    async def run(port):
        async with Sender(allow_private=True, seconds=5.0) as sender:
            await sender.send(f"http://example.org:{port}/hook", {}, b"{}")

    with receiving() as server:
        asyncio.run(run(server.server_address[1]))
    assert len(server.received) == 1


def test_a_private_address_is_refused_when_it_is_sent_to_as_well(desk):
    desk.webhooks.make("http://localhost:9/", ["alert.raised"], "ann")
    desk.raise_alert(1)
    assert desk.deliver(allow_private=False) == 0
    assert "private network" in desk.states()[0][2]


def test_an_endpoint_that_was_removed_gets_nothing_more(desk):
    hook, _ = desk.webhooks.make("http://127.0.0.1:9/", ["alert.raised", "case.opened"], "ann")
    desk.raise_alert(1)
    desk.webhooks.remove(hook.id, "bob")
    assert desk.outbox.due() == []
    assert desk.raise_alert(2) == 0
    assert desk.states() == [("dead", 0, "The webhook was removed.")]
    written = [
        (row.person, row.action, row.detail) for row in Audit(desk.database, desk.clock).read()
    ]
    assert written == [
        ("ann", "make webhook", {"host": "127.0.0.1", "events": ["alert.raised", "case.opened"]}),
        ("bob", "remove webhook", {}),
    ]
    with pytest.raises(NoSuchWebhook, match="There is no webhook"):
        desk.webhooks.remove(hook.id, "bob")


def test_mistakes_get_a_sentence(desk):
    with pytest.raises(WebhookError, match=r"The events are alert.raised, case.opened, and not"):
        desk.webhooks.make("https://example.org/", ["alert"], "ann")
    with pytest.raises(WebhookError, match="name one"):
        desk.webhooks.make("https://example.org/", [], "ann")
    for number in range(20):
        desk.webhooks.make(f"https://example.org/{number}", ["alert.raised"], "ann")
    with pytest.raises(WebhookError, match="There are 20 webhooks already"):
        desk.webhooks.make("https://example.org/", ["alert.raised"], "ann")
