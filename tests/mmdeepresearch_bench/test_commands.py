"""The real commands: `score` on Markdown reports and on the official table, and lmms-eval on the sample twin."""

from __future__ import annotations

import json
import sys

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.mmdeepresearch_bench import overall
from lmms_tasks.mmdeepresearch_bench.fetch import check_fetching
from lmms_tasks.mmdeepresearch_bench.samples.reports import TASKS
from tests.lmms_eval_process import lmms_eval
from tests.mmdeepresearch_bench.conftest import SAMPLE, metrics, real_rows
from tests.mmdeepresearch_bench.judge_script import script


def test_markdown_reports_are_scored_with_splits_and_the_official_table_in_the_manifest(score, judged_by, folder):
    judged_by(script())
    printed = score(SAMPLE, folder)
    found = metrics(printed)
    # Four of the six have evidence or a wrong link that keeps the gate open; three of those have images.
    assert found["validity"] == 1.0 and found["mmdr_sem_n"] == 3.0 and found["judgements_per_sample"] == 1.0
    assert found["mmdr_overall"] == found["mmdr_overall_zeroed"]
    breakdowns = printed["manifests"][SAMPLE]["breakdowns"]
    assert {name: table["rows"] for name, table in breakdowns["by_regime"].items()} == {"research": 4, "daily": 2}
    assert set(breakdowns["by_language"]) == {"en", "zh"} and breakdowns["partial"]
    assert breakdowns["leaderboard"]["Overall"] == pytest.approx(found["mmdr_overall_official"], abs=0.005)
    assert breakdowns["counts"]["pages"]["dead"] == 7
    assert len(printed["manifests"][SAMPLE]["rubrics"]) == 5


def test_the_official_table_needs_nothing_but_the_file(score, shared_data, monkeypatch):
    monkeypatch.setenv("MMDR_DATA", "/nowhere")
    printed = score(
        "mmdeepresearch_bench", shared_data / "mmdeepresearch_bench" / "gemini31flash.task_scores.csv", "--table"
    )
    assert printed["leaderboard"]["Overall"] == 49.08 and next(iter(printed)) == "results"
    assert metrics(printed, "mmdeepresearch_bench")["mmdr_overall"] == pytest.approx(42.60, abs=0.005)


def test_without_a_visual_truth_the_numbers_that_need_it_are_null_and_others_stand_in(
    score, judged_by, folder, tmp_path, monkeypatch
):
    judged_by(script())
    monkeypatch.setenv("LMMS_TASKS_FETCH", "offline")
    (tmp_path / "data").mkdir()
    data = real_rows(tmp_path / "data", TASKS)
    found = metrics(score("mmdeepresearch_bench", folder, "--data", data), "mmdeepresearch_bench")
    for name in ("mmdr_vef", "trace", "mmdr_overall", "mmdr_overall_zeroed", "mmdr_overall_official"):
        assert found[name] is None, name
    # Offline and with an empty snapshot, four of the six reports cite pages that are closed to us.
    assert found["judged_coverage"] == pytest.approx(2 / 6)
    assert found["validity"] == pytest.approx((2 + 4 * 0.9) / 6)
    # The 95 % rule holds for each metric by itself: all six are written, two of six have evidence that was looked at.
    assert found["flae"] > 0 and found["mmdr_con"] is None and found["mmdr_overall_no_vef"] is None
    # The official floor stands for a closed page, so the official arithmetic has its number.
    assert found["mmdr_overall_official_no_vef"] > 0


def test_a_visual_truth_brings_the_headline_back(score, judged_by, folder, tmp_path, monkeypatch):
    judged_by(script())
    monkeypatch.setenv("LMMS_TASKS_FETCH", "offline")
    truths = tmp_path / "vef.jsonl"
    truths.write_text("\n".join(json.dumps({"id": task.id, "body": task.visual_truth}) for task in reversed(TASKS)))
    monkeypatch.setenv("MMDR_VEF_GT", str(truths))
    (tmp_path / "data").mkdir()
    found = metrics(
        score("mmdeepresearch_bench_text", folder, "--data", real_rows(tmp_path / "data", TASKS)),
        "mmdeepresearch_bench_text",
    )
    assert found["mmdr_overall"] > found["mmdr_overall_zeroed"] > 0 and found["mmdr_vef_official"] == 100.0


def test_the_reference_answers_the_sample_twin_offline(tmp_path):
    outcome = lmms_eval(tmp_path, "--model", "reference", "--tasks", SAMPLE, "--log_samples")
    assert outcome.code == 0, outcome.text[-3000:]
    found = metrics({"results": outcome.results})
    assert found["judged_coverage"] == 1.0 and found["judgements_per_sample"] == 0.0 and found["flae"] > 0
    assert len(outcome.samples(SAMPLE)) == 6
    assert outcome.manifest(SAMPLE)["breakdowns"]["counts"]["claims"] > 40


def test_one_report_of_six_is_measured_against_six_tasks(score, judged_by, folder, tmp_path):
    judged_by(script())
    _, *others = sorted(folder.iterdir())
    for file in others:
        file.rename(tmp_path / file.name)
    found = metrics(score(SAMPLE, folder))
    assert found["mmdr_overall"] > 0
    assert found["mmdr_overall_zeroed"] == pytest.approx(found["mmdr_overall"] / 6)


def test_one_report_of_the_users_own_rows_is_measured_against_all_of_those(
    score, judged_by, folder, tmp_path, monkeypatch
):
    judged_by(script())
    monkeypatch.setenv("LMMS_TASKS_FETCH", "offline")
    truths = tmp_path / "vef.jsonl"
    truths.write_text("\n".join(json.dumps({"id": task.id, "body": task.visual_truth}) for task in TASKS))
    monkeypatch.setenv("MMDR_VEF_GT", str(truths))
    (tmp_path / "data").mkdir()
    data = real_rows(tmp_path / "data", TASKS[:5])
    # Prose without a source: nothing to fetch, so it is scored offline.
    found = metrics(
        score("mmdeepresearch_bench", folder / f"Q{TASKS[1].id}.md", "--data", data), "mmdeepresearch_bench"
    )
    assert found["mmdr_overall"] > 0
    assert found["mmdr_overall_zeroed"] == pytest.approx(found["mmdr_overall"] / 5)


def test_a_limited_run_and_its_ranks_are_measured_against_all_tasks(judged_by, sample_rows):
    judged_by(script())
    # What lmms-eval aggregates of two ranks under --limit 2: one item of each, and the rows that process_docs saw.
    hook = read_catalogue().tasks[SAMPLE].hook("process_results")
    items = [hook(row, [row["report"]])["mmdr_overall_zeroed"] for row in list(sample_rows.values())[:2]]
    assert [item["tasks"] for item in items] == [6, 6]
    assert overall.zeroed_mean(items) == pytest.approx((items[0]["score"] + items[1]["score"]) / 6)


@pytest.mark.parametrize("content", ["é".encode("latin-1") * 2000, None])
def test_a_report_that_cannot_be_read_is_named(score, folder, content):
    file = sorted(folder.iterdir())[0]
    file.unlink()
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(SystemExit, match=file.name):
        score(SAMPLE, folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LMMS_TASKS_FETCH_CONTACT", "é"),
        ("LMMS_TASKS_FETCH_CONTACT", "me@a.org\r\nX: y"),
        ("LMMS_TASKS_FETCH_PROXY", "foo"),
        ("LMMS_TASKS_FETCH_PROXY", "ftp://a.org"),
        ("LMMS_TASKS_FETCH_PROXY", "http://"),
        ("LMMS_TASKS_FETCH_PROXY", "http://a.org:99999"),
        ("LMMS_TASKS_FETCH_PROXY", "http://a.org:port"),
        ("LMMS_TASKS_FETCH", "sometimes"),
    ],
)
def test_fetching_that_cannot_work_is_one_sentence_before_the_run(score, folder, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=name) as ended:
        score(SAMPLE, folder)
    assert "\n" not in ended.value.code


@pytest.mark.parametrize("value", ["user:hidden@a.org:3128", "ftp://user:hidden@a.org"])
def test_a_proxy_that_is_refused_keeps_its_password(score, folder, monkeypatch, value):
    monkeypatch.setenv("LMMS_TASKS_FETCH_PROXY", value)
    with pytest.raises(SystemExit) as ended:
        score(SAMPLE, folder)
    assert "a.org" in ended.value.code and "hidden" not in ended.value.code


def test_a_proxy_by_socks_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_FETCH_PROXY", "socks5://a.org:1080")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(SystemExit, match=r"LMMS_TASKS_FETCH_PROXY .* pip install 'httpx\[socks\]'"):
        check_fetching()
    monkeypatch.setenv("LMMS_TASKS_FETCH_PROXY", "http://user:pw@a.org:3128")
    check_fetching()


def test_the_doctor_shows_a_mode_of_fetching_that_there_is_not(monkeypatch, capsys):
    monkeypatch.setenv("LMMS_TASKS_FETCH", "sometimes")
    assert main(["doctor", SAMPLE]) == 1
    lines = capsys.readouterr().out.splitlines()
    (position,) = [position for position, line in enumerate(lines) if line.startswith(f"✗ {SAMPLE}")]
    assert "LMMS_TASKS_FETCH is 'sometimes'" in lines[position + 1]


def test_of_a_report_of_megabytes_the_beginning_is_read(judged_by, score, folder, monkeypatch):
    from lmms_tasks.mmdeepresearch_bench import pipeline

    judged_by(script())
    monkeypatch.setattr(pipeline, "READ_CHARACTERS", 3_000)
    file = sorted(folder.iterdir())[0]
    file.write_text(file.read_text() + "More text here [1]. " * 1_000)
    assert score(SAMPLE, folder)["manifests"][SAMPLE]["breakdowns"]["counts"]["reports_cut"] == 1


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_limited_run_of_lmms_eval_is_measured_against_six_tasks(tmp_path, ranks):
    options = ("--model", "reference", "--tasks", SAMPLE, "--limit", "3", "--log_samples")
    outcome = lmms_eval(tmp_path, *options, ranks=ranks)
    assert outcome.code == 0, outcome.text[-3000:]
    items = [sample["mmdr_overall_zeroed"] for sample in outcome.samples(SAMPLE)]
    assert len(items) == 3 and {item["tasks"] for item in items} == {6}
    scored = [item["score"] for item in items if "score" in item]
    assert scored
    assert metrics({"results": outcome.results})["mmdr_overall_zeroed"] == pytest.approx(sum(scored) / 6)
