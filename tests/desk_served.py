"""An app on a free port of this machine, in a thread."""

import socket
import threading
from contextlib import contextmanager

import uvicorn


@contextmanager
def served(app):
    """Serve an app; gives its address."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    ready = threading.Event()
    server.startup = _then(server.startup, ready)
    thread.start()
    assert ready.wait(20)
    try:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


def _then(startup, ready):
    async def run(sockets=None):
        await startup(sockets=sockets)
        ready.set()

    return run
