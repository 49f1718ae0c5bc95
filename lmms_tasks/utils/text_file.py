"""Text files of the user's, read with one sentence in place of a traceback."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark.

    Raises:
        SystemExit: it is not there, no file, may not be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SystemExit(
            f"{path} is not UTF-8 (byte {error.start}): convert it, for instance with iconv -f latin1 -t utf-8."
        ) from None
    except OSError as error:
        raise SystemExit(f"{path} cannot be read ({error.strerror}): correct the path or its rights.") from None
