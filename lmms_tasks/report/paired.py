"""Statistics of paired differences over rows that come in clusters; seeded, so that the same runs give the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

RESAMPLES = 4_000
SEED = 20_240_229
_CELLS = 4_000_000  # of one block of draws


@dataclass(frozen=True)
class Difference:
    """The mean difference of a metric with its 95 % interval and two-sided p-value; n rows in `clusters` clusters."""

    value: float
    low: float | None
    high: float | None
    p: float
    n: int
    clusters: int


def paired_differences(differences: numpy.ndarray, clusters: numpy.ndarray) -> list[Difference | None]:
    """For each column of differences its mean, bootstrap interval and p-value; None for a column without a number.

    The interval is the percentile interval of a bootstrap that draws clusters with replacement (A. C. Davison and D. V.
    Hinkley, Bootstrap Methods and their Application, 1997, 3.8); None under two clusters, and where every row differs
    by the same amount, which does not tell how far apart others might lie. The p-value is that of a
    permutation test that swaps the two runs within a cluster, which turns the sign of the cluster's sum (P. Good,
    Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, 3.2), with one added to both counts so that it is
    never 0.

    Args:
        differences: rows × metrics, NaN where a row has no number in one of the runs.
        clusters: the cluster of each row, as integers.
    """
    numbers, members = numpy.unique(clusters, return_inverse=True)
    known = ~numpy.isnan(differences)
    sums = numpy.zeros((len(numbers), differences.shape[1]))
    counts = numpy.zeros_like(sums)
    numpy.add.at(sums, members, numpy.where(known, differences, 0.0))
    numpy.add.at(counts, members, known.astype(float))
    totals, rows = sums.sum(axis=0), counts.sum(axis=0)
    means, extreme = _draw(sums, counts, totals)
    found: list[Difference | None] = []
    for column, n in enumerate(rows):
        if n == 0:
            found.append(None)
            continue
        present = int((counts[:, column] > 0).sum())
        low = high = None
        constant = numpy.ptp(differences[known[:, column], column]) == 0
        if present > 1 and (totals[column] == 0 or not constant):
            # A draw may hold no row that has a number.
            drawn = means[:, column][~numpy.isnan(means[:, column])]
            low, high = (float(bound) for bound in numpy.quantile(drawn, (0.025, 0.975)))
        p = (1 + int(extreme[column])) / (1 + RESAMPLES)
        found.append(Difference(float(totals[column] / n), low, high, p, int(n), present))
    return found


def _draw(sums: numpy.ndarray, counts: numpy.ndarray, totals: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Means of the bootstrap draws (draws × metrics), and how many sign flips are at least as extreme as the totals."""
    generator = numpy.random.default_rng(SEED)
    clusters = len(sums)
    block = max(1, _CELLS // max(clusters, 1))
    means, extreme = [], numpy.zeros(sums.shape[1], dtype=int)
    # Sums of the same numbers in another order differ by rounding.
    threshold = numpy.abs(totals) - 1e-9 * numpy.maximum(1.0, numpy.abs(sums).sum(axis=0))
    for start in range(0, RESAMPLES, block):
        size = min(block, RESAMPLES - start)
        # How often each cluster was drawn; counted at once, which is ten times as fast as multinomial draws.
        drawn = generator.integers(0, clusters, size=(size, clusters)) + clusters * numpy.arange(size)[:, None]
        weights = numpy.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters).astype(float)
        with numpy.errstate(invalid="ignore"):
            means.append((weights @ sums) / (weights @ counts))
        signs = generator.integers(0, 2, size=(size, clusters)) * 2.0 - 1.0
        extreme += (numpy.abs(signs @ sums) >= threshold).sum(axis=0)
    return numpy.concatenate(means), extreme
