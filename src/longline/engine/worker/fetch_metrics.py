"""Metrics of reported tasks: requests, bytes, times, outcomes and archived pages."""

from collections import Counter
from collections.abc import Sequence

from longline.engine.metrics import MetricCounters
from longline.engine.worker.finished_task import Finished
from longline.model.frontier.reasons import OK
from longline.model.metrics.metric import (
    ARCHIVED_PAGES,
    DOWNLOAD_FAILURES,
    DOWNLOAD_SECONDS,
    DOWNLOADS_GIVEN_UP,
    FETCH_BYTES,
    FETCH_SECONDS,
    FETCHES,
    OUTCOMES,
    host_group,
    status_class,
)
from longline.model.states import TaskState


class FetchMetrics:
    """An observer of reports that counts their requests and pages; hosts are grouped by the operator's domains."""

    def __init__(self, counters: MetricCounters, domains: frozenset[str]) -> None:
        self._counters, self._domains = counters, domains

    async def save(self, pages: Sequence[Finished]) -> None:
        """Count reported tasks."""
        # Counted by host and status first: the pages of a report share a few of them.
        fetches = Counter[tuple[str, int | None, str]]()
        received = Counter[str]()
        for page in pages:
            host = page.host.lease.host
            if page.download is not None:
                self._count_file(page)
            for request in page.requests:
                fetches[host, request.status, request.reason] += 1
                received[host] += request.bytes
                if request.status is not None:
                    self._counters.observe(FETCH_SECONDS, request.ms / 1000)
        for state, count in Counter([page.rest.value for page in pages]).items():
            self._counters.add(OUTCOMES, state, count=count)
        self._counters.add(ARCHIVED_PAGES, count=sum(page.page is not None for page in pages))
        for (host, status, reason), count in fetches.items():
            self._counters.add(FETCHES, status_class(status), reason, self._group(host), count=count)
        for host, count in received.items():
            self._counters.add(FETCH_BYTES, self._group(host), count=count)

    def _count_file(self, page: Finished) -> None:
        """Count an attempt to download a file; a redirect to another host is a part of it."""
        if page.download is None or page.fetched.redirected_to is not None:
            return
        self._counters.observe(DOWNLOAD_SECONDS, page.download.ms / 1000)
        if page.fetched.reason != OK:
            self._counters.add(DOWNLOAD_FAILURES, page.fetched.reason)
        if page.rest == TaskState.FAILED:
            self._counters.add(DOWNLOADS_GIVEN_UP)

    def _group(self, host: str) -> str:
        return host_group(host, self._domains)
