"""The phantoms, and what is asked about them: every task and question type, for slices and for volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lmms_tasks.sgmri_vqa.samples.phantom import Lesion, Phantom

BRAIN = (96, 112)
KNEE = (112, 96)
PHANTOMS = (
    Phantom(
        "phantom_brain_1",
        "brain",
        "FLAIR",
        16,
        BRAIN,
        (
            Lesion("White matter lesion", 5, 8, (30, 40, 8, 7)),
            Lesion("White matter lesion", 9, 11, (60, 66, 9, 9), drift=1),
            Lesion("Lacunar infarct", 12, 13, (34, 70, 6, 5), grey=15),
        ),
    ),
    Phantom("phantom_brain_2", "brain", "T1", 6, BRAIN, (Lesion("Mass", 3, 4, (52, 34, 18, 16), grey=200),)),
    Phantom("phantom_brain_3", "brain", "T1", 5, BRAIN),
    Phantom(
        "phantom_knee_1",
        "knee",
        "PD",
        8,
        KNEE,
        (
            Lesion("Joint Effusion ", 2, 4, (20, 44, 14, 10)),
            Lesion("Meniscus Tear", 4, 6, (64, 46, 9, 5), grey=240),
        ),
    ),
    Phantom("phantom_knee_2", "knee", "PD", 6, KNEE, (Lesion("Bone- Subchondral edema", 3, 3, (58, 16, 15, 12)),)),
)
BY_ID: Mapping[str, Phantom] = {phantom.volume_id: phantom for phantom in PHANTOMS}
_CHOICES = ("Mass", "White matter lesion", "Joint Effusion", "Meniscus Tear")


def image_questions() -> Iterator[dict[str, Any]]:
    """Questions about single slices: five a slice, and one of each rarer type."""
    for volume_id, number in (
        ("phantom_brain_1", 6),
        ("phantom_brain_2", 3),
        ("phantom_brain_3", 2),
        ("phantom_knee_1", 4),
        ("phantom_knee_2", 3),
    ):
        yield from _slice_questions(BY_ID[volume_id], number)
    knee = BY_ID["phantom_knee_1"]
    yield _slice_row(
        knee,
        4,
        "diagnosis",
        "multiple_choice",
        _with_options("Which of these are shown?"),
        "(C), (D)",
    )
    yield _slice_row(knee, 4, "classification", "multi_choice", _with_options("Name all that you see."), "(C)+(D) both")
    yield _slice_row(
        knee,
        4,
        "diagnosis",
        "chain_of_thought",
        "What do the bright areas mean? Think step by step.",
        "Fluid beside the bone: Joint Effusion . The bright line in the cartilage: Meniscus Tear.",
    )
    brain = BY_ID["phantom_brain_2"]
    yield _slice_row(brain, 3, "classification", "open_ended", "Which kind of finding is it?", "A single round mass.")


def volume_questions() -> Iterator[dict[str, Any]]:
    """Questions about whole volumes, localizations in the forms in which their answers come."""
    for phantom in PHANTOMS:
        labels = sorted({lesion.label for lesion in phantom.lesions})
        spoken = ", ".join(label.strip() for label in labels) or "no lesion"
        yield _volume_row(
            phantom, "detection", "closed_ended", "Is there any lesion in this volume?", "Yes" if labels else "No"
        )
        yield _volume_row(
            phantom, "counting", "closed_ended", "How many lesions does this volume show?", str(len(phantom.lesions))
        )
        letters = [f"({'ABCD'[_CHOICES.index(label.strip())]})" for label in labels if label.strip() in _CHOICES]
        if letters:
            yield _volume_row(
                phantom,
                "classification",
                "single_choice" if len(letters) == 1 else "multiple_choice",
                _with_options("Which lesion is shown?" if len(letters) == 1 else "Which of these are shown?"),
                ", ".join(letters),
            )
        yield _volume_row(
            phantom,
            "captioning",
            "open_ended",
            "Describe the volume.",
            f"The {phantom.slices} slices of this {phantom.organ} phantom show {spoken}.",
        )
    yield _volume_row(
        BY_ID["phantom_knee_2"],
        "classification",
        "open_ended",
        "What kind of lesion is it?",
        "A bright rim below the joint: Bone- Subchondral edema.",
    )
    yield from _volume_localizations()


def _volume_localizations() -> Iterator[dict[str, Any]]:
    def ask(volume_id: str, label: str, answer: str) -> dict[str, Any]:
        question = f"On which frames is the {label.strip().lower()}, and where?"
        return _volume_row(BY_ID[volume_id], "localization", "open_ended", question, answer)

    # Well formed: each box follows its frame.
    for volume_id, label in (
        ("phantom_brain_1", "White matter lesion"),
        ("phantom_brain_2", "Mass"),
        ("phantom_knee_1", "Meniscus Tear"),
    ):
        boxes = BY_ID[volume_id].boxes(label)
        listed = "; ".join(f"Frame {number}: <bbx>{list(box)}</bbx>" for number, _, box in boxes)
        yield ask(volume_id, label, f"{label}: {listed}")
    # A frame that stands before a box without belonging to it: "on Frame 3 (<bbx>…".
    (number, _, box), *_ = BY_ID["phantom_knee_2"].boxes()
    yield ask(
        "phantom_knee_2",
        "Bone- Subchondral edema",
        f"The edema lies below the joint, best seen on Frame {number} (<bbx>{list(box)}</bbx>).",
    )
    # A box that inherits the frame of an earlier one: "(Frame 2: …) and on Frame 3 (".
    (first, _, one), (second, _, two), *_ = BY_ID["phantom_knee_1"].boxes("Joint Effusion ")
    yield ask(
        "phantom_knee_1",
        "Joint Effusion ",
        f"Fluid beside the bone (Frame {first}: <bbx>{list(one)}</bbx>) and again on Frame {second} "
        f"(<bbx>{list(two)}</bbx>).",
    )
    # Words alone, as brain volumes may have them: no V-Score.
    yield ask("phantom_brain_1", "Lacunar infarct", "The infarct lies low on the left, on Frames 12-13.")


def _slice_questions(phantom: Phantom, number: int) -> Iterator[dict[str, Any]]:
    found = _found(phantom, number)
    labels = [lesion.label for _, lesion, _ in found]
    spoken = ", ".join(label.strip() for label in labels)
    yield _slice_row(phantom, number, "detection", "closed_ended", "Is a lesion visible?", "Yes" if found else "No")
    letters = [f"({'ABCD'[_CHOICES.index(label.strip())]})" for label in labels if label.strip() in _CHOICES]
    if len(letters) == 1:
        question = _with_options("Which lesion is shown?")
        yield _slice_row(phantom, number, "classification", "single_choice", question, letters[0])
    yield _slice_row(
        phantom,
        number,
        "diagnosis",
        "closed_ended",
        "Does the slice look normal?",
        "No" if found else "Yes",
    )
    if found:
        listed = ", ".join(f"{lesion.label.strip()} <bbx>{list(box)}</bbx>" for _, lesion, box in found)
        # As in the data: closed for knees, open for brains.
        kind = "closed_ended" if phantom.organ == "knee" else "open_ended"
        yield _slice_row(phantom, number, "localization", kind, "Where are the lesions?", listed)
    yield _slice_row(
        phantom,
        number,
        "captioning",
        "open_ended",
        "Describe the slice.",
        f"A drawn {phantom.organ} in {phantom.modality} contrast with {spoken or 'no lesion'}.",
    )


def _found(phantom: Phantom, number: int) -> list[tuple[int, Lesion, tuple[int, int, int, int]]]:
    return [entry for entry in phantom.boxes() if entry[0] == number]


def _slice_row(phantom: Phantom, number: int, task: str, kind: str, question: str, answer: str) -> dict[str, Any]:
    found = _found(phantom, number)
    boxes = [
        dict(zip(("x", "y", "width", "height"), box, strict=True)) | {"label": lesion.label} for _, lesion, box in found
    ]
    truth = {"labels": [lesion.label for _, lesion, _ in found], "bboxes": boxes}
    return _row(phantom, task, kind, question, answer) | {"slice_num": number, "ground_truth": truth}


def _volume_row(phantom: Phantom, task: str, kind: str, question: str, answer: str) -> dict[str, Any]:
    truth = {"final_diagnosis": sorted({lesion.label for lesion in phantom.lesions})}
    return _row(phantom, task, kind, question, answer) | {"num_slices": phantom.slices, "ground_truth": truth}


def _row(phantom: Phantom, task: str, kind: str, question: str, answer: str) -> dict[str, Any]:
    width, height = phantom.size
    return {
        "volume_id": phantom.volume_id,
        "modality": phantom.modality,
        "domain": phantom.organ,
        "width": width,
        "height": height,
        "task": task,
        "type": kind,
        "question": question,
        "answer": answer,
        "reasoning": "",
    }


def _with_options(question: str) -> str:
    return "\n".join([question, *(f"({letter}) {text}" for letter, text in zip("ABCD", _CHOICES, strict=True))])
