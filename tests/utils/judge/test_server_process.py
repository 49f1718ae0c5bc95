"""The test server as a process of its own, for tests of the real command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import tests.judge_server
from lmms_tasks.utils.judge.client import Client

from .conftest import verdict_text


def test_the_server_runs_as_a_process(judge_of, tmp_path: Path) -> None:
    port_file, log = tmp_path / "port", tmp_path / "log.jsonl"
    command = [sys.executable, tests.judge_server.__file__, "--port-file", str(port_file), "--log", str(log)]
    with subprocess.Popen([*command, "--reply-json", verdict_text(), "--models", "a", "b"]) as process:
        try:
            deadline = time.monotonic() + 20
            while not port_file.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            client = Client(judge_of(f"http://127.0.0.1:{port_file.read_text()}/v1"), pool=1)
            assert client.ask([{"role": "user", "content": "x"}]).text == verdict_text()
            assert client.models() == ["a", "b"]
            client.close()
        finally:
            process.terminate()
    assert json.loads(log.read_text())["body"]["model"] == "judge"
