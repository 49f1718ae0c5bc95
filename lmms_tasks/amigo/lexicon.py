"""The words of the protocol: attributes of a dress with the phrases that ask for them, and what may not be asked.

A slot is an attribute, its values are what a table of attributes holds. Patterns are regular expressions over lower-case
text with plain quotes; the longest match at a place wins. Raise VERSION whenever an answer can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

VERSION = "1"

YES, NO, UNSURE = "yes", "no", "unsure"
# Values of a table that say that the dress has nothing of the kind: there is no question for them.
NOTHING = ("no", "none")


@dataclass(frozen=True, eq=False)
class Slot:
    """One attribute.

    Attributes:
        question: how a baseline asks for a value; `{}` stands for the value's words.
        values: by value, the words in that question and the patterns that mean the value. A slot whose only value is
            `yes` is an attribute that a dress has or has not.
        negative: patterns that mean that the dress has none of the values ("beltless"), or not the value that
            `negated` names.
        negated: the value that `negative` denies; the slot's only value where there is one.
    """

    name: str
    question: str
    values: Mapping[str, tuple[str, str]]
    negative: str = ""
    negated: str = YES


def _slot(name: str, question: str, values: Mapping[str, tuple[str, str]], negative: str = "", negated: str = YES):
    return Slot(name, question, values, negative, negated)


def _has(name: str, words: str, pattern: str, negative: str = "") -> Slot:
    return Slot(name, "Does the dress have {}?", {YES: (words, pattern)}, negative)


_NECK = r"(?:neck(?:line)?s?)"
_LEG_END = r"(?:hem(?:line)?|skirt|dress|it)"

SLOTS: tuple[Slot, ...] = (
    _slot(
        "neckline",
        "Does the dress have {}?",
        {
            "round": (
                "a round neckline",
                rf"(?:round(?:ed)?|crew|scoop(?:ed)?|jewel|circular)[- ]?{_NECK}|{_NECK} (?:is |cut )?(?:round(?:ed)?|scooped|circular)",
            ),
            "v": (
                "a V-neck",
                rf"v[- ]?{_NECK}|v[- ]shaped {_NECK}|{_NECK}(?: is| cut| shaped)*(?: in| like)?(?: an?)?(?: deep| plunging)? v(?:[- ]shaped?)?\b|plunging {_NECK}",
            ),
            "square": ("a square neckline", rf"square(?:[- ]cut)?[- ]{_NECK}|{_NECK} (?:not )?(?:cut )?square(?:d)?"),
            "halter": ("a halter neckline", r"halter(?:[- ]?neck)?|(?:tied?|ties) behind the neck"),
            "sweetheart": ("a sweetheart neckline", rf"sweetheart(?: {_NECK})?|heart[- ]shaped {_NECK}"),
            "boat": ("a boat neckline", rf"(?:boat|bateau)[- ]?{_NECK}?"),
            "off_shoulder": ("an off-the-shoulder neckline", r"off[- ](?:the[- ])?shoulders?|bardot"),
            "one_shoulder": ("a one-shoulder neckline", r"(?:one|single)[- ]shoulder(?:ed)?"),
            "collar": ("a collar", r"(?:peter pan |shirt )?collar(?:ed|s)?|lapels?"),
            "high": ("a high neck", rf"high[- ]{_NECK}|turtle ?neck|mock neck|polo neck|funnel neck"),
            "cowl": ("a cowl neck", rf"(?:draped )?cowl(?:[- ]?{_NECK})?|draped {_NECK}"),
        },
        negative=r"collarless",
        negated="collar",
    ),
    _slot(
        "silhouette",
        "Does the dress have {}?",
        {
            "a_line": (
                "an A-line silhouette",
                r"a[- ]line|fit[- ]and[- ]flare|skirt (?:is )?flar(?:e|es|ed|ing)(?: out)?|flar(?:ed|ing|y) (?:skirt|shape|silhouette)|skater",
            ),
            "fitted": (
                "a fitted silhouette",
                r"(?:form|close|tight)[- ]fitt(?:ing|ed)|body ?con|sheath|(?<!sleeves )\bfitted\b(?! sleeves?)|figure[- ]hugging|body[- ]hugging|pencil|skin[- ]?tight|\btight\b",
            ),
            "loose": (
                "a loose silhouette",
                r"(?:\bloose(?:ly)?(?:[- ]fitting)?\b)(?:, straight)?(?: shift)?|shift dress|oversized|baggy|relaxed fit|tent dress|\bflowy\b",
            ),
            "mermaid": ("a mermaid silhouette", r"mermaid|trumpet|fishtail"),
            "ball_gown": (
                "a ball gown silhouette",
                r"ball ?gown(?: with a very full skirt)?|princess[- ]cut|very full skirt",
            ),
        },
    ),
    _slot(
        "hem_length",
        "Does the dress have {}?",
        {
            "mini": (
                "a mini length",
                rf"\bmini\b|(?:above|over) the knees?|mid[- ]thigh|thigh[- ]length|{_LEG_END} (?:very )?(?:short|end at the thighs?)\b|short dress|short (?:hem(?:line)?|skirt)",
            ),
            "knee": (
                "a knee length",
                r"knee[- ]length|(?:right )?(?:at|to|around|reach(?:es)?|hits?|touch(?:es)?) (?:the |her )?knees?",
            ),
            "midi": (
                "a midi length",
                r"\bmidi\b|mid[- ]?calf|calf[- ]length|below the knees?|(?:at|to|reach(?:es)?) (?:the |her )?calf",
            ),
            "maxi": (
                "a maxi length",
                r"\bmaxi\b|(?:floor|ankle|full)[- ]length(?! sleeves?)|(?:the |her )(?:ankles?|feet)\b"
                r"|(?:reach|touch|sweep|brush|graze|skim|hit)(?:es|s)? the (?:floor|ground)|(?:down )?to the (?:floor|ground|ankles?)"
                r"|long (?:dress|skirt|gown)|(?:dress|skirt|it|hem(?:line)?) long\b",
            ),
        },
    ),
    _slot(
        "hem_shape",
        "Does the dress have {}?",
        {
            "straight": (
                "a straight hem",
                r"hem(?:line)?(?: is)?(?: cut)? straight(?: across)?|straight hem(?:line)?|even hem(?:line)?",
            ),
            "asymmetric": (
                "an asymmetric hem",
                r"a?symmetric(?:al)?(?: hem(?:line)?)?|high[- ]low(?: hem(?:line)?)?|uneven hem(?:line)?",
            ),
            "scalloped": ("a scalloped hem", r"scalloped(?: hem(?:line)?)?|scallops?"),
        },
    ),
    _has("belt", "a belt", r"\bbelt(?:s|ed)?\b|\bsash(?:es)?\b", r"\b(?:beltless|unbelted)\b"),
    _slot(
        "waist",
        "Does the dress have {}?",
        {
            "empire": ("an empire waist", r"(?:empire|high|raised)[- ](?:waist(?:line|ed)?|line)"),
            "natural": ("a natural waist", r"natural waist(?:line)?|waist(?:line)? (?:is )?natural"),
            "dropped": (
                "a dropped waist",
                r"drop(?:ped)?[- ]waist(?:line|ed)?|waist(?:line)? (?:is )?(?:dropped|low)|low(?:ered)?[- ]waist(?:line|ed)?",
            ),
        },
    ),
    _slot(
        "straps",
        "Does the dress have {}?",
        {
            "thin": (
                "thin straps",
                r"(?:spaghetti|thin|narrow|skinny|slim)(?: shoulder)? straps?|straps? (?:thin|narrow|skinny)",
            ),
            "wide": ("wide straps", r"(?:wide|thick|broad)(?: shoulder)? straps?|straps? (?:wide|thick|broad)"),
            "strapless": ("a strapless top", r"strapless|tube dress|(?:without|no) (?:any )?straps"),
            "crossed": (
                "crossed straps",
                r"(?:cross(?:ed|ing)?|criss[- ]?cross(?:ed)?)(?: shoulder)? straps?|straps? (?:criss[- ]?)?cross(?:ed|ing)?(?: over)?",
            ),
        },
    ),
    _slot(
        "sleeve_shape",
        "Does the dress have {}?",
        {
            "puff": (
                "puff sleeves",
                r"(?:puff(?:y|ed)?|balloon|bishop|lantern)[- ]sleeve[sd]?|sleeves? (?:are )?(?:not )?(?:puff(?:y|ed)?|ballooned)",
            ),
            "bell": (
                "bell sleeves",
                r"(?:bell|flared|trumpet)[- ]sleeve[sd]?|sleeves? (?:are )?(?:flar(?:e|ed|ing)(?: out)?|bell[- ]shaped)(?: (?:at|towards?) the (?:wrist|end|bottom|cuff)s?)?",
            ),
            "flutter": (
                "flutter sleeves",
                r"(?:flutter|ruffled?|frilly)[- ]sleeve[sd]?|sleeves? (?:fluttery|ruffled|frilly)|ruffles on the sleeves",
            ),
            "straight": (
                "straight sleeves",
                r"(?:straight|fitted|tight|slim)[- ]sleeve[sd]?|sleeves? (?:are )?(?:straight|fitted|tight)",
            ),
        },
    ),
    _slot(
        "print",
        "Does the dress have {}?",
        {
            "floral": (
                "a floral print",
                r"floral(?: (?:print|pattern|design|motif))?|flower(?:s|y|ed)?(?: (?:print|pattern|design))?|roses|blossoms?",
            ),
            "striped": ("a striped print", r"strip(?:e|es|ed|y)(?: (?:print|pattern))?|pin ?strip(?:e|es|ed)"),
            "dotted": ("a dotted print", r"(?:polka[- ])?dot(?:s|ted)?(?: (?:print|pattern))?|polka"),
            "checked": (
                "a checked print",
                r"(?:plaid|check(?:s|ed|ered)?|gingham|tartan)(?: (?:print|pattern))?(?: or (?:plaid|check(?:s|ed|ered)?|gingham|tartan))?",
            ),
            "animal": ("an animal print", r"(?:animal|leopard|zebra|snake(?:skin)?|tiger|cheetah)(?: print| pattern)?"),
            "geometric": ("a geometric print", r"geometric(?:al)?(?: (?:print|pattern|shapes))?|zig[- ]?zag|chevron"),
            "plain": (
                "a plain fabric",
                r"plain(?: fabric)?(?:,? with(?:out)?(?: any| no| a)? (?:pattern|print)s?)?|unpatterned|solid(?:[- ]colou?r(?:ed)?)?|(?:without|no|lacks?)(?: any| an?)? (?:pattern|print)s?",
            ),
        },
        negative=r"(?:pattern(?:ed|s)?|print(?:ed|s)?)(?: of any kind)?",
        negated="plain",
    ),
    _slot(
        "closure",
        "Does the dress have {}?",
        {
            "buttons": ("buttons", r"buttons?(?:ed)?(?: up| down| front)*|button[- ](?:down|up|front)"),
            "zipper": ("a zipper", r"zip(?:per|s|pers|ped)?\b"),
            "wrap": ("a wrap front", r"wrap(?:s|ped)?(?:[- ](?:style|front|around|over))?(?= |$|\?)"),
            "laces": ("a lace-up closure", r"lace[sd]?[- ]up(?: (?:front|back|closure))?|laces\b|corset[- ]style"),
        },
    ),
    _has("slit", "a slit", r"(?:side |front |back |thigh[- ](?:high )?)?\bslits?\b|split (?:skirt|hem)"),
    _has("pockets", "pockets", r"\bpockets?\b"),
    _has("ruffles", "ruffles", r"\b(?:ruffl(?:e|es|ed|ing)|frill(?:s|y|ed)?|flounces?)\b"),
    _has("lace", "lace trim", r"\blac(?:e|y)\b(?: (?:trim(?:ming)?|detail(?:s|ing)?|overlay|fabric|edging))?"),
    _has("embroidery", "embroidery", r"\bembroider(?:y|ed|ies)\b"),
    _has("bow", "a bow", r"\bbows?\b"),
    _has("pleats", "a pleated skirt", r"(?:pleat(?:s|ed|ing)?)(?: skirt)?"),
    _has("tiers", "a tiered skirt", r"tier(?:s|ed)(?: (?:skirt|dress))?"),
    _has("sequins", "sequins", r"sequin(?:s|ed)?|sparkl(?:y|es|ing)|glitter(?:y|ing)?"),
    _has("fringe", "fringe", r"\bfring(?:e|es|ed)\b|tassels?"),
    _has("cutout", "cutouts", r"cut[- ]?outs?"),
    _slot(
        "material",
        "Does the dress look as if it were made of {}?",
        {
            "denim": ("denim", r"denim|jeans? fabric"),
            "knit": ("a knit", r"knit(?:ted)?(?: fabric)?|crochet(?:ed)?"),
            "satin": ("satin", r"shiny(?: like satin)?|satin(?:y)?|silk(?:y)?"),
            "sheer": ("a sheer fabric", r"sheer|see[- ]through|transparent|tulle|mesh"),
            "velvet": ("velvet", r"velvet(?:y)?"),
            "leather": ("leather", r"leather(?:y)?"),
        },
    ),
)

_HUES = (
    "red|blue|green|yellow|orange|purple|violet|pink|brown|black|white|gr[ae]y|beige|navy|teal|turquoise|maroon|burgundy"
    "|crimson|scarlet|magenta|fuchsia|lilac|lavender|ivory|cream(?:y)?|khaki|olive|coral|cyan|indigo|silver|gold(?:en)?"
    "|mustard|charcoal|off-white|taupe|blush|mauve|nude"
)
# By prohibited attribute, what asks for it. `solid` and `solid-coloured` ask for a print, and are cut out before.
PROHIBITED: Mapping[str, str] = {
    "color": (
        rf"\b(?:{_HUES}|reddish|bluish|greenish)\b|\b(?:multi-?)?colou?r(?:s|ed|ful|less|ing)?\b|\b(?:hues?|shades?|tints?|tones?|toned)\b"
        r"|\b(?:dark|bright|pale|vivid|pastel|neon)(?:er|est|ly|s)?\b|\blight(?:er|est)?\b(?! (?:fabric|material))"
        r"|\bmulti-?colou?r(?:ed)?\b|\bmonochrom(?:e|atic)\b"
    ),
    "sleeve_length": (
        r"\bsleeveless\b|\barms? (?:are )?(?:bare|covered|exposed|uncovered)\b|\b(?:bare|covered|exposed)[- ]arms?\b|\barms bare\b"
        r"|\b(?:long|short|cap|half|elbow|wrist|full|quarter)(?:er)?(?:[- ]length)?[- ]sleeve[sd]?\b|\b3/4\b|\bthree[- ]quarters?\b"
        r"|\bsleeves?\b[^?]*\b(?:long|short|longer|shorter|length|elbows?|past|reach(?:es|ing)?|cover(?:s|ing)?)\b"
        r"|\bsleeve[- ]lengths?\b|\blength of the sleeves?\b"
        r"|\b(?:have|has|with|without|any|no|there)(?: any| no)? sleeves?\b(?! (?:with|that|shaped))"
    ),
    "background": (
        r"\b(?:background|backdrop|studio|outdoors?|indoors?|outside|inside a|scene(?:ry)?|walls?|street|beach|garden|room|curtains?)\b"
        r"|\bbehind (?:the|her) (?:dress|model|woman|person)\b|\bbehind her\b|\b(?:floor|ground|grass|carpet)\b"
    ),
}

# What no look at the dress can tell: use, price, taste, and everything beside the dress.
NOT_OBSERVABLE = (
    r"\b(?:price[sd]?|pric(?:e?y|ing)|costs?|expensive|cheap(?:er)?|affordable|brand(?:s|ed)?|designer|label|store|sale|bought)\b"
    r"|\b(?:comfort(?:able|y)?|cozy|cosy|warm|soft|itchy|heavy|washable|iron(?:ed|ing)?)\b"
    r"|\b(?:occasions?|part(?:y|ies)|wedding|office|work(?:place)?|prom|formal|casual|everyday|cocktail|evening|church|date)\b"
    r"|\b(?:summer|winter|spring|autumn|fall dress|seasons?|suitable|appropriate|popular|trendy|fashionable|stylish|modern|vintage|retro)\b"
    r"|\b(?:elegant|beautiful|pretty|ugly|cute|nice|sexy|gorgeous|flattering|feminine)\b"
    r"|\b(?:do|would|did|will|can|could) you (?:really |ever )?(?:like|love|prefer|want|wear|own|buy|enjoy|recommend)\b"
    r"|\b(?:smil(?:e|es|ing)|hair|face|eyes|makeup|tattoos?|pos(?:e|es|ing)|standing|sitting|walking|facing|looking at|blonde|brunette)\b"
    r"|\b(?:shoes?|heels|boots|sandals|sneakers|bag|handbag|purse|clutch|hat|necklace|jewel(?:le)?ry|earrings?|bracelet|sunglasses|watch|scarf|gloves)\b"
    r"|\b(?:age|old|young|tall|nationality|name)\b"
)


def slots_for(tables: Iterable[Mapping[str, object]]) -> tuple[Slot, ...]:
    """The lexicon for an episode: its own slots, and a plain one for every slot of the tables that it lacks.

    A slot or value that the lexicon does not know is asked for by its own name, underscores read as spaces.
    """
    foreign: dict[str, set[str]] = {}
    known = {slot.name: slot for slot in SLOTS}
    for table in tables:
        for name, value in table.items():
            values = value if isinstance(value, list | tuple) else [value]
            fresh = {text for text in map(value_text, values) if text not in (UNSURE, *NOTHING)}
            if name in known:
                fresh -= set(known[name].values)
            if fresh or name not in known:
                foreign.setdefault(name, set()).update(fresh)
    return _extended(tuple(sorted((name, tuple(sorted(values))) for name, values in foreign.items())))


@lru_cache(maxsize=256)
def _extended(foreign: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Slot, ...]:
    extra = dict(foreign)
    slots = [
        Slot(
            slot.name,
            slot.question,
            {**slot.values, **_plain(slot.name, extra.pop(slot.name, ()))},
            slot.negative,
            slot.negated,
        )
        for slot in SLOTS
    ]
    for name, values in extra.items():
        slots.append(Slot(name, "Does the dress have {}?", _plain(name, values or (YES,))))
    return tuple(slots)


def _plain(name: str, values: Iterable[str]) -> dict[str, tuple[str, str]]:
    import re

    words = name.replace("_", " ").casefold()
    found = {}
    for value in values:
        told = words if value == YES else f"{value.replace('_', ' ').casefold()} {words}"
        short = words if value == YES else value.replace("_", " ").casefold()
        found[value] = (told, rf"\b(?:{re.escape(told)}|{re.escape(short)})\b")
    return found


def value_text(value: object) -> str:
    """A table's value as the lexicon writes it: true and false are `yes` and `no`."""
    if isinstance(value, bool):
        return YES if value else NO
    return str(value).strip().casefold() if value is not None else UNSURE
