"""Writes the sample data of SGMRI-VQA: rows about phantoms, and two small files as fastMRI has them.

    python -m lmms_tasks.sgmri_vqa.samples.draw [FOLDER]

A second run writes the same files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lmms_tasks.sgmri_vqa.samples.phantom import Phantom
from lmms_tasks.sgmri_vqa.samples.questions import BY_ID, image_questions, volume_questions

FOLDER = Path(__file__).parent
IMAGE, VOLUME = "image.parquet", "volume.parquet"
FASTMRI = ("phantom_brain_2", "phantom_knee_2")


def main(folder: Path) -> None:
    """Write the two tables and the two HDF5 files."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / IMAGE, image_questions())
    _write(folder / VOLUME, volume_questions())
    for name in FASTMRI:
        write_fastmri_file(BY_ID[name], folder / f"{name}.h5")


def write_fastmri_file(phantom: Phantom, path: Path) -> None:
    """The phantom as fastMRI stores a volume: `reconstruction_rss`, float32, slices × rows × columns, upside down."""
    import h5py
    import numpy as np

    slices = np.stack([np.asarray(phantom.draw(number)) for number in range(1, phantom.slices + 1)])
    with h5py.File(path, "w", track_order=False) as file:
        # Each slice has a scale of its own, as in measured data; `prepare` divides by the slice's maximum.
        scale = np.linspace(1e-5, 3e-5, len(slices))[:, None, None]
        content = (slices[:, ::-1] * scale).astype(np.float32)
        file.create_dataset("reconstruction_rss", data=content, compression="gzip", track_times=False)


def record(row: dict[str, Any]) -> dict[str, Any]:
    """The row as it is stored: its nested columns as JSON, its slices as PNG files."""
    phantom = BY_ID[row["volume_id"]]
    numbers = [row["slice_num"]] if "slice_num" in row else range(1, phantom.slices + 1)
    images = [{"bytes": phantom.png(number), "path": None} for number in numbers]
    return row | {"ground_truth": json.dumps(row["ground_truth"]), "images": images}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    import datasets
    import pyarrow
    import pyarrow.parquet

    records = [{"id": f"{path.stem}_{place:03d}", **record(row)} for place, row in enumerate(rows)]
    whole = {"width", "height", "slice_num", "num_slices"}
    features = datasets.Features(
        {name: datasets.Value("int64" if name in whole else "string") for name in records[0] if name != "images"}
        | {"images": datasets.List(datasets.Image(decode=False))}
    )
    table = pyarrow.Table.from_pylist(records, schema=features.arrow_schema)
    # Without the dictionary each volume's slices would be stored once a question.
    pyarrow.parquet.write_table(table, path, compression="zstd", use_dictionary=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
