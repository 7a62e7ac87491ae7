"""`/jobs/uploads`: manifests in parts, over HTTP."""

import gzip
import hashlib
import json
import uuid
from typing import Any

import httpx

from tests.surfaces.manifests.origin import content
from tests.surfaces.manifests.running import Box

MB = 1024 * 1024
TYPE = {"X-Fetchbox-Job-Type": "gallery"}


def begun(box: Box, **headers: str) -> dict[str, Any]:
    answer = box.client.post("/jobs/uploads", headers=headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def put(box: Box, upload_id: str, number: Any, data: bytes, **headers: str) -> httpx.Response:
    return box.client.put(f"/jobs/uploads/{upload_id}/parts/{number}", content=data, headers=headers)


def complete(box: Box, upload_id: str, **headers: str) -> httpx.Response:
    return box.client.post(f"/jobs/uploads/{upload_id}/complete", headers=TYPE | headers)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_manifest_of_twelve_megabytes_is_taken_in_parts(box: Box):
    metadata = b'{ "big": "' + b"x" * (12 * MB) + b'", "n": 12345678901234567890123 }'
    body = json.dumps(box.manifest("/uploaded")).encode().replace(b'"metadata": {}', b'"metadata": ' + metadata)
    upload = begun(box)
    assert uuid.UUID(upload["upload_id"]).version == 7
    size = upload["part_bytes"]
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    assert len(pieces) <= upload["max_parts"]
    put(box, upload["upload_id"], 1, b"replaced")
    for number, piece in reversed(list(enumerate(pieces, 1))):
        answer = put(box, upload["upload_id"], number, piece)
        told = {"number": number, "bytes": len(piece), "sha256": hashlib.sha256(piece).hexdigest()}
        assert (answer.status_code, answer.json()) == (200, told)
    answer = complete(box, upload["upload_id"])
    assert (answer.status_code, answer.json()["resource_count"]) == (202, 1)
    job_id = answer.json()["job_id"]
    assert box.read(f"manifests/gallery/{job_id}/metadata.json") == metadata
    assert box.ended(job_id)["status"] == "completed"
    assert box.read(f"resources/gallery/{job_id}/r0") == content("/uploaded")
    again = complete(box, upload["upload_id"])
    assert (again.status_code, again.json()) == (202, answer.json())
    assert again.headers["x-fetchbox-idempotent-replay"] == "true"
    assert box.keys(f"uploads/{upload['upload_id']}/parts") == []
    assert code(put(box, upload["upload_id"], 1, b"late")) == (400, "INVALID_PAYLOAD")


def test_a_compressed_manifest_is_taken_in_parts(box: Box):
    data = gzip.compress(json.dumps(box.manifest("/gzipped")).encode())
    upload_id = begun(box)["upload_id"]
    put(box, upload_id, 1, data[:20])
    put(box, upload_id, 2, data[20:])
    assert complete(box, upload_id, **{"Content-Encoding": "gzip"}).status_code == 202


def test_an_upload_is_checked_like_a_manifest(box: Box):
    upload_id = begun(box)["upload_id"]
    assert code(complete(box, upload_id)) == (400, "INVALID_PAYLOAD")  # no part
    put(box, upload_id, 2, b"{}")
    assert "part 1" in complete(box, upload_id).json()["error"]["message"]
    put(box, upload_id, 1, b'{"manifest_version": "v1", "metadata": ')
    put(box, upload_id, 2, b'{}, "resources": []}')
    assert complete(box, upload_id).json()["error"]["message"].startswith("resources")
    assert code(complete(box, upload_id, **{"X-Fetchbox-Job-Type": "unknown"})) == (403, "UNSUPPORTED_JOB_TYPE")
    assert code(complete(box, upload_id, **{"Content-Encoding": "br"})) == (400, "INVALID_PAYLOAD")
    assert code(put(box, upload_id, 0, b"x")) == (400, "INVALID_PAYLOAD")
    assert code(put(box, upload_id, 11, b"x")) == (400, "INVALID_PAYLOAD")
    assert code(put(box, upload_id, "one", b"x")) == (400, "INVALID_PAYLOAD")
    assert code(put(box, upload_id, 1, b"x" * (5 * MB + 1))) == (413, "PAYLOAD_TOO_LARGE")


def test_an_expanded_upload_has_a_limit(box: Box):
    upload_id = begun(box)["upload_id"]
    put(box, upload_id, 1, gzip.compress(bytes(51 * MB), 1))
    assert code(complete(box, upload_id, **{"Content-Encoding": "gzip"})) == (413, "PAYLOAD_TOO_LARGE")


def test_an_upload_belongs_to_its_tenant_and_can_be_aborted(box: Box):
    upload_id = begun(box, **{"X-Fetchbox-Tenant": "mine"})["upload_id"]
    mine, other = {"X-Fetchbox-Tenant": "mine"}, {"X-Fetchbox-Tenant": "other"}
    data = json.dumps(box.manifest("/mine")).encode()
    assert code(put(box, upload_id, 1, data, **other)) == (404, "NOT_FOUND")
    assert put(box, upload_id, 1, data, **mine).status_code == 200
    assert code(complete(box, upload_id, **other)) == (404, "NOT_FOUND")
    assert code(box.client.delete(f"/jobs/uploads/{upload_id}", headers=other)) == (404, "NOT_FOUND")
    assert box.client.delete(f"/jobs/uploads/{upload_id}", headers=mine).status_code == 204
    assert code(complete(box, upload_id, **mine)) == (404, "NOT_FOUND")
    assert box.keys(f"uploads/{upload_id}") == []
    for unknown in (str(uuid.uuid4()), "..", "nonsense"):
        assert code(complete(box, unknown)) == (404, "NOT_FOUND")


def test_keys_of_senders_hold_for_uploads_and_single_requests_alike(box: Box):
    key, body = str(uuid.uuid4()), json.dumps(box.manifest("/both")).encode()
    single = box.post(body, X_Fetchbox_Idempotency_Key=key)
    upload_id = begun(box)["upload_id"]
    put(box, upload_id, 1, body)
    answer = complete(box, upload_id, **{"X-Fetchbox-Idempotency-Key": key})
    assert (answer.status_code, answer.json()) == (202, single.json())
