"""The judges' view of a reference itself, against which `ar_score_official` holds the mark of an answer.

It does not depend on the answer, so a process asks for it once a reference, whatever the judges' cache is told to do, and
at the same time as the first answer is judged, so that a row takes no longer.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from weakref import WeakKeyDictionary

from lmms_tasks.utils.judge import Judgement, Panel, Rubric

_lock = threading.Lock()
_asked: WeakKeyDictionary[Panel, dict[tuple[str, str], Future[Judgement]]] = WeakKeyDictionary()


def own_judgement(panel: Panel, rubric: Rubric, reference: str) -> Future[Judgement]:
    """The judgement of the reference against itself, which arrives later.

    Only a judgement that holds is kept: one that failed, or was merely planned, is asked anew for the next row. The
    future raises what the panel raises.
    """
    key = (panel.rubric(rubric).hash, reference)
    with _lock:
        known = _asked.setdefault(panel, {})
        if key in known:
            return _shared(known[key])
        future = known[key] = Future()
    if panel.profile.offline:
        _ask(panel, rubric, key, future)
    else:
        threading.Thread(target=_ask, args=(panel, rubric, key, future), name="own-mark", daemon=True).start()
    return future


def _ask(panel: Panel, rubric: Rubric, key: tuple[str, str], future: Future[Judgement]) -> None:
    reference = key[1]
    try:
        judgement = panel.judge(rubric, {"reference": reference, "answer": reference})
    except BaseException as error:  # SystemExit and KeyboardInterrupt belong to the thread that waits
        _forget(panel, key)
        future.set_exception(error)
        return
    if not judgement.scored:
        _forget(panel, key)
    future.set_result(judgement)


def _forget(panel: Panel, key: tuple[str, str]) -> None:
    with _lock:
        _asked.get(panel, {}).pop(key, None)


def _shared(first: Future[Judgement]) -> Future[Judgement]:
    """The same judgement for another row, its verdicts marked as not asked again."""
    mine: Future[Judgement] = Future()

    def pass_on(done: Future[Judgement]) -> None:
        if error := done.exception():
            mine.set_exception(error)
        else:
            verdicts = tuple(verdict.shared(verdict.judge) for verdict in done.result().verdicts)
            mine.set_result(replace(done.result(), verdicts=verdicts))

    first.add_done_callback(pass_on)
    return mine
