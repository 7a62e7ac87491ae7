"""The Grafana dashboard, made from the metrics by `make dashboard`."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from longline.model.metrics import metric as counted
from longline.model.metrics.metric import Metric
from longline.surfaces.platform import platform_metrics as gauges

COLUMNS, WIDTH, HEIGHT = 24, 8, 8
"""Columns of Grafana's grid, and the size of a panel in it."""

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(NamedTuple):
    """A graph: its title, Grafana's name of its unit, and its queries with their legends."""

    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]


def _rate(metric: Metric, by: str = "") -> str:
    """Return the query of events per second, by a label. All servers show the same counters: one of them is enough."""
    series = f"max without (instance) (rate({metric.name}_total[$__rate_interval]))"
    return f"sum by ({by}) ({series})" if by else f"sum({series})"


def _quantile(metric: Metric, share: float, by: str = "") -> str:
    series = f"max without (instance) (rate({metric.name}_bucket[$__rate_interval]))"
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) ({series}))"


def _times(metric: Metric, by: str = "") -> tuple[tuple[str, str], ...]:
    prefix = f"{{{{{by}}}}} " if by else ""
    return tuple((_quantile(metric, share, by), f"{prefix}p{share * 100:.0f}") for share in (0.5, 0.95, 0.99))


def _gauge(metric: Metric) -> str:
    return f"max without (instance) ({metric.name})"


PANELS = (
    Panel("Fetches by status class", "reqps", ((_rate(counted.FETCHES, "status"), "{{status}}"),)),
    Panel("Fetches by reason", "reqps", ((_rate(counted.FETCHES, "reason"), "{{reason}}"),)),
    Panel("Fetches by host group", "reqps", ((_rate(counted.FETCHES, "group"), "{{group}}"),)),
    Panel("Fetch time", "s", _times(counted.FETCH_SECONDS)),
    Panel("Bytes fetched", "Bps", ((_rate(counted.FETCH_BYTES, "group"), "{{group}}"),)),
    Panel("Pages archived", "ops", ((_rate(counted.ARCHIVED_PAGES), "pages"),)),
    Panel("Outcomes of tasks", "ops", ((_rate(counted.OUTCOMES, "state"), "{{state}}"),)),
    Panel("Time of downloads", "s", _times(counted.DOWNLOAD_SECONDS)),
    Panel("Failed attempts to download", "ops", ((_rate(counted.DOWNLOAD_FAILURES, "reason"), "{{reason}}"),)),
    Panel("Downloads given up", "ops", ((_rate(counted.DOWNLOADS_GIVEN_UP), "files"),)),
    Panel("Failures of proxies", "ops", ((_rate(counted.PROXY_FAILURES, "pool"), "{{pool}}"),)),
    Panel("Open tasks", "short", (('max without (instance) (longline_tasks{state="open"})', "open"),)),
    Panel("Hosts", "short", ((_gauge(gauges.HOSTS), "{{state}}"),)),
    Panel("Oldest due host", "s", ((_gauge(gauges.OLDEST), "ready for"),)),
    Panel("Leases lost", "ops", ((_rate(counted.LEASES_LOST), "leases"),)),
    Panel("Workers alive", "short", ((_gauge(gauges.WORKERS), "{{role}}"),)),
    Panel("Parse time", "s", _times(counted.PARSE_SECONDS)),
    Panel("Tasks that wait for a parser or a bot", "short", ((_gauge(gauges.OFFERS), "{{executor}}"),)),
    Panel("Database time", "s", _times(counted.DATABASE_SECONDS, "access")),
    Panel("Database connections", "short", ((gauges.CONNECTIONS.name, "{{instance}} {{state}}"),)),
    Panel("Items not indexed yet", "short", ((_gauge(gauges.UNINDEXED), "items"),)),
    Panel("Items that wait for a sink", "short", ((_gauge(gauges.SINK_WAITING), "{{sink}}"),)),
    Panel("Items delivered to sinks", "ops", ((_rate(gauges.SINK_DELIVERED, "sink"), "{{sink}}"),)),
    Panel("Failures of sinks since their last delivery", "short", ((_gauge(gauges.SINK_FAILURES), "{{sink}}"),)),
    Panel("Manifests pruned", "ops", ((_rate(counted.MANIFESTS_PRUNED), "manifests"),)),
    Panel("Tasks of products", "short", (("max without (instance) (longline_product_tasks)", "{{status}}"),)),
    Panel("Open runs of catalogues", "short", (("max without (instance) (longline_catalogue_jobs)", "{{status}}"),)),
    Panel("Sources of catalogues", "short", (("max without (instance) (longline_catalogue_sources)", "{{state}}"),)),
    Panel("Webhooks", "ops", ((_rate(counted.WEBHOOKS, "state"), "{{state}}"),)),
    Panel("Free disk", "bytes", ((gauges.FREE_DISK.name, "{{instance}}"),)),
    Panel("Event loop: longest lag", "s", (("longline_loop_longest_lag_seconds", "{{instance}}"),)),
    Panel("Runs", "short", (("max without (instance) (longline_runs)", "{{state}}"),)),
    Panel(
        "HTTP requests",
        "reqps",
        (("sum by (status) (rate(longline_http_requests_total[$__rate_interval]))", "{{status}}"),),
    ),
)
"""The panels, in the order of the dashboard."""


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it."""
    return {
        "title": "Longline",
        "uid": "longline",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "tags": ["longline"],
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, COLUMNS // WIDTH)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": query, "legendFormat": legend}
            for place, (query, legend) in enumerate(panel.queries)
        ],
    }


def write(path: Path) -> None:
    """Write the dashboard into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dashboard(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
