"""How sure a mean is: 95 % intervals from the scores of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from lmms_tasks.report.paired import RESAMPLES, SEED
from lmms_tasks.report.runs import ABOUT_THE_RUN, WITHOUT_NUMBER, Sample, TaskRun
from lmms_tasks.utils.statistics import mean, standard_error

Z = 1.959963984540054  # the 97.5 % point of the normal distribution
FEW_CLUSTERS = 30  # under which the central limit theorem says little
WILSON, BOOTSTRAP, NORMAL = "Wilson", "percentile bootstrap", "central limit theorem"
ALL_EQUAL, ONE_CLUSTER = "all equal, no interval", "one row or cluster, no interval"
NO_MEAN = "no mean of the rows' scores, no interval"
INTERVALS = (
    "95 % intervals: shares of rows by Wilson's score interval; other means of fewer than "
    f"{FEW_CLUSTERS} rows or clusters by a percentile bootstrap ({RESAMPLES:,} draws of clusters with a fixed seed), of more "
    "by the central limit theorem, cut at the lowest and the highest score. None leaves the range of the scores; of a "
    "handful of rows they are too narrow rather than too wide."
)
_WHOLES = (1.0, 100.0)  # the best value of a share, as a fraction and in per cent


@dataclass(frozen=True)
class Estimate:
    """A metric's value with its 95 % interval (None where there is none) and the number of rows behind it.

    `about` is the interval's method, or why there is none.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    about: str

    @property
    def missing(self) -> str:
        """Why there is no interval where a reader looks for one: the metric is a mean, but its rows do not tell."""
        return self.about if self.about in (ALL_EQUAL, ONE_CLUSTER) else ""


def estimate(run: TaskRun, metric: str) -> Estimate:
    """The value in the results file, and the interval of the mean where the metric is the mean of its rows.

    A metric that its aggregator computes otherwise has no interval, nor has NaN, nor a number that describes the run.
    """
    value = run.values[metric]
    scored = [sample for sample in run.samples if sample.score(metric) is not None]
    values = [sample.score(metric) for sample in scored]
    samples = scored
    if scored and not _equal(mean(values), value):
        # The strict twin of a metric counts an unscored row as 0.
        samples = [s for s in run.samples if s.score(metric) is not None or s.counts_as_zero(metric)]
        values = [sample.score(metric) or 0.0 for sample in samples]
    if not scored:
        return Estimate(value, None, None, _rows_behind(run, metric), NO_MEAN)
    if metric in ABOUT_THE_RUN or not _equal(mean(values), value):
        return Estimate(value, None, None, len(scored), NO_MEAN)
    clusters = [cluster(sample, i) for i, sample in enumerate(samples)]
    return Estimate(value, *interval(values, clusters), len(scored), method(values, clusters))


def _rows_behind(run: TaskRun, metric: str) -> int:
    """Rows whose items hold what an aggregator reads in place of a score, where the row was not left unscored."""
    return sum(
        bool(set(sample.items.get(metric, ())) - WITHOUT_NUMBER) and sample.record.get("score", 1) == 1
        for sample in run.samples
    )


def cluster(sample: Sample, position: int) -> Any:
    """What the row is drawn with: the record's `cluster`, else the row alone."""
    given = sample.record.get("cluster")
    return (
        ("row", sample.doc_id if sample.doc_id is not None else position) if given is None else ("cluster", str(given))
    )


def method(values: Sequence[float], clusters: Sequence[Any]) -> str:
    """How the interval of a mean is made, or why there is none."""
    groups = len(set(clusters))
    if groups < 2:
        return ONE_CLUSTER
    if len(set(values)) < 2:
        return ALL_EQUAL
    whole = max(values)
    if groups == len(values) and whole in _WHOLES and set(values) == {0.0, whole}:
        return WILSON
    return BOOTSTRAP if groups < FEW_CLUSTERS else NORMAL


def interval(values: Sequence[float], clusters: Sequence[Any]) -> tuple[float | None, float | None]:
    """95 % interval of a mean, inside the range of the scores; (None, None) under two clusters, and where all are equal.

    Equal values do not tell how far apart others might lie. Shares of independent rows (every value 0 or 1, or 0 or 100)
    by E. B. Wilson (JASA 22, 1927), which stays within the scale; other means under 30 clusters by a percentile bootstrap,
    from 30 on by the central limit theorem, with the clusters' sums where rows come in clusters, cut at the lowest and
    the highest score.
    """
    how = method(values, clusters)
    if how in (ONE_CLUSTER, ALL_EQUAL):
        return None, None
    centre, least, most = mean(values), min(values), max(values)
    if how == WILSON:
        low, high = wilson(centre / most, len(values))
        return low * most, high * most
    if how == BOOTSTRAP:
        return bootstrap(values, clusters)
    independent = len(set(clusters)) == len(values)
    error = standard_error(values) if independent else clustered_error(values, clusters)
    return max(least, centre - Z * error), min(most, centre + Z * error)


def bootstrap(values: Sequence[float], clusters: Sequence[Any]) -> tuple[float, float]:
    """Percentile interval of means over clusters drawn with replacement (A. C. Davison and D. V. Hinkley, Bootstrap Methods
    and their Application, 1997, 3.8): no draw leaves the range of the scores. Seeded, so that a run keeps its interval."""
    numbers: dict[Any, int] = {}
    members = [numbers.setdefault(key, len(numbers)) for key in clusters]
    sums = numpy.bincount(members, weights=values)
    counts = numpy.bincount(members)
    drawn = numpy.random.default_rng(SEED).integers(0, len(counts), size=(RESAMPLES, len(counts)))
    low, high = numpy.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), (0.025, 0.975))
    # Sums of the same numbers in another order differ by rounding.
    return max(min(values), float(low)), min(max(values), float(high))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's score interval of a share of n."""
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def clustered_error(values: Sequence[float], clusters: Sequence[Any]) -> float:
    """Standard error of a mean over rows that come in clusters: sqrt(sum over clusters of squared residual sums) / n."""
    centre = mean(values)
    sums: dict[Any, float] = {}
    for value, key in zip(values, clusters, strict=True):
        sums[key] = sums.get(key, 0.0) + value - centre
    return math.sqrt(math.fsum(total * total for total in sums.values())) / len(values)


def _equal(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
