"""How many cited pages a second are fetched, read and stored, against one after another.

140 reports × 20 pages: 5 KB of HTML each, all different, 100 ms before the first byte, over 200 host names that an
injected resolver sends to one server on loopback, which runs in a process of its own. Text extraction and the snapshot
are part of what is measured. One after another is measured on the pages of `--sequential` reports.

python benchmarks/evidence.py [--reports 140] [--pages 20] [--hosts 200] [--latency 0.1] [--sequential 5]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_TEXT = """solar wind turbine panel price market country report capacity demand grid storage battery growth decade policy
river harbour bridge winter summer measure station council energy transport timber copper forest village"""
WORDS = _TEXT.split()


def page(path: str) -> bytes:
    """About 5 KB of HTML that differs for each path: navigation, an article of eight paragraphs, a footer."""
    chance = random.Random(path)
    paragraphs = [" ".join(chance.choices(WORDS, k=75)).capitalize() + "." for _ in range(8)]
    article = "".join(f"<p>{text}</p>" for text in paragraphs)
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS[:8])
    return (
        f"<!doctype html><html><head><title>{path}</title></head><body><nav><ul>{menu}</ul></nav><article><h1>{path}</h1>"
        f'{article}<img src="/growth.png" alt="growth"></article><footer>Imprint</footer></body></html>'
    ).encode()


async def _serve(port_file: str, latency: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(latency)
            body = page(head.split(b" ", 2)[1].decode())
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    waiting = Path(f"{port_file}.new")
    waiting.write_text(str(server.sockets[0].getsockname()[1]))
    waiting.rename(port_file)
    await server.serve_forever()


@contextlib.contextmanager
def loopback_web(latency: float) -> Iterator[int]:
    """The port of a server in a process of its own, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder) / "port"
        server = subprocess.Popen([sys.executable, __file__, "--serve", str(port), "--latency", str(latency)])
        try:
            while not port.exists():
                if server.poll() is not None:
                    raise SystemExit("The loopback server did not start.")
                time.sleep(0.01)
            yield int(port.read_text())
        finally:
            server.terminate()
            server.wait()


def measure(given: argparse.Namespace) -> dict[str, float]:
    """Pages a second side by side and one after another."""
    from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher
    from lmms_tasks.mmdeepresearch_bench.snapshot import Pages, Snapshot

    with loopback_web(given.latency) as port, tempfile.TemporaryDirectory() as folder:

        def reports(name: str, count: int) -> list[list[str]]:
            return [
                [
                    f"http://host{(report * given.pages + number) % given.hosts}.test:{port}/{name}/{report}/{number}"
                    for number in range(given.pages)
                ]
                for report in range(count)
            ]

        def fetcher() -> Fetcher:
            return Fetcher(resolver=lambda host, port: ["127.0.0.1"], allowed=[("127.0.0.1", port)])

        def run(name: str, count: int, side_by_side: bool) -> float:
            pages = Pages(Snapshot(Path(folder) / name), fetcher())
            todo = reports(name, count)
            began = time.perf_counter()
            batches = [[url for urls in todo for url in urls]] if side_by_side else [[u] for urls in todo for u in urls]
            for batch in batches:
                found = pages.get(batch)
                bad = [one for one in found.values() if one.state != "ok" or len(one.text) < 3000]
                assert not bad, bad[0]
            return count * given.pages / (time.perf_counter() - began)

        run("warm", 1, True)  # trafilatura's import is no part of a rate
        one = run("sequential", given.sequential, False)
        many = run("together", given.reports, True)
    return {"pages": given.reports * given.pages, "one_after_another": one, "side_by_side": many, "factor": many / one}


def main() -> None:
    """Measure, or serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=140)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds before each page")
    parser.add_argument("--sequential", type=int, default=5, help="reports that are fetched one page after another")
    parser.add_argument("--serve", metavar="PORT_FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(_serve(given.serve, given.latency))
        return
    measured = measure(given)
    print(json.dumps({**measured, "cores": os.cpu_count(), "load": os.getloadavg()[0]}, indent=2))


if __name__ == "__main__":
    main()
