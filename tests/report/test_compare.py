"""`lmms-tasks compare`: differences that cover the truth, and doubts that are said."""

from __future__ import annotations

import argparse
import itertools
import json
import random

import numpy
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.report.commands import add_compare
from lmms_tasks.report.compare import compare, describe
from lmms_tasks.report.paired import RESAMPLES, paired_differences
from lmms_tasks.report.runs import read_runs
from tests.report.conftest import DATES, LIMIT
from tests.report.written_runs import TASK, row, write_run


def compared(a, b):
    return compare(read_runs([a], read_catalogue()), read_runs([b], read_catalogue()))


def one_column(values, clusters=None):
    values = numpy.array(values, dtype=float).reshape(-1, 1)
    return paired_differences(values, numpy.array(clusters if clusters is not None else range(len(values))))[0]


def files_of(folder, model, number=0):
    return sorted(folder.rglob(f"*{model}*/*_results.json"))[number]


def test_the_interval_covers_the_difference_of_two_known_error_rates(tmp_path):
    """200 identification rows a trial, names generated, answers wrong at rates of 30 and 20 %, scored by our own hook.

    Row by row the two runs are independent, so the true difference is 0.8 − 0.7 = 0.1. Of 100 trials 95 are expected to
    cover it, and 89 to 100 is what a true share of 95 % gives with a probability of 99 %.
    """
    from lmms_tasks.mirage.identification import accepted_names, identification_accuracy

    names = [f"{genus}us {kind}ata" for genus, kind in itertools.product(_syllables(20), _syllables(10))]
    docs = [{"entity_name": name, "entity_scientific_name": "", "entity_common_names": []} for name in names]
    right = [
        identification_accuracy(f"This is {name}.", accepted_names(doc)) for name, doc in zip(names, docs, strict=True)
    ]
    wrong = [identification_accuracy("This is a rake.", accepted_names(doc)) for doc in docs]
    assert len(docs) == 200 and set(right) == {1.0} and set(wrong) == {0.0}
    covered = 0
    for seed in range(100):
        chance = random.Random(seed)
        a = [wrong[n] if chance.random() < 0.3 else right[n] for n in range(200)]
        b = [wrong[n] if chance.random() < 0.2 else right[n] for n in range(200)]
        found = one_column([y - x for x, y in zip(a, b, strict=True)])
        covered += found.low <= 0.1 <= found.high
    assert 89 <= covered <= 100


def _syllables(count):
    return ["".join(pair) for pair in itertools.product(("ba", "de", "fi", "go", "ku"), ("lan", "mer", "nis", "tov"))][
        :count
    ]


def test_identical_runs_differ_by_nothing_with_p_1(folder):
    found = compared(files_of(folder, "alpha"), files_of(folder, "alpha"))
    entries = [entry for task in found["tasks"].values() for entry in task["metrics"].values()]
    assert len(entries) > 90
    assert {(e["difference"], e["low"], e["high"], e["p"]) for e in entries} == {(0.0, 0.0, 0.0, 1.0)}
    assert all(not task["warnings"] and task["flipped"]["better"] == [] for task in found["tasks"].values())


def test_two_runs_of_the_real_lmms_eval_differ_by_the_difference_of_their_results(folder):
    a, b = files_of(folder, "beta"), files_of(folder, "alpha")
    found = compared(a, b)
    results = [json.loads(file.read_text())["results"] for file in (a, b)]
    for name, task in found["tasks"].items():
        assert task["rows"] == (6 if name.startswith("mmdeepresearch") else LIMIT)
        # Each metric of the task has a difference, or the reason why it has none.
        spec = read_catalogue().tasks[name]
        assert task["metrics"].keys() | task["not_compared"].keys() == {metric.name for metric in spec.metrics}
        assert not task["metrics"].keys() & task["not_compared"].keys()
        for metric, entry in task["metrics"].items():
            before, after = (told[name][f"{metric},none"] for told in results)
            if entry["unscored_a"] == entry["unscored_b"] == task["rows"] - entry["n"]:
                assert entry["difference"] == pytest.approx(after - before, abs=1e-9), (name, metric)
            else:
                assert metric in ("mmdr_sem", "mmdr_acc")  # scored where a report has such a figure
    categories = found["tasks"][TASK]["categories"]["category"]
    assert sum(entry["rows"] for entry in categories.values()) == 14


@pytest.fixture(scope="module")
def known_rates(evaluator, task_manager, tmp_path_factory):
    """Runs of the real lmms-eval over 200 generated rows, wrong at rates of 30 and 20 %, on rows drawn apart."""
    from PIL import Image

    from lmms_tasks.baselines.reference import ReferenceSimple
    from tests.report.conftest import save_run
    from tests.test_sources import mmst_row

    folder = tmp_path_factory.mktemp("generated")
    Image.new("RGB", (4, 3)).save(folder / "leaf.jpg")
    names = [f"{genus}us {kind}ata" for genus, kind in itertools.product(_syllables(20), _syllables(10))]
    rows = [
        mmst_row(n, "Plant Identification", entity_name=name, answer=f"This is {name}.", images=["leaf.jpg"])
        for n, name in enumerate(names)
    ]
    (folder / "standard.json").write_text(json.dumps(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRAGE_DATA", str(folder / "standard.json"))
        patch.setenv("LMMS_TASKS_HOME", str(folder / "home"))
        for seed, (name, rate) in enumerate((("acme/third", 0.3), ("acme/fifth", 0.2))):
            model = ReferenceSimple(error_rate=rate, seed=seed)
            save_run(evaluator, task_manager, folder / "runs", name, DATES[0], model, ["mirage_mmst_id"])
    return folder / "runs"


def test_a_pair_through_the_real_lmms_eval_covers_it_too(known_rates):
    found = compared(files_of(known_rates, "third"), files_of(known_rates, "fifth"))["tasks"]["mirage_mmst_id"]
    entry = found["metrics"]["identification_accuracy"]
    assert entry["n"] == 200 and entry["low"] <= 0.1 <= entry["high"]
    # A fair share of the rows was answered wrongly: within three standard errors of the two rates.
    assert abs(entry["a"] - 0.7) < 0.1 and abs(entry["b"] - 0.8) < 0.09
    # Without a judge there is nothing else to compare, and that is said.
    assert found["not_compared"]["reasoning_score"] == "no row has a score in both runs"


def test_rows_that_a_strict_metric_is_not_about_are_no_zeros(folder):
    """They were: 14 rows in place of 9, and a difference of another number than the page's."""
    a, b = files_of(folder, "beta"), files_of(folder, "alpha")
    task = compared(a, b)["tasks"]["sgmri_vqa_image_sample"]
    assert task["metrics"]["a_score_strict"]["n"] == task["metrics"]["a_score"]["n"] == 9
    # Without BERTScore's weights it is NaN in the results, and so it is here.
    assert task["not_compared"]["ar_score_strict"] == "it is NaN in A"


def test_metrics_that_are_no_means_of_rows_are_said_and_groups_too(folder):
    found = compared(files_of(folder, "beta"), files_of(folder, "alpha"))
    told = describe(found)
    reasons = {name: task["not_compared"] for name, task in found["tasks"].items()}
    for task, metric in (
        ("mirage_mmst_mg_sample", "w_sum_official"),
        ("sgmri_vqa_image_sample", "average"),
        ("mmdeepresearch_bench_sample", "mmdr_sem_n"),
    ):
        assert reasons[task][metric] == "it is no mean of its rows"
        assert any(line.startswith("not compared: ") and metric in line for line in told.splitlines())
    assert "not compared: the averages of mirage_mmst_sample, sgmri_vqa_sample" in told
    assert [note for note in found["notes"] if "mirage_mmst_sample" in note]


def test_a_total_that_is_lowered_by_rows_without_a_score_is_not_compared(tmp_path):
    """As `mmdr_overall` is: its mean times the share of reports that could be scored."""
    folders = [write_run(tmp_path / name, [row(0, 0.5), row(1, 0.7)]) for name in "ab"]
    file = next(folders[1].glob("*_results.json"))
    file.write_text(file.read_text().replace('"w_sum,none": 0.6', '"w_sum,none": 0.3'))
    task = compared(*folders)["tasks"][TASK]
    assert task["not_compared"]["w_sum"] == "it is no mean of its rows" and "w_sum" not in task["metrics"]


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("mirage_mmmt_direct_sample", "decision_accuracy"),
        ("amigo_synthetic", "identification_success"),
        ("sgmri_vqa_volume_sample", "a_score"),
        ("mmdeepresearch_bench_sample", "mmdr_overall"),
    ],
)
def test_rows_of_one_conversation_gallery_volume_or_report_are_resampled_together(folder, task, metric):
    a, b = files_of(folder, "beta"), files_of(folder, "alpha")
    entry = compared(a, b)["tasks"][task]["metrics"][metric]
    (run,) = [run for run in read_runs([a], read_catalogue()).tasks if run.name == task]
    drawn = [sample.record["cluster"] for sample in run.samples if sample.score(metric) is not None]
    assert None not in drawn and len(drawn) == entry["n"]
    assert entry["clusters"] == len(set(drawn)) > 1
    if task == "sgmri_vqa_volume_sample":
        assert entry["clusters"] < entry["n"]  # several questions a volume


def test_the_rows_that_changed_are_named_the_largest_change_first(tmp_path):
    a = write_run(tmp_path / "a", [row(0, 0.5), row(1, 0.5), row(2, 0.5), row(3, 0.9)])
    b = write_run(tmp_path / "b", [row(0, 0.6), row(1, 1.0), row(2, 0.5), row(3, 0.1)])
    flipped = compared(a, b)["tasks"][TASK]["flipped"]
    assert flipped == {"metric": "w_sum", "better": [[1, 0.5, 1.0], [0, 0.5, 0.6]], "worse": [[3, 0.9, 0.1]]}


def test_the_p_value_is_that_of_all_sign_flips():
    # Five equal differences: 2 of the 32 sign patterns are as extreme.
    assert one_column([1.0] * 5).p == pytest.approx(2 / 32, abs=0.012)
    # 3, 1, 1 against a total of 5: the patterns +++ and −−−, 2 of 8. One added to both counts keeps it above 0.
    assert one_column([3.0, 1.0, 1.0]).p == pytest.approx(0.25, abs=0.022)
    assert one_column([1.0] * 60).p == 1 / (1 + RESAMPLES)


def test_rows_of_a_cluster_are_drawn_and_flipped_together():
    noise = numpy.random.default_rng(3).normal(0.2, 1, 60)
    alone, doubled = one_column(noise), one_column(numpy.repeat(noise, 2), numpy.repeat(range(60), 2))
    # Each row twice in one cluster: nothing was learnt, so nothing changes.
    assert (doubled.value, doubled.low, doubled.high, doubled.p) == pytest.approx(
        (alone.value, alone.low, alone.high, alone.p)
    )
    assert (doubled.n, doubled.clusters) == (120, 60)
    apart = one_column(numpy.repeat(noise, 2))
    assert apart.high - apart.low < 0.8 * (alone.high - alone.low)


def test_the_records_cluster_is_used(tmp_path):
    def rows(gain):
        return [row(n, 0.5 + gain * (n % 3 == 0), cluster=f"dialogue {n // 2}") for n in range(12)]

    entry = compared(write_run(tmp_path / "a", rows(0)), write_run(tmp_path / "b", rows(0.3)))["tasks"][TASK][
        "metrics"
    ]["w_sum"]
    assert (entry["n"], entry["clusters"]) == (12, 6)


def test_the_same_runs_give_the_same_numbers(folder):
    pair = files_of(folder, "alpha"), files_of(folder, "gamma")
    assert compared(*pair) == compared(*pair)


def test_unscored_rows_are_left_out_and_counted_and_are_zeros_in_the_strict_metric(tmp_path):
    a = write_run(tmp_path / "a", [row(0, 0.5), row(1, None), row(2, 0.5)])
    b = write_run(tmp_path / "b", [row(0, 1.0), row(1, 1.0), row(2, 1.0)])
    metrics = compared(a, b)["tasks"][TASK]["metrics"]
    assert (metrics["w_sum"]["n"], metrics["w_sum"]["unscored_a"], metrics["w_sum"]["difference"]) == (2, 1, 0.5)
    assert metrics["w_sum_strict"]["n"] == 3
    assert metrics["w_sum_strict"]["difference"] == pytest.approx((0.5 + 1.0 + 0.5) / 3)


@pytest.mark.parametrize(
    ("changed", "warning"),
    [
        ({"panel": {"profile": "paper", "judges": []}}, "the judges differ"),
        ({"judges": {"one": {"models": ["one-v2"]}}}, "the models that answered as judges differ"),
        ({"rubrics": {"mirage.mmst_mg": "b" * 64}}, "the judges' prompts differ"),
        ({"data": {"fingerprint": "e" * 64}}, "the rows differ"),
        ({"versions": {"lmms-tasks": "0.2.0"}}, "the versions differ"),
        ({"task_version": "2.0"}, "the task's versions differ"),
        ({"breakdowns": {"prompt": {"sha256": "1"}}}, "the model's prompts differ"),
    ],
)
def test_what_else_differs_is_said(tmp_path, changed, warning):
    rows = [row(0, 0.5), row(1, 0.7)]
    found = compared(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows, **changed))
    (said,) = found["tasks"][TASK]["warnings"]
    assert said.startswith(warning)
    assert f"! {said}" in describe(found)


def test_rows_with_another_gold_answer_are_not_paired(tmp_path):
    a = write_run(tmp_path / "a", [row(0, 0.5), row(1, 0.5)])
    b = write_run(tmp_path / "b", [row(0, 0.5), row(1, 1.0, target="Another."), row(7, 1.0)])
    task = compared(a, b)["tasks"][TASK]
    assert task["rows"] == 1 and task["metrics"]["w_sum"]["difference"] == 0
    assert "1 rows have other gold answers" in " ".join(task["warnings"])
    assert "1 rows are in one run only" in " ".join(task["warnings"])


def test_low_coverage_is_said(tmp_path):
    a = write_run(tmp_path / "a", [row(0, 0.5), row(1, None)])
    assert "only 50.0 % of the rows of A are judged" in " ".join(compared(a, a)["tasks"][TASK]["warnings"])


def test_two_runs_on_one_side_no_common_task_and_no_log_are_one_sentence_each(tmp_path, folder):
    rows = [row(0, 0.5)]
    with pytest.raises(SystemExit, match="RUN_A holds two runs of amigo_synthetic"):
        compared(folder, folder)
    a = write_run(tmp_path / "a", rows)
    with pytest.raises(SystemExit, match="no task of ours in common"):
        compared(a, write_run(tmp_path / "b", rows, task="mirage_mmst_mg"))
    next(a.glob("*_samples_*")).unlink()
    with pytest.raises(SystemExit, match="RUN_A has no sample log"):
        compared(a, a)


def test_the_command_prints_json_and_nothing_else_or_a_table(folder, capsys):
    for options in ([], ["--json"]):
        parser = argparse.ArgumentParser()
        add_compare(parser)
        parsed = parser.parse_args([str(files_of(folder, "gamma")), str(files_of(folder, "alpha")), *options])
        assert parsed.run(parsed) == 0
    table, _, printed = capsys.readouterr().out.partition("{")
    assert json.loads("{" + printed)["tasks"][TASK]["flipped"]["better"]
    assert "|w_sum|↑|" in table and "rows better in B by w_sum" in table
