"""Candidates: sites that pages of sources link to and that may become sources."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from longline.model.urls.url import Url, parse, target

Verdict = Literal["new", "pending", "approved", "rejected"]
"""States of a candidate: not probed yet, waiting for a person, or decided by a person."""

TENANTS = {"substack.com": "substack", "medium.com": "medium"}
"""Sites on which each tenant is a candidate of its own, at a subdomain of the site."""

_ADDRESS = re.compile(r"[\d.]+$|\[")
_PERSON = re.compile(r"/(@[^/?#]+)")
_MAX_LABELS = 3
_LONG_NAME_CHARACTERS = 40
_MAX_RISK = 100


class LinkSighting(msgspec.Struct, frozen=True):
    """A link to a site that is no source, with the page, the source and the run that it was found in."""

    identity: str
    home: str
    url: str
    parent_url: str
    run_id: int
    source: str


class Decision(msgspec.Struct, frozen=True):
    """A decision about a link: the step, and the reason."""

    identity: str
    url: str
    step: str
    reason: str
    run_id: int | None = None


class ProbeResult(msgspec.Struct, frozen=True):
    """The result of a first fetch of a candidate; `reason` is the outcome of the fetch."""

    reason: str
    status: int | None = None
    title: str = ""
    feed_url: str | None = None

    @property
    def robots(self) -> bool:
        """Return whether robots.txt allows the fetch."""
        return self.reason != "robots"


class CandidateRow(LinkSighting, frozen=True, kw_only=True):
    """A candidate as stored; `look_id` is the run that probes it, `source_id` the source that was made of it."""

    id: int
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
    """The operator's rules for candidates; a text of a list matches every URL that contains it, and 0 is no cap."""

    allow: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    per_day: int = 0
    per_run: int = 0

    def refusal(self, url: str) -> str | None:
        """Return the reason why a link is not followed up, or None."""
        if any(text in url for text in self.block):
            return "blocked"
        return "not allowed" if self.allow and not any(text in url for text in self.allow) else None


class PlaceFindings(msgspec.Struct, frozen=True):
    """Places that pages link to: decisions to note, and sightings that become candidates within the rules."""

    decisions: Sequence[Decision]
    sightings: Sequence[LinkSighting]
    rules: DiscoveryRules


def identity_of(url: Url) -> str:
    """Return the identity of a candidate: its host, or its tenant on a site of many tenants."""
    name = url.hostname.removeprefix("www.")
    person = _PERSON.match(target(url.href))
    if name == "medium.com" and person:
        return f"medium:{person[1]}"
    tenant, _, site = name.partition(".")
    return f"{TENANTS[site]}:{tenant}" if site in TENANTS else name


def home_of(url: Url) -> str:
    """Return the start page of a candidate."""
    person = _PERSON.match(target(url.href)) if identity_of(url).startswith("medium:@") else None
    return f"{url.scheme}://{url.host}/{person[1] if person else ''}"


def risk_of(home: str, glimpse: ProbeResult) -> int:
    """Return the risk of a candidate, from 0 to 100, by its name and by the result of its probe."""
    url = parse(home)
    name = url.hostname
    points = {
        40: bool(_ADDRESS.match(name)),
        30: not glimpse.robots,
        25: glimpse.robots and glimpse.status != 200,
        20: url.scheme != "https",
        15: "xn--" in name,
        10: name.count(".") > _MAX_LABELS or name.count("-") > 1 or len(name) > _LONG_NAME_CHARACTERS,
        5: not glimpse.title,
    }
    return min(sum(worth for worth, true in points.items() if true), _MAX_RISK)
