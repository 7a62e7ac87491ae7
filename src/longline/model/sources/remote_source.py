"""Remote sources: the effect of the sources of a remote source manager on our rows."""

import msgspec

from longline.model.feeds import feed_poll as poll
from longline.model.feeds.feed_poll import FAILURES, SEARCH_INTERVAL_MS, FeedRow
from longline.model.sources.source import RemoteSource, SourceRow
from longline.model.sources.source_uses import SourceUse, with_use

GONE = "gone from the service that keeps it"
"""Reason for disabling a source that its source manager no longer has."""

SYNCED_COLUMNS = (
    "name",
    "base_url",
    "crawl",
    "enabled",
    "disabled_at",
    "disable_reason",
    "feed_wanted",
    "feed_every_ms",
)
"""Fields that the source manager alone sets."""

MAX_FAILURES = 3
"""Failures in one round after which the source manager counts as unavailable."""

MAX_PAGES = 1000
"""Largest number of pages of the list of a source manager."""

MAX_INTERVAL_MINUTES = 525_600
"""Longest interval of a feed's polls: a year."""

MAX_TEXT_CHARS = 500
"""Largest number of characters of an id or a name: a database has to index them."""


def followed(row: SourceRow, said: RemoteSource) -> SourceRow:
    """Return our row of a source with the source manager's values; changes of the feed that are still to be sent stay.

    A source manager that does not know parsers leaves our parser as it is.
    """
    facts = {name: getattr(said, name) for name in (*SYNCED_COLUMNS, "identity_key")}
    if said.names_parser:
        facts |= {"parser": said.parser, "config": said.config}
    if said.feed_listed is not None:
        facts["feed_listed"] = said.feed_listed
    other_feed = said.feed_url not in (None, row.feed_url)
    if other_feed or row.feed_url == row.reported_feed_url:
        facts |= {"feed_url": said.feed_url, "reported_feed_url": said.feed_url}
    if other_feed or row.feed_disabled_at == row.reported_feed_disabled_at:
        since, why = said.feed_disabled_at, said.feed_disable_reason
        facts |= {"feed_disabled_at": since, "reported_feed_disabled_at": since, "feed_disable_reason": why}
    return msgspec.structs.replace(row, uses=with_use(row.uses, SourceUse.INTERVAL), **facts)


def feed_followed(feed: FeedRow, now: int, before: SourceRow, after: SourceRow) -> FeedRow:
    """Return the feed of a source that changed at its source manager."""
    if after.feed_url != before.feed_url:
        # After a feed was removed, no search follows at once: it might find the same feed again.
        return FeedRow(feed.source_id, due_at=now if after.feed_url else now + SEARCH_INTERVAL_MS)
    if before.feed_disabled_at is not None and after.feed_disabled_at is None:
        return poll.enabled(feed, now)
    if after.feed_listed and not before.feed_listed:
        return msgspec.structs.replace(feed, due_at=max(now, feed.next_poll_at or 0))
    if before.feed_disabled_at is None and after.feed_disabled_at is not None:
        rest = FAILURES.get(after.feed_disable_reason or "", FAILURES["forbidden"]).rest_ms
        return msgspec.structs.replace(feed, due_at=max(feed.due_at, after.feed_disabled_at + rest))
    return feed


def withdrawn(row: SourceRow, now: int) -> SourceRow:
    """Return the row of a source that is gone at its source manager: disabled, with nothing to send, its name freed."""
    return msgspec.structs.replace(
        row,
        name=distinct_name(row.name, row.ref),
        enabled=False,
        disabled_at=now,
        disable_reason=GONE,
        reported_feed_url=row.feed_url,
        reported_feed_disabled_at=row.feed_disabled_at,
    )


def distinct_name(name: str, ref: str | None) -> str:
    """Return the name of a source with its ref, for a name that another source has."""
    mark = f" ({ref})"
    return name if name.endswith(mark) else f"{name}{mark}"
