"""The words of the protocol: attributes of a dress with the phrases that ask for them, and what may not be asked.

A slot is an attribute, its values are what a table of attributes holds. Patterns are regular expressions over lower-case
text with plain quotes; the longest match at a place wins. Raise VERSION whenever an answer can change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = "2"

YES, NO, UNSURE = "yes", "no", "unsure"
# Values of a table that say that the dress has nothing of the kind: there is no question for them.
NOTHING = (NO, "none")


@dataclass(frozen=True, eq=False)
class Slot:
    """One attribute.

    Attributes:
        question: how a baseline asks for a value; `{}` stands for the value's words.
        values: by value, the words in that question and the patterns that mean the value. A slot whose only value is
            `yes` is an attribute that a dress has or has not.
        near: words that add nothing to a question about the slot ("is there a sash around the waist").
        negative: patterns that mean that the dress has none of the values ("beltless"), or not the value that
            `negated` names.
        negated: the value that `negative` denies; the slot's only value where there is one.
        nouns: words that make a value of a table a phrase of a question ("scoop" a "scoop neck").
        names: other names that tables give the slot.
        nothing: the value that a table means by "none"; "" where that is none of the values.
        present: the slot is one of the episode's tables, and so goes before one that is not.
    """

    name: str
    question: str
    values: Mapping[str, tuple[str, str]]
    near: str = ""
    negative: str = ""
    negated: str = YES
    nouns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    nothing: str = ""
    present: bool = False


def _has(name: str, words: str, pattern: str, near: str = "", negative: str = "") -> Slot:
    return Slot(name, "Does the dress have {}?", {YES: (words, pattern)}, near, negative)


_NECK = r"(?:neck(?:line)?s?)"
_LEG_END = r"(?:hem(?:line)?|skirt|dress|it)"

SLOTS: tuple[Slot, ...] = (
    Slot(
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
            "collar": ("a collar", r"collar(?:ed|s)?|lapels?"),
            "high": ("a high neck", rf"high[- ]{_NECK}|turtle ?neck|mock neck|polo neck|funnel neck"),
            "cowl": ("a cowl neck", rf"(?:draped )?cowl(?:[- ]?{_NECK})?|draped {_NECK}"),
        },
        near="neck neckline necklines cut shape shaped top",
        nouns=("neckline", "neck"),
        names=("neck", "neck_shape", "neck_style", "neck_type", "neckline_shape", "neckline_style", "neckline_type"),
        negative=r"collarless",
        negated="collar",
    ),
    Slot(
        "silhouette",
        "Does the dress have {}?",
        {
            "a_line": (
                "an A-line silhouette",
                r"a[- ]line|fit[- ]and[- ]flare|skirt (?:is )?flar(?:e|es|ed|ing)(?: out)?(?: from the (?:waist|hips?))?|flar(?:ed|ing|y) (?:skirt|shape|silhouette)|skater",
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
        near="silhouette shape shaped cut style fit hang hangs",
        nouns=("silhouette", "shape", "fit", "dress", "skirt"),
        names=("shape", "fit", "dress_shape", "dress_style"),
    ),
    Slot(
        "hem_length",
        "Does the dress have {}?",
        {
            "mini": (
                "a mini length",
                rf"\bmini\b|above (?:the |her )?knees?|mid[- ]thigh|thigh[- ]length|{_LEG_END} (?:very )?(?:short|end at the thighs?)\b|short dress|short (?:hem(?:line)?|skirt)",
            ),
            "knee": (
                "a knee length",
                r"knee[- ]length|(?:right )?(?:at|to|around|reach(?:es)?|hits?|touch(?:es)?) (?:the |her )?knees?",
            ),
            "midi": (
                "a midi length",
                r"\bmidi\b|mid[- ]?calf|calf[- ]length|below the knees?|(?:below|under) knees?|tea[- ]length|(?:at|to|reach(?:es)?) (?:the |her )?calf",
            ),
            "maxi": (
                "a maxi length",
                r"\bmaxi\b|(?:floor|ankle|full)[- ]length(?! sleeves?)"
                r"|(?:reach|touch|sweep|brush|graze|skim|hit|cover)(?:es|s)? (?:the |her )?(?:floor|ground|ankles?|feet)"
                r"|(?:(?:all the way )?down )?(?:to|at) (?:the |her )?(?:floor|ground|ankles?|feet)"
                r"|long (?:dress|skirt|gown)|(?:dress|skirt|it|hem(?:line)?) long\b",
            ),
        },
        near="length hem hemline skirt hit hits reach reaches end ends fall falls stop stops go goes come comes down right",
        nouns=("length", "dress", "the knee"),
        names=("length", "dress_length", "skirt_length"),
    ),
    Slot(
        "hem_shape",
        "Does the dress have {}?",
        {
            "straight": (
                "a straight hem",
                r"hem(?:line)?(?: is)?(?: cut)? straight(?: across)?|straight hem(?:line)?|even hem(?:line)?",
            ),
            "asymmetric": (
                "an asymmetric hem",
                r"asymmetric(?:al)?(?: hem(?:line)?)?|high[- ]low(?: hem(?:line)?)?|uneven hem(?:line)?",
            ),
            "scalloped": ("a scalloped hem", r"scalloped(?: hem(?:line)?)?|scallops?"),
        },
        near="hem hemline cut shape shaped edge bottom skirt",
        nouns=("hem", "hemline"),
        names=("hem", "hemline", "hem_style"),
    ),
    _has("belt", "a belt", r"\bbelt(?:s|ed)?\b|\bsash(?:es)?\b", "waist around", r"\b(?:beltless|unbelted)\b"),
    Slot(
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
        near="waist waistline hip hips sit sits",
        nouns=("waist", "waistline"),
        names=("waistline", "waist_position"),
    ),
    Slot(
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
        near="strap straps shoulder shoulders top",
        nouns=("straps",),
        names=("strap", "strap_type", "strap_style"),
        nothing="strapless",
    ),
    Slot(
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
        near="sleeve sleeves shape shaped",
        nouns=("sleeves", "sleeve"),
        names=("sleeve", "sleeves", "sleeve_type", "sleeve_style"),
    ),
    Slot(
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
        near="print prints pattern patterns patterned design fabric material cloth",
        nouns=("print", "pattern", "fabric"),
        names=("pattern", "print_type", "pattern_type", "print_pattern"),
        nothing="plain",
        negative=r"(?:pattern(?:ed|s)?|print(?:ed|s)?)(?: of any kind)?",
        negated="plain",
    ),
    Slot(
        "closure",
        "Does the dress have {}?",
        {
            "buttons": ("buttons", r"buttons?(?:ed)?(?: up| down| front)*|button[- ](?:down|up|front)"),
            "zipper": ("a zipper", r"zip(?:per|s|pers|ped)?\b"),
            "wrap": ("a wrap front", r"wrap(?:s|ped)?(?:[- ](?:style|front|around|over))?(?= |$|\?)"),
            "laces": ("a lace-up closure", r"lace[sd]?[- ]up(?: (?:front|back|closure))?|laces\b|corset[- ]style"),
        },
        near="front down closure fasten fastens fastened fastening top",
        nouns=("closure", "front"),
        names=("fastening", "closure_type", "fastening_type"),
    ),
    _has("slit", "a slit", r"(?:side )?\bslits?\b|split (?:skirt|hem)", "skirt"),
    _has("pockets", "pockets", r"\bpockets?\b"),
    _has("ruffles", "ruffles", r"\b(?:ruffl(?:e|es|ed|ing)|frill(?:s|y|ed)?|flounces?)\b", "skirt part trim"),
    _has("lace", "lace trim", r"\blac(?:e|y)\b(?: (?:trim(?:ming)?|detail(?:s|ing)?|overlay|fabric|edging))?", "trim"),
    _has("embroidery", "embroidery", r"\bembroider(?:y|ed|ies)\b"),
    _has("bow", "a bow", r"\bbows?\b", "waist"),
    _has("pleats", "a pleated skirt", r"(?:pleat(?:s|ed|ing)?)(?: skirt)?", "skirt"),
    _has("tiers", "a tiered skirt", r"tier(?:s|ed)(?: (?:skirt|dress))?", "skirt"),
    _has("sequins", "sequins", r"sequin(?:s|ed)?|sparkl(?:y|es|ing)|glitter(?:y|ing)?"),
    _has("fringe", "fringe", r"\bfring(?:e|es|ed)\b|tassels?", "hem along"),
    _has("cutout", "cutouts", r"cut[- ]?outs?", "side sides"),
    Slot(
        "material",
        "Does the dress look as if it were made of {}?",
        {
            "denim": ("denim", r"denim|jeans? fabric"),
            "knit": ("a knit", r"knit(?:ted)?(?: fabric)?|crochet(?:ed)?"),
            "satin": ("satin", r"shiny like satin|satin(?:y)?|silk(?:y)?"),
            "sheer": ("a sheer fabric", r"sheer|see[- ]through|transparent|tulle|mesh"),
            "velvet": ("velvet", r"velvet(?:y)?"),
            "leather": ("leather", r"leather(?:y)?"),
        },
        near="fabric material cloth part",
        nouns=("fabric",),
        names=("fabric", "fabric_type", "material_type"),
    ),
)
