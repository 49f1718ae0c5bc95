"""The functions that AMIGO's YAML files name: a few lines each between lmms-eval and the protocol."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.amigo import rows
from lmms_tasks.amigo.agents import guess_line
from lmms_tasks.amigo.episode import Protocol, Transcript, new_transcript, play, prompt
from lmms_tasks.amigo.metrics import METRICS, episode_record, episode_scores
from lmms_tasks.amigo.oracle import oracle_for
from lmms_tasks.amigo.transcript import as_text, header, parse, row_fault, store
from lmms_tasks.amigo.transcript_fault import DamagedTranscript
from lmms_tasks.utils.images import image_column_values, open_image
from lmms_tasks.utils.statistics import mean

if TYPE_CHECKING:
    from PIL import Image

amigo_rows = rows.select

# Galleries that are open at the same time: as many as episodes are played side by side, and a few more.
_MOST_OPEN = 40
_open: OrderedDict[tuple[Any, ...], list[Image.Image]] = OrderedDict()
_open_lock = threading.Lock()


def amigo_doc_to_visual(doc: Mapping[str, Any]) -> list[Image.Image]:
    """The gallery in its order, as RGB. lmms-eval asks for it each round; it is decoded once an episode."""
    key = _gallery_key(doc)
    with _open_lock:
        if key in _open:
            _open.move_to_end(key)
            return list(_open[key])
    images = [open_image(value) for value in image_column_values(doc)]
    with _open_lock:
        _open[key] = images
        while len(_open) > _MOST_OPEN:
            _open.popitem(last=False)
    return list(images)


def amigo_doc_to_text(
    doc: Mapping[str, Any],
    lmms_eval_specific_kwargs: Mapping[str, Any] | None = None,
    previous_output: Sequence[str] | None = None,
    round_idx: int | None = None,
    previous_round_info: Mapping[str, Any] | None = None,
) -> Any:
    """The first prompt; in later rounds lmms-eval's five values: visuals (None keeps the gallery), the next prompt,
    whether the episode is over, the outputs (the transcript as JSON in the end), and the state."""
    protocol = Protocol.read(lmms_eval_specific_kwargs)
    episode = rows.episode_of(doc)
    if round_idx is None:
        return prompt(new_transcript(), episode, protocol)
    oracle = oracle_for(episode, image_column_values(doc))
    reply = (previous_output or [""])[-1]
    if previous_round_info is None:
        head = header(doc, protocol, oracle.record())
        path = store().place(head)
        resumed = store().resumable(path, head, reply)
        transcript: Transcript = {**head, **(resumed or play(new_transcript(), reply, episode, protocol, oracle))}
        store().begin(path, transcript)
    else:
        path = Path(previous_round_info["path"])
        transcript = play(previous_round_info["state"], reply, episode, protocol, oracle)
        store().append(path, transcript)
    info = {"state": transcript, "path": str(path)}
    if transcript["end"] is None:
        return None, prompt(transcript, episode, protocol), False, list(previous_output or []), info
    store().finish(path, transcript)
    with _open_lock:
        _open.pop(_gallery_key(doc), None)
    return None, None, True, [as_text(transcript)], info


def amigo_doc_to_target(doc: Mapping[str, Any]) -> str:
    """The right guess."""
    return guess_line(rows.episode_of(doc).gold)


def amigo_process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """All metrics of an episode; with `--repeats` the mean over the row's episodes, none where one of them has none."""
    texts = [text for result in results for text in (result if isinstance(result, list | tuple) else [result])]
    found = [one for text in texts if (one := _transcript_of(doc, text)) is not None]
    scores = [episode_scores(one) for one in found]
    records = [episode_record(one) for one in found]
    statuses = ["infrastructure_error" if record["success"] is None else "played" for record in records]
    statuses += ["no_transcript"] * (len(texts) - len(found))
    status = next((one for one in statuses if one != "played"), "played")
    items: dict[str, dict[str, Any]] = {}
    for metric in METRICS:
        values = [score[metric] for score in scores]
        scored = status == "played" and None not in values
        items[metric] = {"score": mean(values), "status": status} if scored else {"status": status}
    # Episodes over one gallery are not independent: intervals and comparisons resample galleries.
    gallery = str(doc.get("gallery_id") or doc["episode_id"])
    items["identification_success"] |= {
        "answers": statuses,
        "judgements": [],
        "cluster": gallery,
        "gallery_size": int(doc["n_images"]),
        "episodes": records,
    }
    return items


def _transcript_of(doc: Mapping[str, Any], text: Any) -> Transcript | None:
    """The row's transcript in an output; without one the log says why, and the row counts as one without transcript."""
    try:
        transcript = parse(text)
    except DamagedTranscript as error:
        reason: str | None = str(error)
    else:
        reason = row_fault(transcript, doc)
        if reason is None:
            return transcript
    logger.warning(f"The episode {doc['episode_id']} has no transcript: {reason}.")
    return None


def _gallery_key(doc: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells one gallery from another, read each round: names and lengths of its images, not their contents."""
    images = [
        (value.get("path"), len(value.get("bytes") or b"")) if isinstance(value, Mapping) else str(value)
        for value in image_column_values(doc)
    ]
    return (rows.fingerprint(doc), *images)
