"""Prometheus metrics of jobs, executions, the frontier and pages."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from longline.model.runs.run import RunTotals
from longline.services.frontier.standing_frontier import StandingFrontier
from longline.services.schedules.run_history import Runs
from longline.surfaces.intervals.frontier_responses import REST_WORDS

COUNTED = {
    "type": ("longline_pages", "Pages that were read, by what they are."),
    "method": ("longline_extractions", "Pages that were read, by how their text was found."),
    "skipped": ("longline_pages_skipped", "Pages that were read and not indexed, by reason."),
}
"""Counters of pages: label, metric name and help text."""


class Snapshot(NamedTuple):
    """Figures of one point in time."""

    states: Mapping[str, int]
    record: RunTotals
    urls: Mapping[str, int]
    pages: Mapping[str, int]


class IntervalMetrics(Collector):
    """A collector that takes one snapshot for each scrape; without a fresh snapshot it exports nothing."""

    def __init__(self, runs: Runs, urls: StandingFrontier | None, registry: CollectorRegistry) -> None:
        self._runs, self._urls = runs, urls
        self._stock: Snapshot | None = None
        registry.register(self)

    async def refresh(self) -> None:
        """Take a snapshot."""
        figures, pages = await self._runs.figures(), await self._runs.pages()
        urls = {} if self._urls is None else await self._urls.counts()
        worded: dict[str, int] = {word: urls.get(rest, 0) for rest, word in REST_WORDS.items()}
        self._stock = Snapshot(figures.states, figures.record, worded, pages)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the snapshot, and drop the snapshot."""
        stock, self._stock = self._stock, None
        if stock is None:
            return
        ended = {state: getattr(stock.record, state) for state in ("completed", "failed", "cancelled")}
        yield _gauges("longline_jobs", "Jobs.", "status", stock.states)
        yield _gauges("longline_executions", "Executions that have ended and are remembered.", "status", ended)
        mean = GaugeMetricFamily("longline_execution_duration_seconds", "How long an execution takes on average.")
        mean.add_metric([], (stock.record.average_ms or 0) / 1000)
        yield mean
        yield _gauges("longline_frontier_urls", "URLs of the frontier.", "status", stock.urls)
        for label, (name, sentence) in COUNTED.items():
            family = CounterMetricFamily(name, sentence, labels=[label])
            for value, count in sorted(_of(stock.pages, label).items()):
                family.add_metric([value], count)
            yield family
        yield _words(_of(stock.pages, "words"))


def _gauges(name: str, sentence: str, label: str, found: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, sentence, labels=[label])
    for value, count in found.items():
        family.add_metric([value], count)
    return family


def _of(pages: Mapping[str, int], noun: str) -> dict[str, int]:
    return {name.removeprefix(f"{noun}."): count for name, count in pages.items() if name.startswith(f"{noun}.")}


def _words(sizes: Mapping[str, int]) -> Metric:
    """Return the histogram of word counts; `sizes` has a count for each limit and one above the last."""
    below = sorted((int(name[1:]), count) for name, count in sizes.items() if name.startswith("<"))
    buckets, total = [], 0
    for limit, count in below:
        total += count
        buckets.append((str(float(limit)), total))
    buckets.append(("+Inf", sum(sizes.values())))
    family = HistogramMetricFamily("longline_page_words", "How many words pages have.")
    family.add_metric([], buckets=buckets, sum_value=None)
    return family
