"""The oracle that sees: what it is shown, how it fails, that no answer is paid for twice."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math

import PIL.Image
import pytest
from loguru import logger

from lmms_tasks.benchmarks import read_catalogue
from tests.amigo.games import breakdowns, transcripts
from tests.judge_server import Answer, JudgeServer


class Stopped(Exception):
    pass


def is_yes(image: bytes, question: str) -> bool:
    return hashlib.sha256(image + question.encode()).digest()[0] < 128


def seeing(fail_on: set[bytes] = frozenset()):
    """A scripted vision-language oracle: it answers by the image and the question that it is shown."""

    def script(body, number):
        text, image = body["messages"][-1]["content"]
        data = PIL.Image.open(_file(image)).tobytes()
        question = text["text"].split("<<<BEGIN question>>>\n")[1].split("\n<<<END")[0]
        if data in fail_on:
            return Answer({"error": {"message": "overloaded"}}, status=503)
        return json.dumps({"answer": "Yes" if is_yes(data, question) else "No"})

    return script


def _file(part):
    return io.BytesIO(base64.b64decode(part["image_url"]["url"].partition(",")[2]))


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """24 episodes of two images without tables, and an oracle profile whose judge points to a server."""
    colours = []
    rows = []
    for number in range(24):
        names = []
        for side in range(2):
            colour = (number * 10, side * 200, 7)
            name = f"{number}-{side}.png"
            PIL.Image.new("RGB", (8, 8), colour).save(tmp_path / name)
            names.append(name)
            colours.append(PIL.Image.new("RGB", (8, 8), colour).tobytes())
        rows.append({"episode_id": f"photo-{number}", "images": names, "gold_idx": 1 + number % 2})
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    monkeypatch.setenv("AMIGO_DATA", str(tmp_path / "rows.json"))
    profile = tmp_path / "oracle.toml"
    profile.write_text('[[amigo.oracle.judges]]\nname = "eyes"\nmodel = "eyes-1"\ntries = 2\nretry_delay = 0.01\n')
    monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))

    def point(server):
        monkeypatch.setenv("LMMS_TASKS_JUDGE_EYES_BASE_URL", server.base_url)
        return server

    point.targets = [colours[2 * number + number % 2] for number in range(24)]
    return point


QUESTIONS = ["Does the dress have a belt?", "Is it red?", "Is there a slit?"]


def three_questions(row, prompt):
    from lmms_tasks.amigo import agents

    turn = len(agents.history(prompt))
    return QUESTIONS[turn] if turn < len(QUESTIONS) else agents.guess_line(1)


def test_the_seeing_oracle_gets_the_target_s_image_and_the_question_and_nothing_else(evaluate, player, photos, home):
    with photos(JudgeServer(seeing(), models=["eyes-1"])) as server:
        results, samples = evaluate(player(three_questions), "amigo")
    assert server.count == 24 * 2  # the prohibited question is skipped without a call
    for request in server.requests:
        text, image = request.body["messages"][-1]["content"]
        assert image["type"] == "image_url"
        assert "photo-" not in text["text"] and "Turn" not in text["text"] and "#" not in text["text"]
    for number, one in enumerate(transcripts(samples)):
        answers = ["Yes" if is_yes(photos.targets[number], QUESTIONS[turn]) else "No" for turn in (0, 2)]
        assert [turn["oracle_shown"] for turn in one["turns"]] == [answers[0], "Skip", answers[1], None]
        assert one["oracle"]["kind"] == "vlm" and one["oracle"]["model"] == "eyes-1"
    assert results["identification_success"] == 0.5 and results["protocol_compliance"] == 0.75
    # Whether a guess was premature is not known, so it is no 0.
    assert math.isnan(results["premature_rate"]) and math.isnan(results["verified_success"])


def test_the_seeing_oracle_can_be_asked_about_every_image(photos, evaluator, player):
    from lmms_tasks.amigo.episode import Protocol, new_transcript, play
    from lmms_tasks.amigo.oracle import oracle_for
    from lmms_tasks.amigo.rows import episode_of
    from lmms_tasks.sources import local_files
    from lmms_tasks.utils.rows import read_json_rows

    (file,) = local_files(read_catalogue().tasks["amigo"])
    row = read_json_rows(file)[0] | {"n_images": 2}
    images = [str(file.parent / name) for name in row["images"]]
    with photos(JudgeServer(seeing(), models=["eyes-1"])):
        episode = episode_of(row)
        protocol = Protocol(verify_feasible=True)
        played = play(new_transcript(), QUESTIONS[0], episode, protocol, oracle_for(episode, images))
    pixels = [PIL.Image.open(path).tobytes() for path in images]
    target = is_yes(pixels[0], QUESTIONS[0])
    assert played["turns"][0]["feasible"] == [n for n in (1, 2) if is_yes(pixels[n - 1], QUESTIONS[0]) == target]


def test_an_oracle_that_fails_excludes_its_episodes_and_never_skips(evaluate, player, photos, home):
    failing = {photos.targets[23]}
    with photos(JudgeServer(seeing(failing), models=["eyes-1"])):
        results, samples = evaluate(player(three_questions), "amigo")
    last = transcripts(samples)[23]
    assert last["end"] == "infrastructure_error" and last["turns"] == []
    assert results["identification_success"] == pytest.approx(12 / 23)
    assert results["efficiency"] == 4.0
    table = breakdowns(home, "amigo")
    assert [entry["episode_id"] for entry in table["excluded"]] == ["photo-23"]
    assert table["episodes"]["infrastructure_errors"] == 1
    # Under 95 % of the episodes there is no number.
    with photos(JudgeServer(seeing(set(photos.targets[20:])), models=["eyes-1"])):
        results, _ = evaluate(player(lambda row, prompt: "Is it striped?"), "amigo")
    assert math.isnan(results["identification_success"])


def test_a_resumed_run_asks_the_oracle_nothing_whose_answer_was_stored(evaluate, player, photos, monkeypatch, tmp_path):
    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(tmp_path / "kept"))
    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "0")
    monkeypatch.setenv("LMMS_TASKS_CACHE", "refresh")  # the judges' cache must not help
    calls = []

    def until_stopped(row, prompt):
        calls.append(prompt)
        if len(calls) == 43:  # ten episodes of four turns, and two turns
            raise Stopped
        return three_questions(row, prompt)

    with photos(JudgeServer(seeing(), models=["eyes-1"])) as server:
        with pytest.raises(Stopped):
            evaluate(player(until_stopped), "amigo")
        asked = server.count
        assert asked == 10 * 2 + 1
        results, _ = evaluate(player(three_questions), "amigo")
        assert server.count == 24 * 2
    assert results["efficiency"] == 4.0


def test_the_oracle_s_answers_lie_in_the_judges_cache(evaluate, player, photos):
    with photos(JudgeServer(seeing(), models=["eyes-1"])) as server:
        first = evaluate(player(three_questions), "amigo")[1]
        second = evaluate(player(three_questions), "amigo")[1]
    assert server.count == 48 and transcripts(first) == transcripts(second)


def test_an_oracle_that_is_the_model_under_test_is_a_warning_in_the_log_and_in_the_manifest(
    evaluate, player, photos, home
):
    heard = []
    sink = logger.add(lambda message: heard.append(str(message)), level="WARNING")
    try:
        with photos(JudgeServer(seeing(), models=["eyes-1"])):
            for name in ("acme/eyes-2", "acme/eyes-1"):
                evaluate(player(three_questions), "amigo", model_args=f"pretrained={name}")
    finally:
        logger.remove(sink)
    assert len([line for line in heard if "the judge oracle is the model under test" in line]) == 1
    manifests = [json.loads(path.read_text()) for path in (home / "runs").glob("*_lmms_tasks_amigo.json")]
    told = {manifest["model"]["args"]: manifest["judge_is_model_under_test"] for manifest in manifests}
    if len(manifests) == 2:  # two runs within a second share a file
        assert told == {"pretrained=acme/eyes-2": [], "pretrained=acme/eyes-1": ["oracle"]}
    assert told["pretrained=acme/eyes-1"] == ["oracle"]
    (oracle,) = manifests[-1]["breakdowns"]["oracles"]
    assert (oracle["kind"], oracle["model"], oracle["episodes"]) == ("vlm", "eyes-1", 24)


QUESTION = "Does the dress have a belt?"


def asked(text: str = QUESTION):
    from lmms_tasks.amigo.lexicon import SLOTS
    from lmms_tasks.amigo.rules import parse_reply

    return parse_reply(text, SLOTS, ())


def image(shade: int = 0):
    return {"bytes": _png(shade), "path": None}


def _png(shade: int) -> bytes:
    written = io.BytesIO()
    PIL.Image.new("RGB", (8, 8), (shade, 0, 0)).save(written, "PNG")
    return written.getvalue()


@pytest.mark.parametrize(
    "reply",
    [
        "I know.",  # holds "no"
        "Yes",
        '{"answer": "Nothing"}',
        '{"answer": "Yes and no"}',
        '{"answer": "Skip"}',
        '{"answer": "Yes"} {"answer": "No"}',
        '{"answer": null}',
        "",
    ],
)
def test_an_answer_that_is_not_one_of_the_three_words_is_asked_again_and_then_no_answer(photos, reply):
    from lmms_tasks.amigo.episode import OracleFailure
    from lmms_tasks.amigo.oracle import VlmOracle, oracle_panel

    with photos(JudgeServer(lambda body, number: reply, models=["eyes-1"])) as server:
        with pytest.raises(OracleFailure):
            VlmOracle([image()], oracle_panel()).answer(asked(), 1)
        assert server.count == 3


def test_an_answer_in_its_second_reply_counts_and_capitals_do_not_matter(photos):
    from lmms_tasks.amigo.oracle import VlmOracle, oracle_panel

    replies = ["perhaps", '{"answer": "Unsure"}', '{"answer": "yes"}']
    served = iter(replies)
    with photos(JudgeServer(lambda body, number: next(served), models=["eyes-1"])) as server:
        found = [VlmOracle([image(shade)], oracle_panel()).answer(asked(), 1) for shade in (1, 2)]
    assert found == [("Unsure", True), ("Yes", True)] and server.count == 3


def test_an_answer_is_kept_by_image_question_prompt_and_oracle(photos, tmp_path, monkeypatch):
    from lmms_tasks.amigo import oracle

    with photos(JudgeServer('{"answer": "Yes"}', models=["eyes-1", "eyes-2"])) as server:

        def calls(*given) -> int:
            before = server.count
            oracle.VlmOracle([given[0]], oracle.oracle_panel()).answer(asked(*given[1:]), 1)
            return server.count - before

        assert [calls(image()), calls(image())] == [1, 0]
        assert [calls(image(1)), calls(image(1))] == [1, 0]
        assert [calls(image(), "Is there a slit?"), calls(image(), "Is there a slit?")] == [1, 0]
        rubric = oracle.RUBRIC
        monkeypatch.setattr(oracle, "RUBRIC", rubric.with_template("Look. {{question}} {{format_instruction}}"))
        assert [calls(image()), calls(image())] == [1, 0]
        monkeypatch.setattr(oracle, "RUBRIC", rubric)
        profile = tmp_path / "oracle.toml"
        profile.write_text(profile.read_text().replace("eyes-1", "eyes-2"))
        assert [calls(image()), calls(image())] == [1, 0]
