"""How far the judges of a row agree: what a reader needs to know how much of a difference is noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lmms_tasks.utils.statistics import mean

# One row's ratings of one field, by rater; a rater is one generation of one judge.
Ratings = Mapping[str, float]


def mean_standard_deviation(rows: Sequence[Ratings]) -> float:
    """Mean over rows of the standard deviation of a row's scores, in the field's own units; NaN without rows.

    The deviation is that of the population (divided by n): the scores are all there are, no sample. Rows with one score
    tell nothing about agreement and are left out.
    """
    return mean(_deviation(list(row.values())) for row in rows if len(row) > 1)


def krippendorff_alpha(rows: Sequence[Ratings]) -> float:
    """Krippendorff's alpha at the interval level over all raters; 1 is perfect agreement, 0 is chance.

    Raters may be missing from a row. NaN where it is undefined: fewer than two ratings of a row, or no variation at all
    (K. Krippendorff, Content Analysis, 2004, chapter 11; computed by the package `krippendorff`).
    """
    import krippendorff
    import numpy

    raters = sorted({rater for row in rows for rater in row})
    data = numpy.array([[row.get(rater, math.nan) for row in rows] for rater in raters], dtype=float)
    rated = [row for row in rows if len(row) > 1]
    if not rated or len({value for row in rated for value in row.values()}) < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="interval"))


def _deviation(values: Sequence[float]) -> float:
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))
