"""A fixed part of a benchmark for sweeps over checkpoints, chosen by a rule and not by a list.

The same rows are chosen on every rank and in every run, they do not depend on the order of the strata, and a row keeps
its place in the choice when other strata change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Stratum = TypeVar("Stratum", bound=Hashable)


def allocate(counts: Mapping[Stratum, int], total: int) -> dict[Stratum, int]:
    """Divide `total` rows over strata in proportion to their size, by the method of the largest remainder.

    Equal remainders go to the stratum whose name comes first. With `total` of all rows or more, every row is taken.
    """
    available = sum(counts.values())
    if total >= available:
        return dict(counts)
    shares = {stratum: divmod(count * total, available) for stratum, count in counts.items()}
    taken = {stratum: whole for stratum, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda stratum: (-shares[stratum][1], str(stratum)))
    for stratum in by_remainder[: total - sum(taken.values())]:
        taken[stratum] += 1
    return taken


def choose(strata: Sequence[Stratum], questions: Sequence[str], total: int, version: str) -> list[int]:
    """Positions of the rows of a subset, in their order.

    Args:
        strata: the stratum of each row.
        questions: the question of each row.
        total: number of rows to choose.
        version: changes the choice; part of the subset's definition.

    In each stratum the rows with the smallest SHA-256 of version, position and question are taken.
    """
    positions_of: dict[Stratum, list[int]] = {}
    for position, stratum in enumerate(strata):
        positions_of.setdefault(stratum, []).append(position)
    taken = allocate({stratum: len(positions) for stratum, positions in positions_of.items()}, total)
    chosen: list[int] = []
    for stratum, positions in positions_of.items():
        ranked = sorted(positions, key=lambda position: _digest(version, position, questions[position]))
        chosen.extend(ranked[: taken[stratum]])
    return sorted(chosen)


def _digest(version: str, position: int, question: str) -> bytes:
    return hashlib.sha256(f"{version}\n{position}\n{question}".encode()).digest()
