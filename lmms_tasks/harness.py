"""The only file that touches what lmms-eval does not document.

Six wraps, each of which checks the signature that it needs and steps aside with a warning where it differs:

- `TaskManager.initialize_tasks`: adds our tasks and groups to the index;
- `TaskManager._get_config`: puts the user's local rows in place of the hub's;
- `simple_evaluate`: preflight before the model is created, an exit code for a run of ours that fails, `--baseline` for our
  items;
- `evaluate`: answers kept before they are scored, scoring threads, a manifest;
- `_run_generate_until_agentic`: plays our episodes side by side (`lockstep.py`);
- `positional_deprecated`, the decorator that lmms-eval puts on the last two: the entry point runs while
  `lmms_eval.evaluator` is half imported, and this is how they are wrapped before anybody can import them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks import benchmarks
from lmms_tasks.lockstep import NEEDS, with_lockstep

if TYPE_CHECKING:
    from lmms_tasks.run import Run

_TESTED = ("0.7.3",)
# lmms-eval's own number of scoring threads; a user who asks for another number gets it.
_DEFAULT_THREADS = 4


def install() -> None:
    """Install the wraps that can be installed while lmms-eval is being imported."""
    from lmms_eval import tasks, utils

    if version("lmms-eval") not in _TESTED:
        logger.warning(
            f"lmms-tasks was tested with lmms-eval {', '.join(_TESTED)}, this is {version('lmms-eval')}: check that its "
            "tasks behave as its README says."
        )
    manager = tasks.TaskManager
    _wrap(manager, "initialize_tasks", _with_our_tasks, needs=())
    _wrap(manager, "_get_config", _with_local_rows, needs=("name",))
    _wrap(utils, "positional_deprecated", _wrapping_evaluator, needs=("fn",))


def _wrap(owner: Any, name: str, wrapper: Callable[[Callable], Callable], needs: Sequence[str]) -> None:
    """Replace `owner.name` by `wrapper(owner.name)` once, if it exists with the parameters that we need."""
    original = getattr(owner, name, None)
    if hasattr(original, "_lmms_tasks"):
        return
    missing = set(needs) - set(inspect.signature(original).parameters) if callable(original) else {name}
    if missing:
        logger.warning(
            f"lmms-tasks leaves {getattr(owner, '__name__', owner)}.{name} alone: this lmms-eval has no "
            f"{', '.join(sorted(missing))} there, so what depends on it is missing."
        )
        return
    wrapped = functools.wraps(original)(wrapper(original))
    wrapped._lmms_tasks = True
    setattr(owner, name, wrapped)


def _with_our_tasks(original: Callable) -> Callable:
    def initialize_tasks(self: Any, *args: Any, **kwargs: Any) -> dict:
        _wrap_evaluator()
        index = original(self, *args, **kwargs)
        # Entries as lmms-eval makes them from `include_path`; it would parse each template again for every task.
        catalogue = benchmarks.read_catalogue()
        ours = {name: {"type": "task", "yaml_path": str(task.path)} for name, task in catalogue.tasks.items()}
        ours |= {
            name: {"type": "group", "task": -1, "yaml_path": str(group.path)}
            for name, group in catalogue.groups.items()
        }
        for name, entry in ours.items():
            path = index.setdefault(name, entry)["yaml_path"]
            if path == -1 or Path(path).resolve() != Path(entry["yaml_path"]).resolve():
                logger.warning(f"The task {name} of lmms-tasks is hidden by another of that name ({path}).")
        return index

    return initialize_tasks


def _with_local_rows(original: Callable) -> Callable:
    def get_config(self: Any, name: str) -> dict:
        config = original(self, name)
        task = benchmarks.read_catalogue().tasks.get(name)
        if task is None or not isinstance(config, dict):
            return config
        from lmms_tasks.sources import local_dataset

        return {**config, **local_dataset(task)}

    return get_config


def _wrapping_evaluator(original: Callable) -> Callable:
    def positional_deprecated(fn: Callable) -> Callable:
        decorated = original(fn)
        if fn.__module__ == "lmms_eval.evaluator" and fn.__name__ in _EVALUATOR:
            holder = type("evaluator", (), {fn.__name__: staticmethod(decorated)})
            wrapper, needs = _EVALUATOR[fn.__name__]
            _wrap(holder, fn.__name__, wrapper, needs)
            return getattr(holder, fn.__name__)
        return decorated

    return positional_deprecated


def _wrap_evaluator() -> None:
    """Wrap what the decorator did not reach, should lmms-eval stop using it."""
    evaluator = sys.modules.get("lmms_eval.evaluator")
    for name, (wrapper, needs) in _EVALUATOR.items():
        if hasattr(evaluator, name):
            _wrap(evaluator, name, wrapper, needs)
    if evaluator is not None:
        _wrap(evaluator, "_run_generate_until_agentic", with_lockstep, needs=NEEDS)


def _with_preflight(original: Callable) -> Callable:
    signature = inspect.signature(original)

    def simple_evaluate(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind_partial(*args, **kwargs).arguments
        names = [name for name in given.get("tasks") or () if isinstance(name, str)]
        tasks = benchmarks.read_catalogue().leaves(names)
        if not tasks:
            return original(*args, **kwargs)
        # Imported for runs of ours alone: every run of lmms-eval loads this file.
        from lmms_tasks.run import Run

        baseline = kwargs.get("baseline")
        if baseline and Path(baseline).exists() and all(benchmarks.read_catalogue().leaves([name]) for name in names):
            kwargs = {**kwargs, "baseline": None}  # it would read something else in our items
        tracker = given.get("evaluation_tracker")
        with Run.begin(
            tasks,
            output_path=getattr(tracker, "output_path", None),
            model=str(given.get("model")),
            model_args=str(given.get("model_args") or ""),
            date=given.get("datetime_str"),
            predict_only=bool(given.get("predict_only")),
        ) as run:
            run.preflight()
            if given.get("cli_args") is None:
                return _against_baseline(original(*args, **kwargs), baseline, tasks)
            try:
                return _against_baseline(original(*args, **kwargs), baseline, tasks)
            except Exception as error:
                # lmms-eval's command line would print this and exit with 0.
                traceback.print_exc()
                raise SystemExit(f"The run failed: {_sentence(error)}") from error

    return simple_evaluate


def _against_baseline(results: dict | None, baseline: str | None, tasks: Sequence[benchmarks.TaskSpec]) -> dict | None:
    if results is not None and baseline:
        from lmms_tasks.paired_baseline import compare_with_baseline

        compare_with_baseline(baseline, results, tasks)
    return results


def _with_manifest(original: Callable) -> Callable:
    signature = inspect.signature(original)

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        lm, all_tasks = bound.arguments["lm"], _leaf_tasks(bound.arguments["task_dict"])
        if hasattr(lm, "receive_tasks"):
            lm.receive_tasks(all_tasks)
        specs = benchmarks.read_catalogue().tasks
        ours = {name: task for name, task in all_tasks.items() if name in specs}
        if not ours:
            return original(*args, **kwargs)
        from lmms_tasks.run import Run

        run = Run.current() or Run([specs[name] for name in ours])
        threads = run.concurrency()
        if len(ours) == len(all_tasks) and bound.arguments["process_docs_parallel"] == _DEFAULT_THREADS:
            bound.arguments["process_docs_parallel"] = max(threads, _DEFAULT_THREADS)
        with _items_captured(ours, run), _answers_kept(lm, ours, run), run.interruptible():
            results = original(*bound.args, **bound.kwargs)
        if results is not None:
            run.write_manifests(results["results"], {name: task.eval_docs_no_media for name, task in ours.items()})
        return results

    return evaluate


def _leaf_tasks(task_dict: dict) -> dict[str, Any]:
    from lmms_eval.evaluator_utils import get_task_list

    return {output.task_name: output.task for output in get_task_list(task_dict) if output.task is not None}


@contextlib.contextmanager
def _items_captured(tasks: dict[str, Any], run: Run) -> Iterator[None]:
    """Keep each metric's items as its aggregator receives them: on rank 0, from all ranks, logged or not."""
    originals = {name: dict(task._aggregation_list) for name, task in tasks.items()}

    def capturing(name: str, metric: str, aggregate: Callable) -> Callable:
        def aggregate_and_keep(items: list) -> Any:
            run.items.setdefault(name, {})[metric] = items
            return aggregate(items)

        return aggregate_and_keep

    for name, task in tasks.items():
        for metric, aggregate in originals[name].items():
            task._aggregation_list[metric] = capturing(name, metric, aggregate)
    try:
        yield
    finally:
        for name, task in tasks.items():
            task._aggregation_list.update(originals[name])


def _scorings(tasks: dict[str, Any]) -> Iterator[tuple[benchmarks.TaskSpec, Callable[[], Any]]]:
    """Each answered row's task, and its scoring as lmms-eval will call it."""
    specs = benchmarks.read_catalogue().tasks
    for name, task in tasks.items():
        rows, score = task.eval_docs_no_media, task.config.process_results
        for instance in task.instances:
            if instance.resps and callable(score):
                results = [(answer or "").strip() for answer in instance.resps]
                yield specs[name], functools.partial(score, rows[instance.doc_id], results)


@contextlib.contextmanager
def _answers_kept(lm: Any, tasks: dict[str, Any], run: Run) -> Iterator[None]:
    """Write the answers to disk before they are scored: generating them may have taken days.

    `lm.clean()` is what lmms-eval calls between the two. The files go once the scores are there.
    """
    clean = lm.clean

    def keep_and_clean() -> None:
        for name, task in tasks.items():
            run.keep_answers(name, task.instances)
        run.announce(_scorings(tasks))
        clean()

    lm.clean = keep_and_clean
    try:
        yield
    except BaseException:
        run.tell_kept_answers()
        raise
    finally:
        lm.clean = clean
    run.drop_kept_answers()


def _sentence(error: BaseException) -> str:
    """The error in words; a RetryError hides the one that it retried."""
    attempt = getattr(error, "last_attempt", None)
    if attempt is not None and attempt.failed:
        error = attempt.exception()
    return f"{type(error).__name__}: {error}"


_EVALUATOR: dict[str, tuple[Callable[[Callable], Callable], tuple[str, ...]]] = {
    "simple_evaluate": (
        _with_preflight,
        ("model", "tasks", "cli_args", "evaluation_tracker", "datetime_str", "predict_only"),
    ),
    "evaluate": (_with_manifest, ("lm", "task_dict", "process_docs_parallel")),
}
