"""One thing that `lmms-tasks doctor` looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    `ok` is None where nothing is wrong and something is worth knowing. `advice` says what to do where `ok` is False.
    """

    name: str
    ok: bool | None
    found: str
    advice: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        mark = {True: "✓", False: "✗", None: "·"}[self.ok]
        return f"{mark} {self.name}: {self.found}" + (f"\n    → {self.advice}" if self.advice else "")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
