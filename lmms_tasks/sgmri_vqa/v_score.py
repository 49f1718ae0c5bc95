"""V-Score: how well predicted boxes cover the key boxes, frame by frame.

Source: `src/sgmriqa/metrics/v_score.py` of lamawmouk/SGMRI-VQA at a37aa3dd. A box without a frame matches any frame
here; the released pipeline puts predictions without a frame on frame 1 before it scores
(`boxes.assign_default_frame`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from lmms_tasks.sgmri_vqa.boxes import Box


@dataclass(frozen=True)
class Matching:
    """Key boxes and predicted boxes, matched one to one so that the sum of their IoUs is the largest possible.

    Attributes:
        ious: IoU of each matched pair, in [0, 1], min(n_key, n_predicted) of them.
        n_key, n_predicted: the numbers of boxes.
    """

    ious: tuple[float, ...]
    n_key: int
    n_predicted: int

    @property
    def score(self) -> float:
        """Sum of the IoUs over the number of key boxes, in [0, 1]: surplus predictions cost nothing."""
        return math.fsum(self.ious) / self.n_key

    def f1(self, threshold: float = 0.5) -> float:
        """F1 of the boxes, in [0, 1], where a pair with an IoU of at least `threshold` is a hit."""
        hits = sum(iou >= threshold for iou in self.ious)
        return 2 * hits / (self.n_key + self.n_predicted)


def box_iou(one: Box, other: Box) -> float:
    """Intersection over union of two boxes, whatever their frames, in [0, 1]; 0 where the union has no area."""
    return float(_iou_matrix([one], [other])[0, 0])


def match_boxes(key: Sequence[Box], predicted: Sequence[Box]) -> Matching | None:
    """Match predicted to key boxes; None without key boxes, which leaves a row out of the mean.

    If one key box has a frame, a pair whose two frames are known and differ has an IoU of 0.
    """
    if not key:
        return None
    if not predicted:
        return Matching((), len(key), 0)
    ious = frame_aware_ious(key, predicted)
    rows, columns = linear_sum_assignment(-ious)
    return Matching(tuple(ious[rows, columns].tolist()), len(key), len(predicted))


def v_score(key: Sequence[Box], predicted: Sequence[Box]) -> float | None:
    """V-Score in [0, 1]; 0 without a prediction, None without key boxes."""
    matching = match_boxes(key, predicted)
    return None if matching is None else matching.score


def frame_aware_ious(key: Sequence[Box], predicted: Sequence[Box]) -> np.ndarray:
    """IoUs, shape (n_key, n_predicted), 0 where the frames of a pair are known and differ."""
    ious = _iou_matrix(key, predicted)
    # 0 stands for "no frame": frames are 1-based, and the released code takes 0 for none as well.
    rows = np.array([box.frame or 0 for box in key], dtype=object)[:, None]
    columns = np.array([box.frame or 0 for box in predicted], dtype=object)[None, :]
    ious[((rows != columns) & (rows != 0) & (columns != 0)).astype(bool)] = 0.0
    return ious


def _iou_matrix(rows: Sequence[Box], columns: Sequence[Box]) -> np.ndarray:
    a, b = (np.array([(box.x, box.y, box.width, box.height) for box in boxes], float) for boxes in (rows, columns))
    # Coordinates near the largest float overflow to infinity: such a box overlaps with nothing.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a_low, b_low = a[:, None, :2], b[None, :, :2]
        a_high, b_high = a_low + a[:, None, 2:], b_low + b[None, :, 2:]
        inside = np.minimum(a_high, b_high) - np.maximum(a_low, b_low)
        intersection = np.where((inside > 0).all(axis=-1), inside.prod(axis=-1), 0.0)
        # From the corners, as the intersection is, so that a box and itself have exactly 1.
        union = (a_high - a_low).prod(axis=-1) + (b_high - b_low).prod(axis=-1) - intersection
        ious = np.where(union > 0, intersection / union, 0.0)
    return np.clip(np.nan_to_num(ious, nan=0.0, posinf=0.0), 0.0, 1.0)
