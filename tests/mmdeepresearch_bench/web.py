"""A web on loopback: names that an injected resolver sends to one small server, and paths that behave as pages do."""

from __future__ import annotations

import gzip
import io
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher

ARTICLE = (
    "Solar output rose by twelve percent in 2024 because panel prices fell sharply across Europe. The largest growth was "
    "seen in Spain, where auctions had been held two years earlier and the grid had been strengthened in time. "
) * 3


def html(body: str, head: str = "") -> bytes:
    """A page with an article."""
    return f"<!doctype html><html><head><title>T</title>{head}</head><body><article>{body}</article></body></html>".encode()


def picture(kind: str = "PNG", size: tuple[int, int] = (64, 48)) -> bytes:
    """A small image file."""
    buffer = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(buffer, kind)
    return buffer.getvalue()


def pdf(text: str) -> bytes:
    """A PDF of one page with one line, written by hand: header, five objects, cross-reference table."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)


class Web:
    """Serves `routes` on 127.0.0.1: a path to (status, headers, body), or to a function that is given the handler.

    `asked` counts requests by path, `hosts` lists the Host header of each; `most_at_once` the largest number of
    requests under way together, by host.
    """

    def __init__(self, routes: dict[str, Any]):
        self.routes = routes
        self.asked: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.most_at_once: Counter[str] = Counter()
        self._under_way: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    def url(self, path: str, host: str = "news.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def fetcher(self, **settings: Any) -> Fetcher:
        """A fetcher for which every name of this web is this server, and the server alone is allowed."""
        return Fetcher(**{"resolver": self.resolve, "allowed": [("127.0.0.1", self.port)], **settings})

    def resolve(self, host: str, port: int) -> list[str]:
        if host.endswith(".test"):
            return ["127.0.0.1"]
        if host.endswith(".invalid"):
            raise socket.gaierror("Name or service not known")
        return [host]

    def __enter__(self) -> Web:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def note(self, path: str, headers: dict[str, str], change: int) -> None:
        host = headers.get("Host", "")
        with self._lock:
            if change > 0:
                self.asked[path] += 1
                self.headers.append(headers)
            self._under_way[host] += change
            self.most_at_once[host] = max(self.most_at_once[host], self._under_way[host])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that goes away early is what several pages are about


def _handler(web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.close_connection = True
            headers = {name: value for name, value in self.headers.items()}
            web.note(self.path, headers, +1)
            try:
                route = web.routes.get(self.path, (404, {}, b"no such page"))
                if callable(route):
                    route(self)
                else:
                    self.reply(*route)
            finally:
                web.note(self.path, headers, -1)

        def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def slow(seconds: float) -> Callable[[Any], None]:
    """Says nothing for so long."""

    def route(handler: Any) -> None:
        time.sleep(seconds)
        handler.reply(200, {}, html(ARTICLE))

    return route


def dripping(where: str, pause: float = 0.2) -> Callable[[Any], None]:
    """Sends its header or its body byte by byte, each within every read timeout."""

    def route(handler: Any) -> None:
        text = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n"
        if where == "body":
            handler.wfile.write(text + b"\r\n")
            text = b"x" * 1000
        else:
            text += b"X-Long: " + b"y" * 1000
        for byte in text:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(pause)

    return route


def endless(handler: Any) -> None:
    """Never stops sending."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>" + ARTICLE.encode())
    for _ in range(3000):
        handler.wfile.write(b"<p>more and more words of a page</p>" * 100)


def packed(body: bytes) -> tuple[int, dict[str, str], bytes]:
    """A gzip reply."""
    return 200, {"Content-Encoding": "gzip"}, gzip.compress(body)
