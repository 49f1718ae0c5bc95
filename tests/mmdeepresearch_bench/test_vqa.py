"""Photographs and diagrams by the probability of yes or by a strict verdict: as the profile says, and never mixed."""

from __future__ import annotations

import math

import pytest

from lmms_tasks.mmdeepresearch_bench import hooks
from lmms_tasks.mmdeepresearch_bench.samples.reports import TASKS
from lmms_tasks.mmdeepresearch_bench.verdicts import probability_of_yes
from lmms_tasks.utils.judge import Judgement, Verdict, panel_for
from tests.judge_server import Answer, completion, token_logprobs
from tests.mmdeepresearch_bench.conftest import PROFILE, SAMPLE
from tests.mmdeepresearch_bench.judge_script import rubric_of, script

LOGPROBS = PROFILE.replace("concurrency = 16", 'concurrency = 16\nvqa = "logprobs"') + "logprobs = true\n"
GOOD, INVENTED_LINKS = "0", "100"
PHOTO = {"kind": "photo", "depicted": "No", "data_accuracy": 0}


def likely(**probabilities: float):
    """A reply of one word whose first token was likely to be these."""
    logprobs = {token: math.log(share) for token, share in probabilities.items()}
    word = max(probabilities, key=probabilities.get)
    return Answer(completion(word, logprobs=token_logprobs([word], t0=logprobs)))


def answers(reply, kind=PHOTO):
    """A judge to whom every image is of a kind, and whose one-word answers are `reply`."""
    return script(lambda rubric, prompt: {"figure": kind, "figure_yes_no": reply, "look": reply}.get(rubric))


def results(row):
    return hooks.sample_process_results(row, [row["report"]])


def names(server) -> list[str]:
    return [rubric_of(request.body) for request in server.requests]


def test_a_photograph_scores_the_probability_of_yes(judged_by, sample_rows):
    # The vector of synthetic.json: .6 against .2 is .75; a photograph is .85 · .75 + .15 = .7875 in the official module.
    server = judged_by(answers(likely(Yes=0.6, No=0.2, It=0.1)), LOGPROBS)
    items = results(sample_rows[INVENTED_LINKS])
    assert items["mmdr_vqa"]["score"] == pytest.approx(75.0) == items["mmdr_sem"]["score"]
    assert items["mmdr_mm_official"]["score"] == pytest.approx(78.75)
    assert names(server).count("figure_yes_no") == names(server).count("figure") == 1
    asked = [request.body for request in server.requests if rubric_of(request.body) == "figure_yes_no"]
    assert (asked[0]["logprobs"], asked[0]["top_logprobs"]) == (True, 5)
    assert any(part["type"] == "image_url" for part in asked[0]["messages"][0]["content"])
    assert not any("logprobs" in request.body for request in server.requests if request.body not in asked)
    told = [one["yes_probability"] for one in items["judged_coverage"]["judgements"] if "yes_probability" in one]
    assert told == pytest.approx([0.75])


def test_the_verdict_on_the_kind_never_stands_in_for_the_probability(judged_by, sample_rows):
    """Here both disagree: the strict verdict says No, and the probability of yes is .9."""
    judged_by(answers(likely(Yes=0.9, No=0.1)), LOGPROBS)
    by_probability = results(sample_rows[INVENTED_LINKS])["mmdr_vqa"]["score"]
    server = judged_by(answers(likely(Yes=0.9, No=0.1)))
    by_verdict = results(sample_rows[INVENTED_LINKS])["mmdr_vqa"]["score"]
    assert (by_probability, by_verdict) == (pytest.approx(90.0), 0.0)
    assert "figure_yes_no" not in names(server)


def test_a_chart_is_no_question_of_yes_or_no(judged_by, sample_rows):
    server = judged_by(answers(likely(Yes=0.9, No=0.1), kind=None), LOGPROBS)
    items = results(sample_rows[GOOD])
    assert items["mmdr_acc"]["score"] == pytest.approx(60.0) and items["mmdr_vqa"] == {"status": "not_applicable"}
    assert names(server).count("figure") == 2 and "figure_yes_no" not in names(server)


def test_a_second_run_has_the_same_probability_and_asks_nobody(judged_by, sample_rows):
    server = judged_by(answers(likely(Yes=0.55, no=0.25, true=0.05, Not=0.01)), LOGPROBS)
    first, count = results(sample_rows[INVENTED_LINKS]), server.count
    again = results(sample_rows[INVENTED_LINKS])
    assert server.count == count
    # Yes and true against no and not.
    assert first["mmdr_vqa"]["score"] == again["mmdr_vqa"]["score"] == pytest.approx(100 * 0.6 / 0.86)


@pytest.mark.parametrize("reply", ["Yes", completion("Yes", logprobs={"content": []})])
def test_a_judge_without_log_probabilities_leaves_the_images_unscored(judged_by, sample_rows, reply):
    server = judged_by(answers(Answer(reply)), LOGPROBS)
    items = results(sample_rows[INVENTED_LINKS])
    for name in ("mmdr_vqa", "mmdr_sem", "mosaic", "mmdr_mm_official", "mmdr_overall"):
        assert items[name] == {"status": "unscored", "reason": "pipeline"}, name
    assert items["flae"]["score"] > 0 and items["judge_failures"]["count"] == 1
    assert names(server).count("figure_yes_no") == 1
    (judgement,) = [one for one in items["judged_coverage"]["judgements"] if not one["scored"]]
    assert "the server returned no log-probabilities" in judgement["verdicts"][0]["reason"]


def test_tokens_that_say_neither_are_a_failure_and_no_zero(judged_by, sample_rows):
    judged_by(answers(Answer(completion("Yes", logprobs=token_logprobs(["Y", "es"])))), LOGPROBS)
    items = results(sample_rows[INVENTED_LINKS])
    assert items["mosaic"] == {"status": "unscored", "reason": "pipeline"} and items["judge_failures"]["count"] == 1


def test_probabilities_are_averaged_within_a_judge_first():
    def verdict(judge: str, generation: int, yes: float) -> Verdict:
        tokens = {"▁Yes": math.log(yes), '"No"': math.log(1 - yes)}
        return Verdict({"depicted": "Yes"}, "valid", None, judge, generation, logprobs=tokens)

    failed = Verdict(None, "failed", "503", "c")
    verdicts = (verdict("a", 0, 0.2), verdict("a", 1, 0.4), verdict("b", 0, 0.9), failed)
    assert probability_of_yes(Judgement(verdicts, True, {}, None)) == pytest.approx((0.3 + 0.9) / 2)
    assert probability_of_yes(Judgement((failed,), False, None, "x")) is None


def test_calls_are_counted_with_both_questions_of_an_image(judged_by, sample_rows):
    server = judged_by(answers(likely(Yes=0.9, No=0.1)), LOGPROBS)
    with panel_for("mmdeepresearch_bench", True).planning() as plan:
        results(sample_rows[INVENTED_LINKS])
    assert server.count == 0
    (cost,) = plan.costs()
    results(sample_rows[INVENTED_LINKS])
    assert cost["calls"] == server.count and cost["images"] == 3  # visual fidelity, kind, yes or no


@pytest.mark.parametrize("profile, vqa, rubrics", [(LOGPROBS, "logprobs", 6), (PROFILE, "verdict", 5)])
def test_the_choice_stands_in_the_manifest(score, judged_by, tmp_path, profile, vqa, rubrics):
    judged_by(answers(likely(Yes=0.9, No=0.1)), profile)
    (report,) = [task for task in TASKS if str(task.id) == INVENTED_LINKS]
    (tmp_path / "Q100.md").write_text(report.report)
    manifest = score(SAMPLE, tmp_path / "Q100.md")["manifests"][SAMPLE]
    assert manifest["breakdowns"]["judging"]["vqa"] == vqa
    assert (
        len(manifest["rubrics"]) == rubrics == len(manifest["breakdowns"]["judging"]["judges"]["scripted"]["rubrics"])
    )
