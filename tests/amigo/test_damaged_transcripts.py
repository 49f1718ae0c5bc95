"""Transcripts that were cut off, edited or moved: never a crash, never a silent drop."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from lmms_tasks.amigo import agents
from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.hooks import amigo_process_results
from lmms_tasks.amigo.recorded import read_recorded
from lmms_tasks.amigo.transcript import FORMAT, Store, header, parse
from lmms_tasks.amigo.transcript_fault import DamagedTranscript
from tests.amigo.games import generated, play_all, row

GIVEN = row(1)
REPLIES = ["Is it belted?", "Is it blue?", agents.guess_line(1)]
# An edit of a whole transcript of three turns (an answer, a Skip, a guess), by name.
DAMAGE = {
    **{
        f"no {key}": lambda one, key=key: one.pop(key)
        for key in (
            "episode_id",
            "row",
            "images",
            "size",
            "gold",
            "tier",
            "protocol",
            "oracle",
            "turns",
            "end",
            "format",
        )
    },
    **{
        f"no {key} in a turn": lambda one, key=key: one["turns"][0].pop(key)
        for key in (
            "idx",
            "raw",
            "visible",
            "kind",
            "hits",
            "oracle_true",
            "oracle_shown",
            "feasible",
            "noise",
            "mapped",
        )
    },
    **{
        f"no {key} in the guess": lambda one, key=key: one["turns"][2].pop(key)
        for key in ("guess", "strict", "premature")
    },
    **{f"no {key}": lambda one, key=key: one["turns"][0].pop(key) for key in ("slot", "values", "negated")},
    "the last turn is missing": lambda one: one["turns"].pop(),
    "a turn in the middle is missing": lambda one: one["turns"].pop(1),
    "protocol is a text": lambda one: one.update(protocol="abc"),
    "row is a list": lambda one: one.update(row=["a"]),
    "size is a text": lambda one: one.update(size="4"),
    "the target is true": lambda one: one.update(gold=True),
    "the target is outside": lambda one: one.update(gold=5),
    "a turn is a list": lambda one: one["turns"].__setitem__(0, [1]),
    "hits are numbers": lambda one: one["turns"][1].update(hits=[1]),
    "a Skip without a rule": lambda one: one["turns"][1].update(hits=[]),
    "the feasible set is null": lambda one: one["turns"][0].update(feasible=None),
    "the feasible set grows": lambda one: one["turns"][2].update(feasible=[1, 2, 3, 4]),
    "the end is a list": lambda one: one.update(end=[]),
    "the end is another": lambda one: one.update(end="turn_cap"),
    "an error without its sentence": lambda one: one.update(end="infrastructure_error"),
    "the format is another": lambda one: one.update(format=99),
    "noise is a text": lambda one: one["protocol"].update(noise="0"),
    "twins without a success": lambda one: one.update(noisy={"0.1": []}),
}


@pytest.fixture(scope="module")
def whole():
    played = play_all(GIVEN, REPLIES)
    assert played["end"] == "guess" and [turn["oracle_shown"] for turn in played["turns"]] == ["Yes", "Skip", None]
    return played


def damaged(whole, name):
    made = copy.deepcopy(whole)
    DAMAGE[name](made)
    return made


def test_whole_transcripts_of_every_kind_pass():
    players = (agents.greedy, agents.random, agents.guess_at_once, agents.index_search, lambda row, prompt: "\ud83d")
    for premature in ("record", "skip_and_continue", "terminal_skip"):
        for given in generated(20, 5, 4):
            for player in players:
                played = play_all(given, player, noise=0.2, premature_guess=premature)
                assert parse(json.dumps(played)) == played


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_transcript_is_none_and_a_row_without_transcript(whole, name, heard):
    text = json.dumps(damaged(whole, name))
    assert parse(json.dumps(whole)) == whole
    with pytest.raises(DamagedTranscript):
        parse(text)
    items = amigo_process_results(GIVEN, [text])
    assert items["identification_success"]["status"] == "no_transcript" and "score" not in items["efficiency"]
    assert len(heard) == 1 and "The episode one has no transcript" in heard[0]


@pytest.mark.parametrize("name", DAMAGE)
def test_scoring_ends_with_a_sentence_that_names_a_damaged_file(whole, name, tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(play_all(row(2, episode_id="two"), REPLIES)))
    (tmp_path / "bad.json").write_text(json.dumps(damaged(whole, name)))
    with pytest.raises(SystemExit, match=r"bad\.json"):
        read_recorded([tmp_path], [GIVEN, row(2, episode_id="two")], Protocol())


def test_scoring_names_a_truncated_file_and_one_whose_target_is_not_its_row_s(whole, tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(whole))
    (tmp_path / "bad.json").write_text(json.dumps(whole)[:300])
    with pytest.raises(SystemExit, match=r"bad\.json is no whole transcript \(it is no JSON, or cut off\)"):
        read_recorded([tmp_path], [GIVEN], Protocol())
    (tmp_path / "bad.json").write_text(json.dumps({**whole, "gold": 2}))
    with pytest.raises(SystemExit, match=r"bad\.json: its gold is 2, and its row has 1"):
        read_recorded([tmp_path], [GIVEN], Protocol())


def test_results_of_lmms_eval_beside_transcripts_are_no_damage(whole, tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(whole))
    (tmp_path / "results.json").write_text(json.dumps({"results": {}}))
    assert list(read_recorded([tmp_path], [GIVEN], Protocol())[tmp_path]) == [0]


def test_a_transcript_of_format_1_is_scored(whole, tmp_path):
    old = {key: value for key, value in whole.items() if key != "images"} | {"format": 1}
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert list(read_recorded([tmp_path], [GIVEN], Protocol())[tmp_path]) == [0]


@pytest.fixture
def kept(whole, tmp_path, monkeypatch):
    """A store over a folder, the head of its only episode, and where its transcript lies."""
    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(tmp_path))
    head = {key: value for key, value in whole.items() if key not in ("turns", "end")}
    store = Store()
    path = store.place(head)
    path.parent.mkdir(parents=True)
    return store, head, path


def resumed(kept, reply=REPLIES[0]):
    store, head, path = kept
    assert store.place(head) == path
    return store.resumable(path, head, reply)


def test_a_whole_transcript_is_gone_on_from(whole, kept, heard):
    kept[2].write_text(json.dumps({**whole, "run": "earlier"}))
    assert resumed(kept) == {"turns": whole["turns"], "end": "guess"} and not heard


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_transcript_is_played_anew_with_one_warning(whole, kept, name, heard):
    store, _, path = kept
    path.write_text(json.dumps({**damaged(whole, name), "run": "earlier"}))
    assert resumed(kept) is None
    assert len(heard) == 1 and f"{path} is no whole transcript" in heard[0] and "from the start" in heard[0]
    store.begin(path, whole)
    store.finish(path, whole)
    assert parse(path.read_text())["turns"] == whole["turns"]


@pytest.mark.parametrize(
    "text", ["[1]\n[2]\n", "{}\n", "", "\n", '{"format": 2}\n[2]\n', "{\n", '{"protocol": 3}\n{}\n']
)
def test_a_damaged_episode_in_progress_is_played_anew_with_one_warning(kept, text, heard):
    kept[2].with_suffix(".jsonl").write_text(text)
    assert resumed(kept) is None
    assert len(heard) == 1 and ".jsonl is no whole transcript" in heard[0]


def in_progress(whole, path: Path, turns):
    before = {key: value for key, value in whole.items() if key not in ("turns", "end")}
    lines = [json.dumps(line) for line in ({**before, "run": "earlier"}, *turns)]
    path.with_suffix(".jsonl").write_text("\n".join(lines) + "\n")


def test_an_episode_that_was_killed_before_its_end_was_written_has_ended(whole, kept, heard):
    in_progress(whole, kept[2], whole["turns"][:2])
    assert resumed(kept) == {"turns": whole["turns"][:2], "end": None}
    in_progress(whole, kept[2], whole["turns"])
    assert resumed(kept) == {"turns": whole["turns"], "end": "guess"} and not heard


def test_bytes_that_are_no_text_are_played_anew(kept, heard):
    kept[2].write_bytes(b"\xff\xfe{}")
    assert resumed(kept) is None and len(heard) == 1 and "not UTF-8" in heard[0]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_folder_in_a_transcript_s_place_is_gone_round(whole, kept, suffix, heard):
    store, head, path = kept
    path.with_suffix(suffix).mkdir()
    beside = store.place(head)
    assert beside != path and len(heard) == 1 and f"{suffix} is a folder" in heard[0]
    assert store.resumable(beside, head, REPLIES[0]) is None
    store.begin(beside, whole)
    store.finish(beside, whole)
    assert beside.is_file()


def test_a_swapped_gallery_and_a_transcript_that_tells_no_images_are_played_anew(tmp_path, kept, heard):
    store, _, path = kept
    images = [tmp_path / f"{number}.png" for number in range(4)]
    for number, image in enumerate(images):
        image.write_bytes(bytes([number]))
    given = GIVEN | {"images": [str(image) for image in images]}
    played = play_all(given, REPLIES)
    path.write_text(json.dumps({**played, "run": "earlier"}))

    def go_on():
        return store.resumable(path, header(given, Protocol(), played["oracle"]), REPLIES[0])

    assert go_on() is not None and not heard
    images[2].write_bytes(b"another")
    assert go_on() is None and len(heard) == 1 and "was played with other images" in heard[0]
    images[2].write_bytes(bytes([2]))
    assert go_on() is not None
    old = {key: value for key, value in played.items() if key != "images"} | {"format": 1}
    path.write_text(json.dumps({**old, "run": "earlier"}))
    assert go_on() is None and len(heard) == 2 and "format 1, which does not tell the images" in heard[1]
    assert played["format"] == FORMAT == 2


def test_another_kind_of_damage_than_missing_keys_is_told_by_turn(whole):
    with pytest.raises(DamagedTranscript, match="turn 2: its hits cannot be right"):
        parse(json.dumps(damaged(whole, "a Skip without a rule")))
    with pytest.raises(DamagedTranscript, match="turn 1: it has no raw"):
        parse(json.dumps(damaged(whole, "no raw in a turn")))
