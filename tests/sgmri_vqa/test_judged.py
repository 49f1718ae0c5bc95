"""What the judges of captions and localizations are asked, how often, and what a missing mark means."""

from __future__ import annotations

import json
import threading

import pytest

from lmms_tasks.sgmri_vqa import hooks
from lmms_tasks.sgmri_vqa.text_metrics import bleu, rouge_l, strip_coordinates_and_frames
from lmms_tasks.utils.encoders import BertScorer, find_minilm
from tests.judge_server import JudgeServer
from tests.sgmri_vqa.conftest import IMAGE, VOLUME


def marks(accuracy: int, relevance: int, helpfulness: int) -> str:
    return json.dumps({"accuracy": accuracy, "relevance": relevance, "helpfulness": helpfulness})


def test_a_localization_is_judged_without_coordinates_and_frames(row, judged_by):
    question = row(VOLUME, "localization", volume_id="phantom_knee_2")
    with judged_by(JudgeServer(marks(10, 10, 10))) as server:
        hooks.sample_process_results(question, ["Edema under the joint on Frame 3: <bbx>[1, 2, 3, 4]</bbx>."])
    reference = strip_coordinates_and_frames(question["answer"])
    # One request is the answer against the reference, the other the reference against itself; both at the same time.
    answer, itself = sorted((request.prompt for request in server.requests), key=lambda prompt: prompt.count(reference))
    assert "Edema under the joint" in answer and "Frame 3" not in answer and "<bbx>" not in answer
    assert itself.count(reference) == 2 and "(<bbx>" not in itself


def scripted(question, own: str, other: str):
    """A judge that gives `own` to the reference against itself, and `other` to anything else."""
    reference = question["answer"]

    def script(body, number):
        return own if body["messages"][-1]["content"].count(reference) == 2 else other

    return script


def test_marks_are_held_against_the_references_own_which_is_asked_once_for_all_models(
    row, judged_by, monkeypatch, tmp_path
):
    question = row(IMAGE, "captioning")
    monkeypatch.setenv("SGMRI_VQA_ENCODER", str(find_minilm()))
    monkeypatch.setenv("SGMRI_VQA_LAYER", "6")
    answer, reference = "A drawn brain with a mass.", question["answer"]
    bert = BertScorer(str(find_minilm()), 6, baseline=None).f1([(answer, reference)])[0]
    with judged_by(JudgeServer(scripted(question, marks(9, 8, 7), marks(6, 5, 4)))) as server:
        items = hooks.sample_process_results(question, [answer])
        # The candidate's mean is 5 of 10.
        texts = bleu(answer, reference), rouge_l(answer, reference)
        assert items["ar_score_custom_encoder"]["score"] == pytest.approx(
            0.4 * 0.5 + 0.2 * (bert + sum(texts)), abs=1e-6
        )
        assert items["ar_score_no_bertscore"]["score"] == pytest.approx(0.4 * 0.5 + 0.3 * sum(texts))
        assert items["ar_score"] == items["ar_score_official"] == {"status": "no_bertscore"}
        assert server.count == 2
        hooks.sample_process_results(question, ["Another model's words."])
        assert server.count == 3
    record = items["judged_coverage"]
    assert (len(record["judgements"]), len(record["reference_judgements"])) == (1, 1)


def test_a_reference_is_asked_once_a_process_although_the_cache_is_off(row, judged_by, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_CACHE", "off")
    question = row(IMAGE, "captioning")
    with judged_by(JudgeServer(scripted(question, marks(9, 8, 7), marks(6, 5, 4)))) as server:
        answers = ("A drawn brain with a mass.", "A head.", "Two heads.")
        items = [hooks.sample_process_results(question, [answer]) for answer in answers]
        own = [request for request in server.requests if request.prompt.count(question["answer"]) == 2]
        assert len(own) == 1 and server.count == 1 + len(answers)
    verdicts = [one["judged_coverage"]["reference_judgements"][0]["verdicts"][0] for one in items]
    assert [verdict["cached"] for verdict in verdicts] == [False, True, True]
    assert all(verdict["scores"] == {"accuracy": 9, "relevance": 8, "helpfulness": 7} for verdict in verdicts)


def test_a_reference_whose_own_mark_failed_is_asked_again(row, judged_by, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_CACHE", "off")
    question = row(IMAGE, "captioning")
    # An unreadable reply is asked again twice within a judgement.
    replies = iter(["no marks"] * 3)

    def script(body, number):
        itself = body["messages"][-1]["content"].count(question["answer"]) == 2
        return next(replies, marks(9, 8, 7)) if itself else marks(6, 5, 4)

    with judged_by(JudgeServer(script)):
        first, second = (hooks.sample_process_results(question, [text]) for text in ("A head.", "Two heads."))
    scored = [one["judged_coverage"]["reference_judgements"][0]["scored"] for one in (first, second)]
    assert scored == [False, True]
    # The mark of the answer holds without it.
    assert "score" in first["ar_score_no_bertscore"]


def test_the_references_own_mark_does_not_make_a_row_wait_twice(row, judged_by):
    """Each of the two calls is answered only once both have arrived: asked one after the other, they would time out."""
    question, both = row(IMAGE, "captioning"), threading.Barrier(2)

    def script(body, number):
        both.wait(10)
        return marks(6, 5, 4)

    with judged_by(JudgeServer(script)) as server:
        items = hooks.sample_process_results(question, ["A drawn brain."])
    assert server.count == 2 and items["judged_coverage"]["score"] == 1.0


def test_a_judge_that_cannot_be_read_leaves_the_row_unscored_and_no_zero(row, judged_by):
    question = row(IMAGE, "captioning")
    with judged_by(JudgeServer("no marks today")):
        items = hooks.sample_process_results(question, ["A head."])
    assert items["ar_score_no_bertscore"] == {"status": "unscored"}
    assert items["judged_coverage"]["score"] == 0.0 and items["judged_coverage"]["status"] == "unscored"


def test_an_answer_that_is_all_coordinates_is_zero_without_a_call_and_counted(row, judged_by):
    question = row(VOLUME, "localization", volume_id="phantom_knee_2")
    with judged_by(JudgeServer(marks(10, 10, 10))) as server:
        items = hooks.sample_process_results(question, ["Frame 3: <bbx>[58, 16, 15, 12]</bbx>"])
    assert server.count == 0
    assert items["v_score"]["score"] == 1.0
    assert items["ar_score_no_bertscore"]["score"] == 0.0
    assert items["judged_coverage"]["empty_after_stripping"] == 1
