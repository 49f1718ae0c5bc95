"""Where a judge answers: base URL and key, from a judge's own variables, its profile, or OpenAI's usual ones.

A key is in no text that this module makes, and `redact` takes it out of the texts that others make.
"""

from __future__ import annotations

import base64
import os
import re
import urllib.parse
from dataclasses import dataclass, field
from functools import cached_property

import httpx

OPENAI = "api.openai.com"
_CHAT = "/chat/completions"
# Shorter keys are stand-ins for servers that want none ("EMPTY", "none"): no secrets, and words of ordinary replies.
_SHORTEST_SECRET = 8
# Keys as services show them, in part ("sk-abcd****wxyz") or whole.
_KEY_LIKE = re.compile(r"\b(?:sk|key|pk)-[\w*.-]{6,}")


def variable(judge: str, what: str) -> str:
    """The environment variable of a judge: `variable("gpt-4.1", "API_KEY")` is `LMMS_TASKS_JUDGE_GPT_4_1_API_KEY`."""
    return f"LMMS_TASKS_JUDGE_{re.sub('[^A-Z0-9]', '_', judge.upper())}_{what}"


@dataclass(frozen=True)
class Endpoint:
    """A base URL (to which `/chat/completions` is added) and a key, empty where the server needs none."""

    base_url: str = field(repr=False)
    api_key: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls, judge: str, declared: str | None, of_openai: object) -> Endpoint | None:
        """The endpoint of the judge of this name; None if nothing says where it is.

        `declared` is the base URL of the judge's profile, which a variable of the judge's own overrides. A key alone is
        an endpoint only for OpenAI's models. SystemExit if a URL or a key cannot be used.
        """
        own, key_of_own = variable(judge, "BASE_URL"), variable(judge, "API_KEY")
        urls = [(own, os.environ.get(own)), (f"base_url of judge {judge}", declared)]
        urls += [(name, os.environ.get(name)) for name in ("OPENAI_BASE_URL", "OPENAI_API_URL")]
        source, url = next(((name, value.strip()) for name, value in urls if value and value.strip()), ("", ""))
        keys = [(name, os.environ.get(name, "").strip()) for name in (key_of_own, "OPENAI_API_KEY")]
        key_source, key = next(((name, value) for name, value in keys if value), ("", ""))
        if not all("!" <= sign <= "~" for sign in key):
            raise SystemExit(f"{key_source} holds a blank or a character that no key has: set it anew.")
        if url:
            return cls(_base(source, url), key)
        return cls(f"https://{OPENAI}/v1", key) if key and of_openai else None

    @cached_property
    def url(self) -> httpx.URL:
        """The base URL without the credentials that it may hold."""
        return httpx.URL(self.base_url).copy_with(username=None, password=None)

    @cached_property
    def host(self) -> str:
        """host[:port], as sentences name it."""
        return self.url.netloc.decode("ascii")

    @cached_property
    def label(self) -> str:
        """host[:port]/path: what tells endpoints apart in the cache; no credentials, no query."""
        return f"{self.host}{self.url.path.rstrip('/')}"

    @property
    def headers(self) -> dict[str, str]:
        """The request headers that carry the key, or the user name and password of the base URL."""
        if self.api_key:
            return {"Authorization": f"Bearer {self.api_key}"}
        return {"Authorization": f"Basic {self._basic}"} if self._basic else {}

    def address(self, path: str) -> httpx.URL:
        """The URL of one of the API's paths, the base URL's query kept (Azure's `api-version`).

        The credentials are left out: httpx writes addresses to its log.
        """
        return self.url.copy_with(path=self.url.path.rstrip("/") + path)

    def conceal(self, body: bytes) -> bytes:
        """`body` without this endpoint's key, password and query."""
        for secret in self._secrets:
            body = body.replace(secret, b"***")
        return body

    def redact(self, text: str) -> str:
        """`text` without this endpoint's secrets, and without what looks like a part of a key."""
        return _KEY_LIKE.sub("***", self.conceal(text.encode("utf-8", "replace")).decode("utf-8"))

    @cached_property
    def _secrets(self) -> list[bytes]:
        url = httpx.URL(self.base_url)
        secrets = (self.api_key, url.password, url.query.decode("ascii"), self._basic)
        # Also as servers spell them back: some JSON writers escape slashes, and a URL quotes more than letters.
        spellings = {
            spelling
            for secret in secrets
            if len(secret) >= _SHORTEST_SECRET
            for spelling in (secret, secret.replace("/", "\\/"), urllib.parse.quote(secret, safe=""))
        }
        return [spelling.encode("utf-8") for spelling in sorted(spellings, key=len, reverse=True)]

    @cached_property
    def _basic(self) -> str:
        url = httpx.URL(self.base_url)
        if not url.username and not url.password:
            return ""
        return base64.b64encode(f"{url.username}:{url.password}".encode()).decode("ascii")


def _base(source: str, url: str) -> str:
    """The base URL in `url`, which may also be the full address of the chat completions."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SystemExit(f"{source} is no web address: it begins with http:// or https:// and a host name.")
    path = parsed.path.rstrip("/").removesuffix(_CHAT).rstrip("/")
    return str(parsed.copy_with(path=path or "/")).rstrip("/") if not parsed.query else str(parsed.copy_with(path=path))
