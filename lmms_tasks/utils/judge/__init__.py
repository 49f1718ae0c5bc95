"""Judges: a rubric says what is scored, a profile by whom, a panel asks and brings the verdicts together."""

from lmms_tasks.utils.judge.cache import Cache, shared_cache
from lmms_tasks.utils.judge.json_object import InvalidReply
from lmms_tasks.utils.judge.panel import Panel, panel_for
from lmms_tasks.utils.judge.profiles import Judge, Profile, Resolution, resolve, shipped_profiles
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.judge.verdict import Judgement, Verdict

__all__ = [
    "Cache",
    "InvalidReply",
    "Judge",
    "Judgement",
    "Panel",
    "Profile",
    "Resolution",
    "Rubric",
    "Verdict",
    "panel_for",
    "resolve",
    "shared_cache",
    "shipped_profiles",
]
