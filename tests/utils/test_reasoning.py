import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.utils.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("raw", "text", "state"),
    [
        ("A rose.", "A rose.", "answered"),
        ("  A rose.\n", "A rose.", "answered"),
        ("<think>Petals.</think>A rose.", "A rose.", "answered"),
        ("<THINK>Petals.</Think>\n\nA rose.", "A rose.", "answered"),
        ("<analysis>Petals.</analysis> A rose.", "A rose.", "answered"),
        ("<think>a</think>First.<think>b</think> Second.", "First. Second.", "answered"),
        # A chat template that puts the opening tag into the prompt leaves a lone closing one.
        ("Petals.</think>A rose.", "A rose.", "answered"),
        ("one</think>two</think>A rose.", "A rose.", "answered"),
        # A block that quotes a block: what follows the last closing tag is the answer.
        ("<think>a <think>b</think> c</think>A rose.", "A rose.", "answered"),
        # Cut off while reasoning: no answer was reached, whatever stands before or inside.
        ("<think>It is a rose", "", "unclosed_reasoning"),
        ("A rose. <think>Or is it", "", "unclosed_reasoning"),
        ("<think>a</think>A rose.<think>or", "", "unclosed_reasoning"),
        ("<think>Only this.</think>", "", "empty"),
        ("", "", "empty"),
        (" \n\t", "", "empty"),
        (None, "", "empty"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout", "", "request_failed"),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", "", "request_failed"),
        ("<think>a</thinking> b</think>A rose.", "A rose.", "answered"),
        ("<think>a <analysis>b</analysis> c", "", "unclosed_reasoning"),
        # Other tags are the answer's own.
        ("<Decision>x</Decision>", "<Decision>x</Decision>", "answered"),
        ("I think that leaves < 3 cm are small.", "I think that leaves < 3 cm are small.", "answered"),
    ],
)
def test_answer_and_state_of(raw, text, state):
    answer = strip_reasoning(raw)
    assert (answer.text, answer.state) == (text, state)


@given(st.text() | st.text(alphabet="<>/think "))
def test_stripping_never_raises_and_leaves_text_only_where_it_says_answered(raw):
    answer = strip_reasoning(raw)
    assert bool(answer.text) == (answer.state == "answered")
    assert strip_reasoning(answer.text).text == answer.text


def test_a_model_that_loops_is_read_in_one_pass():
    # With a pattern over whole blocks this took minutes: 200,000 characters of tags that nothing closes.
    import time

    began = time.process_time()
    assert strip_reasoning("<think>" * 30_000).state == "unclosed_reasoning"
    assert strip_reasoning("</think>" * 30_000 + "A rose.").text == "A rose."
    assert time.process_time() - began < 10  # seconds: no measurement, a guard against the square
