"""Text files of the user's, read with one sentence in place of a traceback."""

from __future__ import annotations

from pathlib import Path


class UnreadableText(SystemExit):
    """A text file cannot be read: as a whole one sentence that says what to do, `reason` is why, in a clause."""

    def __init__(self, path: Path, reason: str, advice: str):
        super().__init__(f"{path} {reason}: {advice}.")
        self.reason = f"it {reason}"


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark.

    Raises:
        UnreadableText: it is not there, no file, may not be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        advice = "convert it, for instance with iconv -f latin1 -t utf-8"
        raise UnreadableText(path, f"is not UTF-8 (byte {error.start})", advice) from None
    except OSError as error:
        raise UnreadableText(path, f"cannot be read ({error.strerror})", "correct the path or its rights") from None
