"""The cheapest correct HTTP: a request as bytes, one on its way at a time, and its answer."""

from __future__ import annotations

import socket
from typing import NamedTuple, Self


class Received(NamedTuple):
    """An answer: its status, its headers in lower case, and its content."""

    status: int
    headers: bytes
    content: bytes


def post_head(host: str, token: str) -> bytes:
    """What all requests with transactions begin with, up to the length of their body."""
    return (
        f"POST /transactions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: "
    ).encode()


class Connection:
    """A connection that is kept, for one request after another.

    Parameters
    ----------
    address : tuple of str and int
    token : str
    patience : float
        Seconds to wait for the desk, to connect and to answer; an OSError then.
    """

    def __init__(self, address: tuple[str, int], token: str, patience: float = 10.0) -> None:
        self._socket = socket.create_connection(address, timeout=patience)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = post_head(f"{address[0]}:{address[1]}", token)
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The socket's number, by which it is waited for."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, body: bytes) -> None:
        """Send a request; its answer is read before the next one is sent."""
        self._buffer = b""
        self._socket.sendall(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))

    def receive(self) -> Received | None:
        """Read what has come; None while the answer is not whole."""
        part = self._socket.recv(65_536)
        if not part:
            raise ConnectionResetError("the desk has closed the connection")
        self._buffer += part
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        headers = self._buffer[: end + 2].lower()
        begin = headers.index(b"\r\ncontent-length:") + 17
        length = int(headers[begin : headers.index(b"\r\n", begin)])
        if len(self._buffer) < end + 4 + length:
            return None
        return Received(int(self._buffer[9:12]), headers, self._buffer[end + 4 :])

    def ask(self, body: bytes) -> Received:
        """Send a request and wait for its answer."""
        self.send(body)
        while True:
            received = self.receive()
            if received is not None:
                return received
