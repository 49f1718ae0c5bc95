"""What the manifest tells about the episodes beside the metrics: trajectories, verification, noise, by gallery size."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.amigo.rules import RULES
from lmms_tasks.utils.statistics import mean

Record = Mapping[str, Any]


def breakdowns(
    items: Sequence[Mapping[str, Any]], metrics: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """The manifest's breakdowns.

    Args:
        items: the items of `identification_success`, each with the records of its row's episodes.
        metrics: the items of every metric, for the means by gallery size.
    """
    records = [record for item in items for record in item["episodes"]]
    return {
        "episodes": trajectories(records),
        "excluded": [
            {"episode_id": record["episode_id"], "error": record["error"]}
            for record in records
            if record["success"] is None
        ],
        "without_transcript": sum(item["status"] == "no_transcript" for item in items),
        "by_gallery_size": {
            str(size): {
                **_means(items, metrics, size),
                **trajectories([record for record in records if record["size"] == size]),
            }
            for size in sorted({record["size"] for record in records})
        },
        "noise_tolerance": noise_tolerance(records),
        "oracles": oracles(records),
    }


def trajectories(records: Sequence[Record]) -> dict[str, Any]:
    """Counts and means over episodes; what is not known (a `vlm` oracle without verification) is NaN."""
    played = [record for record in records if record["success"] is not None]
    questions = sum(record["questions"] for record in played)
    answered = sum(record["answered"] for record in played)
    bits = [bit for record in played for bit in record["bits"]]
    flipped = [record for record in played if record["flips"]]
    conflicts = [record for record in played if record["conflict"]]
    return {
        "n": len(played),
        "infrastructure_errors": len(records) - len(played),
        "ends": dict(Counter(record["end"] for record in records)),
        "chance": mean(1 / record["size"] for record in played),
        "turns_of_successes": mean(record["turns"] for record in played if record["success"]),
        # 1 is a perfect halving of the gallery and one guess.
        "turns_over_ideal": mean(record["turns"] / (math.ceil(math.log2(record["size"])) + 1) for record in played),
        "hits_by_rule": _by_rule(played, "hits"),
        "skips_by_rule": _by_rule(played, "skips_by_rule"),
        "first_skip_turn": mean(record["first_skip"] for record in played if record["first_skip"]),
        "feasible_share_by_turn": _curve(played),
        "bits_per_question": mean(bits),
        "no_gain_rate": _ratio(sum(record["no_gain"] for record in played), len(bits)),
        "redundant_rate": _ratio(sum(record["redundant"] for record in played), answered),
        "contradictory_rate": _ratio(sum(record["contradictory"] for record in played), answered),
        "unmapped_rate": _ratio(sum(record["unmapped"] for record in played), questions),
        "verification": {
            "repeated_question_rate": _ratio(sum(record["repeated"] for record in played), answered),
            "episodes_with_conflict": len(conflicts),
            "checked_after_conflict": mean(float(record["checked_after_conflict"]) for record in conflicts),
        },
        "recovery": {
            "episodes_with_flipped_answer": len(flipped),
            "success": mean(record["success"] for record in flipped),
        },
    }


def noise_tolerance(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """By noise level: success with and without noise over the same episodes, their ratio and difference.

    An episode's noisy twins are records of their own, or, where transcripts were scored, told by the record without noise
    (`noisy`). Episodes are the same if their row and all of their protocol but the noise are; with `--repeats` an
    episode counts once, by its mean. Empty unless there are both kinds.
    """
    clean: dict[tuple[str, str], list[float]] = {}
    noisy: dict[str, dict[tuple[str, str], list[float]]] = {}
    told: dict[str, dict[tuple[str, str], list[float]]] = {}
    for record in records:
        if record["success"] is None:
            continue
        episode = (record["row"], record["settings"])
        if record["noise"]:
            noisy.setdefault(f"{record['noise']:g}", {}).setdefault(episode, []).append(record["success"])
            continue
        clean.setdefault(episode, []).append(record["success"])
        for level, successes in (record["noisy"] or {}).items():
            told.setdefault(level, {})[episode] = list(successes)
    table = {}
    for level in sorted(noisy.keys() | told.keys(), key=float):
        twins = {**told.get(level, {}), **noisy.get(level, {})}
        pairs = [(mean(clean[episode]), mean(twins[episode])) for episode in clean if episode in twins]
        if not pairs:
            continue
        without, with_noise = mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)
        table[level] = {
            "n": len(pairs),
            "success_without_noise": without,
            "success": with_noise,
            "ratio": _ratio(with_noise, without),
            "difference": with_noise - without,
        }
    return table


def oracles(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Each oracle with the number of its episodes; those that are models with `model` and `host`."""
    counted: dict[str, dict[str, Any]] = {}
    for record in records:
        own = record["oracle"]
        entry = counted.setdefault(repr(sorted(own.items())), {"name": "oracle", **own, "episodes": 0})
        entry["episodes"] += 1
    return list(counted.values())


def _means(
    items: Sequence[Mapping[str, Any]], metrics: Mapping[str, Sequence[Mapping[str, Any]]], size: int
) -> dict[str, Any]:
    own = [position for position, item in enumerate(items) if item["episodes"] and item["episodes"][0]["size"] == size]
    return {
        name: mean(found[position]["score"] for position in own if "score" in found[position])
        for name, found in metrics.items()
    }


def _by_rule(records: Sequence[Record], key: str) -> dict[str, int]:
    return {rule: sum(record[key].get(rule, 0) for record in records) for rule in RULES}


def _curve(records: Sequence[Record]) -> list[dict[str, float]]:
    """Mean share of the gallery that is feasible after each question, over the episodes that got so far."""
    curves = [[size / record["size"] for size in record["curve"]] for record in records if record["curve"]]
    longest = max(map(len, curves), default=0)
    table = []
    for turn in range(longest):
        there = [curve[turn] for curve in curves if len(curve) > turn]
        table.append({"questions": turn, "share": mean(there), "n": len(there)})
    return table


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
