"""A small real OpenAI-compatible server for tests, inside the test's process or as one of its own.

with JudgeServer(lambda body, n: '{"accuracy": 3}') as server:
    ...  # server.base_url, server.count, server.requests

python tests/judge_server.py --port-file F --reply-json '{"accuracy": 3}'
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    """How the server answers one request.

    `body`: text (the content of a chat completion), a mapping (the JSON body) or bytes (the body as it is). `latency`:
    seconds before the first byte. `drip`: seconds between single bytes of the body. `drop`: close the connection
    without a word, after `latency`; `cut`: send only so many bytes of the body, then close; with `reset`, either ends
    the connection with a TCP reset in place of an orderly close.
    """

    body: str | Mapping[str, Any] | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0
    drip: float = 0.0
    drop: bool = False
    cut: int | None = None
    reset: bool = False


@dataclass(frozen=True)
class Request:
    """A chat request that the server got; `at_once`: how many were under way when it came, itself included."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    time: float
    at_once: int = 1

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]


# What a script may return, and the script itself: called with a request's body and its number, counted from 0.
Reply = str | Mapping[str, Any] | Answer
Script = Callable[[dict[str, Any], int], Reply]


def token_logprobs(tokens: Sequence[str], **others: Mapping[str, float]) -> dict[str, Any]:
    """The `logprobs` of a choice: each token with −0.1, and under its number (`t0`, `t1`, …) what else was likely there."""
    listed = []
    for number, token in enumerate(tokens):
        likely = others.get(f"t{number}", {token: -0.1})
        top = [{"token": other, "logprob": logprob, "bytes": None} for other, logprob in likely.items()]
        listed.append({"token": token, "logprob": likely.get(token, -0.1), "bytes": None, "top_logprobs": top})
    return {"content": listed, "refusal": None}


def completion(
    content: Any,
    model: str = "judge",
    finish_reason: str = "stop",
    logprobs: Mapping[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "logprobs": logprobs,
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


class JudgeServer:
    """Serves POST …/chat/completions by a script and GET …/models on 127.0.0.1, at a port of the system's choice.

    `models`: the names that are listed, or an `Answer` for that request. `requests` are the chat requests so far,
    `count` their number, `models_count` that of the others, `most_at_once` the largest number under way together.
    """

    def __init__(self, script: Script | Reply, models: list[str] | Answer | None = None, port: int = 0):
        self._script: Script = script if callable(script) else lambda body, n: script
        self._models = models if models is not None else ["judge"]
        self._lock = threading.Lock()
        self._under_way = 0
        self.requests: list[Request] = []
        self.models_count = 0
        self.most_at_once = 0
        self._http = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        return len(self.requests)

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and break every connection, as a server that dies does."""
        self._http.shutdown()
        self._http.break_connections()
        self._http.server_close()
        self._thread.join()

    def chat(self, body: dict[str, Any], headers: dict[str, str], path: str) -> Answer:
        """Note a chat request and let the script answer it."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(Request(body, headers, path, time.monotonic(), self._under_way))
        reply = self._script(body, number)
        answer = reply if isinstance(reply, Answer) else Answer(reply)
        if isinstance(answer.body, str):
            return replace(answer, body=completion(answer.body, model=body.get("model", "judge")))
        return answer

    def list_models(self) -> Answer:
        """Note a request for the models and answer it."""
        with self._lock:
            self.models_count += 1
        if isinstance(self._models, Answer):
            return self._models
        listed = [{"id": name, "object": "model", "created": 1700000000, "owned_by": "test"} for name in self._models]
        return Answer({"object": "list", "data": listed})

    @property
    def connections(self) -> int:
        """How many connections were opened so far."""
        return self._http.opened

    def under_way(self, change: int) -> None:
        """Count a request that begins or ends."""
        with self._lock:
            self._under_way += change
            self.most_at_once = max(self.most_at_once, self._under_way)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, *arguments: Any):
        self._connections: set[socket.socket] = set()
        self.opened = 0
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        self.opened += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        for connection in list(self._connections):
            self._break(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that went away is what several tests are about

    @staticmethod
    def _break(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # closed meanwhile
            connection.shutdown(socket.SHUT_RDWR)


def _handler(server: JudgeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Without it, a reply in two writes waits 40 ms for the client's delayed acknowledgement.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if self.path.split("?")[0].endswith("/models"):
                self._send(server.list_models())
            else:
                self._send(Answer({"error": {"message": f"no such path: {self.path}"}}, 404))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            server.under_way(+1)
            try:
                if self.path.split("?")[0].endswith("/chat/completions"):
                    self._send(server.chat(body, dict(self.headers), self.path))
                else:
                    self._send(Answer({"error": {"message": f"no such path: {self.path}"}}, 404))
            finally:
                server.under_way(-1)

        def _send(self, answer: Answer) -> None:
            time.sleep(answer.latency)
            if answer.drop:
                self._end(answer)
                return
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if answer.cut is not None:
                self.wfile.write(body[: answer.cut])
                self._end(answer)
            elif answer.drip:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(answer.drip)
            else:
                self.wfile.write(body)

        def _end(self, answer: Answer) -> None:
            self.close_connection = True
            if answer.reset:
                # Closed with a linger time of zero, a socket sends RST and forgets what was not delivered.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(self.connection.detach())

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def main() -> None:
    """Serve one reply for every request until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port-file", required=True, help="where the base URL's port is written once it listens")
    parser.add_argument("--reply-json", required=True, help="the content of every reply")
    parser.add_argument("--status", type=int, default=200, help="for errors: the reply is then the whole body")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--models", nargs="*", default=None, help="names that GET /models lists")
    parser.add_argument("--log", help="file that gets one JSON line for each request")
    given = parser.parse_args()

    def script(body: dict[str, Any], number: int) -> Reply:
        if given.log:
            with open(given.log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"n": number, "body": body}) + "\n")
        content = given.reply_json if given.status == 200 else given.reply_json.encode()
        return Answer(content, given.status, latency=given.latency)

    with JudgeServer(script, given.models) as server:
        # Renamed into place: whoever waits for the file never reads half of it.
        waiting = Path(f"{given.port_file}.new")
        waiting.write_text(str(server.port))
        waiting.rename(given.port_file)
        threading.Event().wait()


if __name__ == "__main__":
    main()
