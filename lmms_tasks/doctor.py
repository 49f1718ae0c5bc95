"""`lmms-tasks doctor`: can it run here, and what will it cost?

Each check is one line: what was looked at, whether it is in order, and the one thing to do if it is not.
"""

from __future__ import annotations

import difflib
import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, entry_points, version

import huggingface_hub.utils.logging

from lmms_tasks import __version__, sources
from lmms_tasks.benchmarks import TaskSpec, find_benchmarks
from lmms_tasks.utils.check import Check
from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge import panel_for, resolve, shared_cache
from lmms_tasks.utils.judge.cache import MODE
from lmms_tasks.utils.judge.health import judge_checks
from lmms_tasks.utils.redaction import redact

_LEAST_FREE = 2**30  # bytes under the home folder: replies, fetched pages and manifests of some runs
# Variables whose values never leave the process.
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
# What is read whatever the benchmark; each benchmark declares its own.
VARIABLES = (
    "LMMS_TASKS_HOME",
    "LMMS_TASKS_JUDGES",
    "LMMS_TASKS_CACHE",
    "LMMS_TASKS_DISABLE",
    "LMMS_TASKS_LOCKSTEP",
    "OPENAI_BASE_URL",
    "OPENAI_API_URL",
    "OPENAI_API_KEY",
    "RANK",
    "WORLD_SIZE",
)
_JUDGE = re.compile(r"LMMS_TASKS_JUDGE_[A-Z0-9_]+_(BASE_URL|API_KEY|MODEL)")


def diagnose(tasks: Sequence[TaskSpec], need_images: bool = True) -> Iterator[Check]:
    """All checks, the machine's first, then those of each task."""
    yield _versions()
    yield _file_locks()
    yield _plugin()
    yield from _home()
    yield _cache()
    yield from _variables()
    unreachable: dict[str, str] = {}
    for task in tasks:
        yield _rows(task, need_images, unreachable)
    yield from _requirements(tasks)
    for use, on_samples in sorted({(task.judge_use, task.on_samples) for task in tasks if task.judge_use}):
        yield from _judges(use, on_samples)
    for task in tasks:
        yield from _cost(task)


def _versions() -> Check:
    found = f"Python {sys.version.split()[0]}, lmms-tasks {__version__}, lmms-eval "
    try:
        installed = version("lmms-eval")
    except PackageNotFoundError:
        return Check("versions", False, found + "missing", "pip install 'lmms-eval>=0.7.3,<0.8'")
    if tuple(map(int, installed.split(".")[:2])) != (0, 7):
        return Check("versions", False, found + installed, "pip install 'lmms-eval>=0.7.3,<0.8'")
    return Check("versions", True, found + installed)


def _file_locks() -> Check:
    installed = version("filelock")
    try:
        importlib.import_module("filelock._api")
    except ModuleNotFoundError:
        advice = "pip install 'filelock<4.3': lmms-eval up to 0.7.3 fails with this one"
        return Check("filelock", False, installed, advice)
    return Check("filelock", True, installed)


def _plugin() -> Check:
    if os.environ.get("LMMS_TASKS_DISABLE", "") not in ("", "0"):
        return Check("plugin", False, "switched off by LMMS_TASKS_DISABLE", "unset LMMS_TASKS_DISABLE")
    if "lmms_tasks" not in {entry.name for entry in entry_points(group="lmms_eval.models")}:
        return Check("plugin", False, "lmms-eval does not see it", "install the package: pip install . in its checkout")
    return Check("plugin", True, "lmms-eval finds the tasks by itself")


def _home() -> Iterator[Check]:
    try:
        folder = home()
    except SystemExit as error:
        yield Check("home", False, "not usable", str(error.code))
        return
    try:
        # Rights that are there on paper are not always: full quotas, read-only mounts, folders of the system.
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        advice = f"set LMMS_TASKS_HOME to a folder that you can write to ({error.strerror})"
        yield Check("home", False, f"{folder} cannot be written", advice)
        return
    if folder.stat().st_mode & 0o077:
        yield Check("home", False, f"{folder} is open to others", f"chmod 700 {folder}: it holds judges' replies")
    else:
        yield Check("home", True, str(folder))
    free = shutil.disk_usage(folder).free
    advice = "" if free >= _LEAST_FREE else "free some space, or set LMMS_TASKS_HOME to a folder on another disk"
    yield Check("disk", free >= _LEAST_FREE, f"{free / 2**30:.1f} GiB free under {folder}", advice)


def _cache() -> Check:
    mode = os.environ.get(MODE, "")
    try:
        on_disk = shared_cache().on_disk
    except SystemExit as error:
        return Check("judge cache", False, "not usable", str(error.code))
    if mode == "off":
        return Check("judge cache", None, f"{MODE}=off: replies of judges are not kept")
    if not on_disk:
        advice = "move judge.sqlite of the home folder out of the way; a run would pay for every reply again"
        return Check("judge cache", False, "cannot be opened, so replies would be kept in memory only", advice)
    return Check("judge cache", True, f"usable ({MODE}={mode!r})")


def _variables() -> Iterator[Check]:
    """Every variable that is read, with its value; those that are not set in one line."""
    own = [
        name for benchmark, _ in find_benchmarks().values() for name in (benchmark.data_variable, *benchmark.variables)
    ]
    known = dict.fromkeys([*VARIABLES, *own])
    # Judges have names of the profile's choice.
    found = [name for name in os.environ if name in known or name.startswith("LMMS_TASKS_")]
    for name in sorted(found):
        value = "(set)" if any(word in name for word in _SECRET) else redact(os.environ[name])
        if name in ("RANK", "WORLD_SIZE") and not value.isdigit():
            yield Check(name, False, value, f"unset {name}, or let torchrun set it")
        elif name in known or _JUDGE.fullmatch(name):
            yield Check(name, None, value)
        else:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            advice = f"correct it to {close[0]}, or unset it" if close else ""
            yield Check(name, False if close else None, f"{value}; nothing reads it", advice)
    unset = [name for name in known if name not in found]
    yield Check("variables that are not set", None, ", ".join(unset) or "none")


def _rows(task: TaskSpec, need_images: bool, unreachable: dict[str, str]) -> Check:
    """`unreachable`: the datasets that the hub did not give, which are not asked for again."""
    dataset = task.config["dataset_path"]
    on_hub = not task.on_samples and not sources.local_source(task)
    if on_hub and dataset in unreachable:
        return Check(
            f"{task.name} rows", False, "not usable", f"as for {unreachable[dataset]}, whose dataset it shares"
        )
    asked = False

    def look() -> str:
        nonlocal asked
        # The hub's client tells of each attempt on a dead line; the check says it once.
        huggingface_hub.utils.logging.set_verbosity_error()
        task.benchmark.check(task)
        asked = True
        sources.check_rows(task, need_images)
        return f"the dataset {dataset} can be had" if on_hub else f"{len(sources.load_rows(task)):,} rows"

    check = _asked(f"{task.name} rows", look)
    if on_hub and asked and not check.ok:
        unreachable[dataset] = task.name
    return check


def _requirements(tasks: Sequence[TaskSpec]) -> Iterator[Check]:
    """What a benchmark needs beside rows and judges, such as encoders; each thing once."""
    seen: list[Check] = []
    for task in tasks:
        for check in task.benchmark.requirements(task):
            if check not in seen:
                seen.append(check)
                yield check


def _judges(use: str, on_samples: bool) -> Iterator[Check]:
    name = f"judges of {use}{' on samples' if on_samples else ''}"
    try:
        resolution = resolve(use, on_samples)
        panel = panel_for(use, on_samples)
    except SystemExit as error:
        yield Check(name, False, "the profile cannot be used", str(error.code))
        return
    if panel is None:
        yield Check(name, None, "none is configured, so judged metrics will be NaN", resolution.sentence or "")
        return
    if panel.profile.offline:
        yield Check(name, None, "offline: compares words, its numbers say nothing about a model")
        return
    yield from judge_checks(panel)


def _cost(task: TaskSpec) -> Iterator[Check]:
    """Calls, tokens and money of one run, by planning it with the gold answers in place of a model's."""
    if task.judge_use is None or not (task.on_samples or sources.local_source(task)):
        return
    try:
        panel = panel_for(task.judge_use, task.on_samples)
        rows = sources.load_rows(task) if panel and not panel.profile.offline else ()
    except SystemExit:
        return  # told already
    if not rows:
        return
    process_results, gold = task.hook("process_results"), task.hook("doc_to_target")
    answers = [str(gold(row)) for row in rows]
    if not any(answers):
        return  # without gold answers there is nothing to count calls in; `requirements` may tell the most
    with panel.planning() as plan:
        for row, answer in zip(rows, answers, strict=True):
            process_results(row, [answer])
    for cost in plan.costs():
        money = "no price in the profile" if cost["dollars"] is None else f"${cost['dollars']:.2f} for the prompts"
        shown = f" with {cost['images']:,} images" if cost["images"] else ""
        found = f"{cost['calls']:,} calls{shown}, about {cost['prompt_tokens']:,} tokens of prompts, {money}"
        yield Check(f"{task.name} by {cost['judge']}", None, found, facts=cost)


def _asked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except SystemExit as error:
        return Check(name, False, "not usable", str(error.code))
