"""Rules of a site's robots.txt, by RFC 9309.

The longest matching rule decides and Allow wins a tie; `*` and a final `$` are the only special characters; groups
that name the same robot are one; lines that are no rules do not affect the rules. Crawl-delay and Sitemap are not in
the RFC but are in common use.
"""

import codecs
import math
import re
from functools import lru_cache
from typing import NamedTuple

from longline.model.cached_property import cached_property
from longline.model.urls.url import target

MAX_BYTES = 512 * 1024
"""Bytes of a robots.txt that are read; the RFC requires at least 500 KiB."""

MAX_REDIRECTS = 5
"""Largest number of redirects to a robots.txt that are followed, as the RFC advises."""

MAX_CRAWL_DELAY_SECONDS = 60.0
"""Largest Crawl-delay in seconds; a longer one is cut, since no site may pause a crawl for ever."""

MAX_DECODED_BYTES = 20 * MAX_BYTES
"""Largest decoded robots.txt in bytes, apart from the limit for pages: no readable rule may be missed."""

CACHE_SECONDS = 3600.0
FAILURE_CACHE_SECONDS = 1.0
LENIENT_CACHE_SECONDS = 86_400.0
"""Lifetimes in seconds of cached rules, of a cached failure to fetch rules, and of both for lenient plans.

A failure is cached no longer than the shortest wait before another attempt: every attempt fetches robots.txt again,
once for all its tasks. A lenient plan does not wait for rules, and uses rules or failure for a day.
"""

MAX_STORED_CHARS = 65_536
"""Characters of a robots.txt that are stored, for people; workers read the whole file."""


_LINE_END = re.compile(r"\r\n|\r|\n")
_MARKS = re.compile(r"\A[^\x21-\x7e]+")
"""Invisible characters before a field: byte order marks, whole or in part, also between joined files."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_COMPATIBLE = re.compile(r"compatible;\s*([A-Za-z0-9_-]+)")
_ESCAPE_OR_OTHER = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!$&()*+,;=%]")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_QUERY_ESCAPES = (("%3A", ":"), ("%2F", "/"))

# Spellings that site owners use and other crawlers obey.
_FIELDS = {
    "useragent": "user-agent",
    "user agent": "user-agent",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "site-map": "sitemap",
    "crawl delay": "crawl-delay",
    "crawldelay": "crawl-delay",
}


class RuleVerdict(NamedTuple):
    """The verdict of a matching rule; the greater verdict wins: first the longer rule, then Allow."""

    length: int
    allow: bool


class Rule(NamedTuple):
    """A rule with a star or an anchor, ready to match: `parts` are the texts between the stars."""

    verdict: RuleVerdict
    parts: tuple[str, ...]
    anchored: bool

    def matches(self, path: str) -> bool:
        """Return whether the rule matches this path."""
        first, last = self.parts[0], self.parts[-1]
        if not path.startswith(first):
            return False
        if len(self.parts) == 1:
            return len(path) == len(first)  # a rule without a star has an anchor
        # Taking each part at its first place is enough: a later place never leaves more room for the rest.
        at = len(first)
        for part in self.parts[1:-1]:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        if self.anchored:
            return len(path) - at >= len(last) and path.endswith(last)
        return path.find(last, at) >= 0


class Group:
    """The rules for one robot; compiled on first use, since most groups are for other robots."""

    def __init__(self) -> None:
        self.lines: list[tuple[bool, str]] = []
        self.delay: float | None = None

    def verdict(self, path: str) -> RuleVerdict | None:
        """Return the verdict of the rules for this path, or None when none matches."""
        best: RuleVerdict | None = None
        for length in self._lengths:
            # A slice beyond the path is the path itself, which has another length.
            if length <= len(path) and (allow := self._plain.get(path[:length])) is not None:
                best = RuleVerdict(length, allow)
                break
        for rule in self._starred:
            if best and rule.verdict < best:
                break
            if rule.matches(path):
                return rule.verdict
        return best

    @cached_property
    def _plain(self) -> dict[str, bool]:
        """Return the rules without star or anchor by their prefix, so that files with thousands of rules stay fast."""
        plain: dict[str, bool] = {}
        for allow, pattern in self._written:
            if not _is_special(pattern):
                prefix = pattern.replace("$", "%24")
                plain[prefix] = allow or plain.get(prefix, False)
        return plain

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple(sorted({len(prefix) for prefix in self._plain}, reverse=True))

    @cached_property
    def _starred(self) -> tuple[Rule, ...]:
        rules = {_rule(allow, pattern) for allow, pattern in self._written if _is_special(pattern)}
        return tuple(sorted(rules, reverse=True))

    @cached_property
    def _written(self) -> tuple[tuple[bool, str], ...]:
        return tuple((allow, _canonical(pattern)) for allow, pattern in dict.fromkeys(self.lines))


class Robots:
    """The rules of one site, for any robot."""

    def __init__(self, groups: dict[str, Group], sitemaps: tuple[str, ...] = (), *, closed: bool = False) -> None:
        self._groups = groups
        self._closed = closed
        self.sitemaps = sitemaps

    @classmethod
    def open(cls) -> "Robots":
        """Return the rules of a site that has none."""
        return cls({})

    @classmethod
    def unreachable(cls) -> "Robots":
        """Return the rules of a site with an unreachable robots.txt: all URLs are forbidden until it can be read."""
        return cls({}, closed=True)

    @classmethod
    def from_response(cls, status: int, body: bytes) -> "Robots":
        """Return the rules that follow from the final response to a request for /robots.txt."""
        if 200 <= status < 300:
            return parse(body)
        # A redirect that was followed to its limit counts as a file that is not there, like 4xx. 429 says nothing about
        # the file: the server answers no requests now.
        return cls.open() if 300 <= status < 500 and status != 429 else cls.unreachable()

    def allows(self, user_agent: str, url: str) -> bool:
        """Return whether the robot of this User-Agent may fetch this URL (as `url.parse` writes it)."""
        path = target(url)
        if path.partition("?")[0] == "/robots.txt":
            return True
        group = self._group(user_agent)
        if self._closed or group is None:
            return not self._closed
        verdicts = [verdict for spelling in _spellings(path) if (verdict := group.verdict(spelling))]
        return not verdicts or max(verdicts).allow

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the Crawl-delay of the site for this robot, in seconds."""
        group = self._group(user_agent)
        return group.delay if group else None

    def _group(self, user_agent: str) -> Group | None:
        return self._groups.get(product_token(user_agent)) or self._groups.get("*")


@lru_cache(maxsize=256)  # a run has few user agents, and asks twice for every page
def product_token(user_agent: str) -> str:
    """Return the product token of a User-Agent by which robots.txt names it, in lower case.

    The token is the first word, or, after a `Mozilla/` that only imitates a browser, the word after `compatible;`.
    """
    posing = _COMPATIBLE.search(user_agent) if user_agent.startswith("Mozilla/") else None
    found = posing[1] if posing else _leading_token(user_agent)
    return found.lower()


def _leading_token(text: str) -> str:
    found = _TOKEN.match(text.lstrip())
    return found[0] if found else ""


def parse(body: bytes) -> Robots:
    """Return the rules in a robots.txt; lines that cannot be read are ignored."""
    reader = _RobotsReader()
    for line in _LINE_END.split(_text(body)):
        field, value = _field(line.partition("#")[0])
        reader.take(field, value)
    return Robots(reader.groups, tuple(dict.fromkeys(reader.sitemaps)))


def _text(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        # Half a line would be another rule: "/a" for "/a/b".
        whole = body[:MAX_BYTES]
        body = whole[: max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1]
    # The standard requires UTF-8; the rules of a file in UTF-16 are obeyed all the same.
    wide = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" in body[2:4]
    return body.decode("utf-16" if wide else "utf-8", "replace")


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        name, _, value = line.strip().partition(" ")  # "Disallow /x" is common enough
    name = _MARKS.sub("", name).strip().lower()
    return _FIELDS.get(name, name), value.strip()


class _RobotsReader:
    """A reader that collects groups line by line."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self.sitemaps: list[str] = []
        self._named: list[Group] = []
        self._in_rules = False

    def take(self, field: str, value: str) -> None:
        """Read one line that was split into its field and value."""
        if field == "user-agent":
            self._name(value)
        elif field in ("allow", "disallow"):
            self._rule(field == "allow", value)
        elif field == "crawl-delay":
            self._delay(value)
        elif field == "sitemap" and value:
            self.sitemaps.append(value)

    def _name(self, value: str) -> None:
        # Only rules end the list of names; a Crawl-delay in between holds for the names before it.
        if self._in_rules:
            self._named, self._in_rules = [], False
        # "*WordPress*" is neither everyone nor a product token.
        token = "*" if value.split(None, 1)[:1] == ["*"] else _leading_token(value).lower()
        if token:
            self._named.append(self.groups.setdefault(token, Group()))

    def _rule(self, allow: bool, pattern: str) -> None:
        self._in_rules = True
        if pattern.startswith(("/", "*")):  # an empty Disallow allows everything; other text matches no path
            for group in self._named:
                group.lines.append((allow, pattern))

    def _delay(self, value: str) -> None:
        try:
            seconds = float(value)
        except ValueError:
            return
        if math.isfinite(seconds) and seconds >= 0:
            for group in self._named:
                group.delay = max(seconds, group.delay or 0.0)


def _is_special(pattern: str) -> bool:
    return "*" in pattern or pattern.endswith("$")


def _rule(allow: bool, pattern: str) -> Rule:
    anchored = pattern.endswith("$")
    body = pattern.removesuffix("$").replace("$", "%24")
    parts = re.sub(r"\*+", "*", body).split("*")
    return Rule(RuleVerdict(len(body) + anchored, allow), tuple(parts), anchored)


def _spellings(path: str) -> set[str]:
    """Return the equivalent spellings of a path: in a query, `:` and `/` may be escaped or plain.

    Star and dollar are always escaped, as a rule must write them to mean the characters themselves.
    """
    written = _canonical(path).replace("*", "%2A").replace("$", "%24")
    before, mark, query = written.partition("?")
    if not query:
        return {written}
    plain = escaped = query
    for escape, character in _QUERY_ESCAPES:
        plain, escaped = plain.replace(escape, character), escaped.replace(character, escape)
    return {written, f"{before}{mark}{plain}", f"{before}{mark}{escaped}"}


def _canonical(path: str) -> str:
    """Return the one spelling of equivalent paths: escapes only where they are needed, and in upper case."""
    return _ESCAPE_OR_OTHER.sub(_rewrite, path.encode("utf-8", "replace")).decode("ascii")


def _rewrite(found: re.Match[bytes]) -> bytes:
    octets = found[0]
    if len(octets) == 1:
        return b"%%%02X" % octets[0]
    value = int(octets[1:], 16)
    return bytes((value,)) if value in _UNRESERVED else octets.upper()
