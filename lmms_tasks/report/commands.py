"""`lmms-tasks report` and `lmms-tasks compare` on the command line."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from lmms_tasks.benchmarks import read_catalogue


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lmms-tasks report`, and the default `run`."""
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="result folders, or *_results.json files")
    parser.add_argument(
        "--output", metavar="FILE", type=Path, help="where to write; report.html for HTML, else printed"
    )
    parser.add_argument("--format", choices=("html", "markdown", "csv", "json"), default="html")
    parser.add_argument(
        "--embed-restricted-images",
        action="store_true",
        help="put images into the page that may not be passed on; the page says so and is yours to keep",
    )
    parser.set_defaults(run=_report)


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lmms-tasks compare`, and the default `run`."""
    parser.add_argument("a", metavar="RUN_A", type=Path, help="a result folder with one run, or its *_results.json")
    parser.add_argument("b", metavar="RUN_B", type=Path, help="the run to hold against it; differences are B minus A")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else on standard output")
    parser.set_defaults(run=_compare)


def _report(arguments: argparse.Namespace) -> int:
    from lmms_tasks.report import tables
    from lmms_tasks.report.runs import read_runs
    from lmms_tasks.report.summary import as_json
    from lmms_tasks.utils.manifest import without_nan

    # Loaders of rows print; what is written to standard output is the report.
    with contextlib.redirect_stdout(sys.stderr):
        runs = read_runs(arguments.runs, read_catalogue())
        if arguments.format == "html":
            from lmms_tasks.report.html import page

            text = page(runs, arguments.embed_restricted_images)
        elif arguments.format == "markdown":
            text = tables.markdown(runs)
        elif arguments.format == "csv":
            text = tables.comma_separated(runs)
        else:
            text = json.dumps(without_nan(as_json(runs)), indent=2, ensure_ascii=False) + "\n"
    # Half of a surrogate pair, as a model may write it, has no place in UTF-8.
    text = text.encode("utf-8", "replace").decode("utf-8")
    if arguments.format == "html" and arguments.output is None:
        arguments.output = Path("report.html")
    if arguments.output is None:
        sys.stdout.write(text)
        return 0
    try:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"{arguments.output} cannot be written ({error.strerror}); give another --output.") from None
    print(f"{arguments.output} ({len(text.encode()) / 1e6:.1f} MB)", file=sys.stderr)
    for note in runs.notes:
        print(note, file=sys.stderr)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from lmms_tasks.report.compare import compare, describe
    from lmms_tasks.report.runs import read_runs
    from lmms_tasks.utils.manifest import without_nan

    catalogue = read_catalogue()
    a, b = (read_runs([path], catalogue) for path in (arguments.a, arguments.b))
    found = compare(a, b)
    if arguments.json:
        print(json.dumps(without_nan(found), indent=2, ensure_ascii=False))
    else:
        print(describe(found))
    return 0
