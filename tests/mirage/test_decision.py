"""What counts as a decision, by a table of answers as models write them, and by properties over all texts."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmms_tasks.mirage.decision import (
    CLARIFY,
    RESPOND,
    decision_of,
    parse_decomp,
    parse_decomp_cot,
    parse_direct,
    parse_direct_cot,
)

PARSERS = {
    "direct": parse_direct,
    "direct_cot": parse_direct_cot,
    "decomp": parse_decomp,
    "decomp_cot": parse_decomp_cot,
}


def direct(decision: str, utterance: str = "How old is it?") -> str:
    return f"<Decision>\n{decision}\n</Decision>\n<Utterance>\n{utterance}\n</Utterance>"


def content(decision: str, utterance: str = "How old is it?") -> str:
    goal_state = {"known": {"plant": "oak"}, "missing": ["age"]}
    return json.dumps({"goal_state": goal_state, "decision": decision, "utterance": utterance})


THINKING = "<Think>The words <Clarify> and <Respond> come up here.</Think>"

PARSABLE = {
    "direct, as asked": ("direct", direct("<Clarify>"), CLARIFY, "How old is it?"),
    "direct, lower case without brackets": (
        "direct",
        "<decision>respond</decision><utterance>Cut it back.</utterance>",
        RESPOND,
        "Cut it back.",
    ),
    "direct, closing tags missing": ("direct", "<Decision>\n<Clarify>\n<Utterance>\nWhere?", CLARIFY, "Where?"),
    "direct, native reasoning before, with the other word in it": (
        "direct",
        f"<think>Should I <Respond>? <Decision><Respond></Decision></think>{direct('<Clarify>')}",
        CLARIFY,
        "How old is it?",
    ),
    "direct, the other word in the prose and in the utterance": (
        "direct",
        f"I could respond now, but:\n{direct('**Clarify**', 'Would you respond to that?')}",
        CLARIFY,
        "Would you respond to that?",
    ),
    "direct with reasoning, as asked": (
        "direct_cot",
        f"<Reasoning>To <Respond> or to <Clarify>? <Decision> must be one.</Reasoning>{direct('<Respond>', 'Water it.')}",
        RESPOND,
        "Water it.",
    ),
    "direct with reasoning, its closing tag missing": (
        "direct_cot",
        f"<Reasoning>The age is unknown, so I cannot respond.\n{direct('<Clarify>')}",
        CLARIFY,
        "How old is it?",
    ),
    "decomp, as asked": ("decomp", f"<output>\n{content('<Clarify>')}\n</output>", CLARIFY, "How old is it?"),
    "decomp, a code fence inside the tags, the closing one missing": (
        "decomp",
        f"<output>\n```json\n{content('<Respond>', 'Prune it.')}\n```",
        RESPOND,
        "Prune it.",
    ),
    "decomp, a code fence in place of the tags": (
        "decomp",
        f"Here it is:\n```json\n{content('clarify')}\n```\nI hope it helps.",
        CLARIFY,
        "How old is it?",
    ),
    "decomp, bare quotes and a line break in the utterance": (
        "decomp",
        '<output>{"goal_state": {"known": {"plant": "oak"}, "missing": ["age"]}, "decision": "<Clarify>", '
        '"utterance": "You say "it wilts", "it sags":\nwhich of the two?"}</output>',
        CLARIFY,
        'You say "it wilts", "it sags":\nwhich of the two?',
    ),
    "decomp, trailing commas and a decision without quotes": (
        "decomp",
        '<output>{"goal_state": {"known": {"plant": "oak",}, "missing": ["age",],}, "decision": <Clarify>, '
        '"utterance": "How old is it?",}</output>',
        CLARIFY,
        "How old is it?",
    ),
    "decomp with reasoning, as asked": (
        "decomp_cot",
        f"{THINKING}\n<Finish>{content('<Respond>', 'Prune it.')}</Finish>",
        RESPOND,
        "Prune it.",
    ),
    "decomp with reasoning, never closed, the answer whole at the end": (
        "decomp_cot",
        f"<Think>The age is lacking. I <Clarify>.\n<Finish>{content('<Clarify>')}</Finish>",
        CLARIFY,
        "How old is it?",
    ),
    "decomp with reasoning, cut off in the utterance": (
        "decomp_cot",
        f"{THINKING}<Finish>{content('<Clarify>')[:-9]}",
        CLARIFY,
        "How old",
    ),
}

UNPARSABLE = {
    "direct, nothing": ("direct", ""),
    "direct, the word in prose": ("direct", "I would clarify: how old is the tree?"),
    "direct, the token in prose and an utterance": ("direct", "<Clarify>\n<Utterance>How old is it?</Utterance>"),
    "direct, both tokens in the tag": ("direct", direct("<Clarify> or <Respond>")),
    "direct, two tags that differ": ("direct", direct("<Clarify>") + direct("<Respond>")),
    "direct, another word in the tag": ("direct", direct("<Clarification needed>") + "\nSo I clarify."),
    "direct, a negated token": ("direct", direct("I will not clarify")),
    "direct, reasoning never closed": ("direct", "<think>I could answer <Decision><Respond></Decision>, but"),
    "direct with reasoning, cut off while it speaks of the format": (
        "direct_cot",
        "<Reasoning>I must write <Decision><Respond></Decision> and then the",
    ),
    "direct with reasoning, the token in the reasoning only": (
        "direct_cot",
        "<Reasoning>I choose <Clarify>.</Reasoning><Decision></Decision><Utterance>How old is it?</Utterance>",
    ),
    "decomp, no decision field": (
        "decomp",
        '<output>{"goal_state": {"known": {}, "missing": ["clarify"]}, "utterance": "I respond."}</output>',
    ),
    "decomp, the prompt's form sent back": ("decomp", f"<output>{content('<Clarify> or <Respond>')}</output>"),
    "decomp, a decision below the top": (
        "decomp",
        '<output>{"goal_state": {"known": {"decision": "<Clarify>"}, "missing": []}, "utterance": "Hm."}</output>',
    ),
    "decomp, cut off in the decision": ("decomp", '<output>{"goal_state": {"known": {}}, "decision": "<Clarify> o'),
    "decomp with reasoning, cut off in the reasoning": ("decomp_cot", "<Think>I will <Clarify> with <Finish>, as"),
}


def test_the_table_has_thirty_answers_and_half_are_unparsable():
    assert len(PARSABLE) == len(UNPARSABLE) == 15


@pytest.mark.parametrize(("form", "answer", "decision", "utterance"), PARSABLE.values(), ids=PARSABLE)
def test_what_models_do_to_the_format_is_borne(form, answer, decision, utterance):
    turn = PARSERS[form](answer)
    assert (turn.decision, turn.utterance) == (decision, utterance)
    if form.startswith("decomp"):
        assert (turn.known, turn.missing) == (("plant: oak",), ("age",))


@pytest.mark.parametrize(("form", "answer"), UNPARSABLE.values(), ids=UNPARSABLE)
def test_an_answer_without_one_decision_in_its_place_is_unparsable(form, answer):
    assert PARSERS[form](answer).decision is None


TRUNCATED = {
    "direct": ("direct", direct("<Clarify>").removesuffix("</Utterance>"), True),
    "direct, whole": ("direct", direct("<Clarify>"), False),
    "reasoning": ("direct", "<think>Well", True),
    "decomp, tag": ("decomp", f"<output>{content('<Clarify>')}", True),
    "decomp, JSON": ("decomp", content("<Clarify>")[:-2], True),
    "decomp, whole": ("decomp", content("<Clarify>"), False),
    "a plain refusal": ("decomp", "I cannot help with that.", False),
}


@pytest.mark.parametrize(("form", "answer", "truncated"), TRUNCATED.values(), ids=TRUNCATED)
def test_an_answer_that_breaks_off_is_told(form, answer, truncated):
    assert PARSERS[form](answer).truncated is truncated


@pytest.mark.parametrize(
    ("known", "missing", "expected"),
    [
        ({"a": "1", "b": True}, ["c", "d"], (("a: 1", "b: true"), ("c", "d"))),
        (["a: 1", "b"], {"c": "unknown"}, (("a: 1", "b"), ("c: unknown",))),
        ({"a": {"x": [1, 2]}}, "c", (("a: x: 1, 2",), ("c",))),
        (None, "", ((), ())),
    ],
)
def test_facts_are_read_from_objects_lists_and_texts(known, missing, expected):
    answer = json.dumps({"goal_state": {"known": known, "missing": missing}, "decision": "respond", "utterance": "x"})
    turn = parse_decomp(answer)
    assert (turn.known, turn.missing) == expected


def test_a_field_that_is_given_twice_keeps_both_facts_and_two_decisions_are_none():
    twice = '{"goal_state": {"known": {"sign": "spots", "sign": "holes"}}, "decision": "respond", "utterance": "x"}'
    assert parse_decomp(twice).known == ("sign: spots", "sign: holes")
    assert parse_decomp('{"decision": "respond", "decision": "clarify", "utterance": "x"}').decision is None


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("<Clarify>", CLARIFY),
        ("RESPOND.", RESPOND),
        ("＜Ｃｌａｒｉｆｙ＞", CLARIFY),
        ("Clarify: the age is lacking", CLARIFY),
        ("clarify_respond", None),
        ("clarification", None),
        ("don't respond", None),
        ("cannot respond", None),
        ("no need to clarify", None),
        (None, None),
        (["<Clarify>"], None),
    ],
)
def test_a_decision_is_one_whole_word_that_is_not_negated(text, decision):
    assert decision_of(text) == decision


# Pieces of which broken answers are made: tags, tokens, brackets, quotes.
PIECES = st.sampled_from(
    [
        *("<Decision>", "</Decision>", "<Utterance>", "</Utterance>", "<Reasoning>", "</Reasoning>", "<Think>"),
        *("</Think>", "<output>", "</output>", "<Finish>", "</Finish>", "<Clarify>", "<Respond>", "clarify", "respond"),
        *("{", "}", "[", "]", '"', ":", ",", "\\", "\n", '"decision":', '"utterance": "', '"goal_state": {', "```json"),
        *("not ", "1e999", "NaN", "\ud800", "\\u", "decision"),
    ]
)
BROKEN = st.lists(PIECES | st.text(max_size=4), max_size=25).map("".join)
EVERY_PARSER = pytest.mark.parametrize("parse", PARSERS.values(), ids=PARSERS)


@EVERY_PARSER
@given(text=st.text() | BROKEN)
@settings(max_examples=150, deadline=None)
def test_no_text_makes_a_parser_raise_or_answer_anything_else(parse, text):
    turn = parse(text)
    assert turn.decision in (CLARIFY, RESPOND, None)
    assert isinstance(turn.utterance, str) and all(isinstance(fact, str) for fact in turn.known + turn.missing)


@EVERY_PARSER
@given(text=BROKEN, gone=st.sampled_from([CLARIFY, RESPOND]))
@settings(max_examples=150, deadline=None)
def test_no_decision_comes_out_that_is_not_in_the_text(parse, text, gone):
    assume(gone not in text.casefold())
    assert parse(text).decision != gone


@EVERY_PARSER
@given(words=st.lists(st.sampled_from(["<Clarify>", "<Respond>", "clarify", "respond", "I", "the decision is", "\n"])))
@settings(deadline=None)
def test_prose_without_tag_and_without_json_is_never_a_decision(parse, words):
    assert parse(" ".join(words)).decision is None


@given(
    decision=st.sampled_from([CLARIFY, RESPOND]),
    utterance=st.text(st.characters(exclude_characters="<>", exclude_categories=["Cs"]), min_size=1),
)
@settings(deadline=None)
def test_no_utterance_changes_a_decision_that_is_well_formed(decision, utterance):
    token = f"<{decision.capitalize()}>"
    for answer, parse in (
        (direct(token, utterance), parse_direct),
        (f"<Reasoning>x</Reasoning>{direct(token, utterance)}", parse_direct_cot),
        (f"<output>{content(token, utterance)}</output>", parse_decomp),
        (f"{THINKING}<Finish>{content(token, utterance)}</Finish>", parse_decomp_cot),
    ):
        turn = parse(answer)
        assert (turn.decision, turn.utterance, turn.truncated) == (decision, utterance.strip(), False)


@pytest.mark.parametrize(
    "answer",
    [
        "<Reasoning>" * 1500,
        "<Decision>" * 1500,
        "<Reasoning>" + "<Decision></Decision><Utterance>" * 500 + "<Decision>",
        "<Think>" + "<Finish>" * 2000,
        '{"' * 8000,
        '{"a":' * 4000,
        '{"a":' + "[" * 16000,
        '{"decision": "' + '", "a": "' * 2000,
        '{"decision": "respond", "utterance": ' + '{"a":' * 900 + "1" + "}" * 901,
    ],
    ids=lambda answer: answer[:16],
)
def test_an_answer_that_repeats_itself_to_the_token_limit_is_read_at_once(answer):
    # 4096 new tokens are some 16,000 characters.
    begin = time.thread_time()
    for parse in PARSERS.values():
        parse(answer)
    assert time.thread_time() - begin < 1
