"""The functions that SGMRI-VQA's YAML files name: a few lines each between lmms-eval and the scoring modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.sgmri_vqa import rows
from lmms_tasks.sgmri_vqa.ar_score import ReasoningVerdict
from lmms_tasks.sgmri_vqa.columns import A_TASKS, COLUMNS, OUT_OF_SCOPE
from lmms_tasks.sgmri_vqa.coordinates import Scale, recall_scale, remember_scale
from lmms_tasks.sgmri_vqa.prompt import build_prompt, settings
from lmms_tasks.sgmri_vqa.scoring import AR_METRICS, answer_items, box_items, reasoning_items
from lmms_tasks.sgmri_vqa.slices import open_slices
from lmms_tasks.utils.judge import Rubric, panel_for
from lmms_tasks.utils.reasoning import strip_reasoning

if TYPE_CHECKING:
    from PIL import Image

JUDGE_USE = "sgmri_vqa"
AR_RUBRIC = Rubric.from_file(
    Path(__file__).parent / "prompts" / "ar_score.txt",
    name="sgmri_vqa.ar_score",
    schema=ReasoningVerdict,
    reference="reference",
    candidate="answer",
)

image_rows = partial(rows.select, level="image")
image_brain_rows = partial(rows.select, level="image", organ="brain")
image_knee_rows = partial(rows.select, level="image", organ="knee")
volume_rows = partial(rows.select, level="volume")
volume_brain_rows = partial(rows.select, level="volume", organ="brain")
volume_knee_rows = partial(rows.select, level="volume", organ="knee")
image_lite_rows = partial(rows.select, level="image", subset=rows.SUBSET_ROWS["image"])
volume_lite_rows = partial(rows.select, level="volume", subset=rows.SUBSET_ROWS["volume"])
image_sample_rows = partial(rows.select, level="image", on_samples=True)
volume_sample_rows = partial(rows.select, level="volume", on_samples=True)


def doc_to_visual(doc: Mapping[str, Any]) -> list[Image.Image]:
    """The slice, or all slices of the volume in order, as RGB."""
    return open_slices(doc)


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
    """The question with its format line, or alone (`prompt: minimal`)."""
    given = settings(lmms_eval_specific_kwargs)
    # Scoring hooks are not told what lmms-eval's YAML says for this model, and run in the same process.
    remember_scale(doc["level"], Scale.from_settings(given))
    return build_prompt(doc, given.get("prompt") or "default")


def doc_to_messages(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """One user message: all images, then the text, as the official client sends them."""
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    return [
        {
            "role": "user",
            "content": [*images, {"type": "text", "text": doc_to_text(doc, lmms_eval_specific_kwargs)}],
        }
    ]


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The reference answer."""
    return doc["answer"]


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], on_samples: bool = False
) -> dict[str, Mapping[str, Any]]:
    """All metrics of a row; those that are not about it get `OUT_OF_SCOPE`."""
    panel = panel_for(JUDGE_USE, on_samples)
    answers = [strip_reasoning(raw) for raw in results]
    items = answer_items(doc, answers)
    scale = Scale.from_settings(settings(None)) if settings(None).get("coordinates") else recall_scale(doc["level"])
    boxes = box_items(doc, answers, scale)
    items.update(boxes.items)
    reasoning = reasoning_items(doc, answers, results, panel, AR_RUBRIC)
    items.update(reasoning.items if reasoning else dict.fromkeys(AR_METRICS, OUT_OF_SCOPE))
    columns = _columns(doc, items)
    record = {
        **{group: doc[group] for group in ("organ", "level", "task")},
        "question_type": doc["type"],
        # Questions about one volume, or about its slices, are no independent evidence.
        "cluster": doc["volume_id"],
        "key_boxes": doc["key_source"] if doc["task"] == "localization" else None,
        **boxes.record,
    }
    if reasoning is None:
        states = [answer.state for answer in answers]
        coverage = {"status": states[0], "answers": states, "judgements": [], "needs_judge": False, **record}
        size: Mapping[str, Any] = {}
    else:
        coverage = reasoning.judged.coverage_item(
            needs_judge=True, empty_after_stripping=reasoning.empty_after_stripping, **record
        )
        # Apart: these say nothing about the model, and would make the judge's means and agreement look better.
        coverage["reference_judgements"] = list(reasoning.references)
        size = reasoning.judged.size_item()
    return {
        **items,
        "a_score_strict": items["a_score"],
        "ar_score_strict": items["ar_score"],
        **{column: columns.get(column, OUT_OF_SCOPE) for column in COLUMNS[doc["level"]]},
        # No `score`: the average is no mean over rows, so lmms-eval must not compute an error bar from it.
        "average": {"columns": columns},
        "judged_coverage": coverage,
        "judgements_per_sample": size,
    }


sample_process_results = partial(process_results, on_samples=True)


def _columns(doc: Mapping[str, Any], items: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The row's items in the columns of the published tables, from the official definitions; {} outside them."""
    task = doc["task"]
    if task in A_TASKS:
        found = {task: items["a_score_official"]}
    elif task == "captioning":
        found = {task: items["ar_score_official"]}
    elif task == "localization":
        found = {"localization_v": items["v_score"], "localization_ar": items["ar_score_official"]}
    else:
        found = {}
    return {
        column: item
        for column, item in found.items()
        if column in COLUMNS[doc["level"]] and item.get("status") != OUT_OF_SCOPE["status"]
    }
