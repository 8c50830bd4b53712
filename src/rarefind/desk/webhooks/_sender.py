"""Sends one message: to the address that was checked, and reads little of what is answered."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from ssl import SSLContext
from types import TracebackType
from typing import Self

import httpx

from rarefind.desk.webhooks._addresses import AddressError, Place, find_place

__all__ = ["SendError", "Sender"]

#: Seconds for all of it: a server that answers a byte now and then does not hold the worker up.
_SECONDS = 10.0
#: Bytes of an answer that are read; a receiver has nothing to tell us but its status.
_ANSWER = 65_536


class SendError(Exception):
    """A message has not come; the sentence says why."""


class Sender:
    """Posts messages.

    A redirect is never followed, and settings of the environment such as a proxy are not used: both
    would lead past the check of the address.

    Parameters
    ----------
    allow_private : bool
        Whether messages may go to addresses of private networks.
    seconds : float
        So long one message may take.
    tls : SSLContext, optional
        Which certificates are trusted; by default those of the public authorities.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        seconds: float = _SECONDS,
        tls: SSLContext | None = None,
    ) -> None:
        self._allow_private, self._seconds = allow_private, seconds
        # A connection is to an address, and must not be used again for another name that it has.
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            verify=True if tls is None else tls,
            timeout=seconds,
            limits=httpx.Limits(max_connections=20, max_keepalive_connections=0),
        )

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> None:
        """Post a message; SendError unless the answer is 2xx."""
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._post(url, headers, body)
        except TimeoutError:
            raise SendError(f"There was no answer within {self._seconds:g} s.") from None
        except AddressError as error:
            raise SendError(str(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise SendError(f"It could not be reached ({type(error).__name__}).") from None
        if not 200 <= status < 300:
            raise SendError(f"It answered {status}.")

    async def _post(self, url: str, headers: dict[str, str], body: bytes) -> int:
        place = await find_place(url, allow_private=self._allow_private)
        *first, last = place.addresses
        for address in first:
            with suppress(httpx.ConnectError):  # nothing was sent
                return await self._post_to(place, address, headers, body)
        return await self._post_to(place, last, headers, body)

    async def _post_to(
        self, place: Place, address: str, headers: dict[str, str], body: bytes
    ) -> int:
        # We connect to the address itself, so that its name cannot stand for another one by now;
        # the certificate is still that of the name.
        request = self._client.build_request(
            "POST",
            place.url.copy_with(host=address),
            content=body,
            headers={**headers, "Host": place.url.netloc.decode("ascii")},
            extensions={"sni_hostname": place.host},
        )
        response = await self._client.send(request, stream=True)
        try:
            read = 0
            async for piece in response.aiter_raw():
                read += len(piece)
                if read > _ANSWER:
                    break
            return response.status_code
        finally:
            await response.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()
