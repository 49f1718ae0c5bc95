"""Which addresses may be fetched: a report is written by a model, and its links may point anywhere.

Only http and https, only ports 80 and 443, no credentials, and only hosts all of whose addresses are public. Whoever
connects uses the addresses that were checked here, so a name that answers differently the next time gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass

import httpx

PORTS = {"http": 80, "https": 443}
LONGEST_URL = 4000
# Addresses of a host: called with its name and the port, raises OSError (or UnicodeError) where there are none.
Resolver = Callable[[str, int], list[str]]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_IPv4_COMPATIBLE = ipaddress.ip_network("::/96")
# The only part of IPv6 that is public: site-local, translated and local NAT64 addresses lie outside (RFC 4291, 2.4).
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class Refused(Exception):
    """The address must not be fetched; the message says why."""


@dataclass(frozen=True)
class Target:
    """An address that may be asked: the URL without fragment, its host, its port, and the checked addresses."""

    url: httpx.URL
    host: str
    port: int
    addresses: tuple[str, ...]


def system_resolver(host: str, port: int) -> list[str]:
    """All addresses that the system knows for a host."""
    return list(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def parse_url(text: str, ports: Collection[int] = ()) -> httpx.URL:
    """The URL without its fragment.

    Args:
        ports: allowed beside 80 and 443.

    Raises:
        Refused: another scheme, another port, credentials, no host, or no URL at all.
    """
    if len(text) > LONGEST_URL:
        raise Refused("the address is too long")
    try:
        url = httpx.URL(text.strip())
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError, TypeError):
        raise Refused("no valid address") from None
    if url.scheme not in PORTS:
        raise Refused(f"the scheme {url.scheme or '(none)'} is not fetched")
    if not host:
        raise Refused("the address has no host")
    if url.userinfo:
        raise Refused("the address holds credentials")
    if (url.port or PORTS[url.scheme]) not in {*PORTS.values(), *ports}:
        raise Refused(f"the port {url.port} is not fetched")
    return url.copy_with(fragment=None)


def checked_target(url: httpx.URL, resolver: Resolver, allowed: Collection[tuple[str, int]] = ()) -> Target:
    """Resolve a host once and check every address that it has.

    Args:
        allowed: pairs of address and port that are fetched whatever they are; for tests.

    Raises:
        Refused: an address is not public, or the port is allowed for other addresses only.
        OSError, UnicodeError: the host has no address.
    """
    host = url.raw_host.decode("ascii").strip("[]")
    port = url.port or PORTS[url.scheme]
    addresses = resolver(host, port)
    if not addresses:
        raise OSError(f"{host} has no address")
    for address in addresses:
        if (address, port) in allowed:
            continue
        if port not in PORTS.values():
            raise Refused(f"the port {port} is not fetched")
        if not is_public(address):
            raise Refused(f"{host} has the address {address}, which is not public")
    return Target(url, host, port, tuple(addresses))


def is_public(address: str) -> bool:
    """Whether an address belongs to the public internet.

    Private, loopback, link-local (cloud metadata), CGNAT, multicast, reserved and unspecified addresses do not, nor
    does a v6 address that carries such a v4 address (mapped, compatible, 6to4, Teredo, NAT64).

    >>> is_public("93.184.216.34"), is_public("::ffff:127.0.0.1"), is_public("100.64.0.1")
    (True, False, False)
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = _carried(parsed)
        if inner is not None:
            return all(is_public(str(each)) for each in inner)
        if parsed not in _GLOBAL_UNICAST:
            return False
    return parsed.is_global and not (
        parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified or parsed.is_loopback or parsed.is_link_local
    )


def _carried(address: ipaddress.IPv6Address) -> tuple[ipaddress.IPv4Address, ...] | None:
    """The v4 addresses inside a v6 address, None if it carries none."""
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64 or (address in _IPv4_COMPATIBLE and int(address) > 1):
        return (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return None
