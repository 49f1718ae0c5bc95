"""How fast a panel judges, beside lmms-eval's stock pattern, and what a judged row costs in memory.

Speed: `--rows` management rows of MIRAGE-MMST, three judges × three generations, `--concurrency` calls at once in all,
a loopback server that answers after `--latency` seconds. The least possible time is calls × latency / concurrency. Ours
is the time of `lmms-tasks score` from before the first prompt is made until every verdict is stored and read; each of
the `--rounds` is a process with an empty cache. The stock pattern is lmms-eval's own judge provider, called nine times a
row, one call after another, in four threads (lmms-eval's default number).

Memory: peak resident memory of `lmms-tasks score` on 10³ and 10⁴ rows with and without a judge, each in a process of
its own; the judge reasons for `--reasoning` characters before each verdict.

python benchmarks/judge_throughput.py [speed|memory] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loopback_judge import loopback_judge

TASK = "mirage_mmst_mg"
JUDGES, GENERATIONS = 3, 3
CALLS_PER_ROW = JUDGES * GENERATIONS
STOCK_THREADS = 4
SIZES = (1_000, 10_000)
TARGET_RATIO, TARGET_SPEEDUP, TARGET_SLOPE = 1.25, 10.0, 20.0


def main() -> None:
    """Measure, and print a table or JSON."""
    given = _arguments()
    if given.what in _INSIDE:
        print(json.dumps(_INSIDE[given.what](given)))
        return
    told: dict[str, Any] = {"load_average_before": os.getloadavg()[0], "cores": os.cpu_count()}
    if given.what in ("all", "speed"):
        told["speed"] = speed(given)
    if given.what in ("all", "memory"):
        told["memory"] = memory(given)
    print(json.dumps(told, indent=2) if given.json else _table(told))


def speed(given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of the panel (median over rounds) and of the stock pattern, with their ratios."""
    calls = given.rows * CALLS_PER_ROW
    ideal = calls * given.latency / given.concurrency
    with loopback_judge(given.latency) as url:
        rounds = [
            _inside("panel", url, rows=given.rows, concurrency=given.concurrency)["seconds"]
            for _ in range(given.rounds)
        ]
        stock = _inside("stock", url, rows=given.stock_rows)
    ours = statistics.median(rounds)
    per_call = stock["seconds"] / (given.stock_rows * CALLS_PER_ROW)
    return {
        "rows": given.rows,
        "calls": calls,
        "latency": given.latency,
        "concurrency": given.concurrency,
        "ideal_seconds": ideal,
        "panel_rounds": rounds,
        "panel_seconds": ours,
        "panel_over_ideal": ours / ideal,
        "stock_rows_measured": given.stock_rows,
        "stock_seconds": per_call * calls,
        "stock_over_panel": per_call * calls / ours,
    }


def memory(given: argparse.Namespace) -> dict[str, Any]:
    """Peak resident memory in KB for each size, with and without a judge, and what each further row costs."""
    peaks: dict[str, dict[int, dict[str, float]]] = {"without": {}, "with": {}}
    with loopback_judge(0.0, given.reasoning) as url:
        for size in SIZES:
            peaks["without"][size] = _inside("peak", "", rows=size)
            peaks["with"][size] = _inside("peak", url, rows=size, concurrency=given.concurrency)
    low, high = SIZES
    slopes = {kind: (sizes[high]["peak_kb"] - sizes[low]["peak_kb"]) / (high - low) for kind, sizes in peaks.items()}
    return {
        "reasoning_characters": given.reasoning,
        "peaks": peaks,
        "kb_per_row": slopes,
        "judge_kb_per_row": slopes["with"] - slopes["without"],
    }


def _inside(what: str, url: str, **numbers: Any) -> dict[str, float]:
    """The same program in a process of its own, with a home of its own: nothing stored, nothing imported before."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("LMMS_TASKS_", "OPENAI_"))
        }
        environment |= {"LMMS_TASKS_HOME": home, "HF_HUB_OFFLINE": "1", "HF_HOME": home}
        options = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
        command = [sys.executable, __file__, what, "--url", url, *options]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{what} failed: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])


def _panel(given: argparse.Namespace) -> dict[str, float]:
    """Seconds from before the first prompt until every verdict is stored and read."""
    files = _files(given)
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.run import Run
    from lmms_tasks.scoring import score_rows
    from lmms_tasks.sources import load_rows

    task = read_catalogue().tasks[TASK]
    with Run.begin([task]) as run:
        run.preflight(need_images=False)
        rows = load_rows(task)
        answers = {position: [f"Answer {position}."] for position in range(given.rows)}
        began = time.perf_counter()
        items = score_rows(task, rows, answers, run.concurrency())
        seconds = time.perf_counter() - began
    valid = sum(
        verdict["status"] == "valid" and not verdict["cached"]
        for record in items["judged_coverage"]
        for judgement in record["judgements"]
        for verdict in judgement["verdicts"]
    )
    assert valid == given.rows * CALLS_PER_ROW, f"{valid} verdicts from {files}"
    return {"seconds": seconds}


def _stock(given: argparse.Namespace) -> dict[str, float]:
    """Seconds of lmms-eval's own judge provider, one call after another in each of four threads."""
    os.environ |= {"OPENAI_API_URL": given.url, "OPENAI_API_KEY": "none"}
    from lmms_eval.llm_judge.protocol import Request, ServerConfig
    from lmms_eval.llm_judge.providers.openai import OpenAIProvider

    provider = OpenAIProvider(ServerConfig(model_name="judge"))

    def process_results(position: int) -> list[int]:
        request = Request(messages=[{"role": "user", "content": f"Judge the answer {position}." + " text" * 400}])
        return [json.loads(provider.evaluate(request).content)["accuracy"] for _ in range(CALLS_PER_ROW)]

    began = time.perf_counter()
    with ThreadPoolExecutor(STOCK_THREADS) as threads:
        scores = list(threads.map(process_results, range(given.rows)))
    assert len(scores) == given.rows
    return {"seconds": time.perf_counter() - began}


def _peak(given: argparse.Namespace) -> dict[str, float]:
    """Peak resident memory in KB of `lmms-tasks score`, and how much of it imports alone take."""
    rows = _files(given)
    answers = rows.with_name("answers.jsonl")
    with answers.open("w") as file:
        for position in range(given.rows):
            file.write(json.dumps({"doc_id": position, "prediction": f"Answer {position}."}) + "\n")
    import datasets  # noqa: F401

    import lmms_tasks.mirage.hooks  # noqa: F401
    from lmms_tasks.cli import main

    imported = _peak_kb()
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert main(["score", TASK, str(answers), "--json"]) == 0
    return {"imports_kb": imported, "peak_kb": _peak_kb()}


def _peak_kb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform == "darwin" else float(peak)  # macOS counts bytes, Linux KB


def _files(given: argparse.Namespace) -> Path:
    """Write rows and, where there is a server, a profile; point the environment to them."""
    home = Path(os.environ["LMMS_TASKS_HOME"])
    rows = home / "standard.json"
    rows.write_text(
        json.dumps(
            [
                {
                    "id": f"row-{position}",
                    "question": f"What is wrong with plant {position}? " + "Its leaves are pale. " * 20,
                    "answer": f"Plant {position} lacks iron. " + "Lower the pH of the soil. " * 20,
                    "category": "Plant Disease Management",
                    "entity_name": "plant",
                }
                for position in range(given.rows)
            ]
        )
    )
    os.environ["MIRAGE_DATA"] = str(rows)
    if given.url:
        # The judges' limits add up to the concurrency that was asked for.
        limits = [given.concurrency // JUDGES + (n < given.concurrency % JUDGES) for n in range(JUDGES)]
        judges = "".join(
            f'[[mirage.mmst.judges]]\nname = "judge{n}"\nmodel = "judge{n}"\nbase_url = "{given.url}"\n'
            f"temperature = 0.6\nconcurrency = {limit}\n"
            for n, limit in enumerate(limits)
        )
        profile = home / "profile.toml"
        profile.write_text(f"[mirage.mmst]\ngenerations = {GENERATIONS}\n{judges}")
        os.environ["LMMS_TASKS_JUDGES"] = str(profile)
    return rows


_INSIDE = {"panel": _panel, "stock": _stock, "peak": _peak}


def _table(told: dict[str, Any]) -> str:
    lines = [f"load average before: {told['load_average_before']:.2f} on {told['cores']} cores"]
    if "speed" in told:
        found = told["speed"]
        how = (
            "in full"
            if found["stock_rows_measured"] == found["rows"]
            else f"{found['stock_rows_measured']} rows, scaled"
        )
        rounds = ", ".join(f"{seconds:.2f}" for seconds in found["panel_rounds"])
        lines += [
            "",
            f"{found['rows']} rows × {CALLS_PER_ROW} calls, {found['latency'] * 1000:.0f} ms, concurrency {found['concurrency']}",
            "| | seconds | |",
            "|---|---:|---|",
            f"| least possible | {found['ideal_seconds']:.2f} | calls × latency / concurrency |",
            f"| panel | {found['panel_seconds']:.2f} | {found['panel_over_ideal']:.3f} × the least "
            f"(at most {TARGET_RATIO}); rounds {rounds} |",
            f"| stock pattern, {STOCK_THREADS} threads | {found['stock_seconds']:.2f} | "
            f"{found['stock_over_panel']:.1f} × the panel (at least {TARGET_SPEEDUP:.0f}); {how} |",
        ]
    if "memory" in told:
        found = told["memory"]
        low, high = SIZES
        lines += [
            "",
            f"peak memory, a judge that reasons for {found['reasoning_characters']} characters",
            f"| | imports alone | {low} rows | {high} rows | a row more |",
            "|---|---:|---:|---:|---:|",
        ]
        for kind, sizes in found["peaks"].items():
            cells = [sizes[high]["imports_kb"], sizes[low]["peak_kb"], sizes[high]["peak_kb"]]
            shown = " | ".join(f"{kb / 1024:.1f} MB" for kb in cells)
            lines.append(f"| {kind} a judge | {shown} | {found['kb_per_row'][kind]:.2f} KB |")
        lines.append(f"| the judge's part | | | | {found['judge_kb_per_row']:.2f} KB (at most {TARGET_SLOPE:.0f}) |")
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "speed", "memory", *_INSIDE])
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=64, help="calls at once, all judges together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stock-rows", type=int, default=None, help="rows of the stock pattern; all by default")
    parser.add_argument("--reasoning", type=int, default=8000, help="characters before each verdict, for memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.stock_rows = given.stock_rows or given.rows
    return given


if __name__ == "__main__":
    main()
