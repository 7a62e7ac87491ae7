"""Candidates: places that pages of sources lead to, and that may become sources themselves."""

import re
from typing import Literal

import msgspec

from longline.model.url import Url, parse, target

Verdict = Literal["new", "pending", "approved", "rejected"]
"""Where a candidate stands: nobody has looked at it, it waits for a person, or a person has decided."""

TENANTS = {"substack.com": "substack", "medium.com": "medium"}
"""Sites on which each tenant is a place of its own, at a name below the site's."""

_ADDRESS = re.compile(r"[\d.]+$|\[")
_PERSON = re.compile(r"/(@[^/?#]+)")
_MOST_LABELS = 3
_LONG_NAME = 40
_WORST = 100


class LinkSighting(msgspec.Struct, frozen=True):
    """A link to a place that is no source: whose page it was on, and in which run."""

    identity: str
    home: str
    url: str
    parent_url: str
    run_id: int
    source: str


class Decision(msgspec.Struct, frozen=True):
    """What was decided about a link, at which step, and why."""

    identity: str
    url: str
    step: str
    reason: str
    run_id: int | None = None


class ProbeResult(msgspec.Struct, frozen=True):
    """What a first look at a place found; `reason` is how the look ended."""

    reason: str
    status: int | None = None
    title: str = ""
    feed_url: str | None = None

    @property
    def robots(self) -> bool:
        """Whether the place allows us to look."""
        return self.reason != "robots"


class CandidateRow(msgspec.Struct, frozen=True):
    """A candidate as stored; `look_id` is the run that looks at it, `source_id` what it became."""

    id: int
    identity: str
    home: str
    url: str
    parent_url: str
    run_id: int
    source: str
    verdict: Verdict
    seen: int
    created_at: int
    updated_at: int
    look_id: int | None = None
    risk: int | None = None
    robots: bool | None = None
    title: str = ""
    feed_url: str | None = None
    source_id: int | None = None


class DiscoveryRules(msgspec.Struct, frozen=True):
    """What the operator says of candidates; a text of a list fits every URL that it is found in, and 0 is no cap."""

    allow: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    per_day: int = 0
    per_run: int = 0

    def refusal(self, url: str) -> str | None:
        """Why a link is not followed up, or None."""
        if any(text in url for text in self.block):
            return "blocked"
        return "not allowed" if self.allow and not any(text in url for text in self.allow) else None


def identity_of(url: Url) -> str:
    """What a place is known by: its host, or its tenant on a site of many."""
    name = url.hostname.removeprefix("www.")
    person = _PERSON.match(target(url.href))
    if name == "medium.com" and person:
        return f"medium:{person[1]}"
    tenant, _, site = name.partition(".")
    return f"{TENANTS[site]}:{tenant}" if site in TENANTS else name


def home_of(url: Url) -> str:
    """Where a place begins."""
    person = _PERSON.match(target(url.href)) if identity_of(url).startswith("medium:@") else None
    return f"{url.scheme}://{url.host}/{person[1] if person else ''}"


def risk_of(home: str, glimpse: ProbeResult) -> int:
    """How doubtful a place is, from 0 to 100: by its name, and by what a first look found."""
    url = parse(home)
    name = url.hostname
    points = {
        40: bool(_ADDRESS.match(name)),
        30: not glimpse.robots,
        25: glimpse.robots and glimpse.status != 200,
        20: url.scheme != "https",
        15: "xn--" in name,
        10: name.count(".") > _MOST_LABELS or name.count("-") > 1 or len(name) > _LONG_NAME,
        5: not glimpse.title,
    }
    return min(sum(worth for worth, true in points.items() if true), _WORST)
