"""One HTTP exchange over a connection to a checked address, whole within one deadline.

httpx opens connections by host name, and its read timeout starts anew with each byte. Here the name is resolved and
checked once, the connection goes to what was checked, and every read and write has what is left until the deadline.
"""

from __future__ import annotations

import functools
import ssl
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future
from typing import Any

import httpcore
import httpx

from lmms_tasks.mmdeepresearch_bench.addresses import Resolver, Target, checked_target

DEADLINE = "deadline"  # key of a request's extensions: time.monotonic() at which it must be done
_TIMEOUT = httpcore.TimeoutException


class CheckedTransport(httpx.BaseTransport):
    """A transport with a connection of its own for each request.

    `resolver` and `allowed` are those of `checked_target`. Raises Refused for a forbidden address, httpx's errors for
    all else, among them `Unresolved` where the host does not exist.
    """

    def __init__(self, resolver: Resolver, allowed: Collection[tuple[str, int]] = ()):
        self._resolver = resolver
        self._allowed = frozenset(allowed)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = request.extensions[DEADLINE]
        try:
            target = checked_in_time(request.url, self._resolver, self._allowed, deadline)
        except (OSError, UnicodeError) as error:
            raise Unresolved(f"the host has no address ({error})") from None
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        connection = httpcore.HTTPConnection(
            url.origin,
            ssl_context=certificates() if request.url.scheme == "https" else None,
            network_backend=_Backend(target.addresses, deadline),
        )
        asked = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions={}
        )
        try:
            answer = _errors_translated(connection.handle_request, asked)
        except BaseException:
            connection.close()
            raise
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Stream(answer.stream, connection), extensions={}
        )


def checked_in_time(
    url: httpx.URL, resolver: Resolver, allowed: Collection[tuple[str, int]], deadline: float
) -> Target:
    """`checked_target` by the deadline: the system's resolver knows none, and a dead name server takes half a minute.

    Raises httpx.ConnectTimeout, and what `checked_target` does.
    """
    found: Future[Target] = Future()

    def check() -> None:
        try:
            found.set_result(checked_target(url, resolver, allowed))
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=check, name="resolve", daemon=True).start()
    try:
        return found.result(max(0.001, deadline - time.monotonic()))
    except futures.TimeoutError:
        raise httpx.ConnectTimeout("its name was not resolved in time") from None


class Unresolved(httpx.ConnectError):
    """The host name has no address."""


@functools.cache
def certificates() -> ssl.SSLContext:
    """The trusted certificates, read once a process."""
    return httpx.create_ssl_context()


class _Stream(httpx.SyncByteStream):
    """The body, read under the connection's deadline; closing it closes the connection."""

    def __init__(self, stream: Iterable[bytes], connection: httpcore.HTTPConnection):
        self._stream = stream
        self._connection = connection

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._stream)
        while (chunk := _errors_translated(next, chunks, None)) is not None:
            yield chunk

    def close(self) -> None:
        self._connection.close()


def _errors_translated(call: Any, *arguments: Any) -> Any:
    """Call, with httpcore's errors as httpx's."""
    try:
        return call(*arguments)
    except _TIMEOUT as error:
        raise httpx.ReadTimeout(str(error) or "no complete reply in time") from None
    except httpcore.ConnectError as error:
        raise httpx.ConnectError(str(error)) from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise httpx.ReadError(str(error) or type(error).__name__) from None


class _Backend(httpcore.NetworkBackend):
    """Connects to the given addresses in their order, whatever host it is asked for."""

    def __init__(self, addresses: tuple[str, ...], deadline: float):
        self._addresses = addresses
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        error: Exception = httpcore.ConnectError("no address")
        for position, address in enumerate(self._addresses):
            # What is left is shared, so that a dead first address leaves time for the second.
            share = _left(self._deadline) / (len(self._addresses) - position)
            try:
                return _DeadlineStream(self._inner.connect_tcp(address, port, timeout=share), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as found:
                error = found
        raise error


class _DeadlineStream(httpcore.NetworkStream):
    """A connection all of whose reads and writes end at one deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float):
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(self._deadline))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._inner.start_tls(ssl_context, server_hostname, _left(self._deadline))
        return _DeadlineStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("no complete reply in time")
    return left
