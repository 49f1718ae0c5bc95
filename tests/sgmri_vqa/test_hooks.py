"""From a row's answers to its items: what is scored, by whom, and what stays unscored."""

from __future__ import annotations

import json
import math
import os

import pytest
from loguru import logger

from lmms_tasks.benchmarks import import_name
from lmms_tasks.sgmri_vqa import hooks
from lmms_tasks.sgmri_vqa.benchmark import BENCHMARK
from lmms_tasks.sources import load_rows
from lmms_tasks.utils.manifest import task_manifest
from tests.sgmri_vqa.conftest import IMAGE, VOLUME

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout"


def items_of(task, rows, answer):
    processed = [hooks.sample_process_results(row, [answer(row)]) for row in rows]
    return {metric.name: [items[metric.name] for items in processed] for metric in task.metrics}


def aggregated(task, items):
    return {metric.name: import_name(metric.aggregation)(items[metric.name]) for metric in task.metrics}


@pytest.mark.parametrize("task", [IMAGE, VOLUME], ids=lambda task: task.name)
def test_reference_answers_have_the_best_a_and_v_scores(rows, task):
    values = aggregated(task, items_of(task, rows[task.name], hooks.doc_to_target))
    for metric in ("a_score", "a_score_strict", "a_score_official", "a_score_word_boundary"):
        assert values[metric] == pytest.approx(1.0, abs=1e-6)
    assert values["v_score"] == values["box_f1"] == values["localization_v"] == 1.0
    assert values["judged_coverage"] == 1.0 and values["judgements_per_sample"] == 0.0
    # roberta-large is not here, and nothing stands in for it under its name.
    for metric in ("ar_score", "ar_score_strict", "ar_score_official", "captioning", "localization_ar", "average"):
        assert math.isnan(values[metric])
    assert values["ar_score_no_bertscore"] > 0.9


@pytest.mark.parametrize("task", [IMAGE, VOLUME], ids=lambda task: task.name)
@pytest.mark.parametrize("answer", ["", "<think>It could be", "<think>Yes</think>"])
def test_no_answer_is_zero_everywhere(rows, task, answer):
    values = aggregated(task, items_of(task, rows[task.name], lambda row: answer))
    for metric in ("a_score", "a_score_official", "v_score", "box_f1", "predicted_boxes", "ar_score_no_bertscore"):
        assert values[metric] == 0.0
    assert values["judged_coverage"] == 1.0


def test_an_unclosed_think_tag_is_no_answer_although_the_released_stripper_leaves_it(row):
    detection = row(IMAGE, "detection")
    items = hooks.sample_process_results(detection, [f"<think>hm. {detection['answer']}"])
    assert items["a_score"] == {"score": 0.0, "status": "unclosed_reasoning"}


def test_a_failed_request_is_unscored_and_no_answer_of_the_model(row):
    for question, metrics in (
        (row(IMAGE, "detection"), ("a_score", "a_score_official", "detection")),
        (row(VOLUME, "localization"), ("v_score", "box_f1", "predicted_boxes", "ar_score", "localization_v")),
    ):
        items = hooks.sample_process_results(question, [FAILED])
        for metric in metrics:
            assert items[metric] == {"status": "request_failed"}


def test_a_metric_that_is_not_about_a_row_does_not_lack_a_score(row):
    items = hooks.sample_process_results(row(IMAGE, "captioning"), ["A head."])
    for metric in ("a_score", "v_score", "predicted_boxes", "detection", "localization_ar", "localization_v"):
        assert items[metric] == {"status": "out_of_scope"}
    # A caption that is typed as open stays out of the released A-Score, one that is typed as closed is in it.
    assert items["a_score_official"] == {"status": "out_of_scope"}
    closed = row(IMAGE, "captioning") | {"type": "closed_ended"}
    assert "score" in hooks.sample_process_results(closed, ["A head."])["a_score_official"]


def test_the_released_a_score_leaves_open_ended_rows_out(row):
    question = row(IMAGE, "classification", type="open_ended")
    items = hooks.sample_process_results(question, ["A single round mass."])
    assert items["a_score"]["score"] == pytest.approx(1.0, abs=1e-6)
    assert items["a_score_official"] == items["classification"] == {"status": "out_of_scope"}


def test_without_a_sentence_encoder_open_ended_rows_are_unscored_and_counted(row, tmp_path):
    """In a process of its own, where the package that holds the encoder cannot be imported."""
    import subprocess
    import sys

    question = row(IMAGE, "classification", type="open_ended")
    code = (
        "import json, sys, importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name.startswith('gt_') else found(name, *more)\n"
        "from lmms_tasks.sgmri_vqa import hooks\n"
        "row = json.loads(sys.stdin.read())\n"
        "print(json.dumps(hooks.sample_process_results(row, ['A mass.'])['a_score']))\n"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(question), capture_output=True, text=True, env=environment
    )
    assert json.loads(done.stdout) == {"status": "no_encoder"}
    assert "open-ended answers stay unscored" in done.stderr


def test_a_volume_answer_is_cut_to_its_final_answer_and_a_slice_answer_is_not(row):
    text = "No lesion at first sight. Therefore, the final answer is: **Yes**."
    on_slice = row(IMAGE, "detection", answer="Yes")
    on_volume = row(VOLUME, "detection", answer="Yes")
    assert hooks.sample_process_results(on_slice, [text])["a_score"]["score"] == 0.0
    assert hooks.sample_process_results(on_volume, [text])["a_score"]["score"] == 1.0


def test_a_frameless_box_is_on_frame_one(row):
    question = row(VOLUME, "localization", volume_id="phantom_brain_2")
    # Two key boxes on frames 3 and 4 at one place.
    assert question["answer"].startswith("Mass: Frame 3: <bbx>[52, 34, 18, 16]</bbx>")
    assert hooks.sample_process_results(question, ["<bbx>[52, 34, 18, 16]</bbx>"])["v_score"]["score"] == 0.0
    assert hooks.sample_process_results(question, ["Frame 3: <bbx>[52, 34, 18, 16]</bbx>"])["v_score"]["score"] == 0.5


@pytest.mark.parametrize(("convention", "score"), [("official", 0.0), ("per_mille", 1.0), ("resized", 0.0)])
def test_the_coordinates_that_the_yaml_states_for_a_model_reach_the_score(row, convention, score):
    question = row(IMAGE, "localization", volume_id="phantom_brain_2") | {"width": 100, "height": 200}
    # The key box of 52, 34, 18, 16 in thousandths of 100 × 200.
    answer = "<bbx>[520, 170, 180, 80]</bbx>"
    hooks.doc_to_text(question, {"coordinates": convention})
    assert hooks.sample_process_results(question, [answer])["v_score"]["score"] == pytest.approx(score)
    hooks.doc_to_text(question)


def test_the_coordinates_may_be_said_when_answers_are_scored_later(row, monkeypatch):
    question = row(IMAGE, "localization", volume_id="phantom_brain_2") | {"width": 100, "height": 200}
    monkeypatch.setenv("SGMRI_VQA_COORDINATES", "per_mille")
    items = hooks.sample_process_results(question, ["<bbx>[520, 170, 180, 80]</bbx>"])
    assert items["v_score"]["score"] == pytest.approx(1.0)
    assert items["judged_coverage"]["coordinates"] == "per_mille"


def test_sizes_that_are_assumed_stand_in_the_manifest_and_in_one_sentence(rows, row):
    question = row(IMAGE, "localization", volume_id="phantom_brain_2") | {"width": None, "height": None}
    items = items_of(IMAGE, [question], hooks.doc_to_target)
    told: list[str] = []
    handler = logger.add(lambda message: told.append(str(message)), format="{level} {message}")
    manifest = task_manifest(IMAGE, items, aggregated(IMAGE, items), {}, {"name": "scripted", "args": ""})
    logger.remove(handler)
    assert manifest["breakdowns"]["image_size"] == {"assumed": 1}
    assert manifest["breakdowns"]["assumed_image_sizes"] == {"brain": [256, 256], "knee": [320, 320]}
    (sentence,) = [line for line in told if "sizes are assumed" in line]
    assert sentence.startswith("WARNING") and "SGMRI_VQA_IMAGE_DIR" in sentence
    whole = items_of(IMAGE, rows[IMAGE.name], hooks.doc_to_target)
    known = task_manifest(IMAGE, whole, aggregated(IMAGE, whole), {}, {"name": "scripted", "args": ""})
    assert "assumed_image_sizes" not in known["breakdowns"]


def test_without_a_judge_only_what_needs_none_has_a_value(row, monkeypatch):
    items = hooks.process_results(row(IMAGE, "captioning"), ["A head."])
    assert items["ar_score_no_bertscore"] == {"status": "no_judge"} == items["ar_score"]
    assert items["judged_coverage"]["status"] == "no_judge"
    detection = row(IMAGE, "detection")
    assert hooks.process_results(detection, [detection["answer"]])["detection"]["score"] == 1.0


def test_repeated_answers_count_as_their_mean(row):
    question = row(IMAGE, "detection", answer="Yes")
    items = hooks.sample_process_results(question, ["Yes", "No", "Yes", "No"])
    assert items["a_score"]["score"] == 0.5
    caption = row(IMAGE, "captioning")
    both = hooks.sample_process_results(caption, [caption["answer"], ""])["ar_score_no_bertscore"]["score"]
    alone = hooks.sample_process_results(caption, [caption["answer"]])["ar_score_no_bertscore"]["score"]
    assert both == pytest.approx(alone / 2)


def test_the_manifest_breaks_every_metric_down_with_its_n(rows):
    items = items_of(IMAGE, rows[IMAGE.name], lambda row: "**Yes**, an abnormality.")
    manifest = task_manifest(IMAGE, items, aggregated(IMAGE, items), {}, {"name": "scripted", "args": ""})
    breakdowns = manifest["breakdowns"]
    detection = breakdowns["by_task"]["detection"]
    # The released parser reads yes and "no" in "abnormality", and decides neither.
    assert detection["a_score"] == {"mean": 0.0, "n": 5}
    yes = sum(row["answer"] == "Yes" for row in rows[IMAGE.name] if row["task"] == "detection")
    assert detection["a_score_word_boundary"] == {"mean": yes / 5, "n": 5}
    assert breakdowns["a_score_word_boundary_difference"] > 0
    assert set(breakdowns["by_organ"]) == {"brain", "knee"}
    assert set(breakdowns["by_level"]) == {"image"}
    assert {
        "closed_ended",
        "single_choice",
        "multiple_choice",
        "multi_choice",
        "open_ended",
        "chain_of_thought",
    } == set(breakdowns["by_question_type"])
    assert breakdowns["by_task"]["localization"]["v_score"]["n"] == 4 == breakdowns["image_size"]["row"]
    assert breakdowns["key_boxes"] == {"record": 4}
    assert breakdowns["encoders"]["sentence_encoder"] and breakdowns["encoders"]["bertscore"] is None
    assert breakdowns["prompts"]["version"] == "1"


def test_preflight_refuses_settings_that_cannot_be_used(monkeypatch, tmp_path):
    def refused(sentence):
        with pytest.raises(SystemExit, match=sentence):
            BENCHMARK.check(IMAGE)

    BENCHMARK.check(IMAGE)
    for name, value, sentence in (
        ("SGMRI_VQA_COORDINATES", "inches", "knows no coordinates 'inches'"),
        ("SGMRI_VQA_PROMPT", "icl", "knows no prompt 'icl'"),
        ("SGMRI_VQA_SENTENCE_ENCODER", str(tmp_path), "no folder of a sentence encoder"),
        ("SGMRI_VQA_ENCODER", "bert-base-uncased", "say in SGMRI_VQA_LAYER"),
    ):
        monkeypatch.setenv(name, value)
        refused(sentence)
        monkeypatch.delenv(name)
    monkeypatch.setenv("SGMRI_VQA_ENCODER", str(tmp_path))
    monkeypatch.setenv("SGMRI_VQA_LAYER", "6")
    refused("no folder of an encoder")
    with pytest.raises(SystemExit, match="cannot be loaded"):
        hooks.sample_process_results(next(iter(load_rows(IMAGE).filter(lambda r: r["task"] == "captioning"))), ["A"])


def test_a_log_is_scored_where_the_images_are_not_at_hand(rows, tmp_path):
    """A prompt names the images' size and number; another machine does not know them."""
    chosen = rows[VOLUME.name]
    log = tmp_path / "log.jsonl"

    def record(place, text):
        row = chosen[place]
        return {"doc_id": place, "target": row["answer"], "input": text, "filtered_resps": [f"answer {place}"]}

    here = [hooks.doc_to_text(row | {"width": 640, "height": 480, "num_slices": 99}) for row in chosen]
    log.write_text("\n".join(json.dumps(record(place, text)) for place, text in enumerate(here)))
    read = BENCHMARK.read_answers(VOLUME, [log], chosen)
    assert read == {log: {place: [f"answer {place}"] for place in range(len(chosen))}}
    log.write_text(json.dumps(record(0, chosen[0]["question"])))
    assert BENCHMARK.read_answers(VOLUME, [log], chosen) == {log: {0: ["answer 0"]}}
    # Another question, another target: not ours to read, so the general reader says what is wrong.
    log.write_text(json.dumps(record(0, here[1])))
    assert BENCHMARK.read_answers(VOLUME, [log], chosen) == {}
    log.write_text(json.dumps(record(0, here[0]) | {"target": "else"}))
    assert BENCHMARK.read_answers(VOLUME, [log], chosen) == {}
