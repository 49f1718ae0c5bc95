"""The real `lmms-eval` and `lmms-tasks` commands, run as a user runs them, and the files that they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str
    output: Path | None = None

    @property
    def text(self) -> str:
        return self.stdout + self.stderr

    @property
    def results(self) -> dict[str, Any]:
        """The `results` of lmms-eval's results file; it must exist, since lmms-eval exits 0 when a run fails."""
        (path,) = self._files("*_results.json")
        return json.loads(path.read_text())["results"]

    def samples(self, task: str) -> list[dict[str, Any]]:
        """The sample log of a task."""
        return [json.loads(line) for line in self.log(task).read_text().splitlines()]

    def log(self, task: str) -> Path:
        """The path of a task's sample log."""
        (path,) = self._files(f"*_samples_{task}.jsonl")
        return path

    def manifest(self, task: str) -> dict[str, Any]:
        """The manifest of a task."""
        (path,) = self._files(f"*_lmms_tasks_{task}.json")
        return json.loads(path.read_text())

    def _files(self, pattern: str) -> list[Path]:
        found = sorted(self.output.rglob(pattern))
        assert found, f"no {pattern} in {self.output}; exit code {self.code}:\n{self.text[-4000:]}"
        return found


def lmms_eval(output: Path, *arguments: str, ranks: int = 1, **variables: str) -> Outcome:
    """Run `lmms-eval ARGUMENTS --output_path OUTPUT`, under torchrun for more than one rank."""
    command = [str(BIN / "lmms-eval")]
    if ranks > 1:
        # On a CPU `accelerate launch` runs one rank without a word.
        launcher = [str(BIN / "torchrun"), "--standalone", f"--nproc_per_node={ranks}"]
        command = [*launcher, "-m", "lmms_eval"]
    return _run([*command, *arguments, "--output_path", str(output)], output, variables)


def lmms_tasks(*arguments: str, **variables: str) -> Outcome:
    """Run `lmms-tasks ARGUMENTS`."""
    return _run([str(BIN / "lmms-tasks"), *arguments], None, variables)


def _run(command: list[str], output: Path | None, variables: dict[str, str]) -> Outcome:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    return Outcome(done.returncode, done.stdout, done.stderr, output)
