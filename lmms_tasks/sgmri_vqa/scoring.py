"""The scores of one row by metric: what each rule makes of the row's answers, and of rows that cannot be scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmms_tasks.sgmri_vqa import encoders, key
from lmms_tasks.sgmri_vqa.a_score import (
    OPEN_ENDED,
    a_score,
    cut_final_answer,
    parse_yes_no,
    parse_yes_no_word_boundary,
    strip_think,
)
from lmms_tasks.sgmri_vqa.ar_score import MARKS, ar_score, combine, judge_mark, relative_mark
from lmms_tasks.sgmri_vqa.boxes import assign_default_frame, parse_boxes
from lmms_tasks.sgmri_vqa.columns import A_TASKS, AR_TASKS, OUT_OF_SCOPE
from lmms_tasks.sgmri_vqa.coordinates import Scale
from lmms_tasks.sgmri_vqa.own_marks import own_judgement
from lmms_tasks.sgmri_vqa.slices import image_size
from lmms_tasks.sgmri_vqa.text_metrics import bleu, rouge_l, strip_coordinates_and_frames
from lmms_tasks.sgmri_vqa.v_score import match_boxes
from lmms_tasks.utils.judge import Panel, Rubric
from lmms_tasks.utils.judged import JudgedRow, judge_row
from lmms_tasks.utils.reasoning import Answer
from lmms_tasks.utils.statistics import mean

Item = Mapping[str, Any]

A_METRICS = ("a_score", "a_score_official", "a_score_word_boundary")
AR_METRICS = ("ar_score", "ar_score_official", "ar_score_no_judge", "ar_score_no_bertscore", "ar_score_custom_encoder")
V_METRICS = ("v_score", "box_f1", "predicted_boxes")


@dataclass(frozen=True)
class ReasoningScores:
    """AR-Score's items of a row, with the judged row behind them."""

    items: dict[str, Item]
    judged: JudgedRow
    references: Sequence[Mapping[str, Any]] = ()
    empty_after_stripping: int = 0


@dataclass(frozen=True)
class BoxScores:
    """V-Score's items of a row, and what the manifest tells about its boxes."""

    items: dict[str, Item]
    record: dict[str, Any] = field(default_factory=dict)


def answer_items(row: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Item]:
    """The items of the three A-Scores.

    `a_score` and its word-boundary variant are about the card's four tasks. `a_score_official` is, as in the released
    pipeline, about all rows but localization and open-ended ones; it holds captions that are typed as closed.
    """
    open_ended = row["type"] in OPEN_ENDED
    scopes = {
        "a_score": row["task"] in A_TASKS,
        "a_score_official": row["task"] != "localization" and row["type"] != "open_ended",
        "a_score_word_boundary": row["task"] in A_TASKS,
    }
    items: dict[str, Item] = dict.fromkeys(A_METRICS, OUT_OF_SCOPE)
    if not any(scopes.values()):
        return items
    predictions = [_prediction(row, answer) for answer in answers]
    similarities: Sequence[float | None] = [None] * len(answers)
    if open_ended:
        found = encoders.similarities([(text, row["answer"]) for text in predictions])
        if found is None:
            return items | {name: {"status": "no_encoder"} for name, inside in scopes.items() if inside}
        similarities = found
    for name, inside in scopes.items():
        parser = parse_yes_no_word_boundary if name == "a_score_word_boundary" else parse_yes_no
        if inside:
            scores = [
                # An empty answer is 0 even where its embedding happens to resemble the key's.
                a_score(text, row["answer"], row["type"], row["labels"], similarity, parser) if text else 0.0
                for text, similarity in zip(predictions, similarities, strict=True)
            ]
            items[name] = _item(answers, scores)
    return items


def box_items(row: Mapping[str, Any], answers: Sequence[Answer], scale: Scale) -> BoxScores:
    """The items of V-Score, F1 at IoU 0.5 and the number of predicted boxes; out of scope without key boxes."""
    wanted = key.boxes_of(row)
    if not wanted:
        return BoxScores(dict.fromkeys(V_METRICS, OUT_OF_SCOPE))
    width, height, source = image_size(row)
    predicted = [
        assign_default_frame(parse_boxes(strip_think(answer.text), width, height, scale)) for answer in answers
    ]
    matchings = [match_boxes(wanted, boxes) for boxes in predicted]
    items = {
        "v_score": _item(answers, [matching.score for matching in matchings]),
        "box_f1": _item(answers, [matching.f1(0.5) for matching in matchings]),
        "predicted_boxes": _item(answers, [float(len(boxes)) for boxes in predicted]),
    }
    return BoxScores(items, {"image_size": source, "coordinates": scale.convention})


def reasoning_items(
    row: Mapping[str, Any], answers: Sequence[Answer], results: Sequence[str], panel: Panel | None, rubric: Rubric
) -> ReasoningScores | None:
    """AR-Score's items, None for a row that is neither caption nor localization.

    A text that is empty, before or after coordinates and frames are stripped, is 0 without a call.
    """
    if row["task"] not in AR_TASKS:
        return None
    localization = row["task"] == "localization"
    reference = strip_coordinates_and_frames(row["answer"]) if localization else row["answer"].strip()
    texts = [
        strip_coordinates_and_frames(answer.text) if localization else strip_think(answer.text) for answer in answers
    ]
    if not reference:
        texts = [""] * len(texts)
    emptied = sum(bool(answer.text) and not text for answer, text in zip(answers, texts, strict=True))
    # The judge's road strips reasoning itself; a failed request and an answer without end must reach it as they are.
    prepared = [
        text if answer.state == "answered" else raw for answer, text, raw in zip(answers, texts, results, strict=True)
    ]
    asks = panel is not None and any(
        text and answer.state == "answered" for text, answer in zip(texts, answers, strict=True)
    )
    # Asked before the answers are, so that both are under way together.
    beside = own_judgement(panel, rubric, reference) if asks else None
    judged = judge_row(prepared, panel, rubric, {"reference": reference}, dict.fromkeys(MARKS, 0.0))
    itself = beside.result() if beside else None
    own = judge_mark(itself.fields) if itself and itself.fields is not None else None
    encoder, berts = encoders.bertscores([(text, reference) for text in texts if text])
    remaining = iter(berts) if berts is not None else None
    available = _available(panel is not None, berts is not None, encoder == "custom")
    scores: dict[str, list[float | None]] = {name: [] for name in AR_METRICS}
    for text, one in zip(texts, judged.answers, strict=True):
        if not text:
            failed = one.answer.state == "request_failed"
            values = {name: 0.0 if there and not failed else None for name, there in available.items()}
        else:
            mark = judge_mark(one.fields) if one.fields is not None else None
            bert = next(remaining) if remaining is not None else None
            values = _reasoning_scores(
                mark, own, bert, encoder == "custom", bleu(text, reference), rouge_l(text, reference)
            )
        for name, value in values.items():
            scores[name].append(value)
    items = {name: _judged_item(judged, values, available[name]) for name, values in scores.items()}
    if encoder != "custom":
        items["ar_score_custom_encoder"] = OUT_OF_SCOPE
    return ReasoningScores(items, judged, [itself.record()] if itself else [], emptied)


def _reasoning_scores(
    mark: float | None, own: float | None, bert: float | None, custom: bool, bleu_score: float, rouge: float
) -> dict[str, float | None]:
    """Each AR metric, None where a part of it is missing; no metric stands in for another."""
    default = None if custom else bert
    whole = (default, bleu_score, rouge)
    return {
        "ar_score": None if mark is None or default is None else ar_score(mark, *whole),
        "ar_score_official": None
        if mark is None or own is None or default is None
        else combine(relative_mark(mark, own), whole),
        "ar_score_no_judge": None if default is None else ar_score(None, *whole),
        "ar_score_no_bertscore": None if mark is None else ar_score(mark, None, bleu_score, rouge),
        "ar_score_custom_encoder": None
        if mark is None or bert is None or not custom
        else ar_score(mark, bert, bleu_score, rouge),
    }


def _available(judge: bool, bertscore: bool, custom: bool) -> dict[str, bool]:
    """Which AR metrics have all their parts in this run."""
    default = bertscore and not custom
    return {
        "ar_score": judge and default,
        "ar_score_official": judge and default,
        "ar_score_no_judge": default,
        "ar_score_no_bertscore": judge,
        "ar_score_custom_encoder": judge and custom,
    }


def _prediction(row: Mapping[str, Any], answer: Answer) -> str:
    text = strip_think(answer.text)
    return cut_final_answer(text, row["type"]) if row["level"] == "volume" else text


def _item(answers: Sequence[Answer], scores: Sequence[float]) -> Item:
    if any(answer.state == "request_failed" for answer in answers):
        return {"status": "request_failed"}
    return {"score": mean(scores), "status": answers[0].state}


def _judged_item(judged: JudgedRow, values: Sequence[float | None], available: bool) -> Item:
    if all(value is not None for value in values):
        return {"score": mean(values), "status": judged.status}
    told = judged.status if judged.fields is None else "unscored" if available else "no_bertscore"
    return {"status": told}
