"""Judges that are shown images: what that costs, and one that does not see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_tasks.utils.judge.plan import TOKENS_OF_IMAGE
from lmms_tasks.utils.judge.preflight import red_square
from tests.judge_server import Answer, JudgeServer, completion, token_logprobs

from .conftest import GONE, numbered, refused, verdict_text

WORDS = "This model does not support image input"


@pytest.fixture
def seeing(rubric):
    return replace(rubric, name="use.figure", images=True)


def blind(status: int = 400):
    """A script that refuses whatever shows an image."""
    return lambda body, n: verdict_text() if isinstance(body["messages"][0]["content"], str) else refused(status, WORDS)


@pytest.mark.parametrize("status", [400, 404, 415, 422])
def test_a_judge_that_does_not_see_is_found_before_the_run(judge_of, panel_of, rubric, seeing, status: int) -> None:
    with JudgeServer(blind(status)) as server, pytest.raises(SystemExit) as end:
        panel_of(judge_of(server)).check([rubric, seeing])
    told = end.value.code
    assert told.startswith(f"judge first at 127.0.0.1:{server.port} refused a question with images, which the rubric ")
    assert f"use.figure asks ({status}): {WORDS}; " in told and "name a model that sees images" in told
    assert "give that rubric to another judge by `rubrics`" in told and "\n" not in told
    assert server.count == 1


def test_one_that_is_not_asked_with_images_is_not_tried(judge_of, panel_of, rubric, seeing, texts) -> None:
    with JudgeServer(blind()) as text_only, JudgeServer(verdict_text()) as sees:
        panel = panel_of(
            judge_of(text_only, rubrics=("correctness",)), judge_of(sees, name="second", rubrics=("figure",))
        )
        panel.check([rubric, seeing])
        assert panel.judge(rubric, texts).scored and panel.judge(seeing, texts, [red_square()]).scored
    assert (text_only.count, sees.count) == (1, 2)


def test_the_small_image_is_shown_once_and_for_all(judge_of, panel_of, seeing) -> None:
    with JudgeServer(verdict_text()) as server:
        for _ in range(3):
            panel_of(judge_of(server)).check([seeing])
        panel_of(judge_of(server, model="another")).check([seeing])
    assert [request.body["model"] for request in server.requests] == ["judge", "another"]


def test_a_rubric_without_images_costs_preflight_no_call(judge_of, panel_of, rubric) -> None:
    with JudgeServer(verdict_text()) as server:
        panel_of(judge_of(server)).check([rubric])
    assert server.count == 0


def test_without_preflight_the_first_question_with_an_image_ends_the_run_and_replies_stay(
    judge_of, panel_of, rubric, seeing, texts
) -> None:
    """Text questions were answered before: that the judge cannot see would otherwise make one failure of every image."""
    with JudgeServer(blind()) as server:
        panel = panel_of(judge_of(server))
        assert panel.judge(rubric, texts).scored
        with pytest.raises(
            SystemExit, match=r"refused a question with images, which the rubric use\.figure asks \(400\)"
        ):
            panel.judge(seeing, texts, [red_square()])
        with pytest.raises(SystemExit, match=r"use\.figure"):
            panel.judge(rubric, numbered(texts, 1))
        count = server.count
        assert panel_of(judge_of(server)).judge(rubric, texts).verdicts[0].cached
    assert server.count == count == 2


def test_a_judge_that_refuses_its_very_first_question_is_told_both_reasons(judge_of, panel_of, seeing) -> None:
    with JudgeServer(refused(400, "unknown field max_tokens")) as server, pytest.raises(SystemExit) as end:
        panel_of(judge_of(server)).check([seeing])
    assert "unknown field max_tokens; change what the profile sends" in end.value.code
    assert "or name a model that sees images" in end.value.code


def test_a_key_that_is_refused_is_no_question_of_images(judge_of, panel_of, seeing) -> None:
    with JudgeServer(refused(401, "bad key"), models=Answer({}, 404)) as server, pytest.raises(SystemExit) as end:
        panel_of(judge_of(server)).check([seeing])
    assert "images" not in end.value.code and "LMMS_TASKS_JUDGE_FIRST_API_KEY" in end.value.code


def test_one_image_that_a_seeing_judge_refuses_is_one_verdict_without_fields(judge_of, panel_of, seeing, texts) -> None:
    with JudgeServer(lambda body, n: verdict_text() if n != 1 else refused(400, "the image is too small")) as server:
        panel = panel_of(judge_of(server))
        panel.check([seeing])
        first = panel.judge(seeing, numbered(texts, 1), [red_square()])
        second = panel.judge(seeing, numbered(texts, 2), [red_square()])
    assert (first.scored, first.verdicts[0].status, first.fields) == (False, "failed", None)
    assert second.scored


def test_an_outage_during_the_look_is_a_warning_and_no_end(judge_of, panel_of, seeing, log) -> None:
    with JudgeServer(refused(503, "loading the model")) as server:
        panel_of(judge_of(server, tries=2)).check([seeing])
    assert any("WARNING" in line and "did not look at an image (503: loading the model)" in line for line in log)


def test_missing_log_probabilities_are_told_before_the_run(judge_of, panel_of, log) -> None:
    from .test_logprobs import Shown

    word = _word(Shown)
    with JudgeServer("Yes") as server:
        panel_of(judge_of(server, logprobs=True)).check([word])
    assert sum("returned no log-probabilities" in line for line in log) == 1
    with JudgeServer(completion("Yes", logprobs=token_logprobs(["Yes"]))) as server:
        panel_of(judge_of(server, logprobs=True)).check([word])
    assert sum("returned no log-probabilities" in line for line in log) == 1
    assert server.requests[0].body["logprobs"] is True


def _word(schema):
    from lmms_tasks.utils.judge import Rubric

    return Rubric("use.shown", "1", "Is it {{answer}}?", schema, "gold", "answer", images=True, form="word")


def test_images_are_counted_and_have_their_tokens_and_their_price(
    judge_of, panel_of, rubric, seeing, texts, log
) -> None:
    panel = panel_of(judge_of(GONE, price={"input": 2.0}, generations=2))
    with panel.planning() as plan:
        panel.judge(rubric, texts)
        panel.judge(seeing, texts, [red_square(), red_square() + b"\0"])
    (cost,) = plan.costs()
    prompt = len(rubric.messages(texts)[0]["content"]) // 4
    # Two rubrics with one prompt, two images in one of them, two generations.
    assert (cost["calls"], cost["images"]) == (4, 4)
    assert cost["prompt_tokens"] == 2 * (2 * prompt + 2 * TOKENS_OF_IMAGE) and TOKENS_OF_IMAGE == 85 + 4 * 170
    assert cost["dollars"] == pytest.approx(cost["prompt_tokens"] * 2.0 / 1e6)
    plan.announce()
    (line,) = [line for line in log if "calls to make" in line]
    assert f"about {cost['prompt_tokens']:,} tokens of prompts with 4 images" in line and "so do the images" in line
