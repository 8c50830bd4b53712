"""Where a message may be sent: not into the network that the desk itself is in.

Who may name an address for messages could otherwise have the desk ask what only it can reach: the
page of a router, a database, the credentials that a cloud gives to its machines.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, TypeAlias

import httpx

__all__ = ["AddressError", "Place", "check_url", "find_place", "is_public"]

Address: TypeAlias = IPv4Address | IPv6Address
_LONGEST_URL = 2_000
#: So many addresses of a name are tried.
_MOST = 4
_PORTS = {"http": 80, "https": 443}
#: Ranges whose last 32 bits are an IPv4 address that a gateway or the system itself reaches.
_TRANSLATED = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
#: All of IPv6 that the internet has been given so far.
_UNICAST = IPv6Network("2000::/3")


class AddressError(ValueError):
    """A message is not sent to this address; the sentence says why."""


class Place(NamedTuple):
    """Where a name was found to be: only addresses that were looked at are called."""

    url: httpx.URL
    host: str
    addresses: list[str]


def check_url(url: str, *, allow_private: bool = False) -> httpx.URL:
    """Read the URL of an endpoint; an error says why no message is sent there.

    What its name stands for is looked up before each message, since it can change at any time.
    """
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError(
            f"The address has at most {_LONGEST_URL:,} printable ASCII characters, and no space."
        )
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL:
        raise AddressError(f"{url!r} is not a URL: give https://….") from None
    if read.scheme not in _PORTS or not read.host:
        raise AddressError(f"{url!r} does not begin with https:// or http:// and a host.")
    if read.userinfo or read.fragment:
        raise AddressError("The address has a password or a fragment: leave it out.")
    if not allow_private and _is_literal(read.host):
        _check(read.host, read.host)
    return read


async def find_place(url: str, *, allow_private: bool) -> Place:
    """Look up the host of a URL, and return the addresses to connect to.

    If one of its addresses may not be called, none is: a name that stands for both is a trap.
    """
    read = check_url(url, allow_private=allow_private)
    port = read.port or _PORTS[read.scheme]
    host = read.raw_host.decode("ascii")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            read.host, port, type=socket.SOCK_STREAM
        )
    except (OSError, UnicodeError):
        raise AddressError(f"The name {host!r} cannot be found.") from None
    addresses = list(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))
    if not addresses:
        raise AddressError(f"The name {host!r} cannot be found.")
    if not allow_private:
        for address in addresses:
            _check(address, host)
    return Place(read, host, addresses[:_MOST])


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet, whichever way it is written."""
    return _is_public(ip_address(address))


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        inside = _inner(address)
        if inside:
            return all(map(_is_public, inside))
        if address not in _UNICAST:
            return False
    # One by one, since versions of Python differ in what they count among the others.
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def _inner(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for, where it does."""
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        return [address.sixtofour]
    if address.teredo is not None:
        return list(address.teredo)
    if any(address in each for each in _TRANSLATED):
        return [IPv4Address(int(address) & 0xFFFF_FFFF)]
    return []


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _check(address: str, host: str) -> None:
    if not is_public(address):
        named = address if address == host else f"{host!r} is {address}, which"
        raise AddressError(
            f"{named} is an address of a private network: set allow_private = true under "
            "[webhooks] in desk.toml if messages may go there."
        )
