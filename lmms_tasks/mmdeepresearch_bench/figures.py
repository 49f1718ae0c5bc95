"""One image of a report, judged: what kind it is, and whether it shows what the report says.

Charts are scored by the share of what is said that they bear out. Photographs and diagrams are scored in one of two ways,
which a profile chooses and no run mixes: by a strict yes or no ("verdict"), or by the probability of yes ("logprobs", the
official way), which a question of its own asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lmms_tasks.mmdeepresearch_bench import mosaic
from lmms_tasks.mmdeepresearch_bench.evidence import ImageItem
from lmms_tasks.mmdeepresearch_bench.verdicts import FIGURE, FIGURE_YES_NO, choice, probability_of_yes
from lmms_tasks.utils.judge import Judgement, Panel


@dataclass(frozen=True)
class JudgedImage:
    """What judges said of an image; `item` is None where that gives no number. `probability`: P(yes), where it was asked
    for and had."""

    item: mosaic.Item | None
    judgements: tuple[Judgement, ...]
    probability: float | None = None


def judge_image(panel: Panel, image: ImageItem, shown: Any) -> JudgedImage:
    """Ask about one image.

    Args:
        shown: the image as a judge takes it.
    """
    texts = {"statement": image.statement, "beside": image.beside}
    figure = panel.judge(FIGURE, texts, [shown])
    kind = choice(figure, "kind") if figure.fields is not None else None
    if panel.profile.vqa == "verdict" or kind in mosaic.CHARTS or (kind is None and figure.verdicts):
        return JudgedImage(_item(kind, figure), (figure,))
    # While calls are counted there is no verdict on the kind: the second question is counted for each image.
    depicted = panel.judge(FIGURE_YES_NO, texts, [shown])
    probability = probability_of_yes(depicted) if depicted.fields is not None else None
    item = None if kind is None or probability is None else mosaic.Item(kind, probability)
    return JudgedImage(item, (figure, depicted), probability)


def _item(kind: mosaic.Kind | None, figure: Judgement) -> mosaic.Item | None:
    if kind is None or figure.fields is None:
        return None
    return mosaic.Item(
        kind, figure.fields["data_accuracy"] / 100.0 if kind in mosaic.CHARTS else figure.fields["depicted"]
    )
