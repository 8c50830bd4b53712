"""Getting tables in."""

from typing import TYPE_CHECKING

from rarefind._core.lazy import lazily

if TYPE_CHECKING:
    from rarefind.data._encoder import TableEncoder
    from rarefind.data._features import transaction_features
    from rarefind.data._keel import list_keel, load_keel
    from rarefind.data._profile import Leak, TableProfile, profile_table
    from rarefind.data._published import list_published, load_published
    from rarefind.data._simulate import simulate_transactions
    from rarefind.data.bins import PositiveAwareBinner
    from rarefind.data.drift import DriftCounter, DriftReference
    from rarefind.data.read import read_chunks, read_table
    from rarefind.data.target import check_target

__all__ = [
    "DriftCounter",
    "DriftReference",
    "Leak",
    "PositiveAwareBinner",
    "TableEncoder",
    "TableProfile",
    "check_target",
    "list_keel",
    "list_published",
    "load_keel",
    "load_published",
    "profile_table",
    "read_chunks",
    "read_table",
    "simulate_transactions",
    "transaction_features",
]

__getattr__ = lazily(
    __name__,
    {
        "DriftCounter": "rarefind.data.drift",
        "DriftReference": "rarefind.data.drift",
        "Leak": "rarefind.data._profile",
        "PositiveAwareBinner": "rarefind.data.bins",
        "TableEncoder": "rarefind.data._encoder",
        "TableProfile": "rarefind.data._profile",
        "check_target": "rarefind.data.target",
        "list_keel": "rarefind.data._keel",
        "list_published": "rarefind.data._published",
        "load_keel": "rarefind.data._keel",
        "load_published": "rarefind.data._published",
        "profile_table": "rarefind.data._profile",
        "read_chunks": "rarefind.data.read",
        "read_table": "rarefind.data.read",
        "simulate_transactions": "rarefind.data._simulate",
        "transaction_features": "rarefind.data._features",
    },
)
