"""Transcripts scored again: several folders, levels of noise, clusters, and what runs of both kinds tell together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from lmms_tasks.amigo import agents
from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.metrics import episode_scores
from lmms_tasks.amigo.recorded import read_recorded
from lmms_tasks.amigo.samples import draw
from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.report.compare import compare, describe
from lmms_tasks.report.runs import read_runs
from lmms_tasks.sources import load_rows
from tests.amigo.games import play_all

TASK = "amigo_synthetic"
GROUP = "amigo_synthetic_noise"


def play_into(folder: Path, rows, noise: float, player=agents.greedy) -> list[float]:
    """Write a run's transcripts as the store does; return each episode's success."""
    folder.mkdir(parents=True)
    found = []
    for number, row in enumerate(rows):
        transcript = play_all(row, player, noise=noise)
        (folder / f"{number}.json").write_text(json.dumps({**transcript, "run": folder.name}))
        found.append(episode_scores(transcript)["identification_success"])
    return found


@pytest.fixture(scope="module")
def rows():
    return list(load_rows(read_catalogue().tasks[TASK]))


@pytest.fixture(scope="module")
def folders(tmp_path_factory, rows):
    """A clean and a noisy folder, and the share of successes under noise."""
    root = tmp_path_factory.mktemp("transcripts")
    clean = play_into(root / "clean", rows, 0.0)
    noisy = play_into(root / "noisy", rows, 0.1)
    assert set(clean) == {1.0}
    share = sum(noisy) / len(noisy)
    assert 0 < share < 1
    return root / "clean", root / "noisy", share


def tolerance(share: float) -> dict:
    return {
        "n": 85,
        "success_without_noise": 1.0,
        "success": pytest.approx(share),
        "ratio": pytest.approx(share),
        "difference": pytest.approx(share - 1),
    }


def scored(capsys, *arguments):
    capsys.readouterr()
    assert main(["score", *map(str, arguments), "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_the_noise_tolerance_follows_from_a_clean_and_a_noisy_folder(folders, capsys):
    clean, noisy, share = folders
    for order in ((clean, noisy), (noisy, clean)):
        found, _ = scored(capsys, TASK, *order)
        assert found["results"][TASK]["identification_success,none"] == 1.0
        assert found["manifests"][TASK]["breakdowns"]["noise_tolerance"] == {"0.1": tolerance(share)}
        assert found["across"] == {f"{TASK}: noise tolerance": {"noise 0.1": tolerance(share)}}
        assert found["n-samples"][TASK] == {"rows": 85, "answered": 85}
    assert main(["score", TASK, str(clean), str(noisy)]) == 0
    assert f"|noise 0.1|85|1.0000|{share:.4f}|{share:.4f}|{share - 1:.4f}|" in capsys.readouterr().out


def test_a_group_scores_the_levels_that_there_are_and_names_the_others(folders, capsys):
    clean, noisy, share = folders
    found, told = scored(capsys, GROUP, clean, noisy)
    assert list(found["results"]) == [GROUP, TASK, f"{TASK}_noise10"]
    assert found["results"][GROUP] == {"alias": GROUP}
    assert found["results"][f"{TASK}_noise10"]["identification_success,none"] == pytest.approx(share)
    assert found["across"] == {f"{TASK}: noise tolerance": {"noise 0.1": tolerance(share)}}
    (sentence,) = [line for line in told.splitlines() if line.startswith("Not scored")]
    assert f"{TASK}_noise05, {TASK}_noise20" in sentence and "noise10" not in sentence


def test_a_folder_without_an_episode_of_the_task_is_one_sentence(folders, tmp_path, rows):
    clean, noisy, _ = folders
    with pytest.raises(SystemExit, match=f"{TASK}: no answers to its rows in"):
        main(["score", TASK, str(noisy)])
    with pytest.raises(SystemExit, match="no answers to its rows"):
        main(["score", f"{TASK}_noise05", str(clean), str(noisy)])
    other = tmp_path / "other"
    play_into(other, [row | {"gold_idx": row["gold_idx"] % row["n_images"] + 1} for row in rows[:3]], 0.0)
    with pytest.raises(SystemExit, match="none of its 3 transcripts is a finished episode of these rows"):
        main(["score", TASK, str(clean), str(other)])
    with pytest.raises(SystemExit, match="There is no file"):
        main(["score", TASK, str(clean), str(tmp_path / "none")])


@pytest.mark.parametrize("level", [0, 1])
def test_an_episode_that_is_given_twice_is_refused(folders, tmp_path, level):
    again = tmp_path / "again"
    shutil.copytree(folders[level], again)
    with pytest.raises(SystemExit, match=r"is in .* already; give one run's transcripts for each level"):
        main(["score", TASK, str(folders[0]), str(folders[1]), str(again)])
    # Two runs under one folder, as in the home folder, are no repeats either.
    both = tmp_path / "both"
    for name in ("one", "two"):
        shutil.copytree(folders[0], both / name)
    with pytest.raises(SystemExit, match="already"):
        main(["score", TASK, str(both)])


def test_an_episode_and_its_repeats_in_one_folder_are_averaged(folders, tmp_path, rows, capsys):
    folder = tmp_path / "repeated"
    play_into(folder, rows[:2], 0.0)
    wrong = play_all(rows[0], lambda row, prompt: agents.guess_line(0))
    (folder / "0-2.json").write_text(json.dumps({**wrong, "run": "repeated"}))
    found, told = scored(capsys, TASK, folder)
    assert found["results"][TASK]["identification_success,none"] == 0.75
    assert "2 of 85 rows have an answer" in told


def test_transcripts_are_scored_without_oracle_and_images(tmp_path, monkeypatch, capsys):
    """Rows without tables need a seeing oracle to be played, and nothing to be scored."""
    row = {"episode_id": "photo", "images": ["0.png", "1.png"], "gold_idx": 2}
    for number in (0, 1):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(tmp_path / f"{number}.png")
    (tmp_path / "rows.json").write_text(json.dumps([row]))
    monkeypatch.setenv("AMIGO_DATA", str(tmp_path / "rows.json"))
    monkeypatch.delenv("LMMS_TASKS_JUDGES", raising=False)
    shown = {"n_images": 2, "images": [str(tmp_path / name) for name in row["images"]]}
    transcript = play_all(row | shown, [agents.guess_line(2)])
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "0.json").write_text(json.dumps(transcript))
    for name in ("0.png", "1.png"):
        (tmp_path / name).unlink()
    found, _ = scored(capsys, "amigo", tmp_path / "kept")
    assert found["results"]["amigo"]["identification_success,none"] == 1.0


def runs_of(folders, tmp_path, capsys) -> tuple[Path, Path]:
    """Result folders of a clean and of a noisy run, as `score --output` writes them."""
    for name, folder in ((TASK, folders[0]), (f"{TASK}_noise10", folders[1])):
        scored(capsys, name, folder, "--output", tmp_path / name)
    return tmp_path / TASK, tmp_path / f"{TASK}_noise10"


def test_compare_tells_the_noise_tolerance_of_a_clean_and_a_noisy_run(folders, tmp_path, capsys):
    a, b = (read_runs([path], read_catalogue()) for path in runs_of(folders, tmp_path, capsys))
    expected = {f"{TASK}: noise tolerance": {"noise 0.1": tolerance(folders[2])}}
    for found in (compare(a, b), compare(b, a)):
        assert found["tasks"] == {} and found["across"] == {"A and B": expected}
        assert "|noise 0.1|85|1.0000|" in describe(found)
    assert compare(a, a)["across"] == {}
    both = read_runs([tmp_path], read_catalogue())
    assert compare(both, a)["across"] == {"A": expected}


def test_report_tells_the_noise_tolerance_of_a_clean_and_a_noisy_run(folders, tmp_path, capsys):
    paths = [str(path) for path in runs_of(folders, tmp_path, capsys)]
    told = {}
    for form in ("html", "markdown", "json"):
        output = tmp_path / f"report.{form}"
        assert main(["report", *paths, "--format", form, "--output", str(output)]) == 0
        told[form] = output.read_text()
    expected = {f"{TASK}: noise tolerance": {"noise 0.1": tolerance(folders[2])}}
    assert list(json.loads(told["json"])["across"].values()) == [expected]
    assert "|noise 0.1|85|1.0000|" in told["markdown"]
    (table,) = told["html"].split('<table class="across">')[1:]
    assert "noise 0.1" in table.split("</table>")[0] and f"{folders[2]:.4g}"[:5] in table.split("</table>")[0]
    # Without a noisy run there is none.
    assert main(["report", paths[0], "--format", "json", "--output", str(tmp_path / "one.json")]) == 0
    assert json.loads((tmp_path / "one.json").read_text())["across"] == {}


def test_compare_resamples_galleries_since_episodes_over_one_are_not_independent(folders, tmp_path, rows, capsys):
    worse = tmp_path / "worse"
    play_into(worse, rows, 0.0, agents.guess_at_once)
    scored(capsys, TASK, folders[0], "--output", tmp_path / "a")
    scored(capsys, TASK, worse, "--output", tmp_path / "b")
    a, b = (read_runs([tmp_path / side], read_catalogue()) for side in "ab")
    entry = compare(a, b)["tasks"][TASK]["metrics"]["identification_success"]
    galleries = {row["gallery_id"] for row in draw_rows()}
    assert (entry["n"], entry["clusters"]) == (85, len(galleries))
    assert {sample.record["cluster"] for sample in a.tasks[0].samples} == galleries and len(galleries) < 85
    # By gallery size too, each with the galleries of that size.
    sizes = compare(a, b)["tasks"][TASK]["categories"]["gallery_size"]
    assert {size: entry["rows"] for size, entry in sizes.items()} == {"5": 15, "10": 20, "20": 20, "30": 30}


def draw_rows():
    import pyarrow.parquet

    return pyarrow.parquet.read_table(draw.FILE, columns=["gallery_id"]).to_pylist()


def test_a_premature_guess_that_was_skipped_is_no_success_of_a_noisy_twin(tmp_path, rows):
    settings = {"premature_guess": "skip_and_continue", "max_turns": 2}
    folder = tmp_path / "both"
    folder.mkdir()
    for noise in (0.0, 0.1):
        played = play_all(rows[0], [agents.guess_line(rows[0]["gold_idx"])] * 2, noise=noise, **settings)
        assert played["end"] == "turn_cap" and played["turns"][-1]["guess"] == rows[0]["gold_idx"]
        (folder / f"{noise}.json").write_text(json.dumps(played))
    ((text,),) = read_recorded([folder], rows, Protocol.read(settings))[folder].values()
    assert json.loads(text)["noisy"] == {"0.1": [0]}


def test_transcripts_of_other_rows_are_left_out_with_a_sentence(tmp_path, rows, capsys, heard):
    play_into(tmp_path / "own", rows[:2], 0.0)
    other = play_all(rows[0] | {"episode_id": "elsewhere"}, agents.greedy)
    (tmp_path / "own" / "x.json").write_text(json.dumps(other))
    _, told = scored(capsys, TASK, tmp_path / "own")
    assert "2 of 85 rows have an answer" in told
    assert [line for line in heard if "1 of its 3 transcripts are of other rows" in line]
