"""Images in the page: pixels that may be shown, frames and paths in place of those that may not, and the page's limits."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy
import pytest
from PIL import Image

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.report import images
from lmms_tasks.sources import load_rows
from lmms_tasks.utils.rows import fingerprint
from tests.report.page_parser import page_of
from tests.report.written_runs import row, write_run
from tests.sgmri_vqa.conftest import image_row, volume_row, write_rows
from tests.test_sources import local, mmst_row  # noqa: F401 - a fixture

SIZE = (36, 48)


def located(make, number, **more):
    """A localization question with two key boxes, in slices 2 and 4 of a volume."""
    boxes = [{"bbox": [5, 6, 7, 8], "frame": 2}, {"bbox": [1, 2, 30, 40], "frame": 4}]
    truth = {"labels": ["Mass"], "bboxes": boxes}
    return make(1, task="localization", question=f"Where is it? {number}", ground_truth=truth, **more)


@pytest.fixture
def scans(tmp_path, monkeypatch) -> Path:
    """Questions about a slice and a volume, and slices of noise: no two have a byte run in common by chance."""
    rows, slices = tmp_path / "questions", tmp_path / "slices"
    slices.mkdir()
    write_rows(rows / "brain_test_image.json", [located(image_row, 0), image_row(1), image_row(1, question="Why?")])
    write_rows(rows / "brain_test_volume.json", [located(volume_row, 0), volume_row(1)])
    noise = numpy.random.default_rng(11)
    for number in range(1, 5):
        pixels = noise.integers(0, 255, (SIZE[1], SIZE[0]), dtype=numpy.uint8)
        Image.fromarray(pixels).save(slices / f"{image_row(1)['volume_id']}_slice_{number:03d}.png")
    monkeypatch.setenv("SGMRI_VQA_DATA", str(rows))
    monkeypatch.setenv("SGMRI_VQA_IMAGE_DIR", str(slices))
    return slices


@pytest.fixture
def scored(scans, tmp_path, capsys):
    """The folder of a run of both levels, scored without a judge."""
    for level, count in (("image", 3), ("volume", 2)):
        answers = tmp_path / f"{level}.jsonl"
        answers.write_text("".join(json.dumps({"doc_id": n, "prediction": "Yes"}) + "\n" for n in range(count)))
        assert main(["score", f"sgmri_vqa_{level}", str(answers), "--output", str(tmp_path / "run" / level)]) == 0
    capsys.readouterr()
    return tmp_path / "run"


def traces(scans):
    """How the slices would stand in a page: as their files, as their pixels, as the page's own copies."""
    found = []
    for file in sorted(scans.iterdir()):
        pixels = Image.open(file).convert("RGB").tobytes()
        copied = base64.b64decode(images.copy(str(file)).partition(",")[2])
        for data in (file.read_bytes()[100:], pixels, copied[-200:]):
            found += [base64.b64encode(data[shift : shift + 60]).decode() for shift in range(3)]
    return found


def test_by_default_no_pixel_of_restricted_slices_is_in_the_page(scored, scans):
    found, text = page_of(scored)
    assert not [trace for trace in traces(scans) if trace in text]
    assert not any("src" in image for task in found.data["tasks"] for row in task["images"].values() for image in row)
    assert text.count("data:image") == 0 and "Restricted images." not in found.text
    assert "its images may not be passed on" in found.text


def test_boxes_stand_on_empty_frames_of_the_slices_size(scored):
    found, _ = page_of(scored)
    image, volume = (task["images"] for task in found.data["tasks"])
    name = image_row(1)["volume_id"]
    # At image level the record's frames are dropped: a slice has none. Boxes are left, top, right, bottom.
    assert image["0"] == [
        {
            "frame": {
                "size": list(SIZE),
                "boxes": [[5, 6, 12, 14], [1, 2, 31, 42]],
                "label": f"slice 3 of {name}, 36 × 48, 2 key boxes",
            }
        }
    ]
    assert image["1"][0]["frame"]["boxes"] == [] and image.keys() == {"0", "1", "2"}
    assert [entry["frame"]["label"] for entry in volume["0"]] == [
        f"slice 2 of {name}, 36 × 48, 1 key box",
        f"slice 4 of {name}, 36 × 48, 1 key box",
    ]
    assert [entry["frame"]["boxes"] for entry in volume["0"]] == [[[5, 6, 12, 14]], [[1, 2, 31, 42]]]


def test_the_flag_puts_the_pixels_in_under_a_banner(scored, scans):
    found, text = page_of(scored, embed_restricted_images=True)
    assert "Restricted images. This page holds pixels that may not be passed on." in found.text
    image, volume = (task["images"] for task in found.data["tasks"])
    assert image["0"] == [{"src": images.copy(str(scans / f"{image_row(1)['volume_id']}_slice_003.png"))}]
    assert [entry["src"] for entry in volume["0"]] == [images.copy(str(file)) for file in sorted(scans.iterdir())]
    assert any(trace in text for trace in traces(scans))


def test_the_command_has_the_flag(scored, tmp_path, capsys):
    arguments = ["report", str(scored), "--output", str(tmp_path / "page.html")]
    assert main(arguments) == 0
    assert "data:image/jpeg" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main([*arguments, "--embed-restricted-images"]) == 0
    assert "data:image/jpeg" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_without_the_slices_a_frame_has_the_released_codes_size_and_says_so(scored, monkeypatch):
    monkeypatch.delenv("SGMRI_VQA_IMAGE_DIR")
    found, _ = page_of(scored)
    frame = found.data["tasks"][0]["images"]["0"][0]["frame"]
    assert frame["size"] == [256, 256] and "size assumed" in frame["label"]


@pytest.fixture
def many(local, tmp_path):  # noqa: F811
    """A run over 230 local rows with one image each; the last twenty are the worst."""
    local([mmst_row(number) for number in range(230)])
    rows = load_rows(read_catalogue().tasks["mirage_mmst_mg"])
    data = {"source": "local", "fingerprint": fingerprint(rows), "rows": len(rows)}
    lines = [row(number, 0.0 if number >= 210 else 0.5) for number in range(230)]
    return write_run(tmp_path / "run", lines, task="mirage_mmst_mg", data=data)


def test_images_of_200_rows_are_embedded_the_worst_first_and_of_the_others_the_path_is_told(many):
    shown = page_of(many)[0].data["tasks"][0]["images"]
    assert len(shown) == 230
    embedded = {int(doc_id) for doc_id, (image,) in shown.items() if "src" in image}
    assert len(embedded) == 200 and set(range(210, 230)) < embedded
    told = [(int(doc_id), image["path"]) for doc_id, (image,) in shown.items() if "path" in image]
    assert [doc_id for doc_id, _ in told] == list(range(180, 210))
    assert all(Path(path).name == f"{doc_id}.jpg" for doc_id, path in told)


def test_images_end_where_the_pages_bytes_are_spent(many, monkeypatch):
    monkeypatch.setattr(images, "BYTES", 3000)
    text = page_of(many)[1]
    assert 1 < text.count("data:image/jpeg") < 20


def test_the_images_of_one_row_are_at_most_sixteen_and_the_rest_is_counted(local, tmp_path):  # noqa: F811
    local([mmst_row(0, images=["../sample_images/0.jpg"] * 18)])
    rows = load_rows(read_catalogue().tasks["mirage_mmst_mg"])
    run = write_run(tmp_path / "run", [row(0, 0.5)], task="mirage_mmst_mg", data={"fingerprint": fingerprint(rows)})
    shown = page_of(run)[0].data["tasks"][0]["images"]["0"]
    assert len(shown) == 17 and shown[-1] == {"path": "and 2 more images"}


def test_an_image_that_cannot_be_opened_is_said(many, tmp_path):
    (tmp_path / "sample_images" / "229.jpg").write_bytes(b"no image")
    shown = page_of(many)[0].data["tasks"][0]["images"]["229"]
    assert "cannot be opened" in shown[0]["path"]
