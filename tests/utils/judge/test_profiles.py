"""Which judges score a use, and the sentence where none can."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lmms_tasks.utils.judge import resolve, shipped_profiles
from lmms_tasks.utils.judge.endpoints import Endpoint

from .conftest import KEY

MMST, MMMT = "mirage.mmst", "mirage.mmmt"
PAPER = ("LMMS_TASKS_JUDGE_QWEN3_BASE_URL", "LMMS_TASKS_JUDGE_PHI4_BASE_URL", "LMMS_TASKS_JUDGE_DEEPSEEK_BASE_URL")
LOCAL = "http://127.0.0.1:8000/v1"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda **values: [monkeypatch.setenv(name, value) for name, value in values.items()]


@pytest.fixture
def profile_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        monkeypatch.setenv("LMMS_TASKS_JUDGES", str(path))
        return path

    return write


def refusal(use: str = MMST) -> str:
    with pytest.raises(SystemExit) as end:
        resolve(use, on_samples=False)
    assert isinstance(end.value.code, str) and end.value.code.endswith(".")
    return end.value.code


# --- unset ---


def test_samples_are_scored_offline_without_any_setting() -> None:
    profile = resolve(MMST, on_samples=True).profile
    assert profile.name == "offline" and profile.offline


def test_a_real_task_is_never_scored_offline_by_itself() -> None:
    resolution = resolve(MMST, on_samples=False)
    assert resolution.profile is None


def test_the_sentence_names_the_missing_variables_and_the_way_to_judge_later(environment) -> None:
    environment(LMMS_TASKS_JUDGE_PHI4_BASE_URL=LOCAL)
    sentence = resolve(MMST, on_samples=False).sentence
    assert PAPER[0] in sentence and PAPER[2] in sentence and PAPER[1] not in sentence
    assert "`lmms-tasks score`" in sentence and sentence.count(". ") == 0


def test_the_papers_panel_scores_once_each_judge_has_an_endpoint(environment) -> None:
    environment(**dict.fromkeys(PAPER, LOCAL))
    profile = resolve(MMST, on_samples=False).profile
    assert [(judge.name, judge.model, judge.temperature) for judge in profile.judges] == [
        ("qwen3", "Qwen/Qwen3-32B", 0.6),
        ("phi4", "microsoft/Phi-4-reasoning", 0.8),
        ("deepseek", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", 0.6),
    ]
    assert {(judge.generations, judge.max_tokens, judge.timeout) for judge in profile.judges} == {(3, 10000, 600.0)}


def test_a_key_alone_is_an_endpoint_for_openais_models_only(environment) -> None:
    environment(OPENAI_API_KEY=KEY)
    assert resolve(MMST, on_samples=False).profile is None
    (judge,) = resolve(MMMT, on_samples=False).profile.judges
    assert (judge.model, judge.base_url, judge.api_key) == ("gpt-4.1", "https://api.openai.com/v1", KEY)
    assert judge.openai and judge.temperature == 0 and judge.generations == 1


def test_a_use_that_no_paper_profile_knows_gets_a_sentence() -> None:
    resolution = resolve("fifth_benchmark", on_samples=False)
    assert resolution.profile is None and "fifth_benchmark" in resolution.sentence


# --- endpoints ---


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_URL"])
@pytest.mark.parametrize(
    "given, base",
    [
        ("http://h:1/v1", "http://h:1/v1"),
        ("http://h:1/v1/", "http://h:1/v1"),
        ("http://h:1/v1/chat/completions", "http://h:1/v1"),
        ("http://h:1/v1/chat/completions/", "http://h:1/v1"),
        ("http://h:1", "http://h:1"),
    ],
)
def test_a_base_url_may_be_given_in_full(environment, variable: str, given: str, base: str) -> None:
    environment(**{variable: given})
    (judge,) = resolve(MMMT, on_samples=False).profile.judges
    assert judge.base_url == base
    assert str(judge.endpoint.address("/chat/completions")) == base + "/chat/completions"


def test_a_judges_own_variables_come_before_openais(environment) -> None:
    environment(**dict.fromkeys(PAPER[1:], LOCAL))
    environment(OPENAI_BASE_URL="http://other:1/v1", OPENAI_API_KEY="general-key")
    environment(LMMS_TASKS_JUDGE_PHI4_API_KEY="own-key")
    qwen3, phi4, deepseek = resolve(MMST, on_samples=False).profile.judges
    assert (qwen3.base_url, qwen3.api_key) == ("http://other:1/v1", "general-key")
    assert (phi4.base_url, phi4.api_key) == (LOCAL, "own-key")
    assert (deepseek.base_url, deepseek.api_key) == (LOCAL, "general-key")


def test_a_server_without_a_key_is_an_endpoint(environment) -> None:
    environment(OPENAI_BASE_URL=LOCAL)
    assert {judge.api_key for judge in resolve(MMST, on_samples=False).profile.judges} == {""}


def test_an_empty_variable_is_an_unset_one(environment) -> None:
    environment(OPENAI_BASE_URL=" ", OPENAI_API_KEY="")
    assert resolve(MMMT, on_samples=False).profile is None


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://h/v1", "http://", "not a url", "http://h:port/v1"])
def test_a_url_that_is_none_is_named(environment, url: str) -> None:
    environment(OPENAI_BASE_URL=url)
    assert "OPENAI_BASE_URL" in refusal(MMMT)


def test_a_key_with_a_line_break_is_named_and_not_shown(environment) -> None:
    environment(OPENAI_API_KEY="sk-first\nsk-second")
    sentence = refusal(MMMT)
    assert "OPENAI_API_KEY" in sentence and "sk-" not in sentence


def test_credentials_in_a_url_are_sent_and_never_shown() -> None:
    endpoint = Endpoint("http://user:hunter2hunter2@Host:8000/v1", "")
    assert endpoint.label == "host:8000/v1"
    assert str(endpoint.address("/models")) == "http://host:8000/v1/models"
    # base64 of "user:hunter2hunter2" (RFC 7617)
    assert endpoint.headers == {"Authorization": "Basic dXNlcjpodW50ZXIyaHVudGVyMg=="}
    assert "hunter2" not in repr(endpoint) + endpoint.redact("no hunter2hunter2 here")


def test_a_query_of_the_base_url_stays_at_the_end() -> None:
    endpoint = Endpoint("https://h/openai/deployments/d?api-version=2024-10-21", "")
    assert str(endpoint.address("/chat/completions")).endswith("/d/chat/completions?api-version=2024-10-21")
    assert "api-version" not in endpoint.label


def test_redaction_takes_keys_out_whole_and_in_part() -> None:
    endpoint = Endpoint(LOCAL, KEY)
    text = f"Incorrect API key provided: sk-te***cdef, got Bearer {KEY}."
    assert endpoint.redact(text) == "Incorrect API key provided: ***, got Bearer ***."


def test_a_stand_in_for_a_key_is_no_secret() -> None:
    assert Endpoint(LOCAL, "none").redact("there is none") == "there is none"


def test_no_key_shows_in_a_representation(environment) -> None:
    environment(OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://u:passwordpassword@h/v1")
    resolution = resolve(MMMT, on_samples=False)
    shown = repr(resolution) + str(resolution.profile.judges[0]) + repr(resolution.profile.judges[0].endpoint)
    assert KEY not in shown and "passwordpassword" not in shown


# --- the profile `single` ---


def test_single_with_a_key_alone_is_openais_small_model(environment) -> None:
    environment(LMMS_TASKS_JUDGES="single", OPENAI_API_KEY=KEY)
    (judge,) = resolve(MMST, on_samples=False).profile.judges
    assert (judge.model, judge.openai, judge.temperature, judge.generations) == ("gpt-4o-mini", True, 0.0, 1)


def test_single_at_another_server_wants_the_models_name(environment) -> None:
    environment(LMMS_TASKS_JUDGES="single", OPENAI_BASE_URL=LOCAL)
    assert "LMMS_TASKS_JUDGE_SINGLE_MODEL" in refusal()
    environment(LMMS_TASKS_JUDGE_SINGLE_MODEL="Qwen/Qwen3-8B")
    (judge,) = resolve(MMST, on_samples=False).profile.judges
    assert (judge.model, judge.openai) == ("Qwen/Qwen3-8B", False)


def test_single_serves_every_use(environment) -> None:
    environment(LMMS_TASKS_JUDGES="single", OPENAI_API_KEY=KEY)
    assert resolve("fifth_benchmark", on_samples=True).profile.use == "fifth_benchmark"


# --- set ---


def test_offline_may_be_chosen_for_a_real_task(environment) -> None:
    environment(LMMS_TASKS_JUDGES="offline")
    assert resolve(MMST, on_samples=False).profile.offline


def test_an_unknown_name_lists_the_shipped_ones(environment) -> None:
    environment(LMMS_TASKS_JUDGES="papre")
    assert "'papre'" in refusal() and ", ".join(shipped_profiles()) in refusal()
    assert shipped_profiles() == ["offline", "paper", "single"]


def test_a_chosen_profile_without_endpoints_ends_the_run(environment) -> None:
    environment(LMMS_TASKS_JUDGES="paper")
    assert all(variable in refusal() for variable in PAPER)


FILE = """
[mirage.mmst]
generations = 2
concurrency = 4
max_calls = 100
max_tokens = 5000
rubric_file = { correctness = "mine.txt" }

[[mirage.mmst.judges]]
name = "a"
model = "m"
base_url = "http://h:1/v1"
temperature = 1
token_limit = 500
timeout = 30
extra = { top_p = 0.9, chat_template_kwargs = { enable_thinking = false } }
omit = ["temperature"]

[[mirage.mmst.judges]]
name = "b"
model = "m2"
base_url = "http://h:2/v1"
generations = 1
concurrency = 9
"""


def test_a_file_says_everything(profile_file, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("{{answer}}")
    profile_file(FILE)
    profile = resolve(MMST, on_samples=False).profile
    first, second = profile.judges
    assert (profile.name, profile.max_calls, profile.max_tokens) == ("mine.toml", 100, 5000)
    assert profile.rubric_files == {"correctness": str((tmp_path / "mine.txt").resolve())}
    assert (first.generations, first.concurrency, first.max_tokens, first.timeout) == (2, 4, 500, 30.0)
    assert first.extra == {"top_p": 0.9, "chat_template_kwargs": {"enable_thinking": False}}
    assert first.omit == ("temperature",)
    assert (second.generations, second.concurrency, second.max_tokens) == (1, 9, 10000)


JUDGE = '[[mirage.mmst.judges]]\nname = "a"\nmodel = "m"\nbase_url = "http://h/v1"\n'


@pytest.mark.parametrize(
    "text, named",
    [
        ("[mirage.mmst\n", "no valid TOML"),
        ("[mirage.other]\n", "[mirage.mmst]"),
        ("[mirage.mmst]\n", "judges"),
        (JUDGE + "temprature = 0.5\n", "judges.0.temprature"),
        (JUDGE + 'temperature = "hot"\n', "judges.0.temperature"),
        (JUDGE + "temperature = -1\n", "judges.0.temperature"),
        (JUDGE + "generations = 0\n", "judges.0.generations"),
        (JUDGE + "generations = 1.5\n", "judges.0.generations"),
        (JUDGE + 'extra = { model = "other" }\n', "model in extra"),
        (JUDGE + JUDGE, "two judges bear one name"),
        ('[[mirage.mmst.judges]]\nmodel = "m"\n', "judges.0.name"),
        ("[mirage.mmst]\nmax_cals = 3\n" + JUDGE, "max_cals"),
        ('[mirage.mmst]\nkind = "offline"\n' + JUDGE, "offline"),
        ('[mirage.mmst]\nrubric_file = { r = "lost.txt" }\n' + JUDGE, "lost.txt"),
        ("mirage = 3\n", "[mirage.mmst]"),
        ('[mirage]\nmmst = "paper"\n', "[mirage.mmst]"),
        ('[[mirage.mmst.judges]]\nname = "a"\nmodel = "m"\n', "LMMS_TASKS_JUDGE_A_BASE_URL"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(profile_file, text: str, named: str) -> None:
    profile_file(text)
    sentence = refusal()
    assert "mine.toml" in sentence and named in sentence


def test_the_default_table_serves_a_use_without_its_own(profile_file) -> None:
    profile_file(JUDGE.replace("mirage.mmst", "default") + "[sgmri_vqa]\n" + JUDGE.replace("mirage.mmst", "sgmri_vqa"))
    assert resolve("mirage.mmst", on_samples=False).profile.judges[0].model == "m"
