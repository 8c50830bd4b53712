"""A desk to try: simulated weeks behind it, a queue to work, and payments that keep coming."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.desk.demo.filled import DemoDesk, make_demo_desk
    from rarefind.desk.demo.sender import PaymentSender
    from rarefind.desk.demo.world import DemoSize

__all__ = ["DemoDesk", "DemoSize", "PaymentSender", "make_demo_desk"]

_ROOM = "rarefind.desk.demo"
__getattr__ = lazily(
    __name__,
    {
        "DemoDesk": f"{_ROOM}.filled",
        "DemoSize": f"{_ROOM}.world",
        "PaymentSender": f"{_ROOM}.sender",
        "make_demo_desk": f"{_ROOM}.filled",
    },
)
