"""`lmms-tasks report` on folders that the real lmms-eval wrote, and on what no folder should hold."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.report.commands import add_report
from lmms_tasks.report.runs import read_runs
from tests.report.conftest import DATES, FOREIGN, LIMIT, MODELS, OURS
from tests.report.page_parser import Page, page_of
from tests.report.written_runs import TASK, row, verdict, write_run

SGMRI = "sgmri_vqa_image_sample"


def report(*arguments) -> None:
    parser = argparse.ArgumentParser()
    add_report(parser)
    parsed = parser.parse_args([str(argument) for argument in arguments])
    assert parsed.run(parsed) == 0


def results_files(folder):
    found = sorted(folder.rglob("*_results.json"))
    assert len(found) == len(MODELS) * len(DATES)
    return found


def label(file, content) -> str:
    date = file.name
    stamp = f"{date[:4]}-{date[4:6]}-{date[6:8]} {date[9:11]}:{date[11:13]}"
    return f"{content['model_name'].rpartition('/')[2]} · {stamp}"


def test_the_pages_numbers_are_those_of_the_results_files(folder, shown):
    expected, expected_groups = {}, {}
    tasks, groups = read_catalogue().tasks, read_catalogue().groups
    for file in results_files(folder):
        content = json.loads(file.read_text())
        assert FOREIGN in content["results"]
        for name, values in content["results"].items():
            for key, value in values.items():
                metric = key.removesuffix(",none")
                if name in tasks and metric in {m.name for m in tasks[name].metrics}:
                    expected[name, label(file, content), metric] = value
                if name in groups and key in groups[name].averages:
                    expected_groups[name, label(file, content), metric] = value
    found, _ = shown
    assert {key: value for key, (value, _) in found.numbers.items()} == pytest.approx(
        expected, rel=0, abs=0, nan_ok=True
    )
    assert found.groups == pytest.approx(expected_groups, rel=0, abs=0, nan_ok=True)
    for key, told in found.shown.items():
        if math.isnan(expected[key]):
            assert told == "NaN"
        else:
            assert float(told.replace(",", "")) == pytest.approx(expected[key], rel=1e-3, abs=1e-4), key
    # 9 tasks of the five benchmarks' forms, each with all metrics of its YAML, and two groups, in each of 6 runs.
    metrics = {task.name: len(task.metrics) for task in read_catalogue().leaves(OURS)}
    assert len(metrics) == 9 and min(metrics.values()) >= 8
    assert len(expected) == len(found.shown) == 6 * sum(metrics.values()) and len(expected_groups) == 6 * 2


def test_n_is_the_number_of_scored_rows_also_where_items_hold_no_score_of_their_own(shown):
    mirage = {n for (task, _, _), (_, n) in shown[0].numbers.items() if task.startswith("mirage_mmst")}
    assert mirage == {LIMIT}
    run = "alpha · 2026-01-02 03:04"
    # Of 14 questions about slices 9 have an answer to compare, 5 ask for a text; without BERTScore's weights no text is
    # scored. The average reads the columns of all rows.
    image = {metric: n for (task, of, metric), (_, n) in shown[0].numbers.items() if (task, of) == (SGMRI, run)}
    assert (image["a_score"], image["judged_coverage"], image["captioning"], image["average"]) == (9, 5, 0, 14)


def test_a_foreign_task_is_skipped_with_a_word(shown):
    assert shown[0].text.count(f"{FOREIGN} in {DATES[0]}_results.json was skipped") == 1
    assert not any(task == FOREIGN for task, _, _ in shown[0].numbers)


def test_the_page_loads_nothing_and_runs_no_script_but_its_own(shown):
    found, text = shown
    assert [source for source in found.sources if not source.startswith(("#", "data:"))] == []
    assert len(found.scripts) == 2
    assert "default-src 'none'" in text and "@import" not in text
    assert re.findall(r"url\((?!#)[^)]*", text) == []  # charts point to parts of themselves


def test_a_row_shows_answer_gold_question_verdicts_and_the_shipped_images(shown):
    data = shown[0].data
    (task,) = [task for task in data["tasks"] if task["task"] == TASK]
    assert len(task["rows"]) == 14 * 6
    run, doc_id, status, scores, question, gold, answers, verdicts, _ = task["rows"][0]
    assert (run, doc_id, status) == (0, 0, "judged")
    assert 0.0 <= scores[task["metrics"].index("w_sum")] <= 1.0
    assert data["texts"][question].strip() and data["texts"][gold].strip() and data["texts"][answers[0]].strip()
    assert data["texts"][verdicts[0][0]] == "offline"
    assert all(image["src"].startswith("data:image/jpeg;base64,") for image in task["images"]["0"])


def test_markdown_csv_and_json_have_the_same_numbers(folder, shown, capsys, tmp_path):
    expected = {key: None if math.isnan(value) else value for key, (value, _) in shown[0].numbers.items()}
    assert None in expected.values()
    report(folder, "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = {(line["task"], line["run"], line["metric"]): line["value"] for line in lines}
    assert {key: float(value) if value else None for key, value in found.items()} == expected
    report(folder, "--format", "json")
    told = json.loads(capsys.readouterr().out)
    assert {
        (run["task"], run["run"], metric): entry["value"]
        for run in told["runs"]
        for metric, entry in run["metrics"].items()
    } == expected
    report(folder, "--format", "markdown", "--output", tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text().replace("\\", "")
    for (_, run, metric), value in expected.items():
        cells = "NaN" if value is None else f"{value:.4f}"
        assert re.search(rf"^\| {re.escape(run)} \| {metric} \| . \| {cells} \| ", text, re.MULTILINE)


def test_a_one_run_report_is_written_where_it_is_asked_for(folder, tmp_path):
    report(results_files(folder)[0], "--output", tmp_path / "new" / "page.html")
    assert Page((tmp_path / "new" / "page.html").read_text()).numbers.keys()


@pytest.mark.parametrize("strict", [True, False], ids=["null", "bare NaN"])
def test_nan_is_said_and_harmless(tmp_path, strict):
    found, _ = page_of(write_run(tmp_path / "run", [row(0, 0.5), row(1, None)], strict=strict))
    run = "alpha · 2026-01-02 03:04"
    assert math.isnan(found.numbers[TASK, run, "w_sum"][0])
    assert found.shown[TASK, run, "w_sum"] == "NaN"
    assert found.numbers[TASK, run, "w_sum"][1] == 1
    assert found.numbers[TASK, run, "w_sum_strict"][0] == 0.25


def test_an_unscored_row_is_there_with_its_status_and_counted(tmp_path):
    found, _ = page_of(write_run(tmp_path / "run", [row(0, 0.5), row(1, None)]))
    (task,) = found.data["tasks"]
    assert [line[2] for line in task["rows"]] == ["judged", "unscored"]
    assert task["rows"][1][3] == [None] * len(task["metrics"][:-1]) + [0.0]
    assert "judged 1, unscored 1" in found.text


def test_one_row_has_no_interval(tmp_path):
    found, _ = page_of(write_run(tmp_path / "run", [row(0, 0.5)]))
    assert found.numbers[TASK, "alpha · 2026-01-02 03:04", "w_sum"] == (0.5, 1)
    assert not re.search(r"\d to \d", found.text)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)></script><!-- ]]> {{ 7*7 }} \u2028 &amp; $x^2$ | **bold** \ud800"


def test_markup_in_answers_gold_names_and_groups_is_text_and_nothing_else(tmp_path):
    names = write_run(
        tmp_path / HOSTILE.replace("/", "").replace("\ud800", ""),
        [row(n, 0.5 * n, HOSTILE, target=HOSTILE, category=HOSTILE) for n in range(3)],
        model="acme/" + HOSTILE.replace("/", ""),
        breakdowns={"by_category": {HOSTILE: {"rows": 2, "w_sum": {"mean": 0.5, "n": 2}}, "b": {"rows": 1}}},
        panel={"profile": HOSTILE, "judges": [{"name": HOSTILE, "model": HOSTILE, "generations": 1}]},
    )
    report(names, "--output", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = Page(text)
    plain, _ = page_of(write_run(tmp_path / "plain", [row(n, 0.5 * n) for n in range(3)]))
    assert found.tags.count("script") == plain.tags.count("script") == 2
    assert found.tags.count("img") == plain.tags.count("img")
    assert text.lower().count("<script") == 2 and text.lower().count("</script") == 2
    # The sample browser gets the answer as it was; half a character cannot be written, and becomes a question mark.
    assert HOSTILE.replace("\ud800", "?") in found.data["texts"]
    assert "onerror" in found.text and "{{ 7*7 }}" in found.text
    report(names, "--format", "markdown", "--output", tmp_path / "page.md")
    assert "<script" not in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_megabyte_of_text_is_cut_with_a_word(tmp_path):
    found, text = page_of(write_run(tmp_path / "run", [row(0, 0.5, "x" * 1_000_000), row(1, 0.5, "y" * 20_000)]))
    assert len(text) < 300_000
    (cut,) = [told for told in found.data["texts"] if told.startswith("xxx")]
    assert cut == "x" * 20_000 + (
        "\n… [cut here: the first 20,000 of 1,000,000 characters are shown; the sample log has them all]"
    )
    assert "y" * 20_000 in found.data["texts"]


def test_rows_on_which_judges_disagree_are_marked_by_how_far(tmp_path):
    split = row(0, 0.5, verdicts=[verdict("one", 4), verdict("two", 1)])
    agreed = row(1, 0.5, verdicts=[verdict("one", 3), verdict("two", 3)])
    found, _ = page_of(write_run(tmp_path / "run", [split, agreed]))
    assert [line[-1] for line in found.data["tasks"][0]["rows"]] == [3.0, 0.0]


def test_without_images_without_log_and_without_manifest_a_report_says_what_is_missing(tmp_path):
    folder = write_run(tmp_path / "run", [row(0, 0.5)])
    for file in (*folder.glob("*_samples_*"), *folder.glob("*_lmms_tasks_*")):
        file.unlink()
    found, _ = page_of(folder)
    assert found.numbers[TASK, "alpha · 2026-01-02 03:04", "w_sum"] == (0.5, 0)
    assert "run with --log_samples" in found.text and "judges, versions and breakdowns" in found.text
    assert found.data["tasks"] == []


def test_rows_other_than_those_of_the_run_lend_it_no_images(tmp_path):
    found, _ = page_of(write_run(tmp_path / "run", [row(0, 0.5)]))  # its fingerprint is none of any rows
    assert found.data["tasks"][0]["images"] == {}
    assert "the rows here are not those that the run was on" in found.text


def test_broken_files_are_skipped_with_a_word(tmp_path):
    good = write_run(tmp_path / "good", [row(0, 0.5), row(1, 1.0)])
    (tmp_path / "broken_results.json").write_text("{")
    (tmp_path / "list_results.json").write_text("[]")
    with next(good.glob("*_samples_*")).open("a") as log:
        log.write("not json\n")
    next(good.glob("*_lmms_tasks_*")).write_text("[]")
    runs = read_runs([tmp_path], read_catalogue())
    assert len(runs.tasks) == 1 and len(runs.tasks[0].samples) == 2
    told = " ".join(runs.notes)
    assert "broken_results.json was skipped" in told and "list_results.json was skipped" in told
    assert "line 3 was skipped" in told and "it is no manifest" in told


def test_a_log_that_two_runs_share_is_not_taken_for_one(tmp_path):
    runs = read_runs([write_run(tmp_path / "run", [row(0, 0.5), row(0, 1.0)])], read_catalogue())
    assert runs.tasks[0].samples == []
    assert "row 0 is in it more than once" in runs.notes[0]


def test_what_score_writes_is_a_run_like_any_other(tmp_path, capsys):
    from lmms_tasks.cli import main
    from lmms_tasks.sources import load_rows

    rows = load_rows(read_catalogue().tasks[TASK])
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({"doc_id": n, "prediction": r["answer"]}) + "\n" for n, r in enumerate(rows)))
    assert main(["score", TASK, str(answers), "--output", str(tmp_path / "scored")]) == 0
    found, _ = page_of(tmp_path / "scored")
    assert {value for (_, _, metric), (value, _) in found.numbers.items() if metric == "w_sum"} == {1.0}
    assert len(found.data["tasks"][0]["rows"]) == len(rows)


def test_nothing_of_ours_and_no_such_path_are_one_sentence_each(tmp_path):
    with pytest.raises(SystemExit, match="No run of ours in"):
        read_runs([tmp_path], read_catalogue())
    with pytest.raises(SystemExit, match=r"There is no .*nowhere"):
        read_runs([tmp_path / "nowhere"], read_catalogue())


def test_runs_of_one_model_and_minute_keep_names_of_their_own(tmp_path):
    for place in ("one", "two"):
        write_run(tmp_path / place / "alpha", [row(0, 0.5)])
    labels = [run.label for run in read_runs([tmp_path], read_catalogue()).tasks]
    assert labels == ["alpha · 2026-01-02 03:04 · one/alpha", "alpha · 2026-01-02 03:04 · two/alpha"]
