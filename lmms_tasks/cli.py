"""The command `lmms-tasks`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lmms_tasks import __version__, benchmarks
from lmms_tasks.benchmarks import Catalogue, TaskSpec


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 with one sentence on standard error, or 2 for wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except KeyboardInterrupt:
        print(
            "Stopped. Replies of judges that had arrived are stored; the same command goes on from there.",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has seen enough; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lmms-tasks", description="Benchmarks for lmms-eval, and what comes after a run."
    )
    parser.add_argument("--version", action="version", version=f"lmms-tasks {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser(
        "list", help="tasks, groups and metrics with their direction, and where rows come from"
    )
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list)

    path = commands.add_parser("path", help="the folder for lmms-eval's --include_path")
    path.set_defaults(run=_path)

    doctor = commands.add_parser("doctor", help="can it run here, and what will it cost? exit code 1 if it cannot")
    doctor.add_argument("tasks", metavar="TASK", nargs="*", help="tasks or groups whose rows and judges are looked at")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=_doctor)

    score = commands.add_parser("score", help="score answers that were made elsewhere")
    score.add_argument("task", metavar="TASK", help="a task, or a group whose files are lmms-eval's sample logs")
    score.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help='lmms-eval sample log, JSON lines of {"doc_id"|"id", "prediction"}, official inference file, result folder',
    )
    score.add_argument("--data", metavar="FILE", help="rows in place of the hub's: a file or a folder")
    score.add_argument("--judges", metavar="PROFILE", help="a judge profile: paper, single, offline, or a file")
    score.add_argument("--answer-key", metavar="NAME", help="the column that holds the answer")
    score.add_argument("--table", action="store_true", help="FILE is a table of scores, one line a row: aggregate it")
    score.add_argument("--offline", action="store_true", help="fetch no page: use those that are stored")
    score.add_argument("--output", metavar="DIR", type=Path, help="write results, items and manifest there")
    score.add_argument("--json", action="store_true", help="print JSON and nothing else on standard output")
    score.set_defaults(run=_score)

    from lmms_tasks.report.commands import add_compare, add_report

    add_report(commands.add_parser("report", help="one page about one or many runs"))
    add_compare(
        commands.add_parser("compare", help="two runs of one task, row by row: the difference and how sure it is")
    )

    preparing = {
        name: benchmark
        for name, (benchmark, _) in benchmarks.find_benchmarks().items()
        if benchmark.prepare is not None
    }
    if preparing:
        prepare = commands.add_parser("prepare", help="build images or episodes from the user's own sources")
        subjects = prepare.add_subparsers(required=True, metavar="BENCHMARK")
        for name, benchmark in preparing.items():
            benchmark.prepare(subjects.add_parser(name, help=benchmark.title))
    return parser


def _list(arguments: argparse.Namespace) -> int:
    catalogue = benchmarks.read_catalogue()
    if arguments.json:
        print(json.dumps(_listing(catalogue), indent=2))
        return 0
    for group in catalogue.groups.values():
        print(f"{group.name}  (group)  {', '.join(group.members)}")
    for task in catalogue.tasks.values():
        entry = _task_entry(task)
        print(f"\n{task.name}  v{task.version}  {task.benchmark.title}")
        print(f"  rows     {entry['rows']}")
        print(f"  judge    {entry['judge'] or 'none'}")
        arrows = (f"{m['name']} {'↑' if m['higher_is_better'] else '↓'}" for m in entry["metrics"])
        print(f"  metrics  {', '.join(arrows)}")
    return 0


def _listing(catalogue: Catalogue) -> dict[str, Any]:
    return {
        "tasks": [_task_entry(task) for task in catalogue.tasks.values()],
        "groups": [
            {"name": group.name, "members": list(group.members), "averages": list(group.averages)}
            for group in catalogue.groups.values()
        ],
    }


def _task_entry(task: TaskSpec) -> dict[str, Any]:
    hub = f"{task.config['dataset_path']} ({task.config.get('dataset_name')}, {task.split})"
    return {
        "name": task.name,
        "version": task.version,
        "benchmark": task.benchmark.name,
        "rows": "shipped samples" if task.on_samples else f"{hub} or {task.benchmark.data_variable}",
        "judge": task.judge_use,
        "metrics": [{"name": m.name, "higher_is_better": m.higher_is_better} for m in task.metrics],
    }


def _path(arguments: argparse.Namespace) -> int:
    print(benchmarks.package_folders()[0])
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from lmms_tasks.doctor import diagnose

    catalogue = benchmarks.read_catalogue()
    tasks = {task.name: task for name in arguments.tasks for task in _tasks_of(name, catalogue)}
    # Loaders print; standard output is for the checks.
    output = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        checks = []
        for check in diagnose(list(tasks.values())):
            checks.append(check)
            if not arguments.json:
                print(check.line, file=output, flush=True)
    if arguments.json:
        print(
            json.dumps(
                {"ok": all(c.ok is not False for c in checks), "checks": [c.as_json() for c in checks]}, indent=2
            )
        )
    return int(any(check.ok is False for check in checks))


def _score(arguments: argparse.Namespace) -> int:
    catalogue = benchmarks.read_catalogue()
    tasks = _tasks_of(arguments.task, catalogue)
    if arguments.table:
        return _score_table(arguments, tasks)
    with _options_applied(arguments, tasks):
        return _score_files(arguments, catalogue, tasks)


def _score_files(arguments: argparse.Namespace, catalogue: Catalogue, tasks: Sequence[TaskSpec]) -> int:
    from lmms_tasks.answers import NoAnswers, read_answers
    from lmms_tasks.report.across import across_lines, across_tasks
    from lmms_tasks.run import Run
    from lmms_tasks.scoring import aggregate, aggregate_group, sample_log, score_rows, scorings
    from lmms_tasks.sources import load_rows
    from lmms_tasks.utils.manifest import row_records, without_nan

    date = datetime.now().strftime("%Y%m%d_%H%M%S")
    files = _files_by_task(arguments.files, tasks)
    results: dict[str, Any] = {}
    rows_of: dict[str, Any] = {}
    counts: dict[str, dict[str, int]] = {}
    logs: dict[str, list[dict[str, Any]]] = {}
    # Loaders print; with --json standard output is for JSON alone.
    with contextlib.redirect_stdout(sys.stderr), Run.begin(tasks, date=date, model="score") as run:
        run.preflight(need_images=False)
        missing: dict[str, SystemExit] = {}
        for task in tasks:
            rows = rows_of[task.name] = load_rows(task)
            try:
                answers = read_answers(task, files[task.name], list(rows), arguments.answer_key)
            except NoAnswers as error:
                missing[task.name] = error
                continue
            if len(answers) < len(rows):
                print(
                    f"{task.name}: {len(answers)} of {len(rows)} rows have an answer; the numbers are over these, but for "
                    "those that count a missing row as 0.",
                    file=sys.stderr,
                )
            run.announce(scorings(task, rows, answers))
            with run.interruptible():
                run.items[task.name] = score_rows(task, rows, answers, run.concurrency())
            logs[task.name] = list(sample_log(task, rows, answers, run.items[task.name]))
            results[task.name] = aggregate(task, run.items[task.name])
            counts[task.name] = {"rows": len(rows), "answered": len(answers)}
        if not results:
            raise next(iter(missing.values()))
        if missing:
            print(f"Not scored, because the files hold no answers to them: {', '.join(missing)}.", file=sys.stderr)
        if arguments.task in catalogue.groups:
            group = catalogue.groups[arguments.task]
            results = {group.name: aggregate_group(group, catalogue, results), **results}
        manifests = run.manifests(results, rows_of)
        scored = [(task, row_records(run.items[task.name])) for task in tasks if task.name in run.items]
        across = across_tasks(scored)
    printed = {"results": results, "n-samples": counts, "manifests": manifests, "across": across}
    if arguments.output:
        _write(arguments.output, date, printed, logs)
    if arguments.json:
        print(json.dumps(without_nan(printed), indent=2, ensure_ascii=False))
    else:
        _print_table(results)
        print(*across_lines(across), sep="\n", end="\n" if across else "")
    return 0


def _score_table(arguments: argparse.Namespace, tasks: Sequence[TaskSpec]) -> int:
    from lmms_tasks.utils.manifest import without_nan

    task = tasks[0]
    if len(tasks) > 1 or len(arguments.files) > 1:
        raise SystemExit("--table takes one task and one file.")
    if task.benchmark.table is None:
        raise SystemExit(f"{task.name} has no table of row scores; leave out --table.")
    unused = [name for name in ("data", "judges", "answer_key", "offline") if getattr(arguments, name)]
    if unused:
        raise SystemExit(f"--table needs no rows and no judge: leave out --{unused[0].replace('_', '-')}.")
    if arguments.files[0].is_dir():
        raise SystemExit(f"{arguments.files[0]} is a folder, and --table takes a file: name the table in it.")
    if not arguments.files[0].is_file():
        raise SystemExit(f"There is no file {arguments.files[0]}: correct the path.")
    with contextlib.redirect_stdout(sys.stderr):
        printed = task.benchmark.table(task, arguments.files[0])
    if arguments.output:
        from lmms_tasks.utils.manifest import write_manifest

        date = datetime.now().strftime("%Y%m%d_%H%M%S")
        print(write_manifest({**printed, "date": date}, arguments.output / f"{date}_results.json"), file=sys.stderr)
    if arguments.json:
        print(json.dumps(without_nan(printed), indent=2, ensure_ascii=False))
    else:
        _print_table(printed["results"])
    return 0


def _tasks_of(name: str, catalogue: Catalogue) -> list[TaskSpec]:
    if name not in catalogue.tasks and name not in catalogue.groups:
        raise SystemExit(f"There is no task {name}; `lmms-tasks list` shows those that there are.")
    return catalogue.leaves([name])


@contextlib.contextmanager
def _options_applied(arguments: argparse.Namespace, tasks: Sequence[TaskSpec]) -> Iterator[None]:
    """The options as the environment variables of this one run, and the environment as it was afterwards."""
    before = dict(os.environ)
    if arguments.data:
        if any(task.on_samples for task in tasks):
            raise SystemExit(f"{arguments.task} has its own rows; leave out --data, or score the task without _sample.")
        os.environ[tasks[0].benchmark.data_variable] = arguments.data
    if arguments.offline:
        os.environ["LMMS_TASKS_FETCH"] = "offline"
    if arguments.judges:
        os.environ["LMMS_TASKS_JUDGES"] = arguments.judges
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _files_by_task(files: Sequence[Path], tasks: Sequence[TaskSpec]) -> dict[str, list[Path]]:
    if len(tasks) == 1:
        return {tasks[0].name: list(files)}
    found: dict[str, list[Path]] = {}
    for task in tasks:
        found[task.name] = [f for f in files if f.is_dir() or f.name.endswith(f"_samples_{task.name}.jsonl")]
        if not found[task.name]:
            raise SystemExit(
                f"None of the files is a sample log of {task.name} (its name ends in _samples_{task.name}.jsonl)."
            )
    return found


def _write(folder: Path, date: str, printed: dict[str, Any], logs: dict[str, list[dict[str, Any]]]) -> None:
    from lmms_tasks.utils.manifest import without_nan, write_manifest

    write_manifest({**printed, "date": date}, folder / f"{date}_results.json")
    for name, manifest in printed["manifests"].items():
        write_manifest(manifest, folder / f"{date}_lmms_tasks_{name}.json")
        lines = [json.dumps(without_nan(line), ensure_ascii=False) for line in logs[name]]
        (folder / f"{date}_samples_{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        task = benchmarks.read_catalogue().tasks[name]
        if task.benchmark.export is not None:
            items = {metric.name: [line[metric.name] for line in logs[name]] for metric in task.metrics}
            exported = task.benchmark.export(task, items, folder / date)
            print(f"{name}: the scores in the benchmark's own form: {', '.join(map(str, exported))}", file=sys.stderr)


def _print_table(results: dict[str, Any]) -> None:
    catalogue = benchmarks.read_catalogue()
    print("|Task|Metric| |Value|Stderr|\n|---|---|---|---:|---:|")
    for name, row in results.items():
        better = {m.name: m.higher_is_better for m in catalogue.tasks[name].metrics} if name in catalogue.tasks else {}
        for key, value in row.items():
            metric = key.removesuffix(",none")
            if key == "alias" or metric.endswith("_stderr_clt"):
                continue
            error = row.get(f"{metric}_stderr_clt,none")
            told = "" if error is None or error != error else f"{error:.4f}"
            print(f"|{name}|{metric}|{'↑' if better.get(metric, True) else '↓'}|{value:.4f}|{told}|")
