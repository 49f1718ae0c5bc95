"""A rubric, judges and panels for the tests of this folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from loguru import logger
from pydantic import BaseModel, Field

from lmms_tasks.utils.judge import Judge, Panel, Profile, Rubric, shared_cache
from tests.judge_server import Answer, JudgeServer

KEY = "sk-test-0123456789abcdef"
GONE = "http://127.0.0.1:9/v1"  # the discard port, where nobody listens


class Scores(BaseModel):
    """A verdict with one field of each kind."""

    accuracy: int = Field(ge=0, le=4, description="How much of the answer is right; higher is better.")
    spurious: Literal["Yes", "No"] = Field(
        description="Whether the answer has entries that do not belong; No is better."
    )
    explanation: str | None = Field(None, description="Why.")


def verdict_text(accuracy: int = 3, spurious: str = "No", **more: Any) -> str:
    """A judge's reply."""
    return json.dumps({"accuracy": accuracy, "spurious": spurious, **more})


def refused(status: int, words: str = "no such model") -> Answer:
    """An error as servers send it."""
    return Answer({"error": {"message": words}}, status)


def numbered(texts: dict[str, str], number: int) -> dict[str, str]:
    """The texts of another row."""
    return {**texts, "answer": f"Answer {number}."}


@pytest.fixture
def rubric() -> Rubric:
    template = "Judge {{answer}} by {{gold}}; asked was {{question}}."
    return Rubric("correctness", "1", template, Scores, reference="gold", candidate="answer")


@pytest.fixture
def texts() -> dict[str, str]:
    return {"question": "What is on the leaf?", "answer": "Powdery mildew.", "gold": "It is powdery mildew."}


@pytest.fixture
def judge_of() -> Callable[..., Judge]:
    """Makes a judge that asks a server and does not wait long between tries."""

    def make(server: JudgeServer | str, **changes: Any) -> Judge:
        base_url = server if isinstance(server, str) else server.base_url
        settings = {"name": "first", "model": "judge", "base_url": base_url, "api_key": KEY, "retry_delay": 0.01}
        return Judge(**{**settings, "temperature": 0.0, **changes})

    return make


@pytest.fixture
def panel_of() -> Iterator[Callable[..., Panel]]:
    """Makes panels of judges, and closes them in the end."""
    panels: list[Panel] = []

    def make(*judges: Judge, **limits: Any) -> Panel:
        panels.append(Panel(Profile("test", "test.use", judges, **limits), shared_cache()))
        return panels[-1]

    yield make
    for panel in panels:
        panel.close()


@pytest.fixture
def log() -> Iterator[list[str]]:
    """What is logged, one string a message, level first."""
    lines: list[str] = []
    handler = logger.add(lambda message: lines.append(str(message)), format="{level} {message}", level="DEBUG")
    yield lines
    logger.remove(handler)
