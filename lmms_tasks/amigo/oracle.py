"""Who answers: attribute tables, or a vision-language model that sees the target's image and the question alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from lmms_tasks.amigo.episode import Episode, OracleFailure
from lmms_tasks.amigo.lexicon import VERSION
from lmms_tasks.amigo.rules import Question
from lmms_tasks.amigo.tables import canonical
from lmms_tasks.utils.images import open_image
from lmms_tasks.utils.judge import Panel, Rubric, panel_for

USE = "amigo.oracle"
_LONGEST_QUESTION = 2000  # characters; the rest of a longer text is no question


class OracleVerdict(BaseModel):
    """What a vision-language oracle answers."""

    answer: Literal["Yes", "No", "Unsure"] = Field(
        description="Yes if what is asked is true of the dress in the image, No if it is not, Unsure if the image does not "
        "show it clearly enough to tell."
    )


RUBRIC = Rubric.from_file(
    Path(__file__).parent / "prompts" / "oracle.txt",
    name=USE,
    schema=OracleVerdict,
    reference="question",
    candidate="question",
)


class AttributeOracle:
    """Looks up slot and value in the attribute table of an image.

    A question that the lexicon or the table does not know is answered Unsure and counted as not understood.
    """

    exact = True

    def __init__(self, episode: Episode):
        self._tables = canonical(episode.tables)

    def answer(self, question: Question, position: int) -> tuple[str, bool]:
        """See `episode.Oracle`."""
        predicate = question.predicate
        found = predicate.answer(self._tables[position - 1]) if predicate is not None else None
        return ("Unsure", False) if found is None else (found, True)

    def record(self) -> dict[str, Any]:
        """What a transcript says about its oracle."""
        return {"kind": "attribute", "lexicon": VERSION}


class VlmOracle:
    """Asks the model of the profile's table `[amigo.oracle]`.

    Its replies lie in the judges' cache, keyed by the hash of the image, the question, the prompt and the model with its
    endpoint and parameters: no question is paid for twice. Invalid replies are asked again by the session; an answer
    that does not come is an `OracleFailure`, never a token.
    """

    exact = False

    def __init__(self, images: Sequence[Any], panel: Panel):
        self._images = images
        self._panel = panel

    def answer(self, question: Question, position: int) -> tuple[str, bool]:
        """See `episode.Oracle`."""
        judgement = self._panel.judge(
            RUBRIC, {"question": question.text[:_LONGEST_QUESTION]}, [open_image(self._images[position - 1])]
        )
        verdict = judgement.verdicts[0] if judgement.verdicts else None
        if verdict is None or verdict.fields is None:
            raise OracleFailure(f"the oracle gave no answer ({judgement.reason})")
        return str(verdict.fields["answer"]), True

    def record(self) -> dict[str, Any]:
        """What a transcript says about its oracle."""
        judge = self._panel.profile.judges[0]
        return {
            "kind": "vlm",
            "model": judge.model,
            "host": judge.endpoint.host,
            "prompt": self._panel.rubric(RUBRIC).hash,
        }


def oracle_panel() -> Panel:
    """The panel that asks the configured oracle model.

    Raises:
        SystemExit: no profile names one, or it names more than one.
    """
    from lmms_tasks.utils.judge import resolve

    profile = resolve(USE, on_samples=False).profile
    if profile is None or profile.offline:
        raise SystemExit(
            "AMIGO rows without attribute tables need an oracle that sees: set LMMS_TASKS_JUDGES to a profile with a table "
            f"[{USE}] of one vision-language judge, or give rows with a column `attributes`."
        )
    if len(profile.judges) != 1 or profile.judges[0].generations != 1:
        raise SystemExit(f"The table [{USE}] of profile {profile.name} must name one judge with one generation.")
    panel = panel_for(USE, on_samples=False)
    assert panel is not None  # the profile is there
    return panel


def oracle_for(episode: Episode, images: Sequence[Any]) -> AttributeOracle | VlmOracle:
    """The oracle of an episode: its tables where it has them, else the configured model."""
    return AttributeOracle(episode) if episode.tables else VlmOracle(images, oracle_panel())


def has_tables(row: Mapping[str, Any]) -> bool:
    """Whether a row brings attribute tables."""
    return row.get("attributes") not in (None, "", "[]", "null", [])
