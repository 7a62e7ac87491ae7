"""The fifteen acceptance checks of the contract, by number, over HTTP."""

import concurrent.futures
import gzip
import hashlib
import json
import time
import uuid
from typing import Any

import pytest

from tests.journeys.place import wait_until
from tests.surfaces.manifests.origin import content, digest
from tests.surfaces.manifests.running import Box

MB = 1024 * 1024


def resources(count: int, url: str = "https://a.invalid/") -> list[dict[str, Any]]:
    return [{"id": f"r{n}", "url": url} for n in range(count)]


def test_acceptance_01_numbers_and_ids_of_resources(box: Box):
    ftp = "ftp://a.invalid/"
    assert box.post(box.manifest(resources=resources(1000, ftp))).status_code == 202
    for bad in (resources(1001), [], [*resources(1), *resources(1)], [{"id": "x" * 129, "url": ftp}]):
        answer = box.post(box.manifest(resources=bad))
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_PAYLOAD")


def test_acceptance_02_a_gzipped_body_may_not_expand_beyond_the_limit(box: Box):
    def body(size: int) -> bytes:
        empty = len(json.dumps(box.manifest("/a", metadata={"x": ""})))
        return json.dumps(box.manifest("/a", metadata={"x": "x" * (size - empty)})).encode()

    exact, over = body(5 * MB), body(5 * MB + 1)
    assert (len(exact), len(over)) == (5 * MB, 5 * MB + 1)
    assert box.post(gzip.compress(exact), Content_Encoding="gzip").status_code == 202
    for data, headers in ((gzip.compress(over), {"Content_Encoding": "gzip"}), (over, {})):
        answer = box.post(data, **headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_acceptance_03_header_maps_are_bounded(box: Box):
    for headers in ({f"h{n}": "" for n in range(11)}, {"h": "x" * 1025}):
        body = box.manifest(resources=[{"id": "a", "url": "https://a.invalid/", "headers": headers}])
        assert box.post(body).status_code == 400


def test_acceptance_04_other_schemes_end_as_dead_letters(box: Box):
    job_id = box.submit("ftp://a.invalid/x", "nonsense")
    job = box.ended(job_id)
    assert (job["status"], job["resource_total"], job["resource_failed"]) == ("failed", 2, 2)
    letters = box.letters(job_id)
    assert {one["failure_code"] for one in letters} == {"VALIDATION_INVALID_URL"}
    assert {one["attempts"] for one in letters} == {1}
    assert job["dlq_offset"] == letters[-1]["offset"]
    assert job["last_error"]["code"] == "VALIDATION_INVALID_URL"


def test_acceptance_05_one_key_is_one_job(box: Box):
    key, body = str(uuid.uuid4()), box.manifest("/five")

    def post(kind: str) -> dict[str, Any]:
        answer = box.post(body, kind, X_Fetchbox_Idempotency_Key=key)
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post("gallery"), range(8)))
    assert all(one == answers[0] for one in answers)
    assert post("gallery") == answers[0]
    assert post("other")["job_id"] != answers[0]["job_id"]
    job_id = answers[0]["job_id"]
    assert box.ended(job_id)["resource_total"] == 1
    kept = [key for key in box.keys("manifests/gallery") if job_id in key]
    assert kept == [f"manifests/gallery/{job_id}/{name}" for name in ("manifest.json", "metadata.json")]


def test_acceptance_07_metadata_comes_back_byte_for_byte(box: Box):
    metadata = '{ "z": 12345678901234567890123456789, "a": 1.50, "é": "\\u00e9 ☃", "e": [ 1E400 ] }'.encode()
    body = b'{"manifest_version":"v1","metadata":' + metadata + b',"resources":[{"id":"a","url":"ftp://x/"}]}'
    told = box.post(body).json()
    assert box.read(f"manifests/gallery/{told['job_id']}/metadata.json") == metadata
    assert box.read(f"manifests/gallery/{told['job_id']}/manifest.json") == body


def test_acceptance_09_statuses_are_retried_or_final(box: Box):
    # The origin serves all services of the tests: only this service uses the path.
    own = uuid.uuid4()
    attempts = {f"/status/404/{own}": 1, f"/status/503/{own}": 3, f"/status/429/{own}": 3}
    job_id = box.submit(*attempts, "/nine")
    job = box.ended(job_id)
    assert (job["status"], job["resource_completed"], job["resource_failed"]) == ("failed", 1, 3)
    letters = {one["task"]["resource_id"]: one for one in box.letters(job_id)}
    assert {name: one["failure_code"] for name, one in letters.items()} == {
        "r0": "HTTP_404",
        "r1": "HTTP_503",
        "r2": "HTTP_429",
    }
    assert [letters[name]["attempts"] for name in ("r0", "r1", "r2")] == [1, 3, 3]
    assert {path: box.origin.asked(path) for path in attempts} == attempts


def finalized(box: Box, job_id: str) -> list[str]:
    """Return the lines written by the hook at the end of a job, after a wait in which a second one would be written."""
    ends = box.folder / "ends"
    wait_until(lambda: ends.exists() and job_id in ends.read_text(), "the hook at the end")
    time.sleep(1.5)
    return [line for line in ends.read_text().splitlines() if line.startswith(job_id)]


def test_a_job_that_is_not_queued_is_finalized_once(box: Box):
    answer = box.post(box.manifest("/choosy"), "choosy")
    assert answer.status_code == 400, answer.text
    job_id = answer.json()["error"]["job_id"]
    assert finalized(box, job_id) == [f"{job_id} failed 0/0"]


def test_a_job_without_tasks_completes_and_is_finalized_once(box: Box):
    key = {"X_Fetchbox_Idempotency_Key": "no tasks"}
    answer = box.post(box.manifest("/idle"), "idle", **key)
    assert (answer.status_code, answer.json()["resource_count"]) == (202, 1)
    job_id = answer.json()["job_id"]
    job = box.ended(job_id)
    assert (job["status"], job["resource_total"], job["resource_completed"]) == ("completed", 0, 0)
    assert job["last_error"] is None
    assert box.post(box.manifest("/idle"), "idle", **key).json() == answer.json()
    assert finalized(box, job_id) == [f"{job_id} completed 0/0"]
    assert box.read(f"manifests/idle/{job_id}/metadata.json") == b"{}"
    messages = [entry["message"] for entry in box.log(job_id, follow="true")]
    assert messages[-1] == "run completed"


def test_acceptance_11_a_job_runs_to_its_end_and_is_finalized_once(box: Box):
    box.origin.gate.clear()
    job_id = box.submit("/gate/eleven", "/eleven", kind="counted")
    try:
        box.until(job_id, lambda job: job["status"] == "in_progress")
    finally:
        box.origin.gate.set()
    job = box.ended(job_id)
    assert (job["status"], job["resource_completed"], job["resource_failed"]) == ("completed", 2, 0)
    assert finalized(box, job_id) == [f"{job_id} completed 2/2"]
    for name, path in (("r0", "/gate/eleven"), ("r1", "/eleven")):
        assert box.read(f"resources/counted/{job_id}/{name}") == content(path)


def test_acceptance_12_logs_are_replayed_by_offset(box: Box):
    job_id = box.submit("/twelve/a", "/status/404/twelve")
    box.ended(job_id)
    deadline = time.monotonic() + 30
    while len(whole := box.log(job_id)) < 3:
        assert time.monotonic() < deadline, whole
        time.sleep(0.1)
    offsets = [line["offset"] for line in whole]
    assert offsets == list(range(1, len(whole) + 1))
    assert {line["job_id"] for line in whole} == {job_id}
    assert box.log(job_id, since_offset=2)[: len(whole) - 1] == whole[1:]
    assert box.log(job_id, since_offset=1, limit=2) == whole[:2]
    assert {line.get("resource_id") for line in whole} >= {"r0", "r1"}
    events = box.client.get(
        f"/operators/jobs/{job_id}/logs", params={"limit": 1}, headers={"Last-Event-ID": str(offsets[0])}
    )
    assert events.headers["content-type"] == "text/event-stream"
    assert events.text.startswith(f"id: {offsets[1]}\nevent: log\ndata: {{")
    followed = box.client.get(f"/operators/jobs/{job_id}/logs", params={"follow": "true"})
    assert followed.text.count("event: log") >= len(whole)


def test_replay_completes_a_job_when_its_origin_is_healed(box: Box):
    job_id = box.submit("/status/503/healed", "/fine")
    assert box.ended(job_id)["status"] == "failed"
    box.origin.healed = True
    try:
        answer = box.client.post("/operators/dlq/replay", json={"job_id": job_id, "code": "HTTP_503"})
        assert answer.json() == {"replayed": 1}
        job = box.until(job_id, lambda job: job["status"] == "completed")
    finally:
        box.origin.healed = False
    assert (job["resource_completed"], job["resource_failed"], job["last_error"]) == (2, 0, None)
    [letter] = box.letters(job_id)
    assert letter["replayed_at"] is not None
    again = box.client.post(f"/operators/dlq/{letter['offset']}/replay")
    assert again.json() == {"replayed": 0}
    assert box.client.post("/operators/dlq/999999999/replay").status_code == 404


def test_stored_objects_have_their_digest_and_place(box: Box):
    path = "/stored"
    good = {"id": "good/..", "url": f"{box.origin.url}{path}", "tags": {"checksum_hint": f"sha256:{digest(path)}"}}
    bad = {"id": "bad", "url": f"{box.origin.url}{path}", "tags": {"checksum_hint": f"sha256:{'0' * 64}"}}
    job_id = box.post(box.manifest(resources=[good, bad]), "prefixed").json()["job_id"]
    job = box.ended(job_id)
    assert (job["resource_completed"], job["last_error"]["code"]) == (1, "DOWNLOAD_CHECKSUM_MISMATCH")
    data = box.read(f"mine/{job_id}/good%2F..")
    assert hashlib.sha256(data).hexdigest() == digest(path)
    assert box.keys(f"mine/{job_id}") == [f"mine/{job_id}/good%2F.."]


def test_the_place_of_a_handler_is_used(box: Box):
    job_id = box.submit("/placed", kind="placing")
    assert box.ended(job_id)["status"] == "completed"
    assert box.read("placed/r0") == content("/placed")


@pytest.mark.parametrize("status", ["queued", "in_progress", "completed", "failed"])
def test_jobs_are_listed_by_status(box: Box, status: str):
    answer = box.client.get("/operators/jobs", params={"status": status, "limit": 5})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert {job["status"] for job in told["jobs"]} <= {status}
    if told["next_cursor"]:
        more = box.client.get("/operators/jobs", params={"status": status, "cursor": told["next_cursor"]}).json()
        first, later = ({job["job_id"] for job in page["jobs"]} for page in (told, more))
        assert not first & later


def test_the_health_of_all_components_is_reported(box: Box):
    answer = box.client.get("/operators/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert set(answer.json()["components"]) == {"api", "ledger", "broker", "storage", "proxy_pools"}
    for path in ("/health/live", "/health/ready"):
        assert box.client.get(path).json() == {"status": "ok"}
