"""The parts that a report's scores are made of, each a number or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Missing:
    """Why there is no number: "unscored" with a reason of `overall.VALIDITY_WEIGHTS`, "no_truth", "not_applicable"."""

    status: str
    reason: str = ""


NO_TRUTH = Missing("no_truth")
NOT_APPLICABLE = Missing("not_applicable")
Outcome = float | Missing


@dataclass
class ReportScores:
    """A report's parts. Numbers are in [0, 100].

    Attributes:
        status: "judged", "too_short", or that of an answer that is none.
        parts: `read`, `insh`, `stru`, `gen`; `con`, `cov`, `fid`, `evi`, and with the suffix `_official` the dimensions
            as the official table has them; `vef`, `vef_official`; `sem`, `acc`, `vqa`, `mosaic`, `mm`.
        judgements: records of all verdicts.
        counts: what was found, for the run's manifest.
        weights: the official weights that this report's dimensions had, of FLAE (readability, insight, coherence,
            structure) and of EVI (consistency, coverage, fidelity, diversity).
    """

    status: str
    parts: dict[str, Outcome]
    judgements: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, list[float]] = field(default_factory=dict)


PARTS_OF_FLAE = ("read", "insh", "stru", "gen")
PARTS_OF_TRACE = ("con", "cov", "fid", "evi", "con_official", "cov_official", "fid_official")
CONDITIONAL = ("sem", "acc", "vqa")
PARTS_OF_MOSAIC = (*CONDITIONAL, "mosaic", "mm")
PARTS_OF_VEF = ("vef", "vef_official")


def nothing_written(status: str, truth: str | None) -> ReportScores:
    """The scores of an answer that is no report: 0 without a call."""
    always = (*PARTS_OF_FLAE, *PARTS_OF_TRACE, "mosaic", "mm")
    parts: dict[str, Outcome] = {**dict.fromkeys(always, 0.0), **dict.fromkeys(CONDITIONAL, NOT_APPLICABLE)}
    parts |= dict.fromkeys(PARTS_OF_VEF, NO_TRUTH if truth is None else 0.0)
    return ReportScores(status, parts)
