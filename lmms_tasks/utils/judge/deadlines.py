"""Acting at a deadline: one thread for all requests of the process, where a `threading.Timer` each costs a thread each."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadlines:
    """What is to be done at which moment, as long as nobody has withdrawn it. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[object, tuple[float, Callable[[], None]]] = {}
        self._next = math.inf  # when the thread looks again
        self._thread: threading.Thread | None = None

    @contextmanager
    def at(self, moment: float, action: Callable[[], None]) -> Iterator[None]:
        """Run `action` once `time.monotonic()` reaches `moment`, unless the block has ended; never after its end.

        `action` is quick and raises nothing: others wait for it.
        """
        token = object()
        with self._changed:
            self._due[token] = moment, action
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="judge-deadlines", daemon=True)
                self._thread.start()
            elif moment < self._next:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due.pop(token, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for token, (moment, action) in list(self._due.items()):
                    if moment <= now:
                        del self._due[token]
                        action()
                self._next = min((moment for moment, _ in self._due.values()), default=math.inf)
                self._changed.wait(None if math.isinf(self._next) else self._next - now)


deadlines = Deadlines()
# A forked child has no thread, and may have inherited a lock that nobody will release.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=deadlines.__init__)
