"""Messages go to the internet, and not into the network of the desk, however it is written."""

import asyncio
import ipaddress
import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarefind.desk.webhooks import AddressError, check_url, is_public
from rarefind.desk.webhooks._addresses import find_place

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
]
NETWORKS = [
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
private_addresses = st.sampled_from(NETWORKS).flatmap(
    lambda network: st.integers(int(network[0]), int(network[-1])).map(ipaddress.IPv4Address)
)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused(address):
    assert not is_public(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(AddressError, match="private network: set allow_private = true"):
        check_url(f"https://{host}/hook")
    assert check_url(f"https://{host}/hook", allow_private=True).host == address


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111"])
def test_addresses_of_the_internet_are_taken(address):
    assert is_public(address)


@given(private_addresses)
def test_no_form_of_ipv6_hides_a_private_address(address):
    number = int(address)
    forms = [
        ipaddress.IPv6Address(0xFFFF << 32 | number),
        ipaddress.IPv6Address(number),
        ipaddress.IPv6Address(0x2002 << 112 | number << 80 | 1),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
        ipaddress.IPv6Address((0x64FF9B0001 << 80) | number),
        ipaddress.IPv6Address(0x20010000 << 96 | 0x08080808 << 64 | (number ^ 0xFFFFFFFF)),
    ]
    assert not is_public(str(address))
    assert not any(is_public(str(form)) for form in forms)


@given(st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address))
def test_an_address_is_public_only_if_all_lists_say_so(address):
    if is_public(str(address)):
        assert address.is_global
        assert not any(address in network for network in NETWORKS)


@given(st.text(max_size=40))
def test_whatever_is_given_as_a_url_is_read_or_refused_with_a_sentence(text):
    for url in (text, f"https://{text}", f"http://example.org/{text}"):
        with suppress(AddressError):
            assert check_url(url).scheme in ("http", "https")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://example.org/",
        "https://",
        "https:///hook",
        "https://user:pass@example.org/",
        "https://example.org/#x",
        "https://example.org/\r\nHost: other",
        "https://example.org/ x",
        "https://example.org/" + "x" * 2_000,
        "example.org/hook",
    ],
)
def test_what_is_not_a_plain_address_is_refused(url):
    with pytest.raises(AddressError):
        check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "url", ["http://localhost/", "http://2130706433/", "http://0x7f.1/", "http://127.1/"]
)
def test_names_are_judged_by_what_they_stand_for(url):
    with pytest.raises(AddressError):
        asyncio.run(find_place(url, allow_private=False))


def test_a_name_with_one_private_address_among_others_is_refused(monkeypatch):
    async def both(self, host, port, **_):
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("1.1.1.1", "10.0.0.7")
        ]

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", both)
    with pytest.raises(AddressError, match=r"'example.org' is 10\.0\.0\.7"):
        asyncio.run(find_place("https://example.org/", allow_private=False))
