"""Two scored runs compared: rows are drawn with all others about their volume."""

from __future__ import annotations

import json

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.report.compare import compare
from lmms_tasks.report.runs import read_runs
from lmms_tasks.sources import load_rows

CATALOGUE = read_catalogue()
TASKS = ("sgmri_vqa_image_sample", "sgmri_vqa_volume_sample")


def scored(folder, task: str, wrong_volume: str | None):
    """A run that answers as the reference, and nothing at all about one volume."""
    rows = load_rows(CATALOGUE.tasks[task])
    answers = folder / "answers.jsonl"
    folder.mkdir(parents=True)
    answers.write_text(
        "\n".join(
            json.dumps({"doc_id": n, "prediction": "" if row["volume_id"] == wrong_volume else row["answer"]})
            for n, row in enumerate(rows)
        )
    )
    assert main(["score", task, str(answers), "--output", str(folder / "out"), "--json"]) == 0
    return read_runs([folder / "out"], CATALOGUE)


def test_slices_and_volumes_are_resampled_by_their_volume(tmp_path, capsys):
    for task in TASKS:
        rows = list(load_rows(CATALOGUE.tasks[task]))
        volumes = [row["volume_id"] for row in rows]
        whole = scored(tmp_path / task / "a", task, None)
        poorer = scored(tmp_path / task / "b", task, volumes[0])
        assert [sample.record["cluster"] for sample in whole.tasks[0].samples] == volumes
        found = compare(whole, poorer)["tasks"][task]
        a_score = found["metrics"]["a_score"]
        answered = [row for row in rows if row["task"] not in ("localization", "captioning")]
        assert a_score["n"] == len(answered)
        assert a_score["clusters"] == len({row["volume_id"] for row in answered}) < a_score["n"]
        lost = sum(row["volume_id"] == volumes[0] for row in answered)
        assert lost > 1 and a_score["difference"] < 0
        # All that was lost lies in one volume of five: a sign flip of it alone decides, so no p-value can be small.
        assert a_score["p"] > 0.4
