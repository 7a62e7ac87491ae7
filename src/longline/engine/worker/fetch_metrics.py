"""Metrics of reported tasks: requests, bytes, times, outcomes and archived pages."""

from collections.abc import Sequence

from longline.engine.metrics import MetricCounters
from longline.engine.worker.reporter import Finished
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
        for page in pages:
            self._count(page)

    def _count(self, page: Finished) -> None:
        counters, group = self._counters, host_group(page.host.lease.host, self._domains)
        counters.add(OUTCOMES, page.rest.value)
        if page.page is not None:
            counters.add(ARCHIVED_PAGES)
        if page.download is not None:
            self._count_file(page)
        for request in page.fetched.asked:
            counters.add(FETCHES, status_class(request.status), request.reason, group)
            counters.add(FETCH_BYTES, group, count=request.bytes)
            if request.status is not None:
                counters.observe(FETCH_SECONDS, request.ms / 1000)

    def _count_file(self, page: Finished) -> None:
        """Count an attempt to download a file; a redirect to another host is a part of it."""
        if page.download is None or page.fetched.redirected_to is not None:
            return
        self._counters.observe(DOWNLOAD_SECONDS, page.download.ms / 1000)
        if page.fetched.reason != OK:
            self._counters.add(DOWNLOAD_FAILURES, page.fetched.reason)
        if page.rest == TaskState.FAILED:
            self._counters.add(DOWNLOADS_GIVEN_UP)
