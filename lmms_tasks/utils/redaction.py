"""Secrets in text that is written down: model arguments in manifests, variables that the doctor shows."""

from __future__ import annotations

import re

HIDDEN = "[REDACTED]"
# `api_key=…`, `my_token: "…"`, also as a dict's text: whatever the name ends with, up to the next separator.
_ASSIGNED = re.compile(
    r"(?i)([\"']?\w*(?:api_?key|token|secret|password)[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^,\s}]+)"
)
# User and password of an address.
_IN_ADDRESS = re.compile(r"(?i)([a-z][a-z0-9+.-]*://)[^/\s,@]+(?::[^/\s,]*)?@")
# Keys that say by themselves what they are.
_BY_FORM = re.compile(r"\b(?:hf_|sk-)[A-Za-z0-9_-]{16,}")


def redact(text: str) -> str:
    """`text` with every secret that its name or its form gives away replaced; all else as it was."""
    text = _IN_ADDRESS.sub(rf"\1{HIDDEN}@", text)
    text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
    return _BY_FORM.sub(HIDDEN, text)
