"""Wiring of the export of metrics to an OTLP collector."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from longline.engine.loop_supervisor import chore, run_loops
from longline.services.metrics.otlp_export import EXPORT_INTERVAL_SECONDS, OtlpExport
from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.platform.metrics_endpoint import Metrics
from longline.surfaces.platform.otlp_metrics import otlp_document
from longline.wiring.platform import Platform, trusting_http


@asynccontextmanager
async def exporting(platform: Platform, metrics: Metrics, counts: Counts) -> AsyncIterator[None]:
    """Send the metrics to the OTLP collector, if there is one, while the context lasts, and at its end."""
    endpoint = platform.settings.tables.telemetry.otlp_endpoint
    if not endpoint:
        yield
        return
    started = time.time_ns()
    name = f"{socket.gethostname()}:{os.getpid()}"

    async def document() -> bytes:
        await metrics.refresh(counts)
        resource = {"service.name": "longline", "service.instance.id": name}
        return otlp_document(metrics.registry.collect(), resource, started, time.time_ns())

    http = trusting_http(platform.settings, frozenset({urlsplit(endpoint).hostname or ""}))
    export, stop = OtlpExport(http, endpoint, document), asyncio.Event()
    sending = asyncio.create_task(run_loops({"metrics export": chore(export.once, EXPORT_INTERVAL_SECONDS)}, stop))
    try:
        yield
    finally:
        stop.set()
        await sending
        await export.once()
        await http.close()
