"""A fifth benchmark in a folder of its own: every command knows it, and no other file names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmms_tasks.benchmarks import find_benchmarks
from tests.report.page_parser import Page

_BENCHMARK = """
from lmms_tasks.benchmarks import Benchmark
from lmms_tasks.utils.check import Check
from lmms_tasks.utils.manifest import grouped_means
from lmms_tasks.utils.rows import Schema

BENCHMARK = Benchmark(
    name="small_sums",
    title="Small sums",
    data_variable="SMALL_SUMS_DATA",
    variables=("SMALL_SUMS_ABACUS",),
    schema=lambda configuration: Schema("sums", ("question", "answer", "sign"), images=False),
    breakdowns=lambda task, items: {
        "by_sign": grouped_means(items, ["exact"], [item["sign"] for item in items["exact"]])
    },
    requirements=lambda task: [Check("abacus", None, "none is needed")],
    columns=lambda task: {"exact": "Exact match"},
)
"""
_HOOKS = """
from lmms_tasks.utils.reasoning import strip_reasoning
from lmms_tasks.utils.statistics import covered_mean


def rows(dataset):
    return dataset


def doc_to_text(doc):
    return doc["question"]


def doc_to_target(doc):
    return doc["answer"]


def no_visual(doc):
    return []


def process_results(doc, results):
    answers = [strip_reasoning(raw) for raw in results]
    score = float(answers[0].text == doc["answer"])
    states = [answer.state for answer in answers]
    return {"exact": {"score": score, "answers": states, "judgements": [], "sign": doc["sign"], "cluster": doc["sign"]}}


def exact(items):
    return covered_mean(items)
"""
_TASK = """
task: small_sums
dataset_path: nobody/small_sums
test_split: test
output_type: generate_until
process_docs: !function lmms_tasks.small_sums.hooks.rows
doc_to_text: !function lmms_tasks.small_sums.hooks.doc_to_text
doc_to_target: !function lmms_tasks.small_sums.hooks.doc_to_target
doc_to_visual: !function lmms_tasks.small_sums.hooks.no_visual
process_results: !function lmms_tasks.small_sums.hooks.process_results
num_fewshot: 0
reasoning_tags: none
generation_kwargs: {until: [], max_new_tokens: 1024, temperature: 0, top_p: null, num_beams: 1, do_sample: false}
filter_list: [{name: none, filter: []}]
metric_list:
  - metric: exact
    aggregation: !function lmms_tasks.small_sums.hooks.exact
    higher_is_better: true
metadata: {version: 1.0, configuration: sums}
"""
# What an installation of the folder as a part of the package's name space would do.
_COMMAND = "import sys, lmms_tasks; lmms_tasks.__path__.append({path!r}); {rest}"
_ROWS = [
    {"question": f"{a} {sign} {b}?", "answer": str(a + b if sign == "+" else a - b), "sign": sign}
    for a, b in ((7, 2), (5, 3), (9, 4))
    for sign in "+-"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("elsewhere")
    (root / "small_sums").mkdir()
    for name, text in (("benchmark.py", _BENCHMARK), ("hooks.py", _HOOKS), ("small_sums.yaml", _TASK)):
        (root / "small_sums" / name).write_text(text)
    (root / "rows.json").write_text(json.dumps(_ROWS))
    for name, right in (("good", 6), ("poor", 3)):
        lines = [{"doc_id": n, "prediction": row["answer"] if n < right else "12"} for n, row in enumerate(_ROWS)]
        (root / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


@pytest.fixture(scope="module")
def command(folder, tmp_path_factory):
    """Run `lmms-tasks` in a process that finds the folder, as nothing of this process is to be changed for it."""
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LMMS_TASKS_", "OPENAI_"))}
    environment |= {"LMMS_TASKS_HOME": str(home), "SMALL_SUMS_DATA": str(folder / "rows.json")}

    def run(*arguments, rest="from lmms_tasks.cli import main; sys.exit(main())"):
        line = [sys.executable, "-c", _COMMAND.format(path=str(folder), rest=rest), *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=300)

    return run


@pytest.fixture(scope="module")
def runs(command, folder, tmp_path_factory):
    found = []
    for name in ("poor", "good"):
        output = tmp_path_factory.mktemp(name)
        done = command("score", "small_sums", folder / f"{name}.jsonl", "--output", output, "--json")
        assert done.returncode == 0, done.stderr
        found.append((output, json.loads(done.stdout)["results"]["small_sums"]["exact,none"]))
    return found


def test_the_list_has_its_task_metric_and_variable(command):
    done = command("list", "--json")
    (task,) = [task for task in json.loads(done.stdout)["tasks"] if task["name"] == "small_sums"]
    assert "exact" in json.dumps(task) and "SMALL_SUMS_DATA" in json.dumps(task)


def test_the_doctor_looks_at_its_rows_variables_and_requirements(command):
    done = command("doctor", "small_sums", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["small_sums rows"]["found"] == "6 rows" and checks["abacus"]["found"] == "none is needed"
    assert "SMALL_SUMS_ABACUS" in checks["variables that are not set"]["found"]
    assert "rows.json" in checks["SMALL_SUMS_DATA"]["found"]


def test_answers_are_scored(runs):
    assert [value for _, value in runs] == [0.5, 1.0]


def test_the_report_has_its_numbers_heading_breakdown_and_rows(command, runs, tmp_path):
    done = command("report", *(folder for folder, _ in runs), "--output", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert sorted(page.numbers.values()) == [(0.5, 6), (1.0, 6)]
    assert "Small sums" in page.text and "Exact match" in page.text and "exact by sign" in page.text
    assert len(page.data["tasks"][0]["rows"]) == 12


def test_two_runs_are_compared_by_its_clusters_and_groups(command, runs):
    done = command("compare", *(folder for folder, _ in runs), "--json")
    task = json.loads(done.stdout)["tasks"]["small_sums"]
    assert task["metrics"]["exact"]["difference"] == 0.5
    assert (task["metrics"]["exact"]["n"], task["metrics"]["exact"]["clusters"]) == (6, 2)
    assert {name: group["rows"] for name, group in task["categories"]["sign"].items()} == {"+": 3, "-": 3}


@pytest.mark.long
def test_lmms_eval_runs_it_with_its_manifest(command, tmp_path):
    rest = "sys.argv[0] = 'lmms-eval'; from lmms_eval.__main__ import cli_evaluate; cli_evaluate()"
    done = command(
        "--model", "reference", "--tasks", "small_sums", "--log_samples", "--output_path", tmp_path, rest=rest
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.rglob("*_results.json")
    assert json.loads(results.read_text())["results"]["small_sums"]["exact,none"] == 1.0
    (manifest,) = tmp_path.rglob("*_lmms_tasks_small_sums.json")
    assert json.loads(manifest.read_text())["breakdowns"]["by_sign"]["+"]["exact"] == {"mean": 1.0, "n": 3}


def test_nothing_of_it_is_left_in_this_process():
    assert "small_sums" not in find_benchmarks()
