"""The functions that MIRAGE's YAML files name: a few lines each between lmms-eval and the scoring modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.mirage import rows, w_sum
from lmms_tasks.mirage.identification import (
    accepted_names,
    identification_accuracy,
    identification_accuracy_exact,
    parse_common_names,
)
from lmms_tasks.mirage.seen import entity_keys
from lmms_tasks.mirage.verdicts import IdentificationVerdict, ManagementVerdict
from lmms_tasks.utils.images import image_column_values, open_image
from lmms_tasks.utils.judge import Rubric, panel_for
from lmms_tasks.utils.judged import JudgedRow, judge_row, unjudged_score
from lmms_tasks.utils.statistics import MINIMUM_COVERAGE, Item

if TYPE_CHECKING:
    from PIL import Image

JUDGE_USE = "mirage.mmst"
_PROMPTS = Path(__file__).parent / "prompts"
ID_RUBRIC = Rubric.from_file(
    _PROMPTS / "mmst_id.txt",
    name="mirage.mmst_id",
    schema=IdentificationVerdict,
    reference="gold_answer",
    candidate="answer",
)
MG_RUBRIC = Rubric.from_file(
    _PROMPTS / "mmst_mg.txt",
    name="mirage.mmst_mg",
    schema=ManagementVerdict,
    reference="gold_answer",
    candidate="answer",
)
FACETS = ("accuracy", "relevance", "completeness", "parsimony")

mmst_id_rows = partial(rows.select, schema=rows.STANDARD, categories=rows.IDENTIFICATION)
mmst_mg_rows = partial(rows.select, schema=rows.STANDARD, categories=rows.MANAGEMENT)
mmst_id_metadata_rows = partial(mmst_id_rows, metadata=True)
mmst_mg_metadata_rows = partial(mmst_mg_rows, metadata=True)
mmst_id_lite_rows = partial(mmst_id_rows, subset=rows.SUBSET_ROWS)
mmst_mg_lite_rows = partial(mmst_mg_rows, subset=rows.SUBSET_ROWS)
mmst_contextual_mg_rows = partial(rows.select, schema=rows.CONTEXTUAL, categories=rows.MANAGEMENT)


def mmst_doc_to_visual(doc: Mapping[str, Any]) -> list[Image.Image]:
    """All images of the row in order, as RGB."""
    return [open_image(value) for value in image_column_values(doc)]


def mmst_doc_to_text(doc: Mapping[str, Any]) -> str:
    """The question, untouched: identification rows carry their instruction inside it."""
    return doc["question"]


def mmst_doc_to_messages(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One user message, the text before the images, as the official client sends it."""
    images = [{"type": "image", "url": image} for image in mmst_doc_to_visual(doc)]
    return [{"role": "user", "content": [{"type": "text", "text": doc["question"]}, *images]}]


def mmst_doc_to_target(doc: Mapping[str, Any]) -> str:
    """The expert's answer."""
    return doc["answer"]


def mmst_id_process_results(
    doc: Mapping[str, Any], results: Sequence[str], on_samples: bool = False
) -> dict[str, dict[str, Any]]:
    """All metrics of an identification row."""
    common_names = parse_common_names(doc.get("entity_common_names"))
    texts = {
        "question": doc["question"],
        "gold_answer": doc["answer"],
        "names": rows.names_text(doc, common_names),
        "entity_type": doc.get("entity_type") or "entity",
    }
    zero = {"identification_accuracy": 0.0, "reasoning": 0.0}
    row = judge_row(results, panel_for(JUDGE_USE, on_samples), ID_RUBRIC, texts, zero)
    accuracy, reasoning = (row.fields or {}).get("identification_accuracy"), (row.fields or {}).get("reasoning")
    weighted = None if row.fields is None else w_sum.id_weighted_score(accuracy, reasoning)
    names = accepted_names(doc)
    return {
        "identification_accuracy": _unjudged(results, lambda text: identification_accuracy(text, names)),
        "identification_accuracy_exact": _unjudged(results, lambda text: identification_accuracy_exact(text, names)),
        "identification_accuracy_official": row.item(accuracy),
        "identification_accuracy_official_strict": row.item(accuracy),
        "reasoning_score": row.item(reasoning),
        "site_weighted_score": row.item(weighted),
        **_run_items(doc, row),
    }


def mmst_mg_process_results(
    doc: Mapping[str, Any], results: Sequence[str], on_samples: bool = False
) -> dict[str, dict[str, Any]]:
    """All metrics of a management row."""
    row, items = _management(doc, results, on_samples)
    score = items["w_sum"].get("score")
    return {**items, "site_weighted_score": row.item(None if score is None else w_sum.mg_weighted_score(score))}


def mmst_contextual_mg_process_results(
    doc: Mapping[str, Any], results: Sequence[str], on_samples: bool = False
) -> dict[str, dict[str, Any]]:
    """All metrics of a contextual management row, which the site's Overall leaves out."""
    return _management(doc, results, on_samples)[1]


mmst_id_sample_process_results = partial(mmst_id_process_results, on_samples=True)
mmst_mg_sample_process_results = partial(mmst_mg_process_results, on_samples=True)
mmst_contextual_mg_sample_process_results = partial(mmst_contextual_mg_process_results, on_samples=True)


def w_sum_official(items: Sequence[Item]) -> float:
    """The official W-Sum over the judged rows, in [0, 1]; NaN under 95 % coverage."""
    judged = [item for item in items if "facets" in item]
    if not items or len(judged) / len(items) < MINIMUM_COVERAGE:
        return float("nan")
    return w_sum.w_sum_official([[item["facets"][facet] for facet in FACETS] for item in judged])


def _management(
    doc: Mapping[str, Any], results: Sequence[str], on_samples: bool
) -> tuple[JudgedRow, dict[str, dict[str, Any]]]:
    texts = {"question": doc["question"], "gold_answer": doc["answer"]}
    row = judge_row(results, panel_for(JUDGE_USE, on_samples), MG_RUBRIC, texts, dict.fromkeys(FACETS, 0.0))
    facets = row.fields
    score = None if facets is None else w_sum.w_sum(**facets)
    return row, {
        "w_sum": row.item(score),
        "w_sum_strict": row.item(score),
        # No `score`: this metric is no mean over rows, so lmms-eval must not compute an error bar from it.
        "w_sum_official": {"status": row.status} | ({} if facets is None else {"facets": facets}),
        **{f"mg_{facet}": row.item(None if facets is None else facets[facet]) for facet in FACETS},
        **_run_items(doc, row),
    }


def yes_or_no(value: Any) -> str:
    """A truth value of any source ("true", 1, False) as a breakdown's label."""
    return "yes" if str(value).strip().casefold() in ("true", "yes", "1") else "no"


def _unjudged(results: Sequence[str], score: Any) -> dict[str, float]:
    value = unjudged_score(results, score)
    return {} if value is None else {"score": value}


def _run_items(doc: Mapping[str, Any], row: JudgedRow) -> dict[str, dict[str, Any]]:
    return {
        "judged_coverage": row.coverage_item(
            category=doc["category"],
            n_images=doc["n_images"],
            entities=entity_keys(doc),
            **{column: yes_or_no(doc[column]) for column in rows.RELATED if doc.get(column) is not None},
        ),
        "judgements_per_sample": row.size_item(),
    }
