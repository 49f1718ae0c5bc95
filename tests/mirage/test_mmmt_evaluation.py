"""MMMT by the real lmms-eval, on the 60 real rows and on the samples.

The photographs of the 60 rows are not here: a test writes a small coloured JPEG for each of the 127 names that they
mention. What is shown is that rows, images, prompts and scores find each other, not how well a model sees.
"""

from __future__ import annotations

import json
import shutil

import pytest
from PIL import Image

from lmms_tasks.cli import main
from tests.lmms_eval_process import lmms_eval

FORMS = ("direct", "direct_cot", "decomp", "decomp_cot")
TASKS = ("mirage_mmmt_direct", "mirage_mmmt_decomp")


@pytest.fixture(scope="module")
def real_rows(shared_data, tmp_path_factory):
    """The real sample rows of all four configurations, with coloured JPEGs in place of the dialogues' photographs."""
    source = shared_data / "mirage" / "samples"
    folder = tmp_path_factory.mktemp("mirage")
    for name in ("sample_standard_benchmark.json", "sample_contextual_benchmark.json"):
        shutil.copy(source / name, folder / name)
    (folder / "sample_images").symlink_to(source / "sample_images")
    for word in ("direct", "decomp"):
        shutil.copy(source / "mmmt_decomp_60.json", folder / f"mmmt_{word}_60.json")
    (folder / "images").mkdir()
    names = sorted({path for row in json.loads((source / "mmmt_decomp_60.json").read_text()) for path in row["images"]})
    assert len(names) == 127
    for number, name in enumerate(names):
        colour = (number * 53 % 256, number * 97 % 256, number * 11 % 256)
        Image.new("RGB", (64, 48), colour).save(folder / name)
    return folder


@pytest.fixture(scope="module")
def reference(real_rows, tmp_path_factory):
    """All of MIRAGE answered with its gold answers."""
    return lmms_eval(
        tmp_path_factory.mktemp("reference"),
        *("--model", "reference", "--tasks", "mirage,mirage_mmmt_direct_cot,mirage_mmmt_decomp_cot", "--log_samples"),
        MIRAGE_DATA=str(real_rows),
        LMMS_TASKS_JUDGES="offline",
        LMMS_TASKS_HOME=str(tmp_path_factory.mktemp("home")),
    )


@pytest.mark.parametrize("form", FORMS)
def test_gold_answers_reach_100_on_the_60_real_rows(reference, form):
    results = reference.results[f"mirage_mmmt_{form}"]
    assert results["decision_accuracy,none"] == results["decision_accuracy_official,none"] == 100.0
    assert results["parse_rate,none"] == 1.0 and results["goal_relevance,none"] == 4.0
    if form.startswith("decomp"):
        assert results["perfect,none"] == 100.0 and results["spurious,none"] == 0.0
        assert results["known_accuracy,none"] == results["missing_coverage,none"] == 4.0
    assert len(reference.samples(f"mirage_mmmt_{form}")) == 60


def test_the_group_of_all_prints_its_members_and_leaves_the_inner_groups_number_as_it_is(reference):
    results = reference.results
    assert reference.code == 0
    assert {"mirage_mmst_id", "mirage_mmst_mg", "mirage_mmst_contextual_mg", *TASKS} < results.keys()
    members = [results[name]["site_weighted_score,none"] for name in ("mirage_mmst_id", "mirage_mmst_mg")]
    assert results["mirage_mmst"]["site_weighted_score,none"] == pytest.approx(sum(members) / 2)
    for group in ("mirage", "mirage_mmmt"):
        assert not [key for key in results.get(group, {}) if key.endswith(",none")]


def test_the_manifest_holds_the_decisions_and_the_prompt(reference):
    manifest = reference.manifest("mirage_mmmt_decomp_cot")
    told = manifest["breakdowns"]
    assert manifest["rows"] == 60 and manifest["answers"] == {"judged": 60}
    assert told["confusion"]["clarify"]["clarify"] == told["confusion"]["respond"]["respond"] == 30
    assert told["baselines"]["always_clarify"] == 50.0
    assert told["truncated_answers"] == 0 and told["prompt"]["name"] == "mmmt_decomp_cot"
    assert list(manifest["rubrics"]) == ["mirage.mmmt_decomp"]


def test_a_log_is_scored_to_the_same_numbers(reference, real_rows, capsys):
    log = reference.log("mirage_mmmt_decomp")
    arguments = ["score", "mirage_mmmt_decomp", str(log), "--data", str(real_rows), "--judges", "offline", "--json"]
    assert main(arguments) == 0
    scored = json.loads(capsys.readouterr().out)["results"]["mirage_mmmt_decomp"]
    direct = reference.results["mirage_mmmt_decomp"]
    names = [key for key in scored if key.endswith(",none") and "_stderr" not in key]
    assert len(names) == 13 and {key: scored[key] for key in names} == {key: direct[key] for key in names}


def test_always_clarify_is_right_on_half_of_the_60_real_rows(shared_data, tmp_path, capsys):
    answers = tmp_path / "answers.jsonl"
    said = "<Decision><Clarify></Decision><Utterance>Could you tell me more?</Utterance>"
    answers.write_text("\n".join(json.dumps({"doc_id": number, "prediction": said}) for number in range(60)))
    data = shared_data / "mirage" / "samples" / "mmmt_decomp_60.json"
    assert main(["score", "mirage_mmmt_direct", str(answers), "--data", str(data), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["results"]["mirage_mmmt_direct"]["decision_accuracy,none"] == 50.0
    assert printed["n-samples"]["mirage_mmmt_direct"] == {"rows": 60, "answered": 60}


def test_a_model_with_random_weights_runs_and_decides_nothing(real_rows, tmp_path):
    outcome = lmms_eval(
        tmp_path / "out",
        *("--model", "tiny_vlm", "--model_args", "max_new_tokens=8", "--tasks", "mirage_mmmt", "--limit", "2"),
        "--log_samples",
        MIRAGE_DATA=str(real_rows),
        LMMS_TASKS_JUDGES="offline",
    )
    assert outcome.code == 0
    for task in TASKS:
        assert outcome.results[task]["decision_accuracy,none"] == outcome.results[task]["parse_rate,none"] == 0.0
        assert len(outcome.samples(task)) == 2
    assert outcome.results["mirage_mmmt_decomp"]["spurious,none"] == 100.0


def test_preflight_names_the_photograph_that_is_missing(shared_data, monkeypatch):
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.run import Run

    monkeypatch.setenv("MIRAGE_DATA", str(shared_data / "mirage" / "samples" / "mmmt_decomp_60.json"))
    with Run.begin([read_catalogue().tasks["mirage_mmmt_direct"]]) as run, pytest.raises(SystemExit) as ended:
        run.preflight()
    assert "row 0 names the image ./images/#830625_0.jpg" in ended.value.code
