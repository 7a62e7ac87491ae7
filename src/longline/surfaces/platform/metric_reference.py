"""Every metric of the platform, for the reference and the dashboard."""

from longline.model.metrics.metric import COUNTED, Metric
from longline.surfaces.platform.platform_metrics import GAUGES, SINKS

_HTTP = (
    Metric("longline_http_requests", "counter", "Requests answered.", ("method", "route", "status")),
    Metric("longline_http_request_duration_seconds", "histogram", "Time to answer.", ("method", "route")),
)

_RECORDS = (
    Metric("longline_records_up", "gauge", "Whether the records could be counted just now."),
    Metric("longline_tasks", "gauge", "Tasks, open or ended.", ("state",)),
    Metric("longline_runs", "gauge", "Runs.", ("state",)),
)

_LOOP = (
    Metric("longline_loop_lag_seconds", "histogram", "By how much the event loop came too late."),
    Metric("longline_loop_block_seconds", "histogram", "Delays of the event loop less their run delay."),
    Metric("longline_loop_longest_lag_seconds", "gauge", "The longest delay of the last minutes."),
    Metric("longline_loop_longest_block_seconds", "gauge", "The longest delay of the last minutes less its run delay."),
    Metric(
        "longline_loop_run_delay_seconds",
        "counter",
        "Time for which the thread of the event loop was ready and the operating system ran other threads.",
    ),
)

_INTERVALS = (
    Metric("longline_jobs", "gauge", "Jobs.", ("status",)),
    Metric("longline_executions", "gauge", "Executions that have ended and are remembered.", ("status",)),
    Metric("longline_execution_duration_seconds", "gauge", "How long an execution takes on average."),
    Metric("longline_frontier_urls", "gauge", "URLs of the frontier.", ("status",)),
    Metric("longline_pages", "counter", "Pages that were read, by what they are.", ("type",)),
    Metric("longline_extractions", "counter", "Pages that were read, by how their text was found.", ("method",)),
    Metric("longline_pages_skipped", "counter", "Pages that were read and not indexed, by reason.", ("skipped",)),
    Metric("longline_page_words", "histogram", "How many words pages have."),
)

_BOTS = (
    Metric("crawl_jobs_pulled", "counter", "Jobs handed out.", ("bot",)),
    Metric("crawl_pull_skipped", "counter", "Jobs seen under other bots' locks."),
    Metric("crawl_lock_expired", "counter", "Locks that lapsed and were handed on."),
    Metric("crawl_submits", "counter", "Submits answered.", ("bot", "outcome")),
    Metric("crawl_submit_seconds", "histogram", "Time to answer a submit."),
    Metric("crawl_jobs", "gauge", "Jobs there are.", ("status",)),
)

_MANIFESTS = (
    Metric("fetchbox_api_requests", "counter", "Requests to the API.", ("status", "route")),
    Metric("fetchbox_operator_requests", "counter", "Requests of operators."),
    Metric("fetchbox_ingest_jobs", "counter", "Manifests, by their answer.", ("result",)),
    Metric("fetchbox_ingest_bytes", "counter", "Bytes of manifests, decompressed."),
    Metric("fetchbox_ingest_duration_seconds", "histogram", "Time to answer a manifest."),
    Metric("fetchbox_ledger_pruned_jobs", "counter", "Jobs that were pruned."),
    Metric("fetchbox_worker_dlq", "counter", "Tasks that were given up."),
    Metric("fetchbox_worker_tasks_inflight", "gauge", "Tasks that the scraped process downloads."),
    Metric("fetchbox_worker_download_latency_seconds", "histogram", "Time of an attempt to download a resource."),
    Metric("fetchbox_worker_download_failures", "counter", "Attempts to download that failed.", ("code",)),
    Metric("fetchbox_worker_storage_failures", "counter", "Attempts to store that failed.", ("code",)),
    Metric("fetchbox_proxy_failures", "counter", "Requests that a proxy failed.", ("pool",)),
    Metric("service_ready", "gauge", "Whether a service can work.", ("service",)),
)

_PRODUCTS = (Metric("longline_product_tasks", "gauge", "Tasks there are.", ("status",)),)

_CATALOGUE = (
    Metric("longline_catalogue_jobs", "gauge", "Jobs that have not finished.", ("status",)),
    Metric("longline_catalogue_stuck_jobs", "gauge", "Jobs that run for over 30 minutes: an alert."),
    Metric("longline_catalogue_paused", "gauge", "Whether queued jobs wait for a resume."),
    Metric("longline_catalogue_sources", "gauge", "Sources with an extension; failing ones are enabled.", ("state",)),
)

_PROCESS = (
    Metric("longline_build", "gauge", "What is running.", ("version",)),
    Metric("process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes."),
    Metric("process_resident_memory_bytes", "gauge", "Resident memory size in bytes."),
    Metric("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds."),
    Metric("process_cpu_seconds", "counter", "Total user and system CPU time spent in seconds."),
    Metric("process_open_fds", "gauge", "Number of open file descriptors."),
    Metric("process_max_fds", "gauge", "Maximum number of open file descriptors."),
    Metric("python_info", "gauge", "Python platform information", ("implementation", "major", "minor", "version")),
    Metric("python_gc_objects_collected", "counter", "Objects collected during gc", ("generation",)),
    Metric("python_gc_objects_uncollectable", "counter", "Uncollectable objects found during GC", ("generation",)),
    Metric("python_gc_collections", "counter", "Number of times this generation was collected", ("generation",)),
)

METRIC_TABLE = {
    "Work of all processes": COUNTED,
    "Queue, workers, disk and database": GAUGES,
    "Sinks": SINKS,
    "Tasks and runs": _RECORDS,
    "Event loop of the scraped process": _LOOP,
    "HTTP requests to the scraped process": _HTTP,
    "Jobs and pages": _INTERVALS,
    "Bots": _BOTS,
    "Manifests": _MANIFESTS,
    "Product tasks": _PRODUCTS,
    "Catalogues": _CATALOGUE,
    "The scraped process": _PROCESS,
}
"""Metrics by subject; a test compares them with a scrape."""
