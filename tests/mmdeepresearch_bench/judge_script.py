"""A scripted judge: one verdict for each rubric, told apart by how its prompt begins, and changes where a test wants them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# How the prompts begin: those of the rubrics, and the question whether images arrive.
BEGINNINGS = {
    "report": "You mark reports",
    "weights": "You decide, for one research task",
    "support": "A report states something and cites a page",
    "visual_fidelity": "A report was written on a task that comes with images",
    "figure": "A report shows or cites the image",
    "figure_yes_no": "A statement in a report is about the image",
    "look": "A small image follows",
}
REPORT = {
    "error_rate": 0,
    "analysis": 50,
    "connection": 50,
    "synthesis": 50,
    "uniformity": 80,
    "order": 80,
    "transition": 80,
    "conflict": 10,
    "section_quality": 50,
    **dict.fromkeys(
        (
            "executive_summary",
            "background",
            "methodology",
            "analysis_and_evidence",
            "visual_integration",
            "conclusion",
        ),
        "Yes",
    ),
    "readability": 70,
    "insight": 70,
    "coherence": 70,
    "structure": 70,
}
WEIGHTS = {
    f"{name}_weight": 0
    for name in (
        "readability",
        "insight",
        "coherence",
        "structure",
        "consistency",
        "coverage",
        "fidelity",
        "diversity",
    )
}
SUPPORT = {
    "support_strength": 80,
    "hallucination": 10,
    "inversion": 0,
    "soundness": 90,
    "source_category": "acceptable",
}
VISUAL_FIDELITY = {"score": 8, "wrong_identity": "No"}
FIGURE = {"kind": "datachart", "depicted": "Yes", "data_accuracy": 60}
VERDICTS: dict[str, dict[str, Any]] = {
    "report": REPORT,
    "weights": WEIGHTS,
    "support": SUPPORT,
    "visual_fidelity": VISUAL_FIDELITY,
    "figure": FIGURE,
    "look": {"red": "Yes"},
}


def prompt_of(body: dict[str, Any]) -> str:
    """The text of a request."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def rubric_of(body: dict[str, Any]) -> str:
    """The rubric that a request follows."""
    (name,) = [name for name, words in BEGINNINGS.items() if prompt_of(body).startswith(words)]
    return name


def script(change: Callable[[str, str], Any] = lambda rubric, prompt: None) -> Callable[[dict[str, Any], int], Any]:
    """Answers by rubric; `change(rubric, prompt)` may give other fields, or an `Answer` in place of a verdict."""

    def answer(body: dict[str, Any], number: int) -> Any:
        rubric = rubric_of(body)
        changed = change(rubric, prompt_of(body))
        if changed is None or isinstance(changed, dict):
            return json.dumps({**VERDICTS[rubric], **(changed or {})})
        return changed

    return answer
