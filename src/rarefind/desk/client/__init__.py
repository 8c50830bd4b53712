"""Send transactions to a desk from Python, and work its queue."""

from rarefind.desk.client._answers import DeskError
from rarefind.desk.client._async import AsyncClient
from rarefind.desk.client._sync import Client
from rarefind.desk.records import Answer, Problem

__all__ = ["Answer", "AsyncClient", "Client", "DeskError", "Problem"]
