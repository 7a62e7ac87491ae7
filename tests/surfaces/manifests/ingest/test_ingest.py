"""`POST /jobs`: headers, limits, codes and the order of checks, over HTTP."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import uuid
from typing import Any

import pytest

from longline.surfaces.manifests.ingest.ingest import trace_id
from tests.surfaces.manifests.running import Box

MB = 1024 * 1024


def error(answer: Any) -> tuple[int, str, str]:
    told = answer.json()
    assert set(told) == {"error"}
    assert {"code", "message"} <= set(told["error"])
    return answer.status_code, told["error"]["code"], told["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "expected", "said"),
    [
        ({"Content_Type": "text/plain"}, (400, "INVALID_PAYLOAD"), "Content-Type"),
        ({"Content_Type": ""}, (400, "INVALID_PAYLOAD"), "Content-Type"),
        ({"Content_Encoding": "br"}, (400, "INVALID_PAYLOAD"), "Content-Encoding"),
        ({"Content_Encoding": "gzip"}, (400, "INVALID_PAYLOAD"), "Content-Encoding"),
        ({"X_Fetchbox_Job_Type": ""}, (400, "INVALID_PAYLOAD"), "X-Fetchbox-Job-Type"),
        ({"X_Fetchbox_Job_Type": "unknown"}, (403, "UNSUPPORTED_JOB_TYPE"), "unknown"),
        ({"X_Fetchbox_Idempotency_Key": "x" * 256}, (400, "INVALID_PAYLOAD"), "X-Fetchbox-Idempotency-Key"),
        ({"X_Fetchbox_Tenant": "x" * 256}, (400, "INVALID_PAYLOAD"), "X-Fetchbox-Tenant"),
    ],
)
def test_headers_are_checked(box: Box, headers: dict[str, str], expected: tuple[int, str], said: str):
    status, code, message = error(box.post(box.manifest("/a"), **headers))
    assert (status, code) == expected
    assert said in message


def test_a_missing_job_type_is_invalid(box: Box):
    answer = box.client.post("/jobs", json=box.manifest("/a"))
    assert error(answer)[:2] == (400, "INVALID_PAYLOAD")


def test_parameters_of_the_content_type_and_identity_are_accepted(box: Box):
    headers = {"Content_Type": "Application/JSON; charset=utf-8", "Content_Encoding": "identity"}
    assert box.post(box.manifest("/a"), **headers).status_code == 202


def test_a_gzipped_manifest_is_decompressed(box: Box):
    data = json.dumps(box.manifest("/a")).encode()
    half = len(data) // 2
    for body in (gzip.compress(data), gzip.compress(data[:half]) + gzip.compress(data[half:])):
        assert box.post(body, Content_Encoding="gzip").status_code == 202
    for broken in (gzip.compress(data)[:-9], b"", gzip.compress(data) + b"x"):
        assert error(box.post(broken, Content_Encoding="gzip"))[:2] == (400, "INVALID_PAYLOAD")


def test_a_length_with_thousands_of_zeros_is_refused(box: Box):
    data, length = json.dumps(box.manifest("/a")).encode(), "0" * 5_000
    headers = {"Content-Type": "application/json", "X-Fetchbox-Job-Type": "gallery"}
    where = box.client.base_url
    with contextlib.closing(http.client.HTTPConnection(where.host, where.port or 80, timeout=30)) as connection:
        connection.request("POST", "/jobs", data, headers | {"Content-Length": f"{length}{len(data)}"})
        with connection.getresponse() as answer:
            assert answer.status == 400


@pytest.mark.parametrize("digits", ["9" * 5_000, "-" + "9" * 5_000, "9" * 4_000])
def test_a_handler_reads_metadata_with_any_integer(box: Box, digits: str):
    document = json.dumps(box.manifest("/a", metadata={"wish": "", "n": "digits"})).replace('"digits"', digits)
    assert box.post(document.encode(), "picky").status_code == 202


def padded(box: Box, size: int) -> bytes:
    """Return a manifest of exactly this many bytes."""
    empty = len(json.dumps(box.manifest("/a", metadata={"x": ""})))
    return json.dumps(box.manifest("/a", metadata={"x": "x" * (size - empty)})).encode()


def test_checks_come_in_their_order(box: Box):
    # Size before content headers, content headers before the job type, the job type before the JSON.
    large = b"x" * (5 * MB + 1)
    assert error(box.post(large, Content_Type="text/plain", X_Fetchbox_Job_Type="unknown"))[0] == 413
    assert "Content-Type" in error(box.post(b"{", Content_Type="text/plain", X_Fetchbox_Job_Type="unknown"))[2]
    assert error(box.post(b"{", X_Fetchbox_Job_Type="unknown"))[1] == "UNSUPPORTED_JOB_TYPE"
    assert "JSON" in error(box.post(b"{"))[2]


def test_an_error_of_the_schema_names_its_path(box: Box):
    body = box.manifest("/a", "/b", "/c", "/d")
    body["resources"][3]["id"] = "r0"
    assert error(box.post(body))[2].startswith("resources[3].id ")


def test_unknown_paths_and_methods_are_answered_in_the_contracts_form(box: Box):
    assert error(box.client.get("/operators/nothing"))[:2] == (404, "NOT_FOUND")
    assert error(box.client.get("/jobs"))[:2] == (405, "METHOD_NOT_ALLOWED")
    assert error(box.client.get(f"/operators/jobs/{uuid.uuid4()}"))[:2] == (404, "NOT_FOUND")


def test_another_body_under_a_key_gets_the_first_answer(box: Box):
    key = f"k{uuid.uuid4()}"
    first = box.post(box.manifest("/a"), X_Fetchbox_Idempotency_Key=key)
    again = box.post(box.manifest("/b", "/c"), X_Fetchbox_Idempotency_Key=key)
    assert "x-fetchbox-idempotent-replay" not in first.headers
    assert (again.status_code, again.json()) == (202, first.json())
    assert again.headers["x-fetchbox-idempotent-replay"] == "true"
    other = box.post(box.manifest("/a"), X_Fetchbox_Idempotency_Key=key, X_Fetchbox_Tenant="other")
    assert other.json()["job_id"] != first.json()["job_id"]


def test_the_tenant_of_the_header_beats_that_of_the_attributes(box: Box):
    body = box.manifest("/a", attributes={"tenant": "inner"})
    outer = box.post(body, X_Fetchbox_Tenant="outer").json()["job_id"]
    assert box.job(outer)["tenant"] == "outer"
    assert box.job(box.post(body).json()["job_id"])["tenant"] == "inner"


def test_many_clients_at_once_get_jobs_of_their_own(box: Box):
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        ids = list(pool.map(lambda n: box.submit(f"/many/{n}"), range(40)))
    assert len(set(ids)) == 40
    assert {box.ended(job_id)["status"] for job_id in ids} == {"completed"}


def test_the_example_of_the_specification_is_taken_as_written(box: Box):
    body = {
        "manifest_version": "v1",
        "metadata": {"...": "arbitrary structured metadata persisted as canonical metadata.json"},
        "resources": [
            {
                "id": "resource_name_01",
                "url": f"{box.origin.url}/image.jpg",
                "headers": {"Referer": "https://example.com/page.html", "User-Agent": "Crawler/1.0"},
                "tags": {"content_type": "image/jpeg"},
            }
        ],
        "attributes": {
            "tenant": "crawler-a",
            "crawl_id": "847458834325543643",
            "crawled_at": "2024-05-01T10:00Z",
            "priority": "normal",
        },
    }
    answer = box.post(body)
    assert answer.status_code == 202, answer.text
    told = answer.json()
    assert set(told) == {"job_id", "manifest_key", "resource_count"}
    assert uuid.UUID(told["job_id"]).version == 7
    bucket = box.bucket.name if box.bucket else "fetchbox"
    assert told["manifest_key"] == f"s3://{bucket}/manifests/gallery/{told['job_id']}/metadata.json"
    assert told["resource_count"] == 1
    job = box.ended(told["job_id"])
    assert (job["status"], job["tenant"], job["origin"]) == ("completed", "crawler-a", "api")
    sent = box.origin.headers("/image.jpg")
    assert (sent["referer"], sent["user-agent"], sent["x-type"]) == (
        "https://example.com/page.html",
        "Crawler/1.0",
        "gallery",
    )
    assert sent["accept-encoding"] == "identity"


def test_handlers_refuse_fail_and_change_manifests(box: Box):
    def wish(text: str) -> Any:
        return box.post(box.manifest(f"/wish/{text}", metadata={"wish": text}), "picky")

    refused, failed = wish("refuse"), wish("fail")
    assert error(refused)[:2] == (400, "INVALID_PAYLOAD")
    assert "no pictures today" in error(refused)[2]
    assert error(failed)[:2] == (500, "INTERNAL_ERROR")
    for answer, code in ((refused, "HANDLER_INVALID_MANIFEST"), (failed, "HANDLER_PREPARE_MANIFEST")):
        job = box.job(answer.json()["error"]["job_id"])
        assert (job["status"], job["last_error"]["code"]) == ("failed", code)
    none, more = wish("none"), wish("more")
    assert none.status_code == 202
    assert box.ended(none.json()["job_id"])["status"] == "completed"
    assert more.json()["resource_count"] == 1
    job = box.ended(more.json()["job_id"])
    assert (job["resource_total"], job["resource_completed"]) == (2, 2)
    assert box.keys("picky") == ["picky/r0", "picky/r0-again"]
    sent = [headers for path, headers in box.origin.requests if path == "/wish/more"]
    assert {one.get("x-handler") for one in sent} == {"yes", None}


def test_headers_of_the_manifest_beat_the_handlers_and_the_types(box: Box):
    body = box.manifest("/merged")
    body["resources"][0]["headers"] = {"x-BOTH": "manifest"}
    box.ended(box.post(body, "picky").json()["job_id"])
    assert box.origin.headers("/merged")["x-both"] == "manifest"
    box.ended(box.submit("/plain"))
    assert box.origin.headers("/plain")["x-both"] == "type"


TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("traceparent", "expected"),
    [
        (f"00-{TRACE}-{PARENT}-01", TRACE),
        (f" 00-{TRACE.upper()}-{PARENT}-01 ", TRACE),
        (f"01-{TRACE}-{PARENT}-01-more", TRACE),
        (f"00-{TRACE}-{PARENT}-01-more", ""),
        (f"ff-{TRACE}-{PARENT}-01", ""),
        (f"00-{'0' * 32}-{PARENT}-01", ""),
        (f"00-{TRACE}-{'0' * 16}-01", ""),
        (f"00-{TRACE}", ""),
        ("", ""),
    ],
)
def test_a_trace_is_that_of_a_valid_header_of_trace_context(traceparent: str, expected: str):
    assert trace_id(traceparent) == expected
