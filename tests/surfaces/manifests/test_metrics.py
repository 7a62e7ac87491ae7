"""The contract's metrics, on the server's address and on an address of their own."""

import socket
import time
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.servers.proxies import running_proxy
from tests.surfaces.manifests.origin import Origin
from tests.surfaces.manifests.running import PATIENCE, running_box

NAMES = {
    "fetchbox_api_requests_total",
    "fetchbox_ingest_jobs_total",
    "fetchbox_ingest_bytes_total",
    "fetchbox_ingest_duration_seconds_count",
    "fetchbox_operator_requests_total",
    "fetchbox_worker_tasks_inflight",
    "fetchbox_worker_download_latency_seconds_count",
    "fetchbox_worker_download_failures_total",
    "fetchbox_worker_storage_failures_total",
    "fetchbox_worker_dlq_total",
    "fetchbox_proxy_failures_total",
    "fetchbox_ledger_pruned_jobs_total",
    "service_ready",
}


def scraped(url: str) -> dict[tuple[str, ...], float]:
    """Return samples by their names and the values of their labels, in the order of the labels' names."""
    families = text_string_to_metric_families(httpx.get(url, timeout=30).raise_for_status().text)
    return {(s.name, *(s.labels[name] for name in sorted(s.labels))): s.value for f in families for s in f.samples}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_every_metric_of_the_contract_is_counted(tmp_path: Path, origin: Origin):
    port = free_port()
    with running_proxy() as dead:
        dead.die()
        more = f"""
[telemetry]
metrics_addr = "127.0.0.1:{port}"
[job_types.proxied.proxy]
primary = "gone"
[proxy.pools.gone]
primary = ["{dead.uri}"]
retry_backoff_ms = 10
max_retries = 0
"""
        with running_box(tmp_path, origin, more=more) as box:
            box.ended(box.submit("/metrics/a", "/status/404/metrics", "/status/503/metrics"))
            box.ended(box.submit("/metrics/b", kind="proxied"))
            (tmp_path / "objects/resources/other").mkdir(parents=True)
            blocked = box.submit("/gate/metrics", kind="other")
            (tmp_path / f"objects/resources/other/{blocked}").write_text("no folder")
            origin.gate.set()
            assert box.ended(blocked)["last_error"]["code"] == "UPLOAD_S3_ERROR"
            box.post(b"{")
            deadline, url = time.monotonic() + PATIENCE, f"http://127.0.0.1:{port}/metrics"
            while (found := scraped(url)).get(("fetchbox_worker_dlq_total",)) != 4:
                assert time.monotonic() < deadline, found
                time.sleep(0.2)
            assert {key[0] for key in found} >= NAMES
            assert found["fetchbox_ingest_jobs_total", "accepted"] == 3
            assert found["fetchbox_ingest_jobs_total", "invalid_payload"] == 1
            assert found["fetchbox_api_requests_total", "/jobs", "202"] == 3
            assert found["fetchbox_api_requests_total", "/jobs", "400"] == 1
            assert found[("fetchbox_operator_requests_total",)] >= 3
            assert found["fetchbox_worker_download_failures_total", "DOWNLOAD_HTTP_4XX"] == 1
            assert found["fetchbox_worker_download_failures_total", "DOWNLOAD_HTTP_5XX"] == 3
            assert found["fetchbox_worker_storage_failures_total", "UPLOAD_S3_ERROR"] >= 1
            assert found["fetchbox_proxy_failures_total", "gone"] >= 1
            assert found[("fetchbox_worker_tasks_inflight",)] == 0
            assert found[("fetchbox_worker_download_latency_seconds_count",)] >= 6
            assert scraped(f"{box.client.base_url}/metrics").keys() >= {("fetchbox_worker_dlq_total",)}
            assert httpx.get(f"http://127.0.0.1:{port}/jobs").status_code == 404
