"""TRACE: how well a report's claims stand on what they cite.

Formulas are those of the official code (`detail/scoring_evidence.py`, `scoring_web.py`, `accuracy.py` of
AIoT-MLSys-Lab/MMDeepResearch-Bench, ffaf59b). They are used twice: with the official rules for pages that could not be
read, and with ours (see `Evidence`). All values are in [0, 1] unless said otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmms_tasks.mmdeepresearch_bench.flae import clamp, harmonic_mean, softmax

# What a claim needs at least to count as fully covered.
THRESHOLD = {"research": 0.55}
OTHER_THRESHOLD = 0.45
# What the official code gives a claim whose page could not be read.
UNREAD_FLOOR = 0.18
VEF_PASS = 6
_PRIOR = (0.40, 0.25, 0.25, 0.10)


@dataclass(frozen=True)
class Evidence:
    """One claim with one cited page, judged.

    Attributes:
        weight: relevance of the claim, 1.0 to 1.9.
        support: how far the page carries the claim.
        hallucination, inversion: probability that the claim is made up, that it turns cause and effect round; low is
            better.
        soundness: probability that the step from page to claim is sound.
        domain: host of the page.
        prohibited, authoritative: category of the source.
        key: the claim states something that needs evidence.
        on_image: the claim speaks of a figure.
        read: the page was read, so that a judge saw it. Where it is False the three probabilities mean nothing.
    """

    weight: float
    support: float
    hallucination: float = 0.0
    inversion: float = 0.0
    soundness: float = 0.0
    domain: str = ""
    prohibited: bool = False
    authoritative: bool = False
    key: bool = True
    on_image: bool = False
    read: bool = True


@dataclass(frozen=True)
class EvidenceScores:
    """Consistency, coverage, fidelity, diversity (hidden in the leaderboard), and EVI in [0, 100]."""

    consistency: float
    coverage: float
    fidelity: float
    diversity: float
    violation: float
    terms: tuple[float, float, float, float]
    weights: tuple[float, ...]
    evi: float


NO_EVIDENCE = EvidenceScores(0.0, 0.0, 0.0, 0.0, 0.0, (0.0,) * 4, _PRIOR, 0.0)


def consistency(pairs: Sequence[Evidence]) -> float:
    """Weighted mean support, times the share of pairs whose source is not prohibited."""
    support = math.fsum(pair.weight * pair.support for pair in pairs) / math.fsum(pair.weight for pair in pairs)
    return support * (1.0 - violation(pairs))


def violation(pairs: Sequence[Evidence]) -> float:
    """Share of pairs with a prohibited source."""
    return sum(pair.prohibited for pair in pairs) / len(pairs)


def coverage(pairs: Sequence[Evidence], report_type: str) -> float:
    """Mean of min(1, support / τ) over key claims that speak of no figure; 0 without such claims.

    A prohibited source earns nothing and stays in the denominator.
    """
    threshold = THRESHOLD.get(report_type, OTHER_THRESHOLD)
    claims = [pair for pair in pairs if pair.key and not pair.on_image]
    covered = math.fsum(min(1.0, pair.support / threshold) for pair in claims if not pair.prohibited)
    return covered / len(claims) if claims else 0.0


def fidelity(pairs: Sequence[Evidence]) -> float:
    """Harmonic mean of 1 − hallucination, 1 − inversion and soundness, each a mean over the pages read; 0 without."""
    read = [pair for pair in pairs if pair.read]
    if not read:
        return 0.0
    hallucination = _mean([pair.hallucination for pair in read])
    inversion = _mean([pair.inversion for pair in read])
    return harmonic_mean((1.0 - hallucination, 1.0 - inversion, _mean([pair.soundness for pair in read])))


def diversity(pairs: Sequence[Evidence]) -> float:
    """Normalised entropy of the domains, times min(1, (authoritative + half of the other allowed domains) / 3).

    Both counts are of distinct domains; 0 for a single domain.
    """
    counts = Counter(pair.domain for pair in pairs)
    if len(counts) < 2:
        return 0.0
    shares = [count / len(pairs) for count in counts.values()]
    entropy = -math.fsum(share * math.log(share) for share in shares) / math.log(len(counts))
    allowed = {pair.domain for pair in pairs if not pair.prohibited}
    authoritative = {pair.domain for pair in pairs if pair.authoritative and not pair.prohibited}
    return entropy * min(1.0, (len(authoritative) + 0.5 * (len(allowed) - len(authoritative))) / 3.0)


def evidence_scores(
    pairs: Sequence[Evidence], report_type: str, controller: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
) -> EvidenceScores:
    """All of EVI. Without pairs everything is 0.

    EVI's weights are softmax(log(prior + 1e-9) + controller + terms); the `controller` is held within [−1, 1].
    """
    if not pairs:
        return NO_EVIDENCE
    values = (consistency(pairs), coverage(pairs, report_type), fidelity(pairs), diversity(pairs))
    terms = _terms(pairs, values[1])
    weights = softmax(
        [
            math.log(prior + 1e-9) + clamp(v, -1.0, 1.0) + h
            for prior, v, h in zip(_PRIOR, controller, terms, strict=True)
        ]
    )
    evi = 100.0 * math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return EvidenceScores(*values, violation(pairs), terms, tuple(weights), evi)


def _terms(pairs: Sequence[Evidence], covered: float) -> tuple[float, float, float, float]:
    prohibited = violation(pairs) > 0.05
    keys = sum(pair.key and not pair.on_image for pair in pairs)
    read = [pair for pair in pairs if pair.read]
    unfaithful = bool(read) and (
        _mean([pair.hallucination for pair in read]) > 0.25 or _mean([pair.inversion for pair in read]) > 0.15
    )
    return (
        1.0 if prohibited else 0.0,
        0.8 if keys >= 3 and covered < 0.4 else 0.0,
        0.8 if unfaithful else 0.0,
        -0.8 if prohibited else 0.0,
    )


def with_official_floor(pair: Evidence) -> Evidence:
    """The pair as the official code counts it: 0.18 where the page could not be read and is not prohibited."""
    if pair.read or pair.prohibited:
        return pair
    return replace(pair, support=max(pair.support, UNREAD_FLOOR))


def rank_depth(rank: int) -> float:
    """Factor for a claim about a figure, by the rank of the best-matching image of the page, counted from 1.

    1 up to rank 3, 0.10 from rank 25, a straight line between.
    """
    if rank <= 3:
        return 1.0
    return 0.10 if rank >= 25 else 1.0 - 0.9 * (rank - 3) / 22.0


def image_depth(relevances: Sequence[float]) -> float:
    """Factor for a claim about a figure, from the relevance of each image of the page in the page's order.

    0.30 without images, 0.45 where no image reaches 0.05, else by the rank of the most relevant one.
    """
    if not relevances:
        return 0.30
    best = max(range(len(relevances)), key=lambda position: relevances[position])
    return 0.45 if relevances[best] < 0.05 else rank_depth(best + 1)


def visual_fidelity(score: float, wrong_identity: float) -> float:
    """VEF in {0, 100}: 100 where the score is 6 or more of 10 and most judges see no wrong identity (paper, A.1.2)."""
    return 100.0 if score >= VEF_PASS and wrong_identity < 0.5 else 0.0


def official_vef(score: float) -> float:
    """VEF in {0, 100} as the official code has it: by the whole-number score alone."""
    return 100.0 if int(score) >= VEF_PASS else 0.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
