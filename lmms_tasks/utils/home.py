"""The folder that keeps what outlives a run: judge replies, manifests, models that the tests build."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """Return `LMMS_TASKS_HOME`, by default the user's cache folder, created readable by its owner only.

    Raises:
        SystemExit: the folder cannot be created or written.
    """
    folder = Path(os.environ.get("LMMS_TASKS_HOME") or platformdirs.user_cache_dir("lmms-tasks")).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SystemExit(
            f"lmms-tasks cannot create its folder {folder} ({error.strerror}): set LMMS_TASKS_HOME to a folder "
            "that you can write to."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SystemExit(f"lmms-tasks cannot write to {folder}: set LMMS_TASKS_HOME to a folder that you can write to.")
    return folder
