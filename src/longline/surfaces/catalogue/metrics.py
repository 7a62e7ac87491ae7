"""Metrics of the catalogue API, for `/metrics`."""

from prometheus_client import CollectorRegistry, Gauge

from longline.model.series.series_run import CatalogueFigures


class CatalogueMetrics:
    """Gauges of jobs and sources, in the given registry; they are read at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._jobs = Gauge("longline_catalogue_jobs", "Jobs that have not finished.", ("status",), registry=registry)
        self._stuck = Gauge(
            "longline_catalogue_stuck_jobs", "Jobs that run for over 30 minutes: an alert.", registry=registry
        )
        self._paused = Gauge("longline_catalogue_paused", "Whether queued jobs wait for a resume.", registry=registry)
        self._sources = Gauge(
            "longline_catalogue_sources",
            "Sources with an extension; failing ones are enabled.",
            ("state",),
            registry=registry,
        )

    def set(self, figures: CatalogueFigures, *, is_paused: bool) -> None:
        """Show figures."""
        for status in ("queued", "running"):
            self._jobs.labels(status).set(getattr(figures, status))
        for state in ("enabled", "disabled", "failing"):
            self._sources.labels(state).set(getattr(figures, state))
        self._stuck.set(figures.stuck)
        self._paused.set(is_paused)
