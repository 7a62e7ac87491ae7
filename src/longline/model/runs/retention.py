"""Retention: the ages at which runs, tasks of standing runs, events and visits are deleted."""

from collections.abc import Iterator

import msgspec

from longline.model.duration import DAY_MS
from longline.model.runs.run import RunKind

SERVICE_KINDS = (RunKind.FEED_POLL, RunKind.FEED_SEARCH, RunKind.SITEMAP, RunKind.CANDIDATE_PROBE)
"""Kinds of runs that the platform makes for itself."""

HANDLED_MESSAGES_MS = 7 * DAY_MS
"""Age at which the ids of handled messages of other services are deleted: a later repeat counts as a new message."""

DECISIONS_MS = 30 * DAY_MS
"""Age at which decisions about candidates are deleted."""

BODY_GRACE_MS = DAY_MS
"""Milliseconds for which a body outlives its last reference: a worker may still report a page with this body."""


class RetentionAges(msgspec.Struct, frozen=True, kw_only=True):
    """Ages in milliseconds after the end of a run or task, the event or the visit; 0 keeps the rows for ever.

    `max_scheduled` is the number of runs that each schedule keeps.
    """

    crawls_ms: int
    scheduled_ms: int
    service_ms: int
    standing_ms: int
    bots_ms: int
    events_ms: int
    visits_ms: int
    max_scheduled: int = 100

    def of_runs(self) -> Iterator[tuple[RunKind, bool, int]]:
        """Yield each kind of run that is deleted, whether its runs are those of schedules, and their age."""
        for kind in RunKind:
            if kind.standing or kind in (RunKind.REPAIR, RunKind.MANIFEST):
                # The pages of a repair replace damaged ones of other runs; manifests are pruned by rules of their own.
                continue
            plain_ms = self.service_ms if kind in SERVICE_KINDS else self.crawls_ms
            for scheduled, age_ms in ((False, plain_ms), (True, self.scheduled_ms)):
                if age_ms:
                    yield kind, scheduled, age_ms


class RunUses(msgspec.Struct, frozen=True):
    """Facts about a run that speak against its deletion."""

    standing: bool
    state: str
    deleted_at: int | None
    in_schedule: bool
    unread: bool
    in_effect: bool
    undelivered: bool = False

    def refusal(self, *, forced: bool = False) -> str | None:
        """Return why the run must not be deleted now; `forced` deletes items that no sink has got."""
        if self.standing:
            return "it is a standing run, which has no end; its old tasks are deleted by `retention_standing`"
        if self.state in ("queued", "running"):
            return f"it is {self.state}; stop it first"
        if self.in_schedule:
            return "its schedule has not taken note of its end yet; try again later"
        if self.unread or self.in_effect:
            return "its result has not been read yet; try again later"
        if self.undelivered and not forced:
            return "a sink has not got all its items yet; wait for the delivery, or delete with --force"
        return None
