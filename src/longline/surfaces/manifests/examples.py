"""Examples of the manifest contract, as its specification writes them."""

from longline.surfaces.manifests.manifest_requests import ManifestBody, ResourceBody
from longline.surfaces.manifests.responses import (
    AcceptedBody,
    DeadLetterBody,
    DeadTask,
    LastError,
    LogCursor,
    SnapshotBody,
)

_JOB = "01890a5d-ac96-774b-bcce-b302099a8057"
_KEY = f"s3://fetchbox/manifests/gallery/{_JOB}/metadata.json"

MANIFEST = ManifestBody(
    manifest_version="v1",
    metadata={"...": "arbitrary structured metadata persisted as canonical metadata.json"},
    resources=[
        ResourceBody(
            id="resource_name_01",
            url="https://cdn.example.com/image.jpg",
            headers={"Referer": "https://example.com/page.html", "User-Agent": "Crawler/1.0"},
            tags={"content_type": "image/jpeg", "checksum_hint": "sha256:deadbeef"},
        )
    ],
    attributes={
        "tenant": "crawler-a",
        "crawl_id": "847458834325543643",
        "crawled_at": "2024-05-01T10:00Z",
        "priority": "normal",
    },
)

ACCEPTED = AcceptedBody(_JOB, _KEY, 42)

SNAPSHOT = SnapshotBody(
    job_id=_JOB,
    job_type="gallery",
    status="failed",
    created_at="2024-05-01T10:00:00.000Z",
    updated_at="2024-05-01T10:01:00.000Z",
    resource_total=42,
    resource_completed=40,
    resource_failed=2,
    manifest_key=_KEY,
    log_cursor=LogCursor("jobs.logs", 0),
    last_error=LastError("HTTP_403", "403 Forbidden"),
    tenant="crawler-a",
    origin="api",
    dlq_offset=7,
)

DEAD_LETTER = DeadLetterBody(
    offset=7,
    task=DeadTask(_JOB, "gallery", "resource_name_01", "https://cdn.example.com/image.jpg", "crawler-a"),
    failure_code="HTTP_403",
    failure_message="403 Forbidden",
    attempts=1,
    failed_at_ms=1714557660000,
    context={"proxy": None, "attempt": 1, "status": 403, "host": "cdn.example.com", "code": "DOWNLOAD_HTTP_4XX"},
)
