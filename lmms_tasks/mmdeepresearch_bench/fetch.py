"""Fetching what a report cites: bounded in time, size and concurrency, and only what may be fetched."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from lmms_tasks import __version__
from lmms_tasks.mmdeepresearch_bench.addresses import Refused, Resolver, parse_url, system_resolver
from lmms_tasks.mmdeepresearch_bench.content import Unsupported, kind_of, read_content, size_limit
from lmms_tasks.mmdeepresearch_bench.page import Page, State
from lmms_tasks.mmdeepresearch_bench.transport import (
    DEADLINE,
    CheckedTransport,
    Unresolved,
    certificates,
    checked_in_time,
)
from lmms_tasks.utils.redaction import HIDDEN, redact

CONTACT = "LMMS_TASKS_FETCH_CONTACT"
PROXY = "LMMS_TASKS_FETCH_PROXY"
SECONDS = 15.0  # for one address, redirects included
MOST_REDIRECTS = 5
AT_ONCE = 64
AT_ONCE_PER_HOST = 4
DEAD = frozenset({404, 410})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/pdf,image/png,image/jpeg,image/webp,image/gif,text/plain,*/*;q=0.1",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


def check_fetching() -> None:
    """SystemExit with one sentence if the contact or the proxy that the environment names cannot be used."""
    contact, proxy = (os.environ.get(name, "").strip() for name in (CONTACT, PROXY))
    if not contact.isascii() or not contact.isprintable():
        raise SystemExit(f"{CONTACT} is {contact!r}: give an e-mail or web address in plain letters, on one line.")
    if proxy and (why := _why_no_proxy(proxy)):
        raise SystemExit(f"{PROXY} is {_without_credentials(proxy)!r}, {why}.")


def _why_no_proxy(proxy: str) -> str:
    """What is wrong with a proxy's address, and what to do; "" for one that can be used."""
    advice = "which is no proxy's address: give one such as http://proxy.example:3128"
    try:
        url = httpx.URL(proxy)
        if url.scheme not in ("http", "https", "socks5", "socks5h") or not url.host or re.search(r"\s", proxy):
            return advice
        if not 0 < (url.port or 1) < 2**16:
            return advice
        httpx.HTTPTransport(proxy=proxy).close()
    except ImportError:
        return "and SOCKS needs a package: pip install 'httpx[socks]', or name an http proxy"
    except (httpx.InvalidURL, ValueError):
        return advice
    return ""


def _without_credentials(proxy: str) -> str:
    return re.sub(r"[^/\s]*@", f"{HIDDEN}@", redact(proxy))


class Fetcher:
    """Fetches addresses, many at once and few from one host. Thread-safe.

    Args:
        resolver: finds a host's addresses.
        allowed: pairs of address and port that may be fetched whatever they are. Both are for tests; no variable of
            the environment sets them.
        seconds: for one address with its redirects.
        proxy: makes the connections where one is given; every hop is checked before all the same.
    """

    def __init__(
        self,
        resolver: Resolver = system_resolver,
        allowed: Collection[tuple[str, int]] = (),
        seconds: float = SECONDS,
        at_once: int = AT_ONCE,
        at_once_per_host: int = AT_ONCE_PER_HOST,
        contact: str = "",
        proxy: str = "",
    ):
        self._resolver = resolver
        self._allowed = frozenset(allowed)
        self._seconds = seconds
        self._proxied = bool(proxy)
        transport = httpx.HTTPTransport(proxy=proxy, verify=certificates()) if proxy else None
        # Neither proxies nor credentials of the environment: a page gets what this file sends.
        self._client = httpx.Client(
            transport=transport or CheckedTransport(resolver, allowed),
            headers={**_HEADERS, "User-Agent": user_agent(contact)},
            follow_redirects=False,
            trust_env=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        self._threads = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="fetch")
        self._hosts: dict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(at_once_per_host))
        self._lock = threading.Lock()

    @classmethod
    def from_environment(cls) -> Fetcher:
        """The fetcher of a run, with the user's contact and proxy."""
        return cls(contact=os.environ.get(CONTACT, "").strip(), proxy=os.environ.get(PROXY, "").strip())

    def submit(self, url: str) -> Future[Page]:
        """Fetch in the background."""
        return self._threads.submit(self.fetch, url)

    def fetch_all(self, urls: Iterable[str]) -> dict[str, Page]:
        """Fetch each address once; the pages by address."""
        futures = {url: self.submit(url) for url in dict.fromkeys(urls)}
        return {url: future.result() for url, future in futures.items()}

    def fetch(self, url: str) -> Page:
        """Fetch one address and read what it holds. Never raises for anything that a page or its server does."""
        try:
            first = parse_url(url, self._ports)
        except Refused as error:
            return _page(url, "unsupported", f"refused: {error}", refused=True)
        with self._of_host(first.host):
            return self._follow(url, first, time.monotonic() + self._seconds)

    def close(self) -> None:
        """End threads and connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    @property
    def _ports(self) -> set[int]:
        return {port for _, port in self._allowed}

    def _of_host(self, host: str) -> threading.Semaphore:
        with self._lock:
            return self._hosts[host.casefold()]

    def _follow(self, url: str, hop: httpx.URL, deadline: float) -> Page:
        known = {"final_url": str(hop)}
        try:
            for _ in range(MOST_REDIRECTS + 1):
                known = {"final_url": str(hop)}
                reply = self._ask(hop, deadline)
                if isinstance(reply, Page):
                    return replace(reply, url=url)
                hop = reply
            return _page(url, "blocked", f"more than {MOST_REDIRECTS} redirects", **known)
        except Refused as error:
            return _page(url, "unsupported", f"refused: {error}", refused=True, **known)
        except Unresolved as error:
            return _page(url, "dead", str(error), **known)
        except httpx.TimeoutException:
            return _page(url, "timeout", f"not whole within {self._seconds:g} s", **known)
        except (httpx.HTTPError, zlib.error) as error:
            return _page(url, "blocked", f"{type(error).__name__}: {error}"[:300], **known)

    def _ask(self, hop: httpx.URL, deadline: float) -> Page | httpx.URL:
        """One hop: a page, or the address to which it redirects."""
        if self._proxied:
            self._check_before_proxy(hop, deadline)
        left = max(0.001, deadline - time.monotonic())
        request = self._client.build_request("GET", hop, timeout=left, extensions={DEADLINE: deadline})
        with closing(self._client.send(request, stream=True)) as response:
            if response.status_code in _REDIRECTS and (location := response.headers.get("location")):
                try:
                    return parse_url(str(hop.join(location)), self._ports)
                except (httpx.InvalidURL, ValueError):
                    raise Refused("a redirect to no valid address") from None
            known = {"final_url": str(hop), "status": response.status_code}
            if not response.is_success:
                state: State = "dead" if response.status_code in DEAD else "blocked"
                return _page("", state, f"status {response.status_code}", **known)
            return self._read(response, deadline, known)

    def _read(self, response: httpx.Response, deadline: float, known: dict[str, object]) -> Page:
        declared = response.headers.get("content-type", "")
        try:
            body, kind, cut = _body(response, declared, deadline)
            if cut and size_limit(kind) > size_limit("text/html"):
                raise Unsupported(f"it is larger than {size_limit(kind):,} bytes")
            content = read_content(kind, body, response.charset_encoding, str(known["final_url"]))
        except Unsupported as error:
            kind = declared.partition(";")[0].strip()[:100]
            return _page("", "unsupported", str(error), content_type=kind, **known)
        return Page(
            url="",
            state="ok",
            reason="only its beginning was read" if cut else "",
            content_type=content.content_type,
            sha256=hashlib.sha256(body).hexdigest(),
            text=content.text,
            image=content.image,
            images=tuple(content.images),
            fetched_at=_now(),
            **known,
        )

    def _check_before_proxy(self, hop: httpx.URL, deadline: float) -> None:
        try:
            checked_in_time(hop, self._resolver, self._allowed, deadline)
        except (OSError, UnicodeError):
            # It may exist for the proxy: that we cannot see it makes it neither dead nor safe.
            raise httpx.ConnectError("its address cannot be checked from here") from None


def user_agent(contact: str = "") -> str:
    """Who asks, and whom to write to about it."""
    return f"lmms-tasks/{__version__} (evaluation of cited sources{f'; {contact}' if contact else ''})"


def _body(response: httpx.Response, declared: str, deadline: float) -> tuple[bytes, str, bool]:
    """The body up to the limit of its kind, the kind, and whether more would have come."""
    body = bytearray()
    kind = ""
    for chunk in _decoded(response):
        body += chunk
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("not whole in time")
        if not kind and len(body) >= 1024:
            kind = kind_of(declared, bytes(body[:1024]))
        if kind and len(body) > size_limit(kind):
            return bytes(body[: size_limit(kind)]), kind, True
    return bytes(body), kind or kind_of(declared, bytes(body)), False


def _decoded(response: httpx.Response) -> Iterator[bytes]:
    """The body without its compression, in pieces of at most 256 KiB: a small reply can unpack to gigabytes."""
    encoding = response.headers.get("content-encoding", "identity").strip().casefold()
    if encoding in ("identity", ""):
        yield from response.iter_raw()
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Unsupported(f"the encoding {encoding} is not read")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
    for chunk in response.iter_raw():
        while chunk:
            yield unpack.decompress(chunk, 2**18)
            chunk = unpack.unconsumed_tail
            if unpack.eof:
                return


def _page(url: str, state: State, reason: str, **known: object) -> Page:
    return Page(url=url, state=state, reason=reason, fetched_at=_now(), **known)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
