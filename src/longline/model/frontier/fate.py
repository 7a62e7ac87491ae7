"""The fate of every URL of a run: how it ended, and why."""

import msgspec

from longline.model.errors import BadInput
from longline.model.frontier.reasons import FINAL, REFUSED
from longline.model.states import ENDED

OPEN = "open"
"""The fate of a URL that has none yet."""

FATES = (*sorted(ENDED), OPEN)


class UrlFilters(msgspec.Struct, frozen=True):
    """Filters of a list of URLs, which combine; None admits every URL. A `host` without a port stands for all ports."""

    fate: str | None = None
    reason: str | None = None
    host: str | None = None

    def __post_init__(self) -> None:
        if self.fate == "refused":
            raise BadInput("refused URLs are counted in the summary, not listed; a list has admitted URLs only")
        if self.fate is not None and self.fate not in FATES:
            raise BadInput(f"no such fate: {self.fate}; there are {', '.join(FATES)}")
        if self.reason in REFUSED and self.reason not in FINAL:
            raise BadInput(f"{self.reason} URLs are counted in the summary, not listed; a list has admitted URLs only")


class UrlFate(msgspec.Struct, frozen=True):
    """A URL of a run, its fate and the way there.

    `url` is the URL as it was found, `final_url` the URL at the end of its redirects, and `found_on` the page with the
    link, or the URL that redirected here. A URL that was fetched has `fetched_at` if its page is in the archive.
    """

    id: int
    run_id: int
    url: str
    fate: str
    reason: str | None
    status: int | None
    attempts: int
    depth: int
    found_on: str | None
    final_url: str | None
    error: str | None
    found_at: int
    fetched_at: int | None
    ended_at: int | None
