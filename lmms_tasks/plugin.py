"""The entry point that lmms-eval loads: registers the baseline models and makes our tasks known.

It runs while `lmms_eval.evaluator` is being imported, in every lmms-eval run of every user who has this package
installed. It is therefore short, imports nothing heavy, and turns any failure of ours into a warning.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest


def model_manifests() -> list[ModelManifest]:
    """Install the wraps of `harness.py` and return the models that need no weights.

    `LMMS_TASKS_DISABLE=1` loads nothing.
    """
    if os.environ.get("LMMS_TASKS_DISABLE", "") not in ("", "0"):
        return []
    try:
        from lmms_eval.models.registry_v2 import ModelManifest

        from lmms_tasks import harness
        from lmms_tasks.baselines import MODELS

        harness.install()
        return [
            ModelManifest(model_id=name, simple_class_path=simple, chat_class_path=chat)
            for name, simple, chat in MODELS
        ]
    except Exception as error:  # lmms-eval must go on working whatever is wrong with us
        from loguru import logger

        logger.warning(
            f"lmms-tasks could not be loaded ({type(error).__name__}: {error}): its tasks are missing, everything else "
            "works. Reinstall it, or set LMMS_TASKS_DISABLE=1 to silence this."
        )
        return []
