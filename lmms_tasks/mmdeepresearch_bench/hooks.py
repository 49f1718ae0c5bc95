"""The functions that this benchmark's YAML files name: a few lines each between lmms-eval and the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.mmdeepresearch_bench import rows
from lmms_tasks.mmdeepresearch_bench.claims import FIRST_IMAGE_LABEL
from lmms_tasks.mmdeepresearch_bench.evidence import pages_for
from lmms_tasks.mmdeepresearch_bench.parts import Missing, ReportScores, nothing_written
from lmms_tasks.mmdeepresearch_bench.pipeline import READ_CHARACTERS, Assignment, score_report
from lmms_tasks.mmdeepresearch_bench.provenance import rules
from lmms_tasks.mmdeepresearch_bench.totals import absent, items_of, official_columns
from lmms_tasks.mmdeepresearch_bench.truth import truth_of
from lmms_tasks.utils.images import open_image
from lmms_tasks.utils.judge import Panel, panel_for
from lmms_tasks.utils.reasoning import strip_reasoning

if TYPE_CHECKING:
    from PIL import Image

JUDGE_USE = "mmdeepresearch_bench"
_KINDS = {"research": "research", "daily": "everyday question"}
_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")

task_rows = partial(rows.select, source="rows")
sample_rows = partial(rows.select, source="samples")


def doc_to_text(doc: Mapping[str, Any], shows_images: bool = True) -> str:
    """Rules, kind of task, question."""
    parts = [rules(), f"Kind of task: {_KINDS[doc['regime']]}", f"Question: {doc['caption']}".rstrip(), doc["body"]]
    if shows_images and doc["n_images"]:
        numbers = ", ".join(f"[{FIRST_IMAGE_LABEL + position}]" for position in range(doc["n_images"]))
        parts.append(f"Images of the question, in their order: {numbers}")
    return "\n\n".join(part for part in parts if part and part != "Question:")


text_doc_to_text = partial(doc_to_text, shows_images=False)


def doc_to_visual(doc: Mapping[str, Any], source: str = "rows") -> list[Image.Image]:
    """The images of the task in order, as RGB."""
    return [open_image(value) for value in rows.task_images(source, doc["id"])]


sample_doc_to_visual = partial(doc_to_visual, source="samples")


def no_visual(doc: Mapping[str, Any]) -> list[Image.Image]:
    """No image: whether images help is one of the benchmark's questions."""
    return []


def doc_to_messages(doc: Mapping[str, Any], source: str = "rows") -> list[dict[str, Any]]:
    """One user message, the text before the images."""
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc, source)]
    return [{"role": "user", "content": [{"type": "text", "text": doc_to_text(doc)}, *images]}]


sample_doc_to_messages = partial(doc_to_messages, source="samples")


def text_doc_to_messages(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One user message without images."""
    return [{"role": "user", "content": [{"type": "text", "text": text_doc_to_text(doc)}]}]


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The report of a shipped sample; "" for a real task, which has no right answer."""
    return doc.get("report") or ""


def process_results(doc: Mapping[str, Any], results: Sequence[str], on_samples: bool = False) -> dict[str, Any]:
    """All metrics of a row."""
    panel = panel_for(JUDGE_USE, on_samples)
    answers = [_score(doc, raw, panel, on_samples) for raw in results]
    n_tasks = rows.count_tasks("samples" if on_samples else "rows")
    return row_items(doc, answers, panel.judgements_per_sample if panel else 0.0, n_tasks)


sample_process_results = partial(process_results, on_samples=True)


def row_items(
    doc: Mapping[str, Any], answers: Sequence[ReportScores], panel_size: float, n_tasks: int
) -> dict[str, Any]:
    """The items of a row's scored answers; `n_tasks` is how many tasks the data set has."""
    items = items_of(answers)
    scored = "score" in items["validity"]
    status = answers[0].status if scored else items["validity"]["status"]
    # A run over a part of the tasks is measured against all of them there.
    items["mmdr_overall_zeroed"] = {**items["mmdr_overall_zeroed"], "tasks": n_tasks}
    return {
        **items,
        # No `score`: these are no means over rows, so lmms-eval must not compute an error bar from them.
        **{f"{name}_n": {"count": float("score" in items[name])} for name in ("mmdr_sem", "mmdr_acc", "mmdr_vqa")},
        "judge_failures": {"count": float(sum(answer.counts.get("judge_failures", 0) for answer in answers))},
        "judged_coverage": {
            "score": float(scored),
            "status": status,
            "reason": items["validity"].get("reason"),
            "answers": [answer.status for answer in answers],
            "judgements": [record for answer in answers for record in answer.judgements],
            "task": rows.task_id(doc["id"]),
            # The text and the image form of a task are one task: what is resampled together.
            "cluster": rows.task_id(doc["id"]),
            "regime": doc["regime"],
            "language": doc["language"],
            "difficulty": doc["difficulty"],
            "counts": [answer.counts for answer in answers],
            "weights": [answer.weights for answer in answers],
            "columns": official_columns(answers[0].parts),
        },
        "judgements_per_sample": {"score": panel_size},
    }


def _score(doc: Mapping[str, Any], raw: str, panel: Panel | None, on_samples: bool) -> ReportScores:
    answer = strip_reasoning(raw)
    if answer.state == "request_failed":
        return ReportScores("request_failed", absent(Missing("request_failed", "provider")))
    if panel is None:
        return ReportScores("no_judge", absent(Missing("no_judge")))
    truth = truth_of(doc)
    if answer.state != "answered":
        return nothing_written(answer.state, truth)
    if len(answer.text) > READ_CHARACTERS:
        _tell_cut(rows.task_id(doc["id"]), len(answer.text))
    source = "samples" if on_samples else "rows"
    assignment = Assignment(
        title=doc["caption"],
        body=doc["body"],
        report_type=doc["report_type"],
        rules=rules(),
        images=[_for_judge(value) for value in rows.task_images(source, doc["id"])],
        truth=truth,
    )
    return score_report(answer.text, assignment, panel, pages_for(on_samples))


@cache
def _tell_cut(task: str, characters: int) -> None:
    logger.warning(f"{task}: of a report of {characters:,} characters the first {READ_CHARACTERS:,} are scored.")


def _for_judge(value: Any) -> Any:
    """An image as judges take it: the file's bytes where its format is one of the web's, else decoded."""
    data = value.get("bytes") if isinstance(value, Mapping) else None
    return data if data and data.startswith(_SIGNATURES) else open_image(value)
