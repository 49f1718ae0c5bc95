"""Several ranks of one run: they share the cache and the concurrency, and give the numbers and the manifest of one."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.judge_server import JudgeServer
from tests.lmms_eval_process import BIN, Outcome, lmms_eval

from .conftest import GENERATIONS, JUDGES, ROWS, TASK, Material, integrity, row_of, stored, varied

CALLS = ROWS * len(JUDGES) * GENERATIONS
CONCURRENCY = 4  # a judge, over all ranks


@contextlib.contextmanager
def three_servers() -> Iterator[dict[str, JudgeServer]]:
    """A server for each judge."""
    with contextlib.ExitStack() as stack:
        yield {judge: stack.enter_context(JudgeServer(varied(latency=0.05))) for judge in JUDGES}


def evaluated(material: Material, ranks: int) -> Outcome:
    """The rows judged on so many ranks with an empty cache, by judges whose means depend on judge and row alone."""
    folder = material.folder / f"ranks{ranks}"
    folder.mkdir()
    material = dataclasses.replace(material, home=folder / "home", profile=folder / "panel.toml")
    with three_servers() as servers:
        judged_by(material, servers)
        arguments = ("--model", "reference", "--tasks", TASK, "--log_samples")
        outcome = lmms_eval(folder / "output", *arguments, ranks=ranks, **material.variables())
    assert outcome.code == 0, outcome.text[-3000:]
    check_calls(material, servers)
    return outcome


def judged_by(material: Material, servers: Mapping[str, JudgeServer]) -> None:
    material.judged_at({judge: server.base_url for judge, server in servers.items()}, concurrency=CONCURRENCY)


def check_calls(material: Material, servers: Mapping[str, JudgeServer]) -> None:
    """180 requests in all, three a judge and row, never more at once than a judge's limit, all of them stored."""
    asked = Counter((judge, row_of(request.body)) for judge in JUDGES for request in servers[judge].requests)
    assert asked == {(judge, row): GENERATIONS for judge in JUDGES for row in range(ROWS)}
    assert all(server.most_at_once <= CONCURRENCY for server in servers.values())
    assert len(stored(material.home)) == CALLS
    assert integrity(material.home) == "ok"


def metrics(results: dict[str, Any]) -> dict[str, Any]:
    """A task's metrics without error bars."""
    return {name: value for name, value in results.items() if name.endswith(",none") and "_stderr" not in name}


def error_bars(results: dict[str, Any]) -> dict[str, float]:
    """Those that lmms-eval could compute. Its sums are not exact, so the order of the rows shows in the last digit."""
    return {name: value for name, value in results.items() if "_stderr" in name and value != "N/A"}


def scoring(material: Material, rank: int, ranks: int) -> subprocess.Popen:
    """`lmms-tasks score` of one rank's rows, under the variables that torchrun gives it."""
    mine = material.folder / f"answers{rank}.jsonl"
    mine.write_text("\n".join(material.answers.read_text().splitlines()[rank::ranks]))
    environment = {**os.environ, **material.variables(), "WORLD_SIZE": str(ranks), "RANK": str(rank)}
    command = [str(BIN / "lmms-tasks"), "score", TASK, str(mine), "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ranks_share_cache_and_concurrency(material, score):
    """Two processes that score a half each leave what one process reads without asking."""
    with three_servers() as servers:
        judged_by(material, servers)
        ranks = [scoring(material, rank, ranks=2) for rank in range(2)]
        told = [rank.communicate(timeout=120) for rank in ranks]
        assert [rank.returncode for rank in ranks] == [0, 0], told
        check_calls(material, servers)
        means = [json.loads(out)["results"][TASK]["w_sum,none"] for out, _ in told]
        whole = score()
        check_calls(material, servers)
    assert whole.metrics["w_sum,none"] == pytest.approx(sum(means) / 2, abs=1e-12)


@pytest.mark.long
def test_one_two_and_four_ranks_give_the_same_metrics_and_the_same_manifest(material):
    runs = {ranks: evaluated(material, ranks) for ranks in (1, 2, 4)}
    one = runs[1]
    assert metrics(one.results[TASK])["judged_coverage,none"] == 1.0
    for outcome in (runs[2], runs[4]):
        assert metrics(outcome.results[TASK]) == metrics(one.results[TASK])
        told, expected = outcome.manifest(TASK), one.manifest(TASK)
        numbers = [manifest.pop("metrics") for manifest in (told, expected)]
        assert told == expected
        assert metrics(numbers[0]) == metrics(numbers[1])
        assert error_bars(numbers[0]) == pytest.approx(error_bars(numbers[1]), rel=1e-12) and error_bars(numbers[0])
