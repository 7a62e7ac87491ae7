"""The export of the metrics of an API process to the OTLP collector.

The module is apart from the other metrics, because it imports the HTTP API, and commands that crawl count as well.
"""

import os
import socket
import time
from urllib.parse import urlsplit

from longline.services.metrics.otlp_export import OtlpExport
from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.platform.metrics_endpoint import Metrics
from longline.surfaces.platform.otlp_metrics import otlp_document
from longline.wiring.platform import Platform, trusting_http


def otlp_export(platform: Platform, metrics: Metrics, counts: Counts) -> OtlpExport | None:
    """Return the export of the metrics to the OTLP collector, if there is one."""
    endpoint = platform.settings.tables.telemetry.otlp_endpoint
    if not endpoint:
        return None
    started = time.time_ns()
    resource = {"service.name": "longline", "service.instance.id": f"{socket.gethostname()}:{os.getpid()}"}

    async def document() -> bytes:
        await metrics.refresh(counts)
        return otlp_document(metrics.registry.collect(), resource, started, time.time_ns())

    http = trusting_http(platform.settings, frozenset({urlsplit(endpoint).hostname or ""}))
    return OtlpExport(http, endpoint, document)
