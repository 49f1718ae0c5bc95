"""Tables as users write them: what is asked and answered of them, and what preflight says of those that cannot be played."""

from __future__ import annotations

import datasets
import pytest
from loguru import logger

from lmms_tasks.amigo import agents
from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.gallery import not_askable, same_looking
from lmms_tasks.amigo.metrics import episode_scores
from lmms_tasks.amigo.prohibited import PROHIBITED
from lmms_tasks.amigo.rows import check_tables
from lmms_tasks.amigo.tables import canonical
from tests.amigo.games import play_all, row, shown

DEFAULT = tuple(PROHIBITED)


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        ({"neckline": "v-neck"}, "Does the dress have a V-neck?", "Yes"),
        ({"neckline": "V-Neck"}, "Is the neckline V-shaped?", "Yes"),
        ({"neckline": "scoop"}, "Does it have a scoop neckline?", "Yes"),
        ({"neckline": "Scoop"}, "Does the dress have a round neckline?", "Yes"),
        ({"neckline": "crew"}, "Is it a crew neck?", "Yes"),
        ({"neckline": "off shoulder"}, "Is it off-the-shoulder?", "Yes"),
        ({"silhouette": "a-line"}, "Is it an A-line dress?", "Yes"),
        ({"hem_length": "floor-length"}, "Is the dress floor-length?", "Yes"),
        ({"length": "above knee"}, "Is it a mini dress?", "Yes"),
        ({"print": "polka dot"}, "Is there a polka dot print?", "Yes"),
        ({"print": "floral print"}, "Is it floral?", "Yes"),
        ({"print": "none"}, "Does it have a pattern?", "No"),
        ({"print": "solid"}, "Does it have a pattern?", "No"),
        ({"print": "floral and striped"}, "Is it striped?", "Yes"),
        ({"print": "not floral"}, "Is it striped?", "Unsure"),
        ({"print": True}, "Is it floral?", "Unsure"),
        ({"material": "silk"}, "Is it made of silk?", "Yes"),
        ({"closure": "zip"}, "Does it have a zip?", "Yes"),
        ({"straps": "spaghetti"}, "Does it have spaghetti straps?", "Yes"),
        ({"belt": 1}, "Does the dress have a belt?", "Yes"),
        ({"belt": "Y"}, "Is it belted?", "Yes"),
        ({"belt": 0}, "Is it belted?", "No"),
        ({"belt": "without belt"}, "Is it belted?", "No"),
        ({"belt": "leather"}, "Does the dress have a belt?", "Yes"),
        ({"belt": "leather"}, "Is there a leather belt?", "Yes"),
        ({"belt": "unknown"}, "Is it belted?", "Unsure"),
        ({"has_belt": "no"}, "Is it belted?", "No"),
        ({"Print": "Floral"}, "Is it floral?", "Yes"),
        ({"pattern": "floral"}, "Does the dress have floral pattern?", "Yes"),
        ({"sleeves": "puff"}, "Does it have puff sleeves?", "Yes"),
        ({"neck": "round"}, "Is the neck round?", "Yes"),
        ({"Yoke Style": "Western"}, "Is the yoke style western?", "Yes"),
        ({"trim": "lace"}, "Does the dress have lace trim?", "Yes"),
    ],
)
def test_a_value_is_understood_by_its_name_and_by_the_lexicon_s_words(table, question, answer):
    played = play_all(row(1, [table, {"none_such": "here"}]), [question])
    assert shown(played) == [answer] and played["turns"][0]["mapped"]


def test_two_values_for_one_of_the_lexicon_s_keep_their_own_names_too():
    given = row(1, [{"neckline": "scoop"}, {"neckline": "crew"}])
    assert shown(play_all(given, ["Is it a scoop neck?", "Is it a crew neck?"])) == ["Yes", "No"]
    assert shown(play_all(given, ["Is the neckline round?"])) == ["Yes"]


def test_tables_in_the_lexicon_s_words_stay_as_they_are():
    tables = ({"print": ["dotted", "floral"], "belt": "no", "closure": "none"}, {"color": "red", "belt": "unsure"})
    assert canonical(tables) == tables
    odd = canonical([{"Print": "polka dot", "belt": "leather", "neck": "scoop"}])
    assert canonical(odd) == odd


@pytest.mark.parametrize(
    "tables",
    [
        [{"pattern": "floral"}, {"pattern": "striped"}, {"pattern": "plain"}],
        [{"sleeves": "puff"}, {"sleeves": "bell"}],
        [{"neck": "round"}, {"neck": "V"}],
        [{"Print": "floral"}, {"Print": "none"}],
        [{"neckline": "Scoop"}, {"neckline": "crew"}],
        [{"waist_detail": "belt"}, {"waist_detail": "bow"}],
    ],
)
def test_greedy_finds_every_image_of_tables_that_preflight_accepts(tables):
    assert same_looking(tables, DEFAULT) is None and not list(not_askable(tables, DEFAULT))
    for gold in range(1, len(tables) + 1):
        assert episode_scores(play_all(row(gold, tables), agents.greedy))["verified_success"] == 1.0


NOT_PLAYABLE = [
    ([{"style": "casual"}, {"style": "formal"}], DEFAULT, "style: casual breaks R4"),
    ([{"print_color": "red"}, {"print_color": "blue"}], DEFAULT, "print_color: blue breaks R5"),
    ([{"trim": "#1"}, {"trim": "#2"}], DEFAULT, "trim: #1 breaks R7"),
    ([{"belt": "no"}, {"belt": "none"}], DEFAULT, "can tell apart"),
    ([{"belt": "unsure"}, {"belt": "no"}], DEFAULT, "can tell apart"),
    ([{"color": "red"}, {"color": "blue"}], DEFAULT, "can tell apart"),
    ([{"belt": "no", "bow": "no"}, {"belt": "yes", "bow": "no"}], (*DEFAULT, "belt"), "can tell apart"),
    ([{"yoke": "not western"}, {"yoke": "round"}], DEFAULT, "cannot be asked for by that name"),
]


def _dataset(tables):
    return datasets.Dataset.from_list([row(1, tables)])


@pytest.mark.parametrize(("tables", "prohibited", "told"), NOT_PLAYABLE)
def test_preflight_names_tables_that_the_task_s_protocol_cannot_play(tables, prohibited, told):
    with pytest.raises(SystemExit) as ended:
        check_tables(_dataset(tables), Protocol(prohibited=prohibited))
    assert "row 0 (one)" in ended.value.code and told in ended.value.code


@pytest.mark.parametrize("slot", DEFAULT)
def test_what_a_protocol_allows_tells_images_apart(slot):
    tables = [{slot: "red" if slot == "color" else "short"}, {slot: "blue" if slot == "color" else "long"}]
    check_tables(_dataset(tables), Protocol(prohibited=()))
    assert episode_scores(play_all(row(2, tables), agents.greedy, prohibited=[]))["verified_success"] == 1.0


def test_values_that_the_rules_forbid_are_a_warning_where_others_tell_the_images_apart():
    heard = []
    sink = logger.add(lambda message: heard.append(str(message)), level="WARNING")
    check_tables(_dataset([{"style": "casual", "belt": "yes"}, {"style": "formal", "belt": "no"}]), Protocol())
    logger.remove(sink)
    assert len(heard) == 1 and "style: casual (R4)" in heard[0]


def test_greedy_keeps_to_the_prohibited_attributes_of_the_prompt_and_never_asks_twice():
    tables = [{"belt": "no", "bow": "no"}, {"belt": "yes", "bow": "no"}, {"belt": "no", "bow": "yes"}]
    for settings in ({"prohibited": ["belt"]}, {"enum_tolerance": 0}, {"noise": 0.4}, {}):
        for gold in (1, 2, 3):
            played = play_all(row(gold, tables), agents.greedy, **settings)
            asked = [turn["visible"] for turn in played["turns"]]
            assert len(set(asked)) == len(asked) and "Skip" not in shown(played) and played["end"] == "guess"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"prohibited": "color"}, "it is a list"),
        ({"prohibited": None}, "it is a list"),
        ({"prohibited": [1]}, "it is a list"),
        ({"prohibited": ["colour"]}, "did you mean color"),
        ({"prohibited": ["sleeve length"]}, "did you mean sleeve_length"),
        ({"prohibited": [""]}, "cannot use '' in prohibited"),
        ({"verify_feasible": "false"}, "'false' as verify_feasible"),
        ({"noise": True}, "True as noise"),
        ({"noise": float("nan")}, "nan as noise"),
        ({"noise": "0.1"}, "'0.1' as noise"),
        ({"noise_seed": 1.5}, "1.5 as noise_seed"),
        ({"noise_mode": None}, "None as noise_mode"),
        ({"premature_guess": ["record"]}, "as premature_guess"),
    ],
)
def test_a_setting_of_another_type_or_with_a_slip_ends_the_run_with_one_sentence(settings, told):
    with pytest.raises(SystemExit) as ended:
        Protocol.read(settings)
    assert told in ended.value.code


def test_slots_of_the_user_s_own_may_be_prohibited():
    assert Protocol.read({"prohibited": ["color", "yoke_style"]}).prohibited == ("color", "yoke_style")
