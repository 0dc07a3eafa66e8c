"""Where a call comes from. A header says so only when a proxy wrote it that this program was told to trust."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TypeAlias

from starlette.types import Scope

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_IPV6_PREFIX = 64
"""What one customer is given at least: addresses within it are one."""


def parse_network(text: str) -> Network:
    """`10.0.0.0/8`, `192.0.2.7`, `2001:db8::/32`.

    Raises:
        ValueError: it is none.
    """
    return ipaddress.ip_network(text.strip())


def client_address(scope: Scope, trusted_proxies: Sequence[Network]) -> str | None:
    """Whom to count a call to: an IPv4 address, or the first 64 bits of an IPv6 address. None: this machine itself.

    The peer is believed, and of `X-Forwarded-For` what trusted proxies wrote: from the right, up to the first address
    that is none of theirs. Everything left of it came from the client, who may write there what he likes.
    """
    peer = _address_of((scope.get("client") or ("",))[0])
    if peer is None:
        return None
    found = peer
    if _is_within(peer, trusted_proxies):
        for hop in reversed(_forwarded(scope)):
            address = _address_of(hop)
            if address is None:
                break
            found = address
            if not _is_within(address, trusted_proxies):
                break
    if found.is_loopback or _is_within(found, trusted_proxies):
        return None
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _IPV6_PREFIX), strict=False))
    return str(found)


def _forwarded(scope: Scope) -> list[str]:
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [hop for value in values for hop in value.split(",")]


def _address_of(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped


def _is_within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)
