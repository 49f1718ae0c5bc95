"""A run of the real command that is killed, and goes on from its transcripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from tests.lmms_eval_process import BIN, lmms_eval

COMMAND = ("--model", "amigo_random", "--tasks", "amigo_synthetic_noise10", "--log_samples")


@pytest.mark.long
def test_a_killed_run_goes_on_and_gives_the_transcripts_of_a_whole_one(tmp_path):
    whole = lmms_eval(tmp_path / "whole", *COMMAND).samples("amigo_synthetic_noise10")
    kept = tmp_path / "kept"
    # Few at a time, so that most have not begun when it is killed, however late that is seen on a busy machine.
    environment = {**os.environ, "AMIGO_TRANSCRIPTS": str(kept), "LMMS_TASKS_LOCKSTEP": "8"}
    command = [str(BIN / "lmms-eval"), *COMMAND, "--output_path", str(tmp_path / "killed")]
    with (tmp_path / "log").open("w") as log:
        run = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        # A start alone takes minutes where the machine has other work.
        deadline = time.monotonic() + 600
        while len(list(kept.rglob("*.json"))) < 5 and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait()
    ended, begun = len(list(kept.rglob("*.json"))), len(list(kept.rglob("*.jsonl")))
    assert 5 <= ended < 85 and begun > 0, (tmp_path / "log").read_text()[-3000:]
    resumed = lmms_eval(tmp_path / "resumed", *COMMAND, AMIGO_TRANSCRIPTS=str(kept)).samples("amigo_synthetic_noise10")
    assert [json.loads(one["filtered_resps"][0]) for one in resumed] == [
        json.loads(one["filtered_resps"][0]) for one in whole
    ]
    assert len(list(kept.rglob("*.json"))) == 85 and not list(kept.rglob("*.jsonl"))
