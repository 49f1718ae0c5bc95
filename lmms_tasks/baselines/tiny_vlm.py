"""A tiny vision-language model with random weights, run by lmms-eval's own Gemma 3 adapter on the CPU.

Its answers mean nothing, but they come from the real path: chat template, image preprocessing, generation. They
depend on the question and on the images and not on what else is in a batch, so a prompt that was built wrongly or
mixed up with another one changes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.models.simple.gemma3 import VIDEO_EXTENSIONS, Gemma3
from PIL import Image

from lmms_tasks.baselines.tiny_checkpoint import checkpoint

# Chat messages are built for that many requests at a time: their images are in memory until they are answered.
WINDOW = 16


class TinyVlmSimple(Gemma3):
    """The tiny model for simple tasks.

    Args:
        max_new_tokens: the most tokens an answer has, whatever the task allows: random weights rarely stop.
        batch_size, max_batch_size, device: taken because lmms-eval passes them to every model; without effect.
            It answers one prompt after the other, because padding changes the answers of a model in bfloat16, and
            it runs on the CPU, whose answers do not differ between machines with and without another device.

    Raises:
        SystemExit: an argument is out of range or unknown, or more than one process runs.
    """

    is_simple = True

    def __init__(
        self,
        max_new_tokens: int = 48,
        batch_size: int | str = 1,
        max_batch_size: int | str | None = None,
        device: str = "cpu",
        **unknown: Any,
    ) -> None:
        if unknown:
            raise SystemExit(
                f"The model tiny_vlm has no argument {', '.join(sorted(unknown))}: it takes max_new_tokens."
            )
        if not isinstance(max_new_tokens, int) or max_new_tokens < 1:
            raise SystemExit(
                f"The model tiny_vlm needs a whole number above 0 as max_new_tokens, and got {max_new_tokens!r}."
            )
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            # lmms-eval's adapter then puts each process on a CUDA device of its own.
            raise SystemExit(
                "The model tiny_vlm runs in one process only: start it without torchrun, or use the model reference."
            )
        super().__init__(pretrained=str(checkpoint()), device="cpu", device_map="cpu", batch_size=1)
        self._most_new_tokens = max_new_tokens

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return one answer a request, in order. The requests stay as they are, their arguments too."""
        return super().generate_until([self._request(request) for request in requests])

    def _request(self, request: Instance) -> Instance:
        context, generation_kwargs, doc_to_visual = request.args[:3]
        return self._instance(request, context, generation_kwargs, partial(_visuals, doc_to_visual))

    def _instance(self, request: Instance, text: str, wanted: dict, doc_to_visual: Callable) -> Instance:
        """Return a simple request for the adapter, with its own copy of the generation arguments."""
        doc_id, task, split = request.args[3:]
        # The adapter compares and type-checks what it finds, so what is null has to be absent.
        kwargs = {key: value for key, value in (wanted or {}).items() if value is not None}
        kwargs["max_new_tokens"] = min(int(kwargs.get("max_new_tokens", self._most_new_tokens)), self._most_new_tokens)
        return Instance(
            request_type="generate_until",
            arguments=(text, kwargs, doc_to_visual, doc_id, task, split),
            idx=request.idx,
            metadata=request.metadata,
        )


class TinyVlmChat(TinyVlmSimple):
    """The tiny model for chat tasks: images first, then the text of all messages, a line for each part."""

    is_simple = False

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return one answer a request, in order; `doc_to_messages` is called once for each."""
        answers = []
        for start in range(0, len(requests), WINDOW):
            answers += super().generate_until(requests[start : start + WINDOW])
        return answers

    def _request(self, request: Instance) -> Instance:
        _, doc_to_messages, generation_kwargs, doc_id, task, split = request.args
        parts = list(_parts(doc_to_messages(self.task_dict[task][split][doc_id])))
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        visuals = [_visual(part["url"]) for part in parts if part["type"] != "text"]
        return self._instance(request, text, generation_kwargs, lambda row: visuals)


def _parts(messages: list[dict]) -> Iterator[dict]:
    """Yield the parts of all messages in order; a content that is plain text is one part."""
    for message in messages:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _visuals(doc_to_visual: Callable | None, row: dict) -> list[Image.Image | str]:
    """Return the row's visuals as a list, empty for tasks that have none."""
    visuals = doc_to_visual(row) if callable(doc_to_visual) else None
    if visuals is None:
        return []
    return [_visual(visual) for visual in (visuals if isinstance(visuals, (list, tuple)) else [visuals])]


def _visual(visual: Any) -> Image.Image | str:
    """Return an image that is decoded, or the path of a video.

    The adapter skips images that it cannot read and values that it does not know, and answers without them; here
    both end the run.
    """
    if isinstance(visual, str) and visual.lower().endswith(VIDEO_EXTENSIONS):
        return visual
    if isinstance(visual, str):
        visual = Image.open(visual)
    if not isinstance(visual, Image.Image):
        raise SystemExit(
            f"The model tiny_vlm is shown a {type(visual).__name__}, and sees only PIL images and paths of images "
            "or videos: let doc_to_visual or doc_to_messages give these."
        )
    visual.load()
    return visual
