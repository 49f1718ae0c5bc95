"""`lmms-tasks prepare sgmri_vqa`: the slices of fastMRI's HDF5 files as PNG files, as the benchmark was made.

Source: `preprocessing/` of lamawmouk/SGMRI-VQA at a37aa3dd: every slice is flipped up-down (fastMRI+'s convention),
clipped below 0, divided by its own maximum, multiplied by 255 and truncated to 8 bits; slice k is the k-th of the file,
counted from 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

DATASET = "reconstruction_rss"


@dataclass(frozen=True)
class Outcome:
    """What became of one file: how many slices were written and found in place, or why it cannot be read."""

    source: Path
    written: int = 0
    kept: int = 0
    damage: str | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `lmms-tasks prepare sgmri_vqa`."""
    parser.add_argument(
        "--fastmri",
        metavar="DIR",
        type=Path,
        required=True,
        help="folder with fastMRI's .h5 files, brain or knee or both",
    )
    parser.add_argument(
        "--output", metavar="DIR", type=Path, required=True, help="where PNG files go; name it in SGMRI_VQA_IMAGE_DIR"
    )
    parser.add_argument(
        "--annotations",
        metavar="PATH",
        type=Path,
        help="fastMRI+'s tables: only volumes with a label are made, as in the benchmark",
    )
    parser.add_argument("--limit", metavar="N", type=_positive, help="make the first N volumes only")
    parser.add_argument("--workers", metavar="N", type=_positive, default=1, help="processes side by side (default 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the images; 1 with the names of damaged files if there are any. May be interrupted and started again."""
    from tqdm import tqdm

    files = find_volumes(arguments.fastmri, arguments.annotations)[: arguments.limit]
    _refuse_twins(files, arguments.fastmri)
    work = partial(prepare_volume, root=arguments.fastmri, output=arguments.output)
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        done = _outcomes(work, files, arguments.workers)
        outcomes = list(tqdm(done, total=len(files), desc="Volumes", file=sys.stderr))
    except OSError as error:
        raise SystemExit(f"{arguments.output} (--output) cannot be written ({error}).") from None
    written, kept = sum(one.written for one in outcomes), sum(one.kept for one in outcomes)
    print(f"{len(files)} volumes: {written} slices written, {kept} were there; {arguments.output}")
    damaged = [one for one in outcomes if one.damage]
    for one in damaged:
        print(f"{one.source} is damaged and was left out: {one.damage}", file=sys.stderr)
    return 1 if damaged else 0


def find_volumes(folder: Path, tables: Path | None = None) -> list[Path]:
    """The .h5 files below `folder` by name; only volumes with a label where tables are given. SystemExit for none."""
    from lmms_tasks.sgmri_vqa.annotations import labelled_volumes, read_tables

    if not folder.is_dir():
        raise SystemExit(f"There is no folder {folder}: name the folder of fastMRI's .h5 files with --fastmri.")
    files = sorted((path for path in folder.rglob("*.h5") if path.is_file()), key=lambda path: (path.name, str(path)))
    if tables is not None:
        labelled = labelled_volumes(one for volume in read_tables(tables).values() for one in volume)
        files = [path for path in files if path.stem in labelled]
    if not files:
        raise SystemExit(
            f"{folder} holds no .h5 file{' of a labelled volume' if tables else ''}: fastMRI's multicoil files are needed, "
            "for which https://fastmri.med.nyu.edu gives access."
        )
    return files


def to_eight_bits(volume: np.ndarray) -> np.ndarray:
    """Slices as they are shown: (slices, rows, columns) of any real type to uint8, same shape and order.

    Each slice is flipped up-down, clipped below 0, and scaled by its own maximum in the type that it has; a slice
    without signal is 0 throughout.
    """
    flipped = np.maximum(volume[:, ::-1, :], 0)
    largest = flipped.max(axis=(1, 2), keepdims=True)
    # Whatever a slice without signal is divided by, it stays 0.
    return (flipped / np.where(largest > 0, largest, 1) * 255).astype(np.uint8)


def prepare_volume(source: Path, root: Path, output: Path) -> Outcome:
    """Write the slices of one file that are not there yet. A slice appears whole or not at all."""
    import h5py
    from PIL import Image

    folder = output / volume_folder(source, root)
    try:
        with h5py.File(source, "r") as file:
            if DATASET not in file:
                return Outcome(source, damage=f"it has no {DATASET}")
            stored = file[DATASET]
            if not isinstance(stored, h5py.Dataset) or stored.dtype.kind not in "biuf":
                return Outcome(source, damage=f"{DATASET} holds no real numbers")
            if stored.ndim != 3 or 0 in stored.shape:
                return Outcome(source, damage=f"{DATASET} has the shape {stored.shape}, not slices × rows × columns")
            targets = {k: folder / f"{source.stem}_slice_{k + 1:03d}.png" for k in range(len(stored))}
            missing = {k: target for k, target in targets.items() if not target.exists()}
            # Read only where something is missing: resuming costs no decompression.
            volume = stored[()] if missing else None
    except (OSError, RuntimeError, KeyError) as error:
        return Outcome(source, damage=" ".join(str(error).split())[:200])
    if volume is not None:
        if not np.isfinite(volume).all():
            return Outcome(source, damage="some of its values are no finite numbers")
        pixels = to_eight_bits(volume)
        folder.mkdir(parents=True, exist_ok=True)
        for k, target in missing.items():
            unfinished = target.with_suffix(".partial")
            Image.fromarray(pixels[k]).save(unfinished, "PNG")
            unfinished.replace(target)
    return Outcome(source, written=len(missing), kept=len(targets) - len(missing))


def volume_folder(source: Path, root: Path) -> Path:
    """Where a volume's slices go below the output folder, as in the official layout.

    The split is read from the path below `root` ("val", "test" or "train"; "val" if it says none), the contrast of a
    brain from its name: AXFLAIR is FLAIR; AXT1, AXT1PRE and AXT1POST are T1; others bear their own name.
    """
    words = "/".join(source.relative_to(root).parent.parts).lower()
    split = next((split for split in ("train", "test", "val") if split in words), "val")
    name = source.stem
    if "brain" not in name.lower():
        return Path(f"knee_{split}_labeled_raw") / name
    contrast = next((part[2:] for part in name.split("_") if part.startswith("AX")), "other")
    contrast = "T1" if contrast.startswith("T1") else contrast
    return Path(f"{split}_labeled_raw_by_modality") / contrast / name


def _outcomes(work: partial, files: Iterable[Path], workers: int) -> Iterator[Outcome]:
    if workers == 1:
        yield from map(work, files)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(work, files)


def _refuse_twins(files: Iterable[Path], root: Path) -> None:
    """SystemExit for two files of one name and split: the second would be taken for made already."""
    made: dict[Path, Path] = {}
    for source in files:
        folder = volume_folder(source, root)
        if folder in made:
            raise SystemExit(f"Both {made[folder]} and {source} would become {folder}: keep one of them.")
        made[folder] = source


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number above 0")
    return int(text)
