"""Robots directives of a page: its `meta` elements for robots, and X-Robots-Tag headers."""

import re
from collections.abc import Iterable

AGENTS = frozenset(("robots", "longline"))
"""User agents in `meta` and in X-Robots-Tag that address the crawler."""

_WORDS = re.compile(r"[\s;]+")
_AGENT = re.compile(r"\s*([a-z][\w.-]*)\s*:", re.IGNORECASE)
_DIRECTIVES_WITH_VALUE = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


class RobotsMeta(frozenset[str]):
    """Robots directives, in lower case words such as `noindex`."""

    @property
    def follow(self) -> bool:
        """Return whether links may be followed."""
        return self.isdisjoint(("nofollow", "none"))

    @property
    def noindex(self) -> bool:
        """Return whether the page must not be indexed."""
        return not self.isdisjoint(("noindex", "none"))


def header_directives(values: Iterable[str]) -> frozenset[str]:
    """Return the words of X-Robots-Tag headers that apply to the crawler."""
    found: set[str] = set()
    for value in values:
        agent = _AGENT.match(value)
        if agent is None or agent[1].lower() in _DIRECTIVES_WITH_VALUE:
            found.update(directives(value))
        elif agent[1].lower() in AGENTS:
            found.update(directives(value[agent.end() :]))
    return frozenset(found)


def directives(text: str) -> list[str]:
    """Return the directives in the content of a robots `meta`, in lower case."""
    parts = (part.strip().lower() for part in text.split(","))
    # Some pages omit the commas; a part with a colon has a value, which may contain spaces.
    return [word for part in parts for word in ((part,) if ":" in part else _WORDS.split(part))]
