"""Whether each judge of a panel answers, for `lmms-tasks doctor`: one tiny live call to each."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_tasks.utils.check import Check
from lmms_tasks.utils.judge.panel import Panel


def judge_checks(panel: Panel, role: str = "judge") -> Iterator[Check]:
    """One check a judge: it answers, as the model that was asked for."""
    for told in panel.probe():
        who = f"{role} {told['judge']} at {told['host']}"
        if told["error"]:
            advice = f"correct the address, the key or the model of {told['judge']}"
            yield Check(who, False, told["error"], advice)
        elif not told["model"].startswith(told["asked"]):  # gpt-4o-mini answers as gpt-4o-mini-2024-07-18
            advice = f"have {told['host']} serve {told['asked']}, or name {told['model']} in the profile"
            yield Check(who, False, f"answers as {told['model']}, was asked as {told['asked']}", advice)
        elif told["text"].strip() and "ready" not in told["text"].lower():
            # A judge that reasons has no words yet within so few tokens; other words are worth a look.
            found = (
                f"answers as {told['model']}, but with {told['text'].strip()[:40]!r} where it was asked to say ready"
            )
            yield Check(who, None, found, "see with --limit 2 that its verdicts can be read (judged_coverage)")
        else:
            yield Check(who, True, f"answers as {told['model']}")
