"""A curator is another service that keeps sources: what becomes of ours by what it says of them."""

import msgspec

from longline.model.feeds import feed_poll as poll
from longline.model.feeds.feed_poll import FAILURES, SEARCH_AGAIN, FeedRow
from longline.model.sources.source import RemoteSource, SourceRow

GONE = "gone from the service that keeps it"
"""Why a source is disabled that its curator no longer has."""

PLAIN = ("name", "base_url", "crawl", "enabled", "disabled_at", "disable_reason", "feed_wanted", "feed_every_ms")
"""What is the curator's to say alone."""


def followed(row: SourceRow, said: RemoteSource) -> SourceRow:
    """Our row of a source as its curator has it; only what the curator is still to be told stays as it is here."""
    facts = {name: getattr(said, name) for name in (*PLAIN, "identity_key")}
    if said.feed_listed is not None:
        facts["feed_listed"] = said.feed_listed
    other_feed = said.feed_url not in (None, row.feed_url)
    if other_feed or row.feed_url == row.told_feed_url:
        facts |= {"feed_url": said.feed_url, "told_feed_url": said.feed_url}
    if other_feed or row.feed_disabled_at == row.told_feed_disabled_at:
        since, why = said.feed_disabled_at, said.feed_disable_reason
        facts |= {"feed_disabled_at": since, "told_feed_disabled_at": since, "feed_disable_reason": why}
    return msgspec.structs.replace(row, **facts)


def feed_followed(feed: FeedRow, now: int, before: SourceRow, after: SourceRow) -> FeedRow:
    """The feed of a source that changed at its curator."""
    if after.feed_url != before.feed_url:
        # A feed that was taken away is not searched at once: it may be the one that was found last.
        return FeedRow(feed.source_id, due_at=now if after.feed_url else now + SEARCH_AGAIN)
    if before.feed_disabled_at is not None and after.feed_disabled_at is None:
        return poll.enabled(feed, now)
    if after.feed_listed and not before.feed_listed:
        return msgspec.structs.replace(feed, due_at=max(now, feed.next_poll_at or 0))
    if before.feed_disabled_at is None and after.feed_disabled_at is not None:
        rest = FAILURES.get(after.feed_disable_reason or "", FAILURES["forbidden"]).rest_ms
        return msgspec.structs.replace(feed, due_at=max(feed.due_at, after.feed_disabled_at + rest))
    return feed


def withdrawn(row: SourceRow, now: int) -> SourceRow:
    """The source that its curator no longer has: it rests, tells nothing, and leaves its name to others."""
    return msgspec.structs.replace(
        row,
        name=apart(row.name, row.ref),
        enabled=False,
        disabled_at=now,
        disable_reason=GONE,
        told_feed_url=row.feed_url,
        told_feed_disabled_at=row.feed_disabled_at,
    )


def apart(name: str, ref: str | None) -> str:
    """The name of a source where another one has its own."""
    mark = f" ({ref})"
    return name if name.endswith(mark) else f"{name}{mark}"
