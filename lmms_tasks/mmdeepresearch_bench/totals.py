"""From a report's parts to its metrics, and from a row's answers to its items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_tasks.mmdeepresearch_bench import overall
from lmms_tasks.mmdeepresearch_bench.parts import NO_TRUTH, NOT_APPLICABLE, Missing, Outcome, ReportScores
from lmms_tasks.utils.statistics import mean

_PRIORITY = tuple(overall.VALIDITY_WEIGHTS)
# A metric that is a part as it stands.
PARTS = {
    "mmdr_read": "read",
    "mmdr_insh": "insh",
    "mmdr_stru": "stru",
    "mmdr_vef": "vef",
    "mmdr_con": "con",
    "mmdr_cov": "cov",
    "mmdr_fid": "fid",
    "mmdr_sem": "sem",
    "mmdr_acc": "acc",
    "mmdr_vqa": "vqa",
    "mosaic": "mosaic",
    "mmdr_gen_official": "gen",
    "mmdr_evi_official": "evi",
    "mmdr_vef_official": "vef_official",
    "mmdr_mm_official": "mm",
}
# The parts behind the columns of the official table.
COLUMNS = {
    "FLAE": "gen",
    "Read.": "read",
    "Insh.": "insh",
    "Stru.": "stru",
    "Vef.": "vef_official",
    "Con.": "con_official",
    "Cov.": "cov_official",
    "Fid.": "fid_official",
    "MOSAIC": "mm",
    "Sem.": "sem",
    "Acc.": "acc",
    "VQA": "vqa",
}


def metrics_of(parts: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """All metrics of one report, in [0, 100]; what lacks a part lacks a number, with the part's reason."""
    found: dict[str, Outcome] = {name: parts[part] for name, part in PARTS.items()}
    found["flae"] = combine(_mean, parts["read"], parts["insh"], parts["stru"])
    found["trace_no_vef"] = combine(_mean, parts["con"], parts["cov"], parts["fid"])
    found["trace"] = combine(_mean, parts["vef"], parts["con"], parts["cov"], parts["fid"])
    for suffix in ("", "_no_vef"):
        found[f"mmdr_overall{suffix}"] = combine(
            overall.card_overall, found["flae"], found[f"trace{suffix}"], found["mosaic"]
        )
    found["mmdr_overall_zeroed"] = found["mmdr_overall"]
    module = combine(overall.official_trace, parts["evi"], parts["vef_official"])
    found["mmdr_overall_official"] = combine(overall.official_overall, parts["gen"], module, parts["mm"])
    found["mmdr_overall_official_no_vef"] = combine(
        overall.official_overall_without_vef, parts["gen"], parts["evi"], parts["mm"]
    )
    # Whether the report was scored at all; a visual truth that nobody has is no failure.
    found["validity"] = combine(lambda *_: 1.0, *(part for part in parts.values() if not _is_apart(part)))
    return found


def official_columns(parts: Mapping[str, Outcome]) -> dict[str, float | None]:
    """The row of the official table, None where there is no number."""
    columns: dict[str, Outcome] = {column: parts[part] for column, part in COLUMNS.items()}
    columns["TRACE"] = combine(overall.official_trace, parts["evi"], parts["vef_official"])
    return {column: None if isinstance(value, Missing) else value for column, value in columns.items()}


def combine(function: Callable[..., float], *outcomes: Outcome) -> Outcome:
    """`function` of the numbers, or the gravest reason why one of them is missing."""
    missing = [outcome for outcome in outcomes if isinstance(outcome, Missing)]
    return min(missing, key=_gravity) if missing else function(*outcomes)


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """One number for the answers of a row: their mean, over those to which the metric applies."""
    missing = [outcome for outcome in outcomes if isinstance(outcome, Missing) and outcome != NOT_APPLICABLE]
    if missing:
        return min(missing, key=_gravity)
    values = [outcome for outcome in outcomes if not isinstance(outcome, Missing)]
    return mean(values) if values else NOT_APPLICABLE


def items_of(answers: Sequence[ReportScores]) -> dict[str, dict[str, Any]]:
    """The items of all metrics for a row."""
    each = [metrics_of(answer.parts) for answer in answers]
    status = answers[0].status
    return {name: item(merged([metrics[name] for metrics in each]), status) for name in each[0]}


def item(outcome: Outcome, status: str) -> dict[str, Any]:
    """A metric's item: a score, or why there is none."""
    if isinstance(outcome, Missing):
        return {"status": outcome.status, **({"reason": outcome.reason} if outcome.reason else {})}
    return {"score": outcome, "status": status}


def absent(missing: Missing) -> dict[str, Outcome]:
    """The parts of an answer for which there is no number at all."""
    return dict.fromkeys([*PARTS.values(), "con_official", "cov_official", "fid_official"], missing)


def _is_apart(part: Outcome) -> bool:
    return part in (NO_TRUTH, NOT_APPLICABLE)


def _gravity(missing: Missing) -> tuple[bool, int]:
    """What could not be scored comes before what nobody could score, in the paper's order of reasons."""
    position = _PRIORITY.index(missing.reason) if missing.reason in _PRIORITY else len(_PRIORITY)
    return missing == NO_TRUTH, position


def _mean(*values: float) -> float:
    return mean(values)
