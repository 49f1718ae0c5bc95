"""Words of questions that ask for no attribute: how a question is put, what it denies, and what leads up to it."""

from __future__ import annotations

import re
import unicodedata

# What a question may hold beside the phrase for its attribute and still ask for that attribute and nothing else. Any
# other word (a size, a number, a comparison, a part of the dress) may change what is asked.
_GENERAL = (
    "a an the this that these those it its they them their there here she her he his model woman lady person wearer "
    "is are was were be been being am does do did has have had having can could would will might may should "
    "dress dresses gown frock garment outfit piece your you my me i we favorite favourite preferred secret target chosen "
    "of on in at with as to for by and or nor either if whether any some kind sort type form style styled "
    "look looks looking appear appears seem seems feature features featuring featured include includes including contain "
    "contains show shows shown showing display displays exhibit exhibits come comes wear wears wearing worn present visible "
    "visibly see seen tell say notice observe think believe call called considered classified clearly actually really indeed "
    "also please perhaps maybe definitely certainly overall like made make designed decorated adorned detail details "
    "detailing element elements design from one describe described agree assume confirm verify"
)
GENERAL = frozenset(_GENERAL.split())

_TAGS = re.compile(
    r"(?:,\s*|\s+)(?:(?:is|are|does|do|has)(?:n't|nt)? (?:it|they|she)|right|correct|or not|yes or no)\s*(?=\?*$)"
)
_FRAME = re.compile(
    r"^(?:is|was|would) it (?:be )?(?:true|right|correct|fair|accurate|the case)(?: to (?:say|describe it))? that "
)
_NEGATED_START = re.compile(r"^((?:is|are|was|were|does|do|did|has|have|can|could|would))n't\b")
_TWO_DENIALS = re.compile(
    r"\bnot (?:absent|missing|without|lack(?:s|ing)?|free (?:of|from)|devoid of|no)\b(?: (?:a|any|an))?"
)
NOT = re.compile(r"\b(?:not|never)\b")
ABSENT = re.compile(
    r"\b(?:no|without|lack(?:s|ing)?|free (?:of|from)|devoid of|(?:anything |something )?other than|anything but"
    r"|(?:the )?absence of|absent|missing|neither|none of)\b|(?<=·)-(?:free|less)\b"
)
# A clause before the question. What is known of the dress is no part of it; an exception or a condition changes it.
_KNOWN = re.compile(r"^(?:since|because|given|as|now that|knowing|considering|seeing|although|though|while)\b[^?]*?, ")
_CHANGING = re.compile(
    r"^(?:if|unless|assuming|suppos(?:e|ing)|except|excluding|excepting|apart from|aside from|besides|beyond|ignoring"
    r"|disregarding|leaving|not counting|without|other than)\b[^?]*?, "
)
_AUXILIARY_NEXT = re.compile(r"(?:is|are|was|were|does|do|did|has|have|can|could|would|will)(?:n't)?\b")
_PREAMBLE = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|now|next|great|thanks|thank you|alright|hmm+|got it|question(?: \d+)?|q|my (?:next )?question(?: is)?"
    r"|let me ask|i see|sure|please)\b(?! that)[\s,:.!-]*)+"
)


def normalise(text: str) -> str:
    """The text with one spelling for each sign: NFKC, lower case, plain quotes and dashes, single spaces, no markup."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.translate(
        {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2010: "-", 0x2011: "-", 0x2013: "-", 0x2014: " - "}
    )
    return " ".join(re.sub(r"[*`~]|(?<!\w)_|_(?!\w)", "", text).split())


def sentence(plain: str) -> tuple[str, str]:
    """(clause before it, the sentence that asks) of a normalised text; the clause is "" where there is none."""
    sentences = [part.strip() for part in re.split(r"(?<=[?!;])\s+|(?<=\w\.)\s+(?=\D)", plain) if part.strip()]
    asked = next((part for part in sentences if "?" in part), sentences[-1] if sentences else "")
    asked = _PREAMBLE.sub("", asked)
    for clause in (_KNOWN, _CHANGING):
        # The clause ends at the first comma after which a question begins.
        for comma in re.finditer(r", ", asked):
            if clause.match(asked[: comma.end()]) and _AUXILIARY_NEXT.match(asked, comma.end()):
                return asked[: comma.end()], asked[comma.end() :]
    return "", asked


def changes(clause: str) -> bool:
    """Whether a clause before a question changes what is asked ("except for the belt")."""
    return bool(_CHANGING.match(clause))


def plainly(asked: str) -> str:
    """A question without tags ("right?", "or not?"), frame ("is it true that") and denials that cancel out.

    An opening "isn't" asks for the same as "is".
    """
    asked = _NEGATED_START.sub(r"\1", _TAGS.sub("", asked))
    asked = re.sub(r"n't\b", " not", _FRAME.sub("", asked))
    asked = re.sub(r"\bany (?:part|area) of (?=the (?:dress|gown)\b|it\b)", "", asked)
    return _TWO_DENIALS.sub("", asked)
