"""`lmms-tasks prepare sgmri_vqa`: HDF5 to PNG, worked by hand; resumed; damaged files named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from lmms_tasks.cli import main
from lmms_tasks.sgmri_vqa.prepare import to_eight_bits
from lmms_tasks.sgmri_vqa.samples import draw
from lmms_tasks.sgmri_vqa.samples.questions import BY_ID

# Three slices of four rows and four columns, as fastMRI stores them: upside down, on any scale.
VOLUME = [
    # Maximum 8: value / 8 · 255, truncated.
    [[8, 4, 2, 1], [0, 0, 0, 0], [-3, 7, 6, 5], [3, 0.5, 0.25, 8]],
    # No signal at all, and nothing above 0.
    [[0, 0, 0, 0], [-1, 0, -1, 0], [0, 0, 0, 0], [0, 0, -9, 0]],
    # Maximum 0.004; 0.001 is a quarter of it.
    [[0.004, 0, 0, 0], [0, 0.001, 0, 0], [0, 0, 0.002, 0], [0, 0, 0, 0.003]],
]
# The last row comes first. Of 255: 3/8 is 95.6, 1/16 is 15.9, 1/32 is 7.97, 7/8 is 223.1, 6/8 is 191.25, 5/8 is 159.4,
# 4/8 is 127.5, 2/8 is 63.75, 1/8 is 31.9, 3/4 is 191.25; each cut, not rounded; −3 is 0.
PIXELS = [
    [[95, 15, 7, 255], [0, 223, 191, 159], [0, 0, 0, 0], [255, 127, 63, 31]],
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 191], [0, 0, 127, 0], [0, 63, 0, 0], [255, 0, 0, 0]],
]
BRAIN = "file_brain_AXT1POST_200_6002441"


def write(path: Path, volume, name: str = "reconstruction_rss") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.create_dataset(name, data=np.array(volume, dtype=np.float32))
    return path


def prepare(source: Path, target: Path, *more: str) -> int:
    return main(["prepare", "sgmri_vqa", "--fastmri", str(source), "--output", str(target), *more])


def digest(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_48_pixels_of_a_small_volume_are_those_worked_by_hand(tmp_path):
    write(tmp_path / "in" / f"{BRAIN}.h5", VOLUME)
    assert prepare(tmp_path / "in", tmp_path / "out") == 0
    folder = tmp_path / "out" / "val_labeled_raw_by_modality" / "T1" / BRAIN
    assert [path.name for path in sorted(folder.iterdir())] == [f"{BRAIN}_slice_{k:03d}.png" for k in (1, 2, 3)]
    for path, pixels in zip(sorted(folder.iterdir()), PIXELS, strict=True):
        with Image.open(path) as image:
            assert image.mode == "L"
            assert np.asarray(image).tolist() == pixels


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("multicoil_val/file1000001.h5", "knee_val_labeled_raw/file1000001"),
        ("knee_multicoil_train_batch_3/file1000002.h5", "knee_train_labeled_raw/file1000002"),
        ("file_brain_AXFLAIR_200_1.h5", "val_labeled_raw_by_modality/FLAIR/file_brain_AXFLAIR_200_1"),
        ("train/file_brain_AXT1_200_1.h5", "train_labeled_raw_by_modality/T1/file_brain_AXT1_200_1"),
        ("test/file_brain_AXT2_200_1.h5", "test_labeled_raw_by_modality/T2/file_brain_AXT2_200_1"),
    ],
)
def test_volumes_go_to_the_official_folders(tmp_path, source, folder):
    write(tmp_path / "in" / source, VOLUME)
    assert prepare(tmp_path / "in", tmp_path / "out") == 0
    assert len(list((tmp_path / "out" / folder).glob("*.png"))) == 3


def test_a_second_run_changes_nothing_and_an_interrupted_one_is_resumed(tmp_path, capsys):
    for number in range(3):
        write(tmp_path / "in" / f"file100000{number}.h5", VOLUME)
    prepare(tmp_path / "in", tmp_path / "out")
    whole = digest(tmp_path / "out")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.png")}
    assert len(whole) == 9
    assert prepare(tmp_path / "in", tmp_path / "out") == 0
    assert "0 slices written, 9 were there" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in times} == times
    # As a run leaves it that was killed in the middle of a slice: some slices missing, one half written.
    files = sorted((tmp_path / "out").rglob("*.png"))
    files[1].with_suffix(".partial").write_bytes(files[1].read_bytes()[:20])
    for path in (files[1], files[7], files[8]):
        path.unlink()
    assert prepare(tmp_path / "in", tmp_path / "out") == 0
    assert "3 slices written, 6 were there" in capsys.readouterr().out
    assert digest(tmp_path / "out") == whole


def test_workers_and_one_process_write_the_same_files(tmp_path):
    for number in range(4):
        write(tmp_path / "in" / f"file100000{number}.h5", np.array(VOLUME) * (number + 1))
    prepare(tmp_path / "in", tmp_path / "one")
    prepare(tmp_path / "in", tmp_path / "two", "--workers", "2")
    assert digest(tmp_path / "one") == digest(tmp_path / "two")


def test_the_limit_takes_the_first_volumes_by_name(tmp_path):
    for name in ("b/file1000001.h5", "a/file1000003.h5", "c/file1000002.h5"):
        write(tmp_path / "in" / name, VOLUME)
    assert prepare(tmp_path / "in", tmp_path / "out", "--limit", "2") == 0
    assert {path.name for path in (tmp_path / "out").glob("*/*")} == {"file1000001", "file1000002"}


def test_only_labelled_volumes_are_made_where_tables_are_given(tmp_path):
    for name in ("file1000001", "file1000002"):
        write(tmp_path / "in" / f"{name}.h5", VOLUME)
    table = tmp_path / "knee.csv"
    table.write_text("file,slice,study_level,x,y,width,height,label\nfile1000002,1,No,1,2,3,4,Cyst\n", encoding="utf-8")
    assert prepare(tmp_path / "in", tmp_path / "out", "--annotations", str(table)) == 0
    assert {path.name for path in (tmp_path / "out").glob("*/*")} == {"file1000002"}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_damaged_files_are_named_and_the_others_are_made(tmp_path, capsys, workers):
    write(tmp_path / "in" / "file1000001.h5", VOLUME)
    damaged = write(tmp_path / "in" / "file1000002.h5", np.random.default_rng(1).random((3, 64, 64)))
    damaged.write_bytes(damaged.read_bytes()[:5000])
    write(tmp_path / "in" / "file1000003.h5", VOLUME, name="kspace")
    write(tmp_path / "in" / "file1000004.h5", VOLUME[0])
    write(tmp_path / "in" / "file1000005.h5", [[[1, float("nan")], [0, 1]]])
    assert prepare(tmp_path / "in", tmp_path / "out", "--workers", workers) == 1
    told = capsys.readouterr().err
    for number, reason in ((2, "truncated"), (3, "has no reconstruction_rss"), (4, "shape"), (5, "no finite numbers")):
        assert any(f"file100000{number}.h5 is damaged" in line and reason in line for line in told.splitlines())
    assert {path.name for path in (tmp_path / "out").glob("*/*")} == {"file1000001"}


@pytest.mark.parametrize(("make", "sentence"), [(False, "There is no folder"), (True, "holds no .h5 file")])
def test_a_folder_without_files_ends_with_a_sentence(tmp_path, make, sentence):
    if make:
        (tmp_path / "in").mkdir()
    with pytest.raises(SystemExit, match=sentence):
        prepare(tmp_path / "in", tmp_path / "out")


def test_the_shipped_files_become_the_shipped_slices(tmp_path):
    prepare(draw.FOLDER, tmp_path / "out")
    for name in draw.FASTMRI:
        phantom = BY_ID[name]
        for number in range(1, phantom.slices + 1):
            (path,) = (tmp_path / "out").rglob(f"{name}_slice_{number:03d}.png")
            drawn = np.asarray(phantom.draw(number)).astype(float)
            with Image.open(path) as image:
                # One grey level may be lost where a product of 32-bit numbers falls short of a whole one.
                assert np.abs(drawn * 255 / drawn.max() - np.asarray(image)).max() < 1.01


@pytest.mark.parametrize("dtype", ["i2", "u1", "u8", "f2", "f8"])
def test_other_types_of_numbers_make_the_same_pixels(tmp_path, dtype):
    """Maximum 4: a quarter is 63.75, three quarters are 191.25; the last row comes first."""
    assert to_eight_bits(np.array([[[1, 2], [3, 4]]], dtype=dtype)).tolist() == [[[191, 255], [63, 127]]]


@pytest.mark.parametrize("values", [[[[b"a"]]], [[[1j]]], None])
def test_a_file_without_real_numbers_is_named_as_damaged(tmp_path, capsys, values):
    (tmp_path / "in").mkdir()
    with h5py.File(tmp_path / "in" / "file1000001.h5", "w") as file:
        if values is None:
            file.create_group("reconstruction_rss")
        else:
            file.create_dataset("reconstruction_rss", data=np.array(values))
    assert prepare(tmp_path / "in", tmp_path / "out") == 1
    assert (
        "file1000001.h5 is damaged and was left out: reconstruction_rss holds no real numbers"
        in capsys.readouterr().err
    )


def test_two_files_that_would_become_one_volume_are_named(tmp_path):
    for folder in ("val", "val/more"):
        write(tmp_path / "in" / folder / "file1000001.h5", VOLUME)
    with pytest.raises(SystemExit, match=r"Both .*val/file1000001.h5 and .*more/file1000001.h5 would become knee_val"):
        prepare(tmp_path / "in", tmp_path / "out")


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("taken", ["out", "out/knee_val_labeled_raw"])
def test_an_output_that_cannot_be_written_ends_with_a_sentence(tmp_path, taken, workers):
    write(tmp_path / "in" / "file1000001.h5", VOLUME)
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("a file", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"out \(--output\) cannot be written"):
        prepare(tmp_path / "in", tmp_path / "out", "--workers", workers)


@pytest.mark.parametrize("option", ["--limit", "--workers"])
@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_a_number_of_files_or_processes_is_whole_and_above_0(tmp_path, capsys, option, number):
    with pytest.raises(SystemExit):
        prepare(tmp_path, tmp_path, f"{option}={number}")
    assert f"{number} is no whole number above 0" in capsys.readouterr().err
