"""A key planted in the environment is in the request's header and nowhere else, whatever the server does with it."""

from __future__ import annotations

import json
import traceback

import pytest
from loguru import logger

from lmms_tasks.cli import main
from lmms_tasks.utils.judge import panel_for
from tests.judge_server import Answer, JudgeServer, completion
from tests.lmms_eval_process import lmms_tasks

from .conftest import JUDGES, TASK, Material, judge_of, row_of, scores_of

OWN = "tok_ada_5b1f9c3e7d2a4860"  # of judge ada
SHARED = "hf/shared+Zx81QwErTyUiOpAs=="  # of the other judges; some servers write its slash as \/
KEYS = {"LMMS_TASKS_JUDGE_ADA_API_KEY": OWN, "OPENAI_API_KEY": SHARED}


def echoing(refusal: int | None = None) -> JudgeServer:
    """A server that repeats the Authorization header wherever it can: in errors, in replies, in its models' names."""

    def script(body: dict, number: int) -> Answer:
        said = server.requests[number].headers["Authorization"]
        error = {"message": f"Incorrect key provided: {said}", "headers": {"authorization": said}}
        if refusal:
            return Answer({"error": error}, refusal, {"X-Echo": said})
        scores = json.dumps(scores_of(judge_of(body), row_of(body)))
        good = completion(f"{said} {scores}", model=f"judge of {said}", reasoning_content=said, id=said)
        return (
            Answer({"error": error}, 500, {"X-Echo": said}),
            Answer(f"<html>{said}</html>".encode()),
            Answer(completion(f"{said} has no opinion.")),
            Answer({"error": {**error, "code": 503}}),
            Answer(json.dumps(good).replace("/", r"\/").encode()),
            Answer(good),
        )[number * 7 % 11 % 6]

    server = JudgeServer(script, models=[f"{judge}-1" for judge in JUDGES])
    return server


def plant(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**material.variables(), **KEYS}.items():
        monkeypatch.setenv(name, value)


def assert_nowhere(material: Material, *texts: str) -> None:
    """In none of the texts, and in no file of the test's folder: cache, its journal, manifest, results, answers."""
    files = [path for path in material.folder.rglob("*") if path.is_file()]
    assert material.home / "judge.sqlite" in files
    # A half is enough to know a key by.
    for part in (half for key in KEYS.values() for half in (key[: len(key) // 2], key[len(key) // 2 :])):
        for path in files:
            assert part.encode() not in path.read_bytes(), f"{path} holds a key"
        for text in texts:
            assert part not in text


def test_a_run_whose_server_repeats_the_keys_leaves_them_nowhere(material):
    with echoing() as server:
        material.judged_at(server.base_url)
        output = material.folder / "output"
        arguments = ("score", TASK, str(material.answers), "--json", "--output", str(output))
        outcome = lmms_tasks(*arguments, **material.variables(), **KEYS, LOGURU_LEVEL="TRACE")
    assert outcome.code == 0, outcome.text
    sent = {(judge_of(request.body), request.headers["Authorization"]) for request in server.requests}
    assert sent == {("ada", f"Bearer {OWN}"), ("bea", f"Bearer {SHARED}"), ("cas", f"Bearer {SHARED}")}
    assert list(output.glob("*_results.json")) and list(output.glob(f"*_lmms_tasks_{TASK}.json"))
    assert json.loads(outcome.stdout)["results"][TASK]["judged_coverage,none"] == 1.0
    assert_nowhere(material, outcome.stdout, outcome.stderr)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_run_that_is_refused_says_so_without_the_key(material, monkeypatch, capfd, status: int):
    with echoing(refusal=status) as server:
        material.judged_at(server.base_url)
        plant(material, monkeypatch)
        with pytest.raises(SystemExit) as ended:
            main(["score", TASK, str(material.answers), "--json"])
    assert "Incorrect key provided: Bearer ***" in ended.value.code
    # With the values of all names on the way, as loguru and other loggers write them.
    shown = "".join(traceback.TracebackException.from_exception(ended.value, capture_locals=True).format())
    captured = capfd.readouterr()
    assert_nowhere(material, shown, captured.out, captured.err)


def test_a_key_that_no_server_takes_is_refused_before_the_first_call_without_being_shown(material, monkeypatch, capfd):
    def models(said: str) -> Answer:
        return Answer({"error": {"message": f"bad {said}"}}, 401)

    with JudgeServer("", models=models(f"Bearer {OWN}")) as server:
        material.judged_at(server.base_url)
        plant(material, monkeypatch)
        with pytest.raises(SystemExit) as ended:
            main(["score", TASK, str(material.answers), "--json"])
    assert server.count == 0 and "LMMS_TASKS_JUDGE_ADA_API_KEY" in ended.value.code
    captured = capfd.readouterr()
    assert_nowhere(material, ended.value.code, captured.out, captured.err)


@pytest.mark.parametrize("proxy", ["socks9://nowhere:1", "http://nowhere:port"])
def test_a_proxy_that_cannot_be_used_ends_the_run_with_a_sentence_and_without_the_key(
    material, monkeypatch, proxy: str
):
    """loguru's tracebacks showed the headers of the client that could not be made, the key among them."""
    material.judged_at("http://127.0.0.1:9/v1")
    plant(material, monkeypatch)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(SystemExit) as ended:
        panel_for("mirage.mmst", on_samples=False)
    assert "HTTP_PROXY" in ended.value.code and "\n" not in ended.value.code
    lines: list[str] = []
    handler = logger.add(lambda message: lines.append(str(message)), backtrace=False, diagnose=True)
    logger.opt(exception=ended.value).error("It failed.")
    logger.remove(handler)
    assert "self._client = Client(judge" in lines[0]
    assert_nowhere(material, ended.value.code, *lines)
