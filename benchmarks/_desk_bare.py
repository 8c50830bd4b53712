"""A bare FastAPI + Pydantic endpoint that only stores: what the desk is measured beside.

python benchmarks/_desk_bare.py FILE.db process|disk
"""

from __future__ import annotations

import socket
import sqlite3
import sys
from datetime import datetime

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

PATH, DURABILITY = sys.argv[1:]
database = sqlite3.connect(PATH, isolation_level=None, check_same_thread=False)
database.execute("PRAGMA journal_mode = wal")
database.execute(f"PRAGMA synchronous = {'NORMAL' if DURABILITY == 'process' else 'FULL'}")
database.execute("CREATE TABLE IF NOT EXISTS payments (id TEXT PRIMARY KEY, body TEXT NOT NULL)")
app = FastAPI()


class Payment(BaseModel):
    """The same columns as those of the desk."""

    transaction_id: str
    time: datetime
    amount: float
    customer: str
    terminal: str
    outcome: str
    country: str | None = None
    card_country: str | None = None
    ecommerce: bool | None = None
    merchant_category: str | None = None
    card_type: str | None = None
    card_limit: float | None = None


class Stored(BaseModel):
    """What is answered."""

    id: str
    decision: str


@app.post("/transactions")
async def store(payment: Payment) -> Stored:
    """Store a payment, and commit it."""
    database.execute(
        "INSERT INTO payments VALUES (?, ?)", (payment.transaction_id, payment.model_dump_json())
    )
    return Stored(id=payment.transaction_id, decision="accept")


@app.get("/readyz")
async def is_ready() -> dict[str, bool]:
    """Whether it runs."""
    return {"ready": True}


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as door:
        print(f"http://127.0.0.1:{door.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_level="error", access_log=False)
        uvicorn.Server(config).run(sockets=[door])
