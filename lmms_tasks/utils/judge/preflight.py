"""Before a run: is the judge there, and can it do what its rubrics will ask of it?"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable, Iterator
from typing import Literal

from loguru import logger
from pydantic import BaseModel, Field

from lmms_tasks.utils.judge.client import Client
from lmms_tasks.utils.judge.endpoints import variable
from lmms_tasks.utils.judge.refusal import sentence
from lmms_tasks.utils.judge.reply import JudgeError
from lmms_tasks.utils.judge.rubric import Rubric

_SIDE = 64  # pixels; some models refuse images of less than 28
_QUESTION = "A small image follows, which is there to see whether images arrive. Is it red all over?"


class _Look(BaseModel):
    red: Literal["Yes", "No"] = Field(description='"Yes" if it is.')


def check_endpoint(client: Client) -> None:
    """See that the endpoint is there and takes the key, before anything is paid for.

    SystemExit with a sentence if it is not, or does not. A model that the endpoint does not list is a warning.
    """
    judge, host = client.judge, client.endpoint.host
    for last in (False, True):
        try:
            served = client.models()
            break
        except JudgeError as error:
            if error.status in (401, 403):
                raise SystemExit(sentence(judge, host, error)) from None
            if error.kind != "connection":
                return  # it is there, and has no list of models
            if last:
                raise SystemExit(
                    f"The judge {judge.name} cannot be reached at {host} ({error.words}): start its server, or correct "
                    f"{variable(judge.name, 'BASE_URL')} (or OPENAI_BASE_URL)."
                ) from None
    if served and judge.model not in served:
        shown = ", ".join(served[:5]) + (", …" if len(served) > 5 else "")
        logger.warning(f"The judge {judge.name} at {host} does not list the model {judge.model}; it serves {shown}.")


def looks(rubrics: Iterable[Rubric]) -> Iterator[Rubric]:
    """A question with a small image for each thing that rubrics with images need: an answer at all, log-probabilities.

    It bears the name of the first such rubric, which the sentence about a refusal names.
    """
    seen = set()
    for rubric in rubrics:
        if rubric.images and rubric.form not in seen:
            seen.add(rubric.form)
            yield Rubric(rubric.name, "look 1", _QUESTION, _Look, "", "", images=True, form=rubric.form)


@functools.cache
def red_square() -> bytes:
    """The small image, as PNG."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (_SIDE, _SIDE), (255, 0, 0)).save(buffer, format="PNG")
    return buffer.getvalue()
