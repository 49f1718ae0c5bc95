"""Models that need no download: a reference that knows the answers and a tiny vision-language model.

Importing this package costs nothing; lmms-eval imports a class only when its model is asked for.
"""

from __future__ import annotations

# (name for `--model`, class for `--force_simple`, class for chat, which lmms-eval prefers)
MODELS: tuple[tuple[str, str, str], ...] = (
    (
        "reference",
        "lmms_tasks.baselines.reference.ReferenceSimple",
        "lmms_tasks.baselines.reference.ReferenceChat",
    ),
    (
        "tiny_vlm",
        "lmms_tasks.baselines.tiny_vlm.TinyVlmSimple",
        "lmms_tasks.baselines.tiny_vlm.TinyVlmChat",
    ),
    (
        "amigo_greedy",
        "lmms_tasks.baselines.amigo.GreedySimple",
        "lmms_tasks.baselines.amigo.GreedyChat",
    ),
    (
        "amigo_random",
        "lmms_tasks.baselines.amigo.RandomSimple",
        "lmms_tasks.baselines.amigo.RandomChat",
    ),
    (
        "amigo_guess_at_once",
        "lmms_tasks.baselines.amigo.GuessAtOnceSimple",
        "lmms_tasks.baselines.amigo.GuessAtOnceChat",
    ),
    (
        "amigo_index_search",
        "lmms_tasks.baselines.amigo.IndexSearchSimple",
        "lmms_tasks.baselines.amigo.IndexSearchChat",
    ),
)
