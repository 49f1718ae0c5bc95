"""SGMRI-VQA as the command line, preflight and the manifest know it.

Read in every run of lmms-eval, whatever its tasks: what scoring needs is imported when it is asked for.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.utils.check import Check
from lmms_tasks.utils.rows import Schema

GROUPINGS = ("organ", "level", "question_type", "task")
_NOT_BROKEN_DOWN = ("average", "judged_coverage", "judgements_per_sample", "a_score_strict", "ar_score_strict")


def _schema(configuration: str) -> Schema:
    from lmms_tasks.sgmri_vqa.rows import SCHEMAS

    return SCHEMAS[configuration]


def _breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    from lmms_tasks.sgmri_vqa.columns import covered_mean
    from lmms_tasks.sgmri_vqa.encoders import encoder_record
    from lmms_tasks.sgmri_vqa.prompt import prompt_record
    from lmms_tasks.utils.manifest import grouped_means

    metrics = [metric.name for metric in task.metrics if metric.name not in _NOT_BROKEN_DOWN]
    records = items["judged_coverage"]
    assumed = sum(record.get("image_size") == "assumed" for record in records)
    if assumed:
        _tell_assumed(task, assumed)
    return {
        **{f"by_{key}": grouped_means(items, metrics, [record[key] for record in records]) for key in GROUPINGS},
        # What reading "abnormal" as No costs or gives: word boundaries minus the released parser.
        "a_score_word_boundary_difference": covered_mean(items["a_score_word_boundary"])
        - covered_mean(items["a_score"]),
        "encoders": encoder_record(),
        "prompts": prompt_record(),
        "empty_after_stripping": sum(record.get("empty_after_stripping", 0) for record in records),
        **{
            key: dict(Counter(record[key] for record in records if record.get(key)))
            for key in ("image_size", "coordinates", "key_boxes")
        },
        **({"assumed_image_sizes": _assumed_sizes()} if assumed else {}),
    }


def _assumed_sizes() -> dict[str, list[int]]:
    from lmms_tasks.sgmri_vqa.key import OFFICIAL_SIZES

    return {organ: list(size) for organ, size in OFFICIAL_SIZES.items()}


def _tell_assumed(task: TaskSpec, rows: int) -> None:
    from loguru import logger

    from lmms_tasks.sgmri_vqa.slices import VARIABLE

    told = ", ".join(f"{width} × {height} for {organ}s" for organ, (width, height) in _assumed_sizes().items())
    logger.warning(
        f"{task.name}: the slices behind {rows} rows with boxes are not at hand, so their sizes are assumed as the released "
        f"code assumes them ({told}), which moves boxes in shares or thousandths of an image: set {VARIABLE} for the "
        "real sizes."
    )


def _rubrics(task: TaskSpec) -> dict[str, Any]:
    from lmms_tasks.sgmri_vqa.hooks import AR_RUBRIC

    return {AR_RUBRIC.name: AR_RUBRIC}


def _requirements(task: TaskSpec) -> Iterator[Check]:
    """The encoders and the slices, as far as they can be seen without loading or fetching any."""
    from lmms_tasks.sgmri_vqa.encoders import encoder_checks

    yield from encoder_checks()


def _check(task: TaskSpec) -> None:
    """What the environment says about tables, encoders, prompt and coordinates can be used; loads no model."""
    from lmms_tasks.sgmri_vqa.annotations import read_tables
    from lmms_tasks.sgmri_vqa.coordinates import Scale
    from lmms_tasks.sgmri_vqa.encoders import check_encoders
    from lmms_tasks.sgmri_vqa.key import TABLES_VARIABLE
    from lmms_tasks.sgmri_vqa.prompt import check_variant, settings

    given = settings(None)
    Scale.from_settings(given)
    check_variant(given.get("prompt") or "default")
    check_encoders()
    if (tables := os.environ.get(TABLES_VARIABLE, "").strip()) and not task.on_samples:
        read_tables(Path(tables).expanduser())


def check_images(task: TaskSpec) -> None:
    """The slices that a model will be shown are there; opens none of them."""
    from lmms_tasks.sgmri_vqa.slices import check_slices
    from lmms_tasks.sources import load_rows

    if not task.on_samples:
        check_slices(load_rows(task))


def _local_files(task: TaskSpec, source: Path) -> list[Path]:
    from lmms_tasks.sgmri_vqa.files import question_files

    return question_files(task.configuration, task.split, source)


def _read_answers(
    task: TaskSpec, paths: Sequence[Path], rows: Sequence[Mapping[str, Any]]
) -> dict[Path, dict[int, list[str]]]:
    from lmms_tasks.sgmri_vqa.files import recorded_answers

    return {path: found for path in paths if (found := recorded_answers(path, rows)) is not None}


def _columns(task: TaskSpec) -> dict[str, str]:
    from lmms_tasks.sgmri_vqa.columns import IMAGE_COLUMNS, VOLUME_COLUMNS

    headings = {"diagnosis": "Diagnosis", "localization_v": "Localization (V)", "localization_ar": "Localization (AR)"}
    names = dict.fromkeys(VOLUME_COLUMNS[:2] + IMAGE_COLUMNS[1:])
    return {
        **{name: headings.get(name, name.capitalize()) for name in names},
        "average": "Avg.",
        **{"a_score": "A-Score", "ar_score": "AR-Score", "v_score": "V-Score"},
    }


def _published(task: TaskSpec) -> list[dict[str, Any]]:
    from lmms_tasks.sgmri_vqa.published import published

    return published(task)


def _frames(task: TaskSpec, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    from lmms_tasks.sgmri_vqa.frames import frames

    return frames(row)


def _prepare(parser: argparse.ArgumentParser) -> None:
    from lmms_tasks.sgmri_vqa.prepare import add_options

    add_options(parser)


BENCHMARK = Benchmark(
    name="sgmri_vqa",
    title="SGMRI-VQA",
    data_variable="SGMRI_VQA_DATA",
    variables=(
        "SGMRI_VQA_IMAGE_DIR",
        "SGMRI_VQA_ANNOTATIONS",
        "SGMRI_VQA_PROMPT",
        "SGMRI_VQA_COORDINATES",
        "SGMRI_VQA_SENTENCE_ENCODER",
        "SGMRI_VQA_ENCODER",
        "SGMRI_VQA_LAYER",
        "SGMRI_VQA_DEVICE",
    ),
    schema=_schema,
    breakdowns=_breakdowns,
    rubrics=_rubrics,
    requirements=_requirements,
    check=_check,
    check_images=check_images,
    local_files=_local_files,
    read_answers=_read_answers,
    columns=_columns,
    published=_published,
    frames=_frames,
    prepare=_prepare,
)
