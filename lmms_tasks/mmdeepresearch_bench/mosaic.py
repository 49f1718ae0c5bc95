"""MOSAIC: whether the images of a report show what the report says they show.

Item formulas are those of the official code (`detail/judgers.py`, `VQA.py`, `Chart.py`, `OCRchart.py` of
AIoT-MLSys-Lab/MMDeepResearch-Bench, ffaf59b). Items are in [0, 1], task scores in [0, 100].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["photo", "diagram", "datachart", "ocrchart"]

MOST_ITEMS = 12
CHARTS = ("datachart", "ocrchart")
# Weights of semantic agreement, faithfulness and formatting.
_WEIGHTS = {
    "photo": (0.60, 0.25, 0.15),
    "diagram": (0.50, 0.40, 0.10),
    "datachart": (0.40, 0.50, 0.10),
    "ocrchart": (0.40, 0.40, 0.20),
}
# Formatting is a constant in the official code.
_FORMATTING = {"ocrchart": 0.9}


@dataclass(frozen=True)
class Item:
    """One judged image. `value`: P(yes) of the question about a photo or diagram, share of a chart's statements that
    the image bears out."""

    kind: Kind
    value: float


@dataclass(frozen=True)
class MosaicScores:
    """Task scores in [0, 100]; a part is None where no item of its kind was scored.

    `semantic` is over all items, `accuracy` over charts, `vqa` over photos and diagrams; `official` is the module score
    of the official code.
    """

    semantic: float | None
    accuracy: float | None
    vqa: float | None
    official: float

    @property
    def card(self) -> float:
        """The task card's module score: the mean of the parts that there are, 0 without any."""
        return mean_of_present((self.semantic, self.accuracy, self.vqa), empty=0.0)


NOTHING = MosaicScores(None, None, None, 0.0)


def item_score(item: Item) -> float:
    """Weighted mean of agreement, faithfulness (both the item's value) and formatting."""
    semantic, faithful, formatting = _WEIGHTS[item.kind]
    return (semantic + faithful) * item.value + formatting * _FORMATTING.get(item.kind, 1.0)


def yes_probability(yes: float, no: float) -> float:
    """P(yes) among the answers "yes" and "no", from the summed probabilities of their first tokens; 0 without either."""
    return yes / (yes + no) if yes + no > 0 else 0.0


def gate(gen: float, evi: float) -> bool:
    """Whether MOSAIC counts: the report is written and cites (the official code's reading of τ = 0)."""
    return gen > 0 and evi > 0


def mosaic_scores(items: Sequence[Item]) -> MosaicScores:
    """Score the images of one report that could be had and judged."""
    if not items:
        return NOTHING
    charts = [item.value for item in items if item.kind in CHARTS]
    others = [item.value for item in items if item.kind not in CHARTS]
    return MosaicScores(
        semantic=100.0 * _mean([item.value for item in items]),
        accuracy=100.0 * _mean(charts) if charts else None,
        vqa=100.0 * _mean(others) if others else None,
        official=100.0 * _mean([item_score(item) for item in items]),
    )


def mean_of_present(values: Sequence[float | None], empty: float) -> float:
    """Mean of the values that are not None; `empty` without any."""
    present = [value for value in values if value is not None]
    return _mean(present) if present else empty


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
