"""A way to a PostgreSQL server that can be cut, also in the middle of a commit."""

import socket
import threading
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from databases import postgresql_url


class Proxy:
    """Passes bytes on between clients and the server of the tests, until it is cut.

    ``cut_at_commit`` is None, "before" (the server never hears of the next commit) or "after" (it
    commits, and its answer is lost).
    """

    def __init__(self):
        parts = urlsplit(postgresql_url())
        self._server = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._user = parts.username
        self.cut_at_commit = None
        self._listener = None
        self._pairs = []
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"postgresql://{self._user}@127.0.0.1:{self.port}/postgres?sslmode=disable&gssencmode=disable"

    def start(self):
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self):
        """Refuse new connections, and cut all there are."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self):
        for pair in self._pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self._pairs.clear()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._pairs.append((client, server))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source, target):
        with suppress(OSError):
            while data := source.recv(65_536):
                if self.cut_at_commit is not None and b"COMMIT" in data:
                    when, self.cut_at_commit = self.cut_at_commit, None
                    self._end_at_commit(when, data, source, target)
                    return
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def _end_at_commit(self, when, data, client, server):
        """Close the client's side first, so that it never hears how the commit went."""
        client.shutdown(socket.SHUT_RDWR)
        if when == "after":
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)
