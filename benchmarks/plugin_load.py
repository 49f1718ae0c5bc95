"""What the plugin adds to the start of every lmms-eval run: `python benchmarks/plugin_load.py [--json]`.

Each number comes from a process of its own. Two things are measured and held against the bound together:

- load: loading the entry point and calling it, in a process that has imported `lmms_eval.evaluator` with the plugin
  switched off, so that what lmms-eval imports anyway is not counted. A collection of garbage that falls into it goes
  through everything that lmms-eval has made; it counts, because our objects bring it on, and is shown apart;
- index: the wrapped `TaskManager.initialize_tasks` without lmms-eval's own tasks, so with nothing but what we add.

The third is which heavy packages our modules import where lmms-eval is not imported at all: none is allowed.
Exit code 1 if the bound or the rule is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from typing import Any

BOUND = 0.3  # seconds
HEAVY = ("openai", "torch", "transformers", "scipy")
REPEATS = 5

_LOAD_AND_INDEX = """
import gc, json, os, sys, time
from importlib.metadata import entry_points

os.environ["LMMS_TASKS_DISABLE"] = "1"
import lmms_eval.evaluator
del os.environ["LMMS_TASKS_DISABLE"]
for name in [name for name in sys.modules if name.partition(".")[0] == "lmms_tasks"]:
    del sys.modules[name]  # the switched-off entry point has imported two of them
from lmms_eval.tasks import TaskManager
manager = TaskManager(include_defaults=False)
before = set(sys.modules)
collections = []
gc.callbacks.append(lambda phase, info: collections.append(time.perf_counter()))

(entry,) = [found for found in entry_points(group="lmms_eval.models") if found.name == "lmms_tasks"]
start = time.perf_counter()
manifests = entry.load()()
load = time.perf_counter() - start
gc.callbacks.clear()
collected = sum(stop - begin for begin, stop in zip(collections[::2], collections[1::2]))
assert manifests, "the plugin did not load"
added = sorted(set(sys.modules) - before)

from lmms_tasks.benchmarks import read_catalogue

start = time.perf_counter()
ours = manager.initialize_tasks(include_defaults=False)
indexed = time.perf_counter()
type(manager).initialize_tasks.__wrapped__(manager)
without_us = time.perf_counter() - indexed
catalogue = read_catalogue()
assert set(ours) == {*catalogue.tasks, *catalogue.groups}, "lmms-eval and our catalogue see different tasks"
print(json.dumps({
    "load": load,
    "collected": collected,
    "index": indexed - start,
    "index_without_us": without_us,
    "names": len(ours),
    "packages": sorted({name.partition(".")[0] for name in added} - {"lmms_tasks"}),
}))
"""

_IMPORTS = """
import json, sys
import lmms_tasks.plugin, lmms_tasks.benchmarks
lmms_tasks.benchmarks.read_catalogue()
import lmms_tasks.harness
print(json.dumps(sorted(name for name in sys.modules if "." not in name)))
"""


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help=f"processes (default {REPEATS})")
    arguments = parser.parse_args()
    report = measure(arguments.repeats)
    print(json.dumps(report, indent=2) if arguments.json else _table(report))
    return 0 if report["within_bound"] and not report["heavy_imports"] else 1


def measure(repeats: int) -> dict[str, Any]:
    """Medians over `repeats` processes, in seconds, and the heavy packages that our imports bring in."""
    runs = [_run(_LOAD_AND_INDEX) for _ in range(repeats)]
    seconds = {key: [run[key] for run in runs] for key in runs[0] if isinstance(runs[0][key], float)}
    added = [run["load"] + run["index"] for run in runs]
    imported = _run(_IMPORTS)
    return {
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "processes": repeats,
        "names": runs[0]["names"],
        "seconds": {key: {"median": statistics.median(v), "highest": max(v)} for key, v in seconds.items()},
        "added": {"median": statistics.median(added), "highest": max(added)},
        "bound": BOUND,
        "within_bound": statistics.median(added) <= BOUND,
        "heavy_imports": [name for name in HEAVY if name in imported],
        "packages_that_lmms_eval_has_not": runs[0]["packages"],
    }


def _run(code: str) -> Any:
    """The JSON that the last line of a fresh process holds."""
    environment = {name: value for name, value in os.environ.items() if name != "LMMS_TASKS_DISABLE"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"A measured process failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _table(report: dict[str, Any]) -> str:
    told = {
        "load": "load the entry point",
        "collected": "(of it, collecting garbage)",
        "index": "index our tasks",
        "index_without_us": "(lmms-eval's index of its own tasks)",
    }
    lines = [
        f"Python {report['python']}, {report['cores']} cores, {report['processes']} processes, "
        f"{report['names']} tasks and groups",
        "",
        "| | median | highest |",
        "|---|---:|---:|",
    ]
    lines += [f"| {told[k]} | {v['median']:.3f} s | {v['highest']:.3f} s |" for k, v in report["seconds"].items()]
    added = report["added"]
    lines += [
        f"| **added to a run's start** | **{added['median']:.3f} s** | **{added['highest']:.3f} s** |",
        "",
        f"Bound for the median: {report['bound']} s: {'kept' if report['within_bound'] else 'BROKEN'}.",
        f"Heavy packages that our modules import: {', '.join(report['heavy_imports']) or 'none'}.",
        f"Packages that loading adds to lmms-eval's: {', '.join(report['packages_that_lmms_eval_has_not']) or 'none'}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
