"""Writes the sample data of MIRAGE MMMT: the dialogues of `texts_mmmt.py` with pictures drawn from a seed.

    python -m lmms_tasks.mirage.samples.draw_mmmt [FOLDER]

Every picture depends on its conversation's id, its position and its options only; rows of one conversation share them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from lmms_tasks.mirage.samples import scenes, texts_mmmt
from lmms_tasks.mirage.samples.dialogue_row import Conversation
from lmms_tasks.mirage.samples.draw import FOLDER, IMAGE_COLUMNS, encoded

MULTI_TURN = "mmmt.parquet"


def pictures(conversation: Conversation) -> list[Image.Image]:
    """The conversation's pictures, RGB, 180 to 260 pixels on the longest side."""
    return [
        scenes.draw(picture.scene, f"{conversation.id}/{position}", picture.options)
        for position, picture in enumerate(conversation.pictures)
    ]


def records(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """The rows of a conversation in the columns of the benchmark."""
    images: dict[str, Any] = dict.fromkeys(IMAGE_COLUMNS)
    for column, image in zip(IMAGE_COLUMNS, pictures(conversation), strict=False):
        images[column] = {"bytes": encoded(image, as_png=False), "path": None}
    for cut in conversation.cuts:
        yield {
            "id": conversation.id,
            "dialog_context": conversation.context(cut.turns),
            "decision": cut.decision,
            "utterance": cut.utterance,
            "dialog_turns": cut.turns,
            "known_goal": cut.known,
            "missing_goal": cut.missing,
            **images,
        }


def main(folder: Path = FOLDER) -> None:
    """Write the parquet file into `folder`, its images as bytes that are not decoded when it is loaded."""
    from datasets import Dataset, Features, Sequence, Value
    from datasets import Image as ImageFeature

    folder.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Any] = {
        "id": Value("string"),
        "dialog_context": Value("string"),
        "decision": Value("string"),
        "utterance": Value("string"),
        "dialog_turns": Value("int64"),
        "known_goal": Sequence(Value("string")),
        "missing_goal": Sequence(Value("string")),
    }
    columns |= {column: ImageFeature(decode=False) for column in IMAGE_COLUMNS}
    rows = [record for conversation in texts_mmmt.CONVERSATIONS for record in records(conversation)]
    Dataset.from_list(rows, features=Features(columns)).to_parquet(str(folder / MULTI_TURN))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
