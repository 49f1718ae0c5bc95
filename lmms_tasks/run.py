"""One evaluation from our side: what is checked before it, kept during it, and written after it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from loguru import logger

from lmms_tasks import sources
from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge import Panel, panel_for, resolve
from lmms_tasks.utils.manifest import task_manifest, write_manifest

Items = dict[str, dict[str, list]]


@dataclass
class Run:
    """One evaluation of tasks of ours.

    Attributes:
        tasks: the tasks of ours in it.
        output_path: lmms-eval's `--output_path`, None if there is none.
        date: lmms-eval's own date of the run, the first part of its files' names.
        items: what each metric's aggregator received, by task and metric; filled on rank 0.
    """

    tasks: Sequence[TaskSpec]
    output_path: str | None = None
    model: str = ""
    model_args: str = ""
    date: str | None = None
    predict_only: bool = False
    items: Items = field(default_factory=dict)
    kept: dict[str, Path] = field(default_factory=dict)

    _current: ClassVar[Run | None] = None

    @classmethod
    @contextlib.contextmanager
    def begin(cls, tasks: Sequence[TaskSpec], **settings: Any) -> Iterator[Run]:
        """The run that `current()` gives while the block lasts."""
        before, cls._current = cls._current, cls(tasks, **settings)
        try:
            yield cls._current
        finally:
            cls._current = before

    @classmethod
    def current(cls) -> Run | None:
        """The run in progress, if any."""
        return cls._current

    def preflight(self, need_images: bool = True) -> None:
        """Check rows, images and judges in seconds, before a model is created; a run that cannot succeed ends here.

        Raises:
            SystemExit: one sentence that says what to do.
        """
        for task in self.tasks:
            # A benchmark's own words come first: it knows why it has no rows.
            task.benchmark.check(task)
            sources.check_rows(task, need_images)
        if self.predict_only:
            return
        for use, on_samples in sorted({(task.judge_use, task.on_samples) for task in self.tasks if task.judge_use}):
            resolution = resolve(use, on_samples)
            if resolution.profile is None:
                if _rank() == 0:
                    logger.warning(resolution.sentence)
                continue
            rubrics = {
                name: rubric
                for task in self.tasks
                if (task.judge_use, task.on_samples) == (use, on_samples)
                for name, rubric in task.benchmark.rubrics(task).items()
            }
            panel_for(use, on_samples).check(rubrics.values())

    def panels(self) -> list[Panel]:
        """The panels that this run asks, each once."""
        uses = {(task.judge_use, task.on_samples) for task in self.tasks if task.judge_use}
        found = [panel_for(*use) for use in sorted(uses)] if not self.predict_only else []
        return [panel for panel in found if panel is not None]

    def concurrency(self) -> int:
        """The number of rows that the panels of this run can judge at once; 1 where none is asked."""
        return max([1, *(panel.concurrency for panel in self.panels())])

    def announce(self, rows: Iterable[tuple[TaskSpec, Callable[[], Any]]]) -> None:
        """Have each judge's line logged: how many calls, how many cached, how many tokens, to which host.

        Args:
            rows: each row's task and its scoring, which the panels do not judge this once.
        """
        panels = [panel for panel in self.panels() if not panel.profile.offline]
        if not panels:
            return
        with contextlib.ExitStack() as stack:
            plans = [stack.enter_context(panel.planning()) for panel in panels]
            for task, score in rows:
                if task.judge_use:
                    score()
        for plan in plans:
            plan.announce()

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """While the block lasts, Ctrl-C ends every wait for a judge at once, and then does what it always does."""
        panels = self.panels()
        if not panels or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def stop(number: int, frame: Any) -> None:
            for panel in panels:
                panel.interrupt()
            if callable(before):
                before(number, frame)
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def keep_answers(self, name: str, instances: Iterable[Any]) -> None:
        """Write this rank's answers of a task to disk, as `lmms-tasks score` reads them."""
        folder = home() / "answers"
        folder.mkdir(exist_ok=True)
        stamp = datetime.now().strftime("%Y%m%d_%H%M%S")
        path = folder / f"{stamp}_{os.getpid()}_rank{_rank()}_{name}.jsonl"
        lines = [
            json.dumps(
                {"doc_id": instance.doc_id, "input": instance.args[0], "prediction": instance.resps}, ensure_ascii=False
            )
            for instance in instances
            if instance.resps and not instance.metadata.get("__padding_only__")
        ]
        if lines:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            self.kept[name] = path

    def tell_kept_answers(self) -> None:
        """Say where the answers of a run are that ended before its scores were there."""
        for name, path in self.kept.items():
            logger.error(f"The answers of {name} are kept; score them with: lmms-tasks score {name} {path}")

    def drop_kept_answers(self) -> None:
        """Remove the kept answers of a run that has its scores."""
        for path in self.kept.values():
            path.unlink(missing_ok=True)
        self.kept.clear()

    def manifests(self, results: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The manifest of each scored task by name."""
        return {
            task.name: task_manifest(
                task,
                items=self.items[task.name],
                metrics=results.get(task.name, {}),
                data=sources.describe(task, rows[task.name]),
                model={"name": self.model, "args": self.model_args},
            )
            for task in self.tasks
            if task.name in self.items and not self.predict_only
        }

    def write_manifests(self, results: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Any]) -> None:
        """Write each manifest beside lmms-eval's own files, or under `home()/runs`, and log its path."""
        try:
            for name, manifest in self.manifests(results, rows).items():
                logger.info(f"Manifest of {name}: {write_manifest(manifest, self._manifest_path(name))}")
        except Exception:
            # The results are there and lmms-eval has not saved them yet: a full disk here must not take them along.
            logger.exception("The manifest could not be written; the results are not affected.")

    def _manifest_path(self, name: str) -> Path:
        date = (self.date or datetime.now().strftime("%Y%m%d_%H%M%S")).replace(":", "-")
        folder = Path(self.output_path) / self._model_folder() if self.output_path else home() / "runs"
        return folder / f"{date}_lmms_tasks_{name}.json"

    def _model_folder(self) -> str:
        from lmms_eval.loggers.evaluation_tracker import GeneralConfigTracker
        from lmms_eval.utils import sanitize_model_name

        return sanitize_model_name(GeneralConfigTracker._get_model_name(self.model_args))


def _rank() -> int:
    return int(os.environ.get("RANK", 0))
