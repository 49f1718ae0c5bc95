from __future__ import annotations

import copy
import json
import threading

import pytest
from PIL import Image

TASKS = ("baseline_simple", "baseline_chat", "baseline_agentic", "baseline_text")


@pytest.fixture(scope="module")
def tiny_vlm():
    import lmms_eval.evaluator  # noqa: F401  before our module, as in a run

    from lmms_tasks.baselines import tiny_vlm

    return tiny_vlm


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Two threads on matrices this small mostly wait for each other, for minutes on a busy machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny_checkpoint():
    from lmms_tasks.baselines import tiny_checkpoint

    return tiny_checkpoint


@pytest.fixture(scope="module")
def lm(tiny_vlm):
    return tiny_vlm.TinyVlmSimple(max_new_tokens=12)


@pytest.fixture(scope="module")
def chat_lm(tiny_vlm):
    return tiny_vlm.TinyVlmChat(max_new_tokens=12)


def picture(number: int) -> Image.Image:
    return Image.new("RGB", (60 + number, 80), (number * 53 % 256, number * 97 % 256, number * 11 % 256))


def request(text: str, visuals=None, **generation):
    from lmms_eval.api.instance import Instance

    metadata = {"task": "t", "doc_id": 0, "repeats": 1}
    show = visuals if callable(visuals) or visuals is None else lambda row: visuals
    arguments = (text, {"until": [], **generation}, show, 0, "t", "test")
    return Instance(request_type="generate_until", arguments=arguments, idx=0, metadata=metadata)


def chat_request(messages: list[dict], **generation):
    from lmms_eval.api.instance import Instance

    metadata = {"task": "t", "doc_id": 0, "repeats": 1}
    arguments = ("", lambda row: messages, {"until": [], **generation}, 0, "t", "test")
    return Instance(request_type="generate_until", arguments=arguments, idx=0, metadata=metadata)


def answer(model, *requests) -> list[str]:
    model.task_dict = {"t": {"test": [{}]}}
    return model.generate_until(list(requests))


@pytest.mark.parametrize("kind", ["TinyVlmSimple", "TinyVlmChat"])
def test_it_answers_every_row_of_simple_chat_agentic_and_text_tasks(evaluate, tiny_vlm, golds, kind):
    values, answers = evaluate(getattr(tiny_vlm, kind)(max_new_tokens=3), *TASKS)
    assert set(values) == set(TASKS)
    for name in TASKS:
        texts = list(answers[name].values())
        assert len(texts) == len(golds)
        if name == "baseline_agentic":
            texts = [text for episode in texts for text in json.loads(episode)["answers"]]
            assert len(texts) == 3 * len(golds)
        assert all(texts)


def test_the_smaller_of_its_own_limit_and_the_tasks_rules(tiny_vlm, lm):
    one_token = {lm.tokenizer.decode([token]) for token in range(len(lm.tokenizer))}
    capped = tiny_vlm.TinyVlmSimple(max_new_tokens=1)
    shown = [[picture(number)] for number in range(6)]
    shortest = answer(capped, *[request("Which colour?", images, max_new_tokens=1000) for images in shown])
    assert set(shortest) <= one_token
    assert answer(lm, *[request("Which colour?", images, max_new_tokens=1) for images in shown]) == shortest
    # Greedy generation goes on from the same first token, up to the model's own limit of 12; some answers end early.
    unset = answer(lm, *[request("Which colour?", images) for images in shown])
    assert all(long.startswith(short) for long, short in zip(unset, shortest, strict=True))
    assert len(set(unset) - one_token) > 2
    assert answer(lm, *[request("Which colour?", images, max_new_tokens=12) for images in shown]) == unset


def test_the_callers_generation_arguments_stay_as_they_are(lm, chat_lm):
    generation = {"max_new_tokens": 1000, "temperature": None, "top_p": None, "until": [], "max_agentic_steps": 3}
    kept = copy.deepcopy(generation)
    simple = request("Which colour?", [], **generation)
    chat = chat_request([{"role": "user", "content": [{"type": "text", "text": "Which colour?"}]}], **generation)
    # A request for each of two: the adapter groups requests by these arguments.
    answer(lm, simple, simple)
    answer(chat_lm, chat, chat)
    assert simple.args[1] == chat.args[2] == {**kept, "until": []}


@pytest.mark.parametrize("images", [0, 1, 2, 20])
def test_any_number_of_images_and_chinese_text_work(lm, images):
    [text] = answer(lm, request("图中有几个方块？" * 20, [picture(number) for number in range(images)]))
    assert text
    assert "\ufffd" not in text


def test_a_question_of_ten_thousand_characters_works(lm):
    [text] = answer(lm, request("Is it red? " * 909 + "?", [picture(number) for number in range(20)]))
    assert text


@pytest.mark.long
def test_ten_thousand_chinese_characters_with_twenty_images_work(lm):
    # Three bytes a character make some 30,000 tokens and an attention mask of their square: about 4 GB.
    [text] = answer(lm, request("很长的问题" * 2000, [picture(number) for number in range(20)], max_new_tokens=2))
    assert text


def test_an_answer_depends_on_the_image_and_on_the_question(lm):
    shown = [request("Which colour?", [picture(number)]) for number in range(8)]
    asked = [request(f"Which colour has image {number}?", [picture(0)]) for number in range(8)]
    blind = request("Which colour?", [])
    assert len(set(answer(lm, *shown, blind))) > 4
    assert len(set(answer(lm, *asked))) > 4


def test_an_answer_does_not_depend_on_its_company(lm):
    requests = [request(f"Which colour? {'x' * number}", [picture(number)] * (number % 3)) for number in range(6)]
    assert answer(lm, *requests) == [answer(lm, single)[0] for single in requests]


def test_visuals_may_be_missing_none_single_or_a_path(lm, tmp_path):
    picture(1).save(tmp_path / "picture.png")
    without = answer(lm, request("Which colour?", None), request("Which colour?", lambda row: None))
    assert without == answer(lm, request("Which colour?", []), request("Which colour?", []))
    single = answer(lm, request("Which colour?", picture(1)), request("Which colour?", [str(tmp_path / "picture.png")]))
    assert single == answer(lm, *[request("Which colour?", [picture(1)])] * 2)


def test_what_is_no_image_ends_with_a_sentence_instead_of_a_blind_answer(lm, chat_lm):
    with pytest.raises(SystemExit, match="shown a dict, and sees only PIL images"):
        answer(lm, request("Which colour?", [{"bytes": b"", "path": None}]))
    audio = [{"type": "audio", "url": {"array": []}}, {"type": "text", "text": "Who speaks?"}]
    with pytest.raises(SystemExit, match="shown a dict, and sees only PIL images"):
        answer(chat_lm, chat_request([{"role": "user", "content": audio}]))


def test_chat_messages_reach_the_same_adapter_as_images_and_lines_of_text(lm, chat_lm):
    content = [
        {"type": "image", "url": picture(1)},
        {"type": "text", "text": "Which colour?"},
        {"type": "image", "url": picture(2)},
        {"type": "text", "text": "And now?"},
    ]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]
    flat = request("Be brief.\nWhich colour?\nAnd now?", [picture(1), picture(2)])
    assert answer(chat_lm, chat_request(messages)) == answer(lm, flat)


def test_more_chat_requests_than_a_window_keep_their_order(tiny_vlm, lm, chat_lm):
    count = tiny_vlm.WINDOW + 3
    messages = [[{"role": "user", "content": f"{'x' * (number * 7 % 19)} {number}"}] for number in range(count)]
    chat = answer(chat_lm, *[chat_request(message, max_new_tokens=4) for message in messages])
    simple = [answer(lm, request(message[0]["content"], [], max_new_tokens=4))[0] for message in messages]
    assert chat == simple
    assert len(set(chat)) > 4


def test_doc_to_messages_is_called_once_a_request(evaluate, tiny_vlm, golds, tmp_path, monkeypatch):
    monkeypatch.setenv("BASELINES_CALLS", str(tmp_path / "calls"))
    evaluate(tiny_vlm.TinyVlmChat(max_new_tokens=1), "baseline_chat")
    calls = sorted((tmp_path / "calls").read_text().splitlines())
    assert calls == sorted(f"doc_to_messages row-{number}" for number in range(len(golds)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"max_new_tokens": 0}, "whole number above 0 as max_new_tokens, and got 0"),
        ({"max_new_tokens": "many"}, "whole number above 0 as max_new_tokens, and got 'many'"),
        ({"pretrained": "x"}, "has no argument pretrained: it takes max_new_tokens"),
    ],
)
def test_wrong_arguments_end_with_a_sentence(tiny_vlm, arguments, sentence):
    with pytest.raises(SystemExit, match=sentence):
        tiny_vlm.TinyVlmSimple(**arguments)


def test_several_processes_are_refused_with_a_sentence(tiny_vlm, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SystemExit, match="runs in one process only"):
        tiny_vlm.TinyVlmSimple()


def test_the_first_use_builds_the_checkpoint_and_the_second_uses_it(tiny_vlm, tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_HOME", str(tmp_path))

    def state() -> dict:
        return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in tmp_path.rglob("*")}

    assert state() == {}
    tiny_vlm.TinyVlmSimple()
    built = state()
    assert tiny_checkpoint.checkpoint() / "model.safetensors" in built
    tiny_vlm.TinyVlmChat()
    assert state() == built


def test_builds_are_equal_whatever_the_callers_random_numbers_and_leave_them_alone(
    tiny_checkpoint, tmp_path, monkeypatch
):
    # transformers draws some biases of the vision tower from these numbers.
    import torch

    files = []
    for seed in (7, 8):
        torch.manual_seed(seed)
        before = torch.random.get_rng_state()
        monkeypatch.setenv("LMMS_TASKS_HOME", str(tmp_path / str(seed)))
        folder = tiny_checkpoint.checkpoint()
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
        assert torch.equal(torch.random.get_rng_state(), before)
    assert files[0] == files[1]


def test_builders_at_once_end_with_one_whole_checkpoint(tiny_checkpoint, models_home, tmp_path, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_HOME", str(tmp_path))
    start = threading.Barrier(3)
    found, failures = [], []

    def build():
        start.wait()
        try:
            found.append(tiny_checkpoint.checkpoint())
        except Exception as error:
            failures.append(error)

    builders = [threading.Thread(target=build) for _ in range(3)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert failures == []
    assert len(set(found)) == 1
    assert list((tmp_path / "models").iterdir()) == [found[0]]
    monkeypatch.setenv("LMMS_TASKS_HOME", str(models_home))
    alone = tiny_checkpoint.checkpoint()
    assert {p.name: p.read_bytes() for p in found[0].iterdir()} == {p.name: p.read_bytes() for p in alone.iterdir()}
