"""What a run's manifest tells about how reports were asked for and judged, beside what every manifest tells."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from lmms_tasks.mmdeepresearch_bench.verdicts import rubrics_for
from lmms_tasks.utils.judge import resolve

_RULES = Path(__file__).parent / "prompts" / "rules.txt"


@cache
def rules() -> str:
    """What a report is asked to be like."""
    return _RULES.read_text(encoding="utf-8").partition("\n")[2].strip()


def prompt_record() -> dict[str, str]:
    """The version of the rules that the model under test is given, and the sha256 of their text."""
    version = _RULES.read_text(encoding="utf-8").partition("\n")[0].partition(":")[2].strip()
    return {"rules": version, "sha256": hashlib.sha256(rules().encode("utf-8")).hexdigest()}


def judging_record(use: str, on_samples: bool) -> dict[str, Any] | None:
    """How photographs and diagrams are judged, and the rubrics of each judge; None where no judge is configured."""
    profile = resolve(use, on_samples).profile
    if profile is None:
        return None
    return {
        "vqa": profile.vqa,
        "judges": {
            judge.name: {
                "model": judge.model,
                "rubrics": [name for name in rubrics_for(profile.vqa) if judge.is_asked(name)],
                **({"retired": judge.retired} if judge.retired else {}),
            }
            for judge in profile.judges
        },
    }
