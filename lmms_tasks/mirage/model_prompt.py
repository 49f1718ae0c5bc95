"""A prompt for the model under test: a versioned text file with one place for the dialogue."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

_PLACE = "{{dialogue}}"


@dataclass(frozen=True)
class ModelPrompt:
    """`template` holds `{{dialogue}}` once; the file's first line is `version: N`."""

    name: str
    version: str
    template: str

    @classmethod
    def from_file(cls, path: Path) -> ModelPrompt:
        """Read a shipped prompt; ValueError where version or place are missing."""
        first, _, template = path.read_text(encoding="utf-8").partition("\n")
        label, _, version = first.partition(": ")
        if label != "version" or not version or template.count(_PLACE) != 1:
            raise ValueError(f"{path}: a prompt begins with 'version: N' and holds {_PLACE} once")
        return cls(path.stem, version, template.strip("\n"))

    def fill(self, dialogue: str) -> str:
        """The prompt around a dialogue."""
        before, _, after = self.template.partition(_PLACE)
        return before + dialogue + after

    def record(self) -> dict[str, str]:
        """Name, version and sha256 of the text, for the manifest."""
        digest = hashlib.sha256(self.template.encode("utf-8")).hexdigest()
        return {"name": self.name, "version": self.version, "sha256": digest}
