"""Episodes for tests of the pure parts, played without lmms-eval."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.amigo.episode import Protocol, new_transcript, play, prompt
from lmms_tasks.amigo.oracle import AttributeOracle
from lmms_tasks.amigo.rows import episode_of
from lmms_tasks.amigo.samples import draw
from lmms_tasks.amigo.transcript import header

# Four dresses: 1 and 2 differ in the belt, 3 has a V-neck, 4 is unsure about its belt.
TABLES = [
    {"neckline": "round", "belt": "yes", "print": "floral", "color": "blue"},
    {"neckline": "round", "belt": "no", "print": "floral", "color": "blue"},
    {"neckline": "v", "belt": "no", "print": "striped", "color": "blue"},
    {"neckline": "square", "belt": "unsure", "print": "dotted", "color": "blue"},
]


def row(gold: int = 1, tables: Sequence[dict] = TABLES, episode_id: str = "one") -> dict[str, Any]:
    return {"episode_id": episode_id, "n_images": len(tables), "gold_idx": gold, "attributes": json.dumps(list(tables))}


def play_all(given: dict, replies: Sequence[str] | Callable[[dict, str], str], **settings: Any) -> dict[str, Any]:
    """The transcript of a player: a list of replies, or a function of row and prompt; ends when the list does."""
    protocol = Protocol.read(settings)
    episode = episode_of(given)
    oracle = AttributeOracle(episode)
    transcript = {**header(given, protocol, oracle.record()), **new_transcript()}
    left = None if callable(replies) else list(replies)
    while transcript["end"] is None and left != []:
        reply = replies(given, prompt(transcript, episode, protocol)) if left is None else left.pop(0)
        transcript = play(transcript, reply, episode, protocol, oracle)
    return transcript


def shown(transcript: dict) -> list[str | None]:
    """What the oracle showed in each turn."""
    return [turn["oracle_shown"] for turn in transcript["turns"]]


def generated(count: int, size: int = 10, differing: int = 6, solvable: bool = False, seed: int = 1) -> list[dict]:
    """Rows of generated galleries with random targets; `solvable` ones that greedy finishes under the rules."""
    source = random.Random(seed)
    make = draw.solvable_gallery if solvable else draw.gallery
    rows: list[dict] = []
    while len(rows) < count:
        tables = make(size, differing, source)
        # Ten targets a gallery, drawn independently.
        rows += [row(source.randint(1, size), tables, f"generated-{len(rows) + number}") for number in range(10)]
    return rows[:count]


def transcripts(samples: list[dict]) -> list[dict]:
    """The transcripts in a sample log of lmms-eval."""
    return [json.loads(sample["resps"][0][0]) for sample in samples]


def breakdowns(home: Path, task: str = "amigo_synthetic") -> dict:
    """The breakdowns in the manifest of the only run of a task."""
    (path,) = (home / "runs").glob(f"*_lmms_tasks_{task}.json")
    return json.loads(path.read_text())["breakdowns"]
