"""Judges that are asked different rubrics: who is asked, who counts, and what preflight says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lmms_tasks.utils.judge import resolve
from tests.judge_server import JudgeServer

from .conftest import GONE, verdict_text

TABLE = """
[mirage.mmst]
vqa = "{vqa}"

[[mirage.mmst.judges]]
name = "a"
model = "m"
base_url = "http://127.0.0.1:9/v1"
{more}
"""


@pytest.fixture
def profile_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def write(vqa: str = "verdict", more: str = ""):
        path = tmp_path / "mine.toml"
        path.write_text(TABLE.format(vqa=vqa, more=more))
        monkeypatch.setenv("LMMS_TASKS_JUDGES", str(path))
        return resolve("mirage.mmst", on_samples=False).profile

    return write


def test_a_judge_is_asked_its_rubrics_alone_and_the_quorum_counts_who_was_asked(
    judge_of, panel_of, rubric, texts
) -> None:
    other = replace(rubric, name="use.style")
    with JudgeServer(verdict_text(4)) as all_rubrics, JudgeServer(verdict_text(2)) as style_alone:
        panel = panel_of(
            judge_of(all_rubrics, name="all"),
            judge_of(style_alone, name="style", rubrics=("style",)),
            judge_of(GONE, name="gone", tries=1, rubrics=("use.style",)),
        )
        first, second = panel.judge(rubric, texts), panel.judge(other, texts)
    # Of one judge, one; of three, two.
    assert [one.judge for one in first.verdicts] == ["all"] and first.fields["accuracy"] == 4.0
    assert [one.judge for one in second.verdicts] == ["all", "style", "gone"] and second.fields["accuracy"] == 3.0
    assert (all_rubrics.count, style_alone.count) == (2, 1)


@pytest.mark.parametrize(
    "judges, size",
    [
        ([(None, 3)], 3),
        ([(None, 1), (("style",), 2)], 1),
        ([(("style",), 2), (("facts",), 3)], 2),
        ([(("style", "facts"), 2), (("facts",), 3)], 2),
    ],
)
def test_the_size_of_a_panel_is_the_least_that_stands_behind_a_rubric(judge_of, panel_of, judges, size) -> None:
    made = [
        judge_of(GONE, name=f"j{n}", rubrics=rubrics, generations=times) for n, (rubrics, times) in enumerate(judges)
    ]
    assert panel_of(*made).judgements_per_sample == size


def test_a_rubric_that_nobody_is_asked_is_one_sentence_before_the_run_and_in_it(
    judge_of, panel_of, rubric, texts
) -> None:
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server, rubrics=("style",)))
        for ask in (lambda: panel.check([rubric]), lambda: panel.judge(rubric, texts)):
            with pytest.raises(SystemExit) as end:
                ask()
            assert end.value.code == (
                "The judge profile test has no judge for correctness: add it to the `rubrics` of one (they name style)."
            )
    assert server.count == 0


def test_a_judge_that_is_asked_nothing_is_told(judge_of, panel_of, rubric, log) -> None:
    with JudgeServer(verdict_text()) as server:
        panel_of(judge_of(server), judge_of(server, name="second", rubrics=("style",))).check([rubric])
    (line,) = [line for line in log if "is asked nothing here" in line]
    assert "The judge second of profile test" in line and "`rubrics` name style, and this run has correctness" in line


def test_what_a_judge_is_not_asked_is_not_counted_for_it(judge_of, panel_of, rubric, texts) -> None:
    other = replace(rubric, name="use.style")
    panel = panel_of(judge_of(GONE, name="all"), judge_of(GONE, name="style", rubrics=("style",)))
    with panel.planning() as plan:
        panel.judge(rubric, texts)
        panel.judge(other, texts)
    assert [cost["calls"] for cost in plan.costs()] == [2, 1]


def test_a_profile_says_which_rubrics_and_how_images_are_judged(profile_of) -> None:
    profile = profile_of("logprobs", 'rubrics = ["mmst_id"]\nlogprobs = true\nretired = "gone"')
    (judge,) = profile.judges
    assert (profile.vqa, judge.rubrics, judge.logprobs, judge.retired) == ("logprobs", ("mmst_id",), True, "gone")
    assert judge.is_asked("mirage.mmst_id") and not judge.is_asked("mirage.mmst_mg")
    assert profile_of().vqa == "verdict" and profile_of().judges[0].is_asked("anything")


@pytest.mark.parametrize(
    "vqa, more, words",
    [
        ("yes", "", "vqa: Input should be 'verdict' or 'logprobs'"),
        ("logprobs", "", 'vqa = "logprobs" needs a judge with logprobs = true'),
        ("verdict", "rubrics = []", "judges.0.rubrics"),
        ("verdict", 'logprobs = "yes"', "judges.0.logprobs"),
    ],
)
def test_an_impossible_value_is_one_clear_sentence(profile_of, vqa: str, more: str, words: str) -> None:
    with pytest.raises(SystemExit) as end:
        profile_of(vqa, more)
    assert words in end.value.code and "mine.toml" in end.value.code and "\n" not in end.value.code


def test_a_name_that_no_rubric_bears_is_told_with_those_that_there_are(profile_of) -> None:
    profile = profile_of(more='rubrics = ["mmst_id", "mmst_gm"]')
    with pytest.raises(SystemExit) as end:
        profile.check_rubrics(["mirage.mmst_id", "mirage.mmst_mg"])
    assert end.value.code == (
        "The judge a of profile mine.toml names the rubric mmst_gm, which mirage.mmst does not know: it has mmst_id, mmst_mg."
    )
    profile_of(more='rubrics = ["mmst_id", "mirage.mmst_mg"]').check_rubrics(["mirage.mmst_id", "mirage.mmst_mg"])


def test_a_retired_model_is_told_before_the_run_and_where_its_endpoint_is_missing(
    judge_of, panel_of, rubric, log
) -> None:
    with JudgeServer(verdict_text()) as server:
        panel_of(judge_of(server, retired="shut down on 1 June 2026")).check([rubric])
    assert sum("The judge first of profile test: shut down on 1 June 2026." in line for line in log) == 1
    sentence = resolve("mmdeepresearch_bench", on_samples=False).sentence
    assert "LMMS_TASKS_JUDGE_GEMINI_2_0_FLASH_BASE_URL (shut down on 1 June 2026)" in sentence
