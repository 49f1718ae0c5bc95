"""A judge on loopback for measurements: one thread, raw asyncio, so that the server takes little of what is measured.

It answers GET …/models, and POST …/chat/completions after `--latency` seconds with one verdict that fits MIRAGE-MMST's
management rubric, after a reasoning block of `--reasoning` characters.

python benchmarks/loopback_judge.py --port-file FILE --latency 0.2
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

VERDICT = {"accuracy": 3, "relevance": 4, "completeness": 2, "parsimony": 3}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@contextlib.contextmanager
def loopback_judge(latency: float = 0.0, reasoning: int = 0) -> Iterator[str]:
    """The base URL of a server in a process of its own, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder) / "port"
        arguments = ["--port-file", str(port), "--latency", str(latency), "--reasoning", str(reasoning)]
        server = subprocess.Popen([sys.executable, __file__, *arguments])
        try:
            while not port.exists():
                if server.poll() is not None:
                    raise SystemExit("The loopback server did not start.")
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port.read_text()}/v1"
        finally:
            server.terminate()
            server.wait()


class _Connection(asyncio.Protocol):
    """One client's connection: requests one after another, as HTTP/1.1 without pipelining sends them."""

    def __init__(self, latency: float, completion: bytes, models: bytes):
        self._latency = latency
        self._completion = completion
        self._models = models
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._received, 0, end)
        if len(self._received) < end + 4 + (int(length[1]) if length else 0):
            return
        asked = self._received.startswith(b"POST")
        self._received.clear()
        if not asked:
            self._send(self._models)
        elif self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._send, self._completion)
        else:
            self._send(self._completion)

    def _send(self, response: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(response)


def _response(body: object) -> bytes:
    content = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


async def _serve(port_file: Path, latency: float, reasoning: int) -> None:
    thought = f"<think>{'The answer names the cause. ' * (reasoning // 28)}</think>\n" if reasoning else ""
    completion = _response(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "model": "judge",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": thought + json.dumps(VERDICT)},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 900, "completion_tokens": 40 + reasoning // 4},
        }
    )
    models = _response({"object": "list", "data": [{"id": "judge", "object": "model"}]})
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency, completion, models), "127.0.0.1", 0, backlog=512)
    # Renamed into place: whoever waits for the file never reads half of it.
    waiting = port_file.with_suffix(".new")
    waiting.write_text(str(server.sockets[0].getsockname()[1]))
    waiting.rename(port_file)
    await server.serve_forever()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port-file", required=True, type=Path, help="where the port is written once it listens")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--reasoning", type=int, default=0, help="characters of reasoning before each verdict")
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.port_file, given.latency, given.reasoning))


if __name__ == "__main__":
    main()
