"""Did a free-text answer name the entity? Two measures for MIRAGE-MMST that ask no judge.

Both compare an answer with the names that a row accepts: entity name, scientific name, the binomial inside it and
the common names (task card of arXiv:2506.20100; the official judge gets the same names,
`MMST/Evaluation/LLMsAsJudges_ID.py:43`). The card compares whole strings, but models answer with a paragraph: hence
`identification_accuracy` beside `identification_accuracy_exact`. Both are 0.0 or 1.0, higher is better.

How `identification_accuracy` reads an answer:

* It looks in the searched text: from the last label to the end of that sentence, or everywhere without a label.
* A name stands on word boundaries, so a plural does not count. Chinese, Japanese and Korean names are substrings.
* `not` (also `cannot` and contractions such as `isn't`), `rather than`, `unlike` or `ruled out` denies the names
  behind it in the same clause. The clause is that of the whole answer and may begin before the label: "it was not
  identified as X". One mention that is not denied is enough. Nothing else denies: neither words behind the name
  ("X is ruled out") nor other words (`instead of`, `neither`) nor other languages.
* A name in parentheses right behind a name is the same mention: "not A (B)" denies both.
* A list of candidates ("A, B or C") names each of them, so it counts when the entity is among them.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

_TOO_GENERAL = {"plant", "insect", "disease", "weed"}
_MISSING = {"", "none", "null", "nan"}
_CJK = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
# Chinese runs straight into Latin letters ("这是Solidago"): the change of script is a word boundary.
_WORD = re.compile(rf"[{_CJK}]+|[^\s{_CJK}]+")
_LETTER = re.compile(r"[^\W_]")
_MARK = re.compile(r"[^\w\s]|_")
_BEGIN, _END = r"(?<![^\W_])", r"(?![^\W_])"  # \b, but `_` is Markdown and no letter

# A hyphen is a dash only at the edge of a word, and "2–3" is a range.
_DASH = r"(?:[―−]|(?<!\d)[–—]|[–—](?!\d)|--+|(?<![^\W_])-|-(?![^\W_]))"
_LABEL = re.compile(
    rf"{_BEGIN}(?:identified\s+as{_END}"
    rf"|(?:identification|final\s+answer|answer|conclusion){_END}[ \t*_`]*(?::|{_DASH}|is{_END}))",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    rf"[;()、]|(?<!\d)[,:]|[,:](?!\d)|{_DASH}|{_BEGIN}(?:but|however|instead){_END}", re.IGNORECASE
)
# The hyphens keep "forget-me-not" a flower.
_DENIAL = re.compile(
    rf"{_BEGIN}(?<![^\W_][-‐])(?:not|cannot|rather\s+than|unlike|ruled\s+out)(?![-‐]?[^\W_])"
    rf"|[^\W\d_]n['’]t{_END}"
    rf"|{_BEGIN}(?:is|are|was|were|do|does|did|could|would|should)nt{_END}",
    re.IGNORECASE,
)
_APPOSITION = re.compile(r"[\s*_`\"'’”]*\([\s*_`\"'‘“]*")

_SENTENCE_MARK = re.compile(r"[!?。]|\.+")
# A line that goes on in lower case was wrapped; any other line is a sentence of its own.
_LINE_END = re.compile(r"\n(?![^\S\n]*[a-zà-ÿ])")
_LIST_NUMBER = re.compile(r"(?:^|[\n:])[\s>*#_-]*\d{1,2}$")
_LAST_WORD = re.compile(r"[^\W_]*$")
_CLOSING = re.compile(r"[)\]\"'’”»*_`]*")
_ABBREVIATION = re.compile(
    r"cf|aff|nr|(sub)?var|subsp|ssp|spp?|fo|cv|pv|bv|hort|auct|sect|ser|subg|syn|nov|comb|al|vs|ca|approx|incl|esp"
    r"|Ste?|Mt|Dr|Mrs?|Ms"
)

_VIRUS = re.compile(r"(?:virus|viruses|viroid|satellite)\b", re.IGNORECASE)
_HYBRID = re.compile(r"×|(?<!\S)x(?=\s)")
_NO_EPITHET = {"sp", "spp", "ssp", "species", "subsp", "var", "x"}
_RANK_OR_PARTICLE = re.compile(r"(?:(?:bio|sub)?var|subsp|ssp|f|fo|f\.sp|cv|pv|bv)\.?|de|du|van|von")


def normalise(text: str) -> str:
    """NFKC, case-folded, everything but letters, digits and their marks collapsed to single spaces; any script."""
    return " ".join(word for _, _, word in _words(_prepared(text)))


def parse_common_names(value: object) -> list[str]:
    """Common names as a list, from a list, a JSON or Python literal, a comma-separated string, None or ""."""
    value = value.tolist() if hasattr(value, "tolist") else value  # parquet hands out arrays
    value = _literal(value.strip()) if isinstance(value, str) else value
    if isinstance(value, str):
        value = [part.strip().strip("\"'") for part in value.strip("[]()").split(",")]
    items = value if isinstance(value, (list, tuple)) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip().lower() not in _MISSING]


def accepted_names(row: Mapping[str, object]) -> tuple[str, ...]:
    """The normalised names that a row accepts, each once, in the order of the columns.

    Left out are names of one or two letters and the bare words plant, insect, disease and weed. Authors and years
    stay in the full scientific name and are dropped for the binomial. "Solidago sp." names no species: it is accepted
    as written, but neither a binomial nor the bare genus is made of it; so is a genus with an author. The name of a
    virus is whole as it stands. A hybrid is accepted with and without its sign, be it × or x.
    """
    scientific = row.get("entity_scientific_name")
    names = [row.get("entity_name"), scientific, binomial(scientific) if isinstance(scientific, str) else None]
    names += parse_common_names(row.get("entity_common_names"))
    texts = [name for name in names if isinstance(name, str)]
    # Every name without a hybrid sign, and where it has one, with the letter.
    spelled = [normalise(_HYBRID.sub(sign, text)) for text in texts for sign in (" ", " x ")]
    return tuple(dict.fromkeys(filter(_is_usable, spelled)))


def searched_text(answer: str | None) -> str:
    """From the last label to the end of its sentence; the whole answer where no label has a word behind it.

    Labels are `identified as`, and `identification`, `final answer`, `answer` and `conclusion` directly followed by a
    colon, a dash or `is`; Markdown marks may stand in between. With a label the text comes back in NFKC.
    """
    text = _prepared(answer or "")
    span = _labelled_span(text)
    return text[slice(*span)].rstrip() if span else answer or ""


def identification_accuracy(answer: str | None, names: Iterable[str]) -> float:
    """1.0 if one of `names` stands undenied in the searched text of `answer`, else 0.0 (rules: see the module)."""
    text = _prepared(answer or "")
    start, end = _labelled_span(text) or (0, len(text))
    clause_ends = [match.end() for match in _CLAUSE_END.finditer(text)] + _sentence_ends(text)
    denials = [match.span() for match in _DENIAL.finditer(text)]
    denied_ends: list[int] = []
    for name_start, name_end in sorted(_mentions(text, start, end, names)):
        clause_start = max((end for end in clause_ends if end <= name_start), default=0)
        denied = any(clause_start <= first and last <= name_start for first, last in denials)
        if not denied and not any(_APPOSITION.fullmatch(text, previous, name_start) for previous in denied_ends):
            return 1.0
        denied_ends.append(name_end)
    return 0.0


def identification_accuracy_exact(answer: str | None, names: Iterable[str]) -> float:
    """1.0 if the whole answer, normalised, is one of `names`, else 0.0.

    The task card's `pred in [name, sci_name, common]` made safe: common names are compared one by one, and an empty
    answer never equals an empty field.
    """
    return float(normalise(answer or "") in _usable(names))


def _prepared(text: str) -> str:
    """NFKC without invisible characters, lines ended by a line feed. Positions in an answer refer to this text."""
    if not text.isascii():
        visible = (char for char in text if unicodedata.category(char) != "Cf" and not "\ufe00" <= char <= "\ufe0f")
        text = unicodedata.normalize("NFKC", "".join(visible))
    return re.sub(r"\r\n?|[\u2028\u2029\x85]", "\n", text)


def _words(text: str) -> list[tuple[int, int, str]]:
    """Start, end and case-folded form of each word. Combining marks belong to words: Hindi needs its vowel signs."""
    masked = _MARK.sub(lambda mark: mark[0] if unicodedata.category(mark[0])[0] == "M" else " ", text)
    return [(*word.span(), unicodedata.normalize("NFKC", word[0].casefold())) for word in _WORD.finditer(masked)]


def _is_usable(name: str) -> bool:
    size = len(name.replace(" ", ""))
    return name not in _TOO_GENERAL and (size > 2 or (size == 2 and bool(_HAS_CJK.search(name))))


def _usable(names: Iterable[str]) -> set[str]:
    return set(filter(_is_usable, map(normalise, names)))


def _mentions(text: str, start: int, end: int, names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where in `text[start:end]` a name stands. Between its words may be any punctuation, but no end of a sentence."""
    marks = list(_sentence_marks(text))
    found = [(start + first, start + last, word) for first, last, word in _words(text[start:end])]
    joined, offsets = "", []
    for position, (first, _, word) in enumerate(found):
        if position:
            joined += " " if bisect_right(marks, first) == bisect_right(marks, found[position - 1][1]) else "\n"
        offsets.append(len(joined))
        joined += word
    for name in _usable(names):
        pattern = re.escape(name) if _HAS_CJK.search(name) else rf"(?<!\S){re.escape(name)}(?!\S)"
        for match in re.finditer(pattern, joined):
            first, last = (bisect_right(offsets, at) - 1 for at in (match.start(), match.end() - 1))
            yield found[first][0] + match.start() - offsets[first], found[last][1]


def _labelled_span(text: str) -> tuple[int, int] | None:
    for label in reversed(list(_LABEL.finditer(text))):
        # A sentence may begin below its label, so it is only over when a word has been said.
        if word := _LETTER.search(text, label.end()):
            return label.start(), next((end for end in _sentence_ends(text) if end > word.start()), len(text))
    return None


def _sentence_ends(text: str) -> list[int]:
    return sorted([*_sentence_marks(text), *(line.end() for line in _LINE_END.finditer(text))])


def _sentence_marks(text: str) -> Iterator[int]:
    for mark in _SENTENCE_MARK.finditer(text):
        if mark[0][0] != "." or _is_full_stop(text, *mark.span()):
            yield mark.end()


def _is_full_stop(text: str, start: int, end: int) -> bool:
    """Whether the dots at `start:end` end a sentence, rather than an abbreviation, a list number or half a decimal."""
    closing = _CLOSING.match(text, end).end()
    behind = text[closing : closing + 1]
    if behind in {",", ";", ":"} or (closing == end and (behind.islower() or behind.isdigit())):
        return False
    following = text[closing : closing + 20].lstrip()[:1]
    if end - start > 1:
        return not following.islower()
    before = text[max(0, start - 40) : start]
    word = _LAST_WORD.search(before)[0]
    if _ABBREVIATION.fullmatch(word) or (len(word) == 1 and word.isalpha()) or _LIST_NUMBER.search(before):
        return False
    # "Abutilon theophrasti Medik. is": a short capitalised word before lower case is an author.
    return not (word[:1].isupper() and len(word) < 8 and following.islower())


def binomial(scientific: str) -> str | None:
    """Genus and species without author, year and lower ranks; None where no such pair is to be had with certainty."""
    words = _prepared(scientific).replace("×", " × ").split()
    if words and words[0] in {"×", "x", "Candidatus", "Ca."}:
        words.pop(0)
    sign = ""
    # Hybrid sign, open nomenclature, or a subgenus in parentheses may stand between genus and species.
    if len(words) > 2 and (words[1] in {"×", "x", "cf.", "aff."} or re.fullmatch(r"\([A-Z][a-z]+\)", words[1])):
        sign = "× " if words.pop(1) in {"×", "x"} else ""
    if len(words) < 2 or _VIRUS.search(scientific):
        return None
    genus, epithet, rest = words[0], words[1].rstrip(","), words[2:]
    if not (genus.isalpha() and genus.istitle() and epithet.replace("-", "").isalpha() and epithet.islower()):
        return None
    if epithet in _NO_EPITHET or "×" in rest or "x" in rest:  # the last two: a cross of two species
        return None
    # What follows must look like an author, a rank or a third name with its author, or it was no scientific name:
    # "Bacterial leaf spot" is not the species "Bacterial leaf".
    by_author = [word[0].isupper() or word[0].isdigit() or word[0] in "([&'‘" for word in rest[:2]]
    if rest and not by_author[0] and not _RANK_OR_PARTICLE.fullmatch(rest[0]) and by_author[1:] != [True]:
        return None
    return f"{genus} {sign}{epithet}"


def _literal(text: str) -> object:
    """`text` as JSON or as a Python literal where it is one, else `text` itself."""
    for read in (json.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return read(text) if text.startswith(("[", "(", '"', "'")) else text
    return text
