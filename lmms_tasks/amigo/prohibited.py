"""What may not be asked, as the words that ask for it: the prohibited attributes (R5), and what nobody can see (R4).

All patterns are for lower-case text with plain quotes. A change of theirs is a change of the lexicon (`lexicon.VERSION`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_HUES = (
    "red|blue|green|yellow|orange|purple|violet|pink|brown|black|white|gr[ae]y|beige|navy|teal|turquoise|maroon|burgundy"
    "|crimson|scarlet|magenta|fuchsia|lilac|lavender|ivory|cream(?:y)?|khaki|olive|coral|cyan|indigo|silver|gold(?:en)?"
    "|mustard|charcoal|off-white|taupe|blush|mauve|nude|aqua|azure|cobalt|tan|ecru|ochre|sepia|vermilion|chartreuse"
    "|periwinkle|terracotta|reddish|bluish|greenish|yellowish|pinkish|brownish|greyish|grayish|purplish"
)
# Hues that are named after things, of which there are prints too.
_HUES_OF_THINGS = (
    "peach|apricot|lemon|lime|cherry|raspberry|plum|wine|rose|mint|sage|moss|pistachio|rust|copper|bronze|brick|sand|camel"
    "|champagne|chocolate|coffee|mocha|caramel|emerald|jade|ruby|sapphire|amber|amethyst|slate|salmon|saffron|aubergine"
    "|eggplant|tangerine|cinnamon|platinum"
)
_ARMS = r"(?:(?:the|her|your|its|both|upper|lower|whole|entire) )*(?:fore)?arms?"
_ARM_PARTS = r"(?:wrists?|elbows?|hands?|(?:fore|upper )?arms?|biceps?|knuckles|fingers?|fingertips?)"
_SURROUNDINGS = (
    r"sky|trees?|clouds?|mountains?|sea|ocean|lake|river|park|forest|woods|city|buildings?|house|windows?|doors?|stairs"
    r"|staircase|sofa|chair|furniture|mirror|road|field|lawn|sand|snow|bush(?:es)?|plants?"
)
# By prohibited attribute, what asks for it. `solid` and `solid-coloured` ask for a print, and are cut out before.
PROHIBITED: Mapping[str, str] = {
    "color": (
        rf"\b(?:{_HUES})\b|\b(?:multi-?)?colou?r(?:s|ed|ful|less|ing)?\b|\b(?:hues?|shades?|tints?|tones?|toned)\b"
        rf"|\b(?:{_HUES_OF_THINGS})\b(?!-| (?:prints?|patterns?|motifs?|designs?|blossoms?)\b)"
        r"|\b(?:dark|bright|pale|vivid|pastel|neon)(?:er|est|ly|s)?\b"
        # "light" says a hue of the dress or of its print; before any other noun it may be a weight ("light lace").
        r"|\blight(?:er|est)?\b(?=\s*(?:$|[?.]|-?(?:dress|gown|one|print|pattern|background|side|or|and|than|in)\b))"
        r"|\bmulti-?colou?r(?:ed)?\b|\bmonochrom(?:e|atic)\b"
    ),
    "sleeve_length": (
        rf"\bsleeveless\b|\b{_ARMS} (?:are |be |left )?(?:bare|covered|exposed|uncovered|visible|free)\b|\b(?:bare|covered|exposed)[- ]arms?\b"
        rf"|\b(?:expos|reveal|bar|show|cover|hid|leav)(?:e|es|s|ing)?(?: off)? {_ARMS}\b"
        r"|\b(?:long|short|cap|half|elbow|wrist|full|quarter|bracelet)(?:er)?(?:[- ]length)?[- ]sleeve[sd]?\b|\b3/4\b|\bthree[- ]quarters?\b"
        # Of a sleeve that is long or short, not of something on it ("a short ruffle").
        r"|\bsleeves?\b[^?]*\b(?:long|short|longer|shorter)\b(?!\s+(?!or\b|and\b|than\b|enough\b|in\b|at\b|sleeve)[a-z])"
        r"|\bsleeves?\b[^?]*\b(?:length|past|reach(?:es|ing)?|cover(?:s|ing)?)\b"
        rf"|\bsleeves?\b[^?]*\b(?:end|stop|finish|go|extend|come|fall|run|hit|get|hang)(?:s|es|ing)?\b[^?]*\b{_ARM_PARTS}\b"
        r"|\bsleeve[- ]lengths?\b|\blength of the sleeves?\b"
        r"|\b(?:have|has|with|without|any|no|there)(?: any| no)? sleeves?\b(?! (?:with|that|shaped))"
    ),
    "background": (
        r"\b(?:background|backdrop|studio|outdoors?|indoors?|outside|inside a|scene(?:ry)?|walls?|street|beach|garden|room|curtains?)\b"
        r"|\bbehind (?:the|her) (?:dress|model|woman|person)\b|\bbehind her\b|\b(?:floor|ground|grass|carpet)\b"
        r"|\b(?:photo|picture|image|shot|photograph(?:ed)?)(?: was| is| been)?(?: taken| shot| set)? (?:in|at|on|by|near|outside|inside)\b(?! (?:the )?dress\b)"
        r"|\b(?:next to|beside|near|in front of) (?:the (?:dress|model|woman|person|gown)|her)\b"
        # What may surround a dress may be printed on it too.
        rf"|^(?!.*\b(?:prints?|printed|patterns?|motifs?|embroider\w*|fabric|cutouts?)\b).*\b(?:{_SURROUNDINGS})\b"
    ),
}

_PERSON = r"(?:she|he|model|woman|girl|lady|person|wearer)"
# What no look at the dress can tell: use, price, taste, and everything beside the dress.
NOT_OBSERVABLE = re.compile(
    r"\b(?:price[sd]?|pric(?:e?y|ing)|costs?|expensive|cheap(?:er)?|affordable|brand(?:s|ed)?|designer|label|store|sale|bought)\b"
    r"|\b(?:comfort(?:able|y)?|washable|iron(?:ed|ing)?)\b"
    # Of the whole dress, or of its cloth; of a part ("heavy embroidery") they are no question of their own.
    r"|\b(?:cozy|cosy|warm|soft|itchy|heavy)(?=\s*(?:$|[?.]|(?:or|and|to|enough|for|on|against|dress|gown|fabric|material|cloth|one)\b))"
    # "Of an evening-gown train": the word says of which kind a part is.
    r"|\b(?:occasions?|part(?:y|ies)|wedding|office|prom|formal|casual|everyday|cocktail|evening|church|date)\b(?!-\w+ \w)"
    r"|(?<!lace )(?<!cut )(?<!open )(?<!bead )\bwork(?:place)?\b"
    r"|\b(?:summer|winter|spring|autumn|fall dress|seasons?|suitable|appropriate|popular|trendy|fashionable|stylish|modern|vintage|retro)\b"
    r"|\b(?:elegant|beautiful|pretty|ugly|cute|nice|sexy|gorgeous|flattering|feminine)\b"
    r"|\b(?:do|would|did|will|can|could) you (?:really |ever )?(?:like|love|prefer|want|wear|own|buy|enjoy|recommend)\b"
    r"|\b(?:smil(?:e|es|ing)|hair|face|eyes|makeup|tattoos?|pos(?:e|es|ing)|facing|looking at|blonde|brunette)\b"
    rf"|\b{_PERSON}\b[^?]*\b(?:standing|sitting|walking|tall|old|young)\b"
    r"|\b(?:shoes?|heels|boots|sandals|sneakers|bag|handbag|purse|clutch|hat|necklace|jewel(?:le)?ry|earrings?|bracelet|sunglasses|watch|scarf|gloves)"
    r"\b(?!-(?:like|style|shaped|type)| pockets?\b| sleeves?\b)"
    r"|\b(?:age|nationality|name)\b"
)
