"""The contract section by section, from its text alone: bodies, objects, snapshots, workers, operators."""

import json
import uuid
from typing import Any

import pytest

from tests.journeys.place import wait_until
from tests.surfaces.manifests.origin import content, digest
from tests.surfaces.manifests.running import Box

Json = dict[str, Any]
URL = "ftp://a.invalid/x"


def body(**parts: Any) -> Json:
    found = {"manifest_version": "v1", "metadata": {}, "resources": [{"id": "a", "url": URL}]} | parts
    return {name: value for name, value in found.items() if value is not ...}


def with_resource(**parts: Any) -> Json:
    found = {"id": "a", "url": URL} | parts
    return body(resources=[{name: value for name, value in found.items() if value is not ...}])


def refusal(box: Box, sent: Any) -> tuple[int, str, str]:
    answer = box.post(sent)
    found = answer.json()["error"]
    return answer.status_code, found["code"], found["message"]


# Section 1.2: the body


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        (body(manifest_version="v2"), "manifest_version"),
        (body(manifest_version=1), "manifest_version"),
        (body(manifest_version=...), "manifest_version"),
        (body(metadata=...), "metadata"),
        (body(metadata=[]), "metadata"),
        (body(metadata=None), "metadata"),
        (body(metadata="text"), "metadata"),
        (body(resources=...), "resources"),
        (body(resources={}), "resources"),
        (body(resources=[]), "resources"),
        (body(resources=["text"]), "resources[0]"),
        (body(attributes=[]), "attributes"),
        (body(attributes="text"), "attributes"),
        (with_resource(id=...), "resources[0].id"),
        (with_resource(id=""), "resources[0].id"),
        (with_resource(id=7), "resources[0].id"),
        (with_resource(id="x" * 129), "resources[0].id"),
        (with_resource(url=...), "resources[0].url"),
        (with_resource(url=""), "resources[0].url"),
        (with_resource(url=7), "resources[0].url"),
        (with_resource(headers=[]), "resources[0].headers"),
        (with_resource(headers={"X-A": 7}), "resources[0].headers.X-A"),
        (with_resource(headers={"X-A": None}), "resources[0].headers.X-A"),
        (with_resource(headers={"bad name": "x"}), "resources[0].headers.bad name"),
        (with_resource(headers={"": "x"}), "resources[0].headers."),
        (with_resource(headers={"X-A": "a\r\nb"}), "resources[0].headers.X-A"),
        (with_resource(headers={"X-A": "a\nb"}), "resources[0].headers.X-A"),
        (with_resource(headers={"X-A": "a\x01b"}), "resources[0].headers.X-A"),
        (with_resource(headers={"X-A": "\x7f"}), "resources[0].headers.X-A"),
        (with_resource(headers={"X-A": "é" * 513}), "resources[0].headers.X-A"),
        (with_resource(headers={f"X-{n}": "" for n in range(11)}), "resources[0].headers"),
        (with_resource(tags=[]), "resources[0].tags"),
        (with_resource(tags={"a": 7}), "resources[0].tags.a"),
        (
            body(resources=[{"id": "a", "url": URL}, {"id": "b", "url": URL}, {"id": "a", "url": URL}]),
            "resources[2].id",
        ),
    ],
)
def test_a_wrong_field_is_named_by_its_path(box: Box, sent: Json, path: str):
    status, code, message = refusal(box, sent)
    assert (status, code) == (400, "INVALID_PAYLOAD")
    assert message.startswith(f"{path} "), message


@pytest.mark.parametrize(
    "sent", [b"", b"[]", b'"text"', b"null", b"{", b"\xff", b'{"manifest_version":"v1",}', b"\x00"]
)
def test_a_body_that_is_no_object_is_invalid(box: Box, sent: bytes):
    assert refusal(box, sent)[:2] == (400, "INVALID_PAYLOAD")


@pytest.mark.parametrize(
    "sent",
    [
        body(unknown=1, another={"deep": []}),
        with_resource(unknown=1),
        with_resource(id="x" * 128),
        with_resource(id="ä" * 128),
        with_resource(headers={f"X-{n}": "" for n in range(10)}),
        with_resource(headers={"X-A": "é" * 512}),
        with_resource(headers={}, tags={}),
        with_resource(tags={f"t{n}": "x" * 2000 for n in range(50)}),
        body(attributes={}),
        body(attributes={"priority": "high", "deep": {"a": [1]}}),
    ],
)
def test_bodies_at_the_limits_are_accepted(box: Box, sent: Json):
    answer = box.post(sent)
    assert answer.status_code == 202, answer.text


# Section 1.1: headers


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("X_Fetchbox_Job_Type", "GALLERY", 403),
        ("X_Fetchbox_Job_Type", "default", 202),
        ("X_Fetchbox_Idempotency_Key", "", 400),
        ("X_Fetchbox_Idempotency_Key", "k" * 255, 202),
        ("Content_Type", "application/json;charset=UTF-8", 202),
        ("Content_Type", "application/jsonx", 400),
        ("Content_Type", "application/vnd.api+json", 400),
        ("Content_Encoding", "GZIP", 400),
        ("Content_Encoding", "deflate", 400),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 202),
        ("traceparent", "nonsense", 202),
    ],
)
def test_headers_by_their_rules(box: Box, name: str, value: str, status: int):
    value = value if "k" * 10 not in value else uuid.uuid4().hex + value[32:]
    assert box.post(body(), **{name: value}).status_code == status


def test_headers_are_read_as_utf_8(box: Box):
    sent, tenant = body(), "büro"
    key = (b"X-Fetchbox-Idempotency-Key", uuid.uuid4().hex.encode())
    utf_8 = [(b"X-Fetchbox-Job-Type", "bilder ü".encode()), (b"X-Fetchbox-Tenant", tenant.encode()), key]
    first = box.client.post("/jobs", json=sent, headers=utf_8)
    assert first.status_code == 202, first.text
    job = box.job(first.json()["job_id"])
    assert (job["job_type"], job["tenant"]) == ("bilder ü", tenant)
    latin_1 = [(b"X-Fetchbox-Job-Type", "bilder ü".encode("latin-1")), key]
    named = sent | {"attributes": {"tenant": tenant}}
    assert box.client.post("/jobs", json=named, headers=latin_1).json() == first.json()


# Section 2: stored objects


def test_objects_have_their_attributes(box: Box):
    url = f"{box.origin.url}/attributes"
    one = {"id": "..", "url": url, "tags": {"content_type": "image/x-own"}}
    job_id = box.post(body(resources=[one, {"id": "b", "url": url}])).json()["job_id"]
    box.ended(job_id)
    assert box.keys(f"resources/gallery/{job_id}") == [f"resources/gallery/{job_id}/{name}" for name in ("%2E%2E", "b")]
    if box.bucket is None:
        return  # files have no attributes
    named = box.attributes(f"resources/gallery/{job_id}/%2E%2E")
    plain = box.attributes(f"resources/gallery/{job_id}/b")
    assert (named["Content-Type"], plain["Content-Type"]) == ("image/x-own", "image/png")
    told = {name.lower().replace("-", "_"): value for name, value in plain.items()}
    assert told["sha256"] == digest("/attributes")
    assert (told["job_id"], told["resource_id"], told["source_url"]) == (job_id, "b", url)
    assert box.attributes(f"manifests/gallery/{job_id}/metadata.json")["Content-Type"] == "application/json"


# Section 3: snapshots


def test_a_snapshot_has_the_keys_of_the_contract(box: Box):
    job_id = box.submit("/snapshot")
    job = box.ended(job_id)
    assert set(job) == {
        "job_id",
        "job_type",
        "status",
        "created_at",
        "updated_at",
        "resource_total",
        "resource_completed",
        "resource_failed",
        "manifest_key",
        "log_cursor",
        "last_error",
        "tenant",
        "origin",
        "dlq_offset",
    }
    assert job["log_cursor"] == {"stream": "jobs.logs", "offset": job["log_cursor"]["offset"]}
    assert (job["last_error"], job["tenant"], job["origin"], job["dlq_offset"]) == (None, None, "api", None)
    assert job["created_at"] <= job["updated_at"]

    def is_read_from_the_cursor() -> bool:
        # Log lines are written a moment after the state.
        found = box.log(job_id, since_offset=job["log_cursor"]["offset"])
        return bool(found) and found == box.log(job_id)

    wait_until(is_read_from_the_cursor, "the log behind the cursor")


def test_an_error_shows_at_once_and_the_status_at_the_end(box: Box):
    own = uuid.uuid4()
    box.origin.gate.clear()
    try:
        job_id = box.submit(f"/gate/{own}", f"/status/403/{own}")
        job = box.until(job_id, lambda found: found["resource_failed"] == 1)
        assert (job["status"], job["last_error"]["code"]) == ("in_progress", "HTTP_403")
    finally:
        box.origin.gate.set()
    job = box.ended(job_id)
    assert (job["status"], job["resource_completed"], job["resource_failed"]) == ("failed", 1, 1)


# Section 5: workers


@pytest.mark.parametrize(("status", "attempts"), [(401, 1), (403, 1), (410, 1), (425, 1), (408, 3), (499, 3), (502, 3)])
def test_statuses_are_retried_by_the_contracts_list(box: Box, status: int, attempts: int):
    path = f"/status/{status}/{uuid.uuid4()}"
    job_id = box.submit(path)
    assert box.ended(job_id)["last_error"]["code"] == f"HTTP_{status}"
    [letter] = box.letters(job_id)
    assert letter["attempts"] == attempts
    # On a kept connection 408 is about the time for which the connection was idle: the request is sent again (0037).
    assert attempts <= box.origin.asked(path) <= (2 * attempts if status == 408 else attempts)
    assert letter["context"]["status"] == status
    assert letter["context"]["code"] == f"DOWNLOAD_HTTP_{status // 100}XX"
    assert {"proxy", "attempt", "status"} <= set(letter["context"])


@pytest.mark.parametrize("status", [201, 204, 206, 301, 304])
def test_every_http_failure_is_named_by_its_status(box: Box, status: int):
    job_id = box.submit(f"/status/{status}/named")
    assert box.ended(job_id)["last_error"]["code"] == f"HTTP_{status}"
    [letter] = box.letters(job_id)
    assert (letter["failure_code"], letter["context"]["status"]) == (f"HTTP_{status}", status)
    found = box.client.get("/operators/dlq", params={"job_id": job_id, "code": f"HTTP_{status}"}).json()["records"]
    assert [one["offset"] for one in found] == [letter["offset"]]


@pytest.mark.parametrize("hint", ["sha256", "sha256:", "sha256:none", "sha256: unknown"])
def test_a_checksum_hint_without_a_digest_is_not_verified(box: Box, hint: str):
    one = {"id": "a", "url": f"{box.origin.url}/hint", "tags": {"checksum_hint": hint}}
    job = box.ended(box.post(body(resources=[one])).json()["job_id"])
    assert (job["status"], job["last_error"]) == ("completed", None)


def test_private_addresses_are_refused_and_connections_retried(box: Box):
    job_id = box.submit("http://169.254.169.254/latest/meta-data", "http://10.0.0.1/x", "http://[::1]:9/x")
    assert box.ended(job_id)["status"] == "failed"
    assert {one["attempts"] for one in box.letters(job_id)} == {1}
    refused = box.submit("http://127.0.0.1:1/x")
    box.ended(refused)
    assert [one["attempts"] for one in box.letters(refused)] == [3]


def test_ids_and_tags_of_any_text_are_stored_safely(box: Box):
    ids = ["a/b", "..", ".", "a b", "ü☃", "%2F", "a\\b", "~", "x" * 128, "a\nb", "\x01", "é" * 128, "😀" * 128]
    tags = [{"content_type": "image/png\nX-Own: 1"}, {"content_type": "ü"}, {"content_type": ""}]
    resources = [
        {"id": one, "url": f"{box.origin.url}/ids/{n}", "tags": tags[n % len(tags)]} for n, one in enumerate(ids)
    ]
    job_id = box.post(body(resources=resources)).json()["job_id"]
    assert box.ended(job_id)["resource_completed"] == len(ids)
    keys = box.keys(f"resources/gallery/{job_id}")
    assert len(keys) == len(ids)
    assert {box.read(key) for key in keys} == {content(f"/ids/{n}") for n in range(len(ids))}


# Section 9: operators


@pytest.mark.parametrize(
    "query",
    ["since_offset=-1", "since_offset=x", "limit=0", "limit=x", "follow=perhaps", "since_offset=99999999999999999999"],
)
def test_wrong_queries_of_logs_are_refused(box: Box, query: str):
    job_id = box.submit("/query")
    answer = box.client.get(f"/operators/jobs/{job_id}/logs?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_PAYLOAD")


@pytest.mark.parametrize("query", ["status=done", "limit=0", "limit=x", "since=yesterday", "cursor=x"])
def test_wrong_queries_of_lists_are_refused(box: Box, query: str):
    answer = box.client.get(f"/operators/jobs?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_PAYLOAD")


@pytest.mark.parametrize("path", ["/operators/jobs/{}", "/operators/jobs/{}/logs", "/operators/dlq/987654321"])
def test_unknown_things_are_not_found(box: Box, path: str):
    for name in (str(uuid.uuid4()), "nonsense"):
        answer = box.client.get(path.format(name))
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


def test_lists_are_filtered_by_type_tenant_and_time(box: Box):
    tenant = f"t{uuid.uuid4().hex[:8]}"
    first = box.post(body(), "other", X_Fetchbox_Tenant=tenant).json()["job_id"]
    second = box.post(body(), "gallery", X_Fetchbox_Tenant=tenant).json()["job_id"]

    def listed(**params: Any) -> list[str]:
        return [job["job_id"] for job in box.client.get("/operators/jobs", params=params).json()["jobs"]]

    assert listed(tenant=tenant) == [second, first]
    assert listed(tenant=tenant, job_type="other") == [first]
    created = box.job(second)["created_at"]
    assert second in listed(tenant=tenant, since=created)
    assert listed(tenant=tenant, since="2999-01-01T00:00:00Z") == []
    assert listed(tenant=tenant, limit=1) == [second]


def test_events_of_logs_have_ids_and_envelopes(box: Box):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = box.post(
        body(resources=[{"id": "a", "url": f"{box.origin.url}/envelope"}]),
        traceparent=f"00-{trace}-00f067aa0ba902b7-01",
    )
    job_id = answer.json()["job_id"]
    box.ended(job_id)
    events = box.client.get(f"/operators/jobs/{job_id}/logs", params={"follow": "true"}).text.strip().split("\n\n")
    found = []
    for event in events:
        lines = dict(line.split(": ", 1) for line in event.splitlines() if not line.startswith(":"))
        if "data" in lines:
            envelope = json.loads(lines["data"])
            assert (lines["event"], int(lines["id"])) == ("log", envelope["offset"])
            found.append(envelope)
    [outcome] = [one for one in found if one.get("resource_id") == "a"]
    assert {"job_id", "level", "message", "fields", "timestamp_ms", "offset"} <= set(outcome)
    assert outcome["level"] in ("trace", "debug", "info", "warn", "error")
    assert outcome["trace_id"] == trace
    told = json.dumps(outcome["fields"])
    assert f"resources/gallery/{job_id}/a" in told
    assert "200" in told


def test_health_has_a_latency_for_each_component(box: Box):
    found = box.client.get("/operators/health").json()
    for name in ("ledger", "broker", "storage"):
        assert found["components"][name]["status"] == "ok"
        assert found["components"][name]["latency_ms"] >= 0
