"""One judge a step, judges that do not see, and what judging costs, through the real commands in this process."""

from __future__ import annotations

import json

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.doctor import diagnose
from lmms_tasks.mmdeepresearch_bench.cost import most_of_a_report
from lmms_tasks.mmdeepresearch_bench.samples.reports import TASKS
from lmms_tasks.mmdeepresearch_bench.verdicts import NAMES
from lmms_tasks.utils.judge import Judge, resolve
from tests.judge_server import Answer
from tests.mmdeepresearch_bench.conftest import PROFILE, SAMPLE
from tests.mmdeepresearch_bench.judge_script import rubric_of, script

WRITING = '["report", "weights", "support"]'
SECOND = """
[[mmdeepresearch_bench.judges]]
name = "looking"
model = "eyes"
retry_delay = 0.01
tries = 2
rubrics = ["visual_fidelity", "mmdeepresearch_bench.figure"]
retired = "shut down on 1 June 2026"
"""
STEPS = PROFILE + f"rubrics = {WRITING}\n" + SECOND


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "Q0.md"
    path.write_text(TASKS[0].report)
    return path


def ended(*arguments: object) -> str:
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments), "--json"])
    assert isinstance(end.value.code, str) and "\n" not in end.value.code
    return end.value.code


def blind(rubric: str, prompt: str):
    """Refuses questions with images, as servers of text models do."""
    seen = rubric in ("visual_fidelity", "figure", "look")
    return Answer({"error": {"message": "at most 0 image(s) may be provided"}}, 400) if seen else None


def test_each_step_has_its_judge_and_the_manifest_says_which(score, judged_by, good):
    writing = judged_by(script(blind), STEPS)
    looking = judged_by(script(), STEPS, "LOOKING")
    printed = score(SAMPLE, good)
    asked = [{rubric_of(request.body) for request in server.requests} for server in (writing, looking)]
    assert asked == [{"report", "weights", "support"}, {"look", "visual_fidelity", "figure"}]
    found = printed["results"][SAMPLE]
    assert (
        found["mmdr_overall,none"] > 0 and found["judged_coverage,none"] == found["judgements_per_sample,none"] == 1.0
    )
    manifest = printed["manifests"][SAMPLE]
    judges = manifest["breakdowns"]["judging"]["judges"]
    assert judges["scripted"] == {
        "model": "judge",
        "rubrics": [f"mmdeepresearch_bench.{n}" for n in json.loads(WRITING)],
    }
    assert judges["looking"]["retired"] == "shut down on 1 June 2026" and len(judges["looking"]["rubrics"]) == 2
    assert {name: judge["verdicts"] for name, judge in manifest["judges"].items()} == {
        "scripted": {"valid": 11},
        "looking": {"valid": 3},
    }


def test_a_rubric_without_a_judge_and_a_name_that_is_unknown_end_the_run_before_it(judged_by, good):
    server = judged_by(script(), PROFILE + f"rubrics = {WRITING}\n")
    told = ended("score", SAMPLE, good)
    assert "has no judge for mmdeepresearch_bench.visual_fidelity" in told and "report, support, weights" in told
    judged_by(script(), PROFILE + 'rubrics = ["report", "figures"]\n')
    assert "names the rubric figures, which mmdeepresearch_bench does not know: it has figure," in ended(
        "score", SAMPLE, good
    )
    assert server.count == 0


def test_a_text_judge_is_found_before_the_run_with_the_rubric_and_what_to_do(judged_by, good):
    server = judged_by(script(blind))
    told = ended("score", SAMPLE, good)
    assert "judge scripted at 127.0.0.1" in told and "a question with images" in told
    assert "the rubric mmdeepresearch_bench.visual_fidelity asks (400): at most 0 image(s) may be provided" in told
    assert "name a model that sees images, or give that rubric to another judge by `rubrics`" in told
    # One small question: nothing of the report was judged, so nothing is a zero and nothing was paid for.
    assert [rubric_of(request.body) for request in server.requests] == ["look"]


def test_images_that_a_seeing_judge_refuses_are_missing_numbers_and_the_rest_is_kept(score, judged_by, good):
    """Preflight's look says that it sees, so a refusal is that of one image: it ends nothing, and is no zero."""
    judged_by(script())
    complete = score(SAMPLE, good)
    judged_by(script(lambda rubric, prompt: blind(rubric, prompt) if rubric != "look" else None))
    items = score(SAMPLE, good)
    found = {name: items["results"][SAMPLE][f"{name},none"] for name in ("flae", "mosaic", "mmdr_vef", "mmdr_con")}
    assert found["mosaic"] is None and found["mmdr_vef"] is None
    assert found["flae"] == complete["results"][SAMPLE]["flae,none"]
    assert found["mmdr_con"] == pytest.approx(80.0)


def test_the_paper_profile_names_a_model_for_each_step_and_says_which_are_retired(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    profile = resolve("mmdeepresearch_bench", on_samples=False).profile
    assert profile.name == "paper" and profile.vqa == "logprobs"
    profile.check_rubrics(NAMES)
    asked = {name: [judge.model for judge in profile.judges if judge.is_asked(name)] for name in NAMES}
    assert {name.rpartition(".")[2]: ", ".join(models) for name, models in asked.items()} == {
        **dict.fromkeys(("report", "weights", "support", "visual_fidelity"), "gemini-2.5-pro"),
        **dict.fromkeys(("figure", "figure_yes_no"), "gemini-2.0-flash"),
    }
    assert [judge.temperature for judge in profile.judges] == [0.2, 0.0]
    assert "shut down on 1 June 2026" in profile.judges[1].retired and "announced" in profile.judges[0].retired


def test_the_doctor_counts_images_of_the_sample_and_the_most_of_a_real_task(judged_by, monkeypatch):
    tasks = read_catalogue().tasks
    judged_by(script(), PROFILE + "price = { input = 2.0 }\n")
    checks = {check.name: check for check in diagnose([tasks[SAMPLE]])}
    cost = checks[f"{SAMPLE} by scripted"]
    assert cost.facts["images"] >= 6 and f"with {cost.facts['images']} images, about" in cost.found
    assert cost.facts["dollars"] == pytest.approx(cost.facts["prompt_tokens"] * 2e-6)
    real = {check.name: check for check in diagnose([tasks["mmdeepresearch_bench"]])}
    found = real["mmdeepresearch_bench by scripted"]
    # Report, weights, visual fidelity, 40 pairs, 12 images; four images of the task beside those.
    assert (found.facts["calls"], found.facts["images"]) == (55, 16) and "at most 55 calls a report" in found.found
    assert found.facts["dollars"] == pytest.approx(found.facts["prompt_tokens"] * 2e-6)


@pytest.mark.parametrize(
    "rubrics, vqa, calls, images",
    [(None, "logprobs", 67, 28), (("support",), "verdict", 40, 0), (("figure",), "verdict", 12, 12)],
)
def test_the_most_of_a_report_is_that_of_the_rubrics_that_a_judge_is_asked(rubrics, vqa, calls, images):
    cost = most_of_a_report(Judge(name="a", model="m", rubrics=rubrics, generations=2), vqa)
    assert (cost["calls"], cost["images"], cost["dollars"]) == (2 * calls, 2 * images, None)
    # Every call has a prompt of 300 tokens and more, and none of more than a report's 14,000 characters and its images.
    assert 300 * cost["calls"] < cost["prompt_tokens"] < 7_000 * cost["calls"]


def test_the_profile_in_the_readme_can_be_used(monkeypatch, tmp_path):
    readme = read_catalogue().tasks[SAMPLE].path.parent / "README.md"
    (tmp_path / "mine.toml").write_text(readme.read_text().split("```toml\n")[1].split("```")[0])
    monkeypatch.setenv("LMMS_TASKS_JUDGES", str(tmp_path / "mine.toml"))
    profile = resolve("mmdeepresearch_bench", on_samples=False).profile
    profile.check_rubrics(NAMES)
    assert all(sum(judge.is_asked(name) for judge in profile.judges) == 1 for name in NAMES)
