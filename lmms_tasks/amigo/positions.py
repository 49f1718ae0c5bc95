"""Questions about where an image stands in the gallery, or how it compares with the others (R7)."""

from __future__ import annotations

import re

_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty)"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|previous|middle|\d+(?:st|nd|rd|th))"
)
_PICTURE = r"(?:images?|photos?|pictures?|dress(?:es)?|options?|candidates?|items?|ones?)"
_PICTURES = r"(?:images|photos|pictures|dresses|candidates|options|ones)"
_ONE_PICTURE = r"(?:image|photo|picture|option|candidate|dress)"
# After a bare range or number: nothing that is counted on the dress ("between 3 and 5 buttons").
_NO_NOUN = rf"(?=\s*(?:$|[?.,;:!)]|(?:or|and|inclusive|in|of the)\b|{_PICTURE}\b))"
_IT = r"(?:it|this|that|(?:the |your |my )?(?:secret |target |preferred )?(?:favou?rite|dress|target|answer)(?: dress| one| image)?)"

_POSITION = re.compile(
    rf"#\s*\d|\b{_PICTURE}\s*(?:number|no\.)\s*#?{_NUMBER}\b|\bdress\s*\d+\b"
    rf"|\b(?:images?|photos?|pictures?|options?|candidates?|number|no\.|index|position)\s*#?{_NUMBER}\b(?!-)"
    # A bare number or a letter for an image.
    rf"|^(?:is|was|could|might|would) (?:it be |{_IT} )(?:the )?{_NUMBER}\s*\?*$|\b{_ONE_PICTURE} [a-z](?=\s*(?:$|[?,.]|or\b))"
    rf"|\b{_ORDINAL} (?:\w+ )?(?:{_PICTURE}|half|quarter of)\b"
    r"|\b(?:half|quarter|part|beginning|start|end|middle) of the (?:gallery|list|images|pictures|dresses)\b"
    rf"|\b(?:among|in|within|one of) the (?:first|last|next|top|bottom|middle) {_NUMBER}\b{_NO_NOUN}"
    # Rows and sides of the gallery, not of the dress ("the top row of ruffles", "on the left of the skirt").
    r"|\b(?:top|bottom|upper|lower|left|right|middle|first|second|third|last|same) (?:row|column)\b(?! of (?!the (?:gallery|images|dresses)))"
    rf"|\b(?:left|right|top|bottom|upper|lower)most (?:{_PICTURE})\b|\bthe (?:{_ONE_PICTURE}|one) (?:on|at|to) the (?:far )?(?:left|right|top|bottom)\s*\?"
    rf"|\bbetween (?:number )?\d+ and (?:number )?\d+{_NO_NOUN}|\b\d+ ?(?:-|to|through) ?\d+\b{_NO_NOUN}"
    rf"|\b(?:greater|higher|lower|smaller|less|bigger|larger|above|below|before|after|at (?:least|most)) (?:than )?(?:or equal to )?#?{_NUMBER}\s*(?:\?|$)"
    rf"|\b(?:appears?|comes?|listed|shown|placed|positioned|stands?) (?:\w+ )?(?:later|earlier|before|after|sooner)\b|\bhalf-?way (?:point|mark)\b(?! (?:of|down|up|between|to) )"
    r"|\b(?:an? )?(?:odd|even)(?: |-)number(?:ed)?\b|\bodd or even\b|\b(?:index|gallery|upload(?:ed|ing)?)\b"
    r"|\b(?:its|your favou?rite'?s|the (?:dress|target|favou?rite)'s) (?:position|number|place|rank|spot)\b|\b(?:position|number) of (?:it|your favou?rite|the (?:dress|image|target|favou?rite))\b"
    r"|\b(?:a |is )?prime(?: number)?\s*\?|\bdivisible by\b|\bmultiple of\b"
    # Other dresses.
    rf"|\b(?:other|rest of the|all(?: of)? the|any of the|most of the|remaining|these|those) {_PICTURES}\b"
    rf"|\bthe others\b|\bthe rest\b(?! of (?:it|its|her|your|the)\b(?! {_PICTURES}| gallery))|\bfavou?rite (?:is )?among\b"
    rf"|\bthe only (?:\w+ )?(?:dress|image|one|gown)\b|\bthe (?:\w+est|most \w+|least \w+) (?:dress|gown|of (?:all|them))\b"
)
# How many there are of something on the dress is no number of an image.
_COUNT = re.compile(rf"\b(?:number|count|amount) of (?!{_PICTURES}\b|it\b|your\b|the\b)\w+[^?]*")


def asks_for_position(plain: str) -> bool:
    """Whether a normalised message asks for the position, number or order of images, or compares with other images."""
    return bool(_POSITION.search(_COUNT.sub(" ", plain)))
