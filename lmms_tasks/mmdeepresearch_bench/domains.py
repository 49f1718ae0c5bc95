"""Kinds of sources by their host: matched on whole labels from the right, so that netflix.com is not x.com."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

Category = Literal["authoritative", "acceptable", "prohibited", "unknown"]

# Social media, personal blogs, question-and-answer forums (the benchmark's source policy, Rules.txt).
PROHIBITED = (
    "reddit.com",
    "quora.com",
    "zhihu.com",
    "facebook.com",
    "twitter.com",
    "x.com",
    "instagram.com",
    "tiktok.com",
    "weibo.com",
    "pinterest.com",
    "tumblr.com",
    "medium.com",
    "substack.com",
    "blogspot.com",
    "wordpress.com",
    "stackexchange.com",
    "stackoverflow.com",
    "tieba.baidu.com",
    "zhidao.baidu.com",
    "douban.com",
    "xiaohongshu.com",
)
AUTHORITATIVE = (
    "gov",
    "edu",
    "int",
    "mil",
    "who.int",
    "un.org",
    "worldbank.org",
    "imf.org",
    "oecd.org",
    "europa.eu",
)
# gov.uk, gov.au, gob.mx, gouv.fr, ac.uk, edu.cn, …: second-level names that a country keeps for them.
_COUNTRY = re.compile(r"(?:^|\.)(?:gov|gob|gouv|go|gv|govt|admin|ac|edu)\.[a-z]{2}$|(?:^|\.)gc\.ca$|(?:^|\.)admin\.ch$")


def host_of(url: str) -> str:
    """The host in lower case without `www.`; "" where there is none.

    >>> host_of("https://www.IEA.org/reports")
    'iea.org'
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.casefold().rstrip(".").removeprefix("www.")


def category_of(host: str) -> Category:
    """What the lists say of a host; "unknown" where they say nothing."""
    if _belongs(host, PROHIBITED):
        return "prohibited"
    if _belongs(host, AUTHORITATIVE) or _COUNTRY.search(host):
        return "authoritative"
    return "unknown"


def our_category(host: str, judged: str) -> str:
    """The list's word where it has one, else the judge's."""
    listed = category_of(host)
    return judged if listed == "unknown" else listed


def official_category(host: str, judged: str) -> str:
    """The judge's word, the list's only where the judge does not know."""
    return category_of(host) if judged == "unknown" else judged


def _belongs(host: str, suffixes: tuple[str, ...]) -> bool:
    return any(host == suffix or host.endswith(f".{suffix}") for suffix in suffixes)
