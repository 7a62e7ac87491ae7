"""Acceptance checks that need a service of their own: unreachable engines, proxies, pruning, direct producers."""

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import redis

from tests.servers import ValkeyServer
from tests.servers.program import run
from tests.servers.proxies import running_proxy
from tests.surfaces.manifests.origin import Origin, content
from tests.surfaces.manifests.running import PATIENCE, Box, config, environment, running_box, serving

KEY = "X_Fetchbox_Idempotency_Key"


def eventually(wanted: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


def listed(box: Box, status: str) -> list[str]:
    """Return the ids of the jobs in a list by status."""
    answer = box.client.get("/operators/jobs", params={"status": status})
    return [job["job_id"] for job in answer.json()["jobs"]]


def test_acceptance_06_and_14_manifests_are_refused_without_storage(tmp_path: Path, origin: Origin):
    with running_box(tmp_path, origin) as box:
        objects = tmp_path / "objects"
        assert box.post(box.manifest("/six")).status_code == 202
        shutil.move(objects, tmp_path / "away")
        objects.write_text("no folder any more")
        answer = box.post(box.manifest("/six"), **{KEY: "six"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "INTERNAL_ERROR")
        assert int(answer.headers["retry-after"]) > 0
        job = box.job(answer.json()["error"]["job_id"])
        assert (job["status"], job["last_error"]["code"]) == ("failed", "STORAGE_UNAVAILABLE")
        eventually(lambda: box.client.get("/operators/health").status_code == 503)
        health = box.client.get("/operators/health").json()
        assert (health["status"], health["components"]["storage"]["status"]) == ("degraded", "down")
        assert box.client.get("/health/ready").status_code == 503
        assert box.client.get("/health/live").status_code == 200
        assert 'service_ready{service="api"} 0.0' in box.client.get("/metrics").text
        objects.unlink()
        shutil.move(tmp_path / "away", objects)
        again = eventually(lambda: (a := box.post(box.manifest("/six"), **{KEY: "six"})).status_code == 202 and a)
        assert again.json()["job_id"] != answer.json()["error"]["job_id"]
        assert box.ended(again.json()["job_id"])["status"] == "completed"
        assert 'service_ready{service="api"} 1.0' in box.client.get("/metrics").text


def test_acceptance_08_proxies_are_used_tier_by_tier(tmp_path: Path, origin: Origin):
    with running_proxy() as dead, running_proxy() as alive:
        dead.die()
        more = f"""
[job_types.proxied.proxy]
primary = "first"
fallbacks = ["second"]
[job_types.hopeless.proxy]
primary = "first"
[proxy.pools.first]
primary = ["{dead.uri}"]
retry_backoff_ms = 10
max_retries = 1
[proxy.pools.second]
primary = ["{alive.uri}"]
"""
        with running_box(tmp_path, origin, more=more) as box:
            assert box.ended(box.submit("/eight", kind="proxied"))["status"] == "completed"
            assert alive.targets
            job_id = box.submit("/eight", kind="hopeless")
            assert box.ended(job_id)["last_error"]["code"] == "DOWNLOAD_PROXY_EXHAUSTED"
            assert [one["failure_code"] for one in box.letters(job_id)] == ["DOWNLOAD_PROXY_EXHAUSTED"]
            box.submit(*(f"/eight/{n}" for n in range(4)), kind="hopeless")  # five failures in a row, and it is skipped
            get = box.client.get
            health = eventually(lambda: (h := get("/operators/health")).json()["status"] == "degraded" and h)
            assert health.status_code == 200
            pools = health.json()["components"]["proxy_pools"]
            assert (pools["status"], pools["detail"]) == ("degraded", "no proxy works in the pools first")
            assert get("/health/ready").status_code == 200


HINTED = """
[job_types.hinted]
handler = "tests.surfaces.manifests.handlers:Hinting"
[job_types.hinted.proxy]
primary = "usual"
[proxy.pools.usual]
primary = ["{usual}"]
[proxy.pools.dead]
primary = ["{dead}"]
retry_backoff_ms = 10
[proxy.pools.other]
primary = ["{other}"]
"""


def test_a_handlers_proxy_hint_chooses_the_pools(tmp_path: Path, origin: Origin):
    with running_proxy() as usual, running_proxy() as dead, running_proxy() as other:
        more = HINTED.format(usual=usual.uri, dead=dead.uri, other=other.uri)
        dead.die()
        with running_box(tmp_path, origin, more=more) as box:
            body = box.manifest("/hinted")
            body["resources"][0]["tags"] = {"pools": "dead other"}
            job_id = box.post(body, "hinted").json()["job_id"]
            assert box.ended(job_id)["status"] == "completed"
            assert other.targets
            assert not usual.targets
            body["resources"][0]["tags"] = {"pools": "other unknown"}
            answer = box.post(body, "hinted")
            assert answer.status_code == 500
            failed = box.job(answer.json()["error"]["job_id"])
            assert (failed["status"], failed["last_error"]["code"]) == ("failed", "HANDLER_TASK_GENERATION")
            assert "no proxy pool named 'unknown'" in failed["last_error"]["message"]


def test_a_direct_producers_proxy_hint_chooses_the_pools(tmp_path: Path, origin: Origin, valkey_server: ValkeyServer):
    valkey_server.empty()
    client: Any = redis.Redis.from_url(valkey_server.url, decode_responses=True)
    with running_proxy() as usual, running_proxy() as dead, running_proxy() as other:
        more = HINTED.format(usual=usual.uri, dead=dead.uri, other=other.uri)
        with running_box(tmp_path, origin, more=more, LONGLINE_REDIS=valkey_server.url) as box:
            eventually(lambda: client.hgetall("fetchbox.positions"))
            task = {"job_id": "hint", "job_type": "gallery", "url": f"{origin.url}/hint", "resources_total": 2}
            for resource_id, pool in (("good", "other"), ("bad", "unknown")):
                hint = {"resource_id": resource_id, "proxy_hint": {"primary_pool": pool, "fallbacks": []}}
                client.xadd("fetchbox.jobs.tasks", {"data": json.dumps(task | hint)})
            eventually(lambda: box.client.get("/operators/jobs/hint").status_code == 200)
            job = box.ended("hint")
            assert (job["resource_completed"], job["resource_failed"]) == (1, 1)
            [letter] = box.letters("hint")
            assert (letter["task"]["resource_id"], letter["failure_code"]) == ("bad", "DOWNLOAD_PROXY_EXHAUSTED")
            assert "no proxy pool named 'unknown'" in letter["failure_message"]
            assert other.targets


def test_manifests_are_encrypted_with_the_operators_key(tmp_path: Path, origin: Origin):
    more = '[storage]\nclient_side_key = "sixteen characters and more"\n'
    with running_box(tmp_path, origin, more=more) as box:
        metadata = {"secret": "hunter2", "big": 12345678901234567890}
        job_id = box.submit("/encrypted", metadata=metadata)
        assert box.ended(job_id)["status"] == "completed"
        for name in ("metadata.json", "manifest.json"):
            assert b"hunter2" not in box.read(f"manifests/gallery/{job_id}/{name}")
        assert box.read(f"resources/gallery/{job_id}/r0") == content("/encrypted")
        env = environment(tmp_path, tmp_path / "fetchbox.toml")
        shown = run("manifests", "document", job_id, "--metadata", env=env)
        assert json.loads(shown.stdout) == metadata, shown.stderr
        assert json.loads(run("manifests", "document", job_id, env=env).stdout)["metadata"] == metadata
        parts = box.client.post("/jobs/uploads", headers={"X-Fetchbox-Job-Type": "gallery"}).json()
        sent = json.dumps(box.manifest("/encrypted", metadata=metadata)).encode()
        put = box.client.put(f"/jobs/uploads/{parts['upload_id']}/parts/1", content=sent)
        assert put.status_code == 200, put.text
        assert b"hunter2" not in box.read(f"uploads/{parts['upload_id']}/parts/00001")
        done = box.client.post(
            f"/jobs/uploads/{parts['upload_id']}/complete", headers={"X-Fetchbox-Job-Type": "gallery"}
        )
        assert done.status_code == 202, done.text


def test_acceptance_10_a_killed_worker_does_not_count_twice(tmp_path: Path, origin: Origin):
    env = environment(tmp_path, config(tmp_path))
    origin.gate.clear()
    try:
        with serving(["up"], env, tmp_path / "log") as (address, program):
            with httpx.Client(base_url=address, timeout=60) as client:
                box = Box(client, origin, tmp_path)
                job_id = box.submit("/gate/ten", "/ten")
                box.until(job_id, lambda job: job["resource_completed"] == 1)
            program.kill()
            program.wait()
    finally:
        origin.gate.set()
    with running_box(tmp_path, origin) as box:
        job = box.ended(job_id)
        assert (job["status"], job["resource_total"], job["resource_completed"]) == ("completed", 2, 2)
        assert box.read(f"resources/gallery/{job_id}/r0") == content("/gate/ten")


def test_acceptance_13_the_pruner_keeps_running_jobs_and_the_export_has_the_deleted_ones(
    tmp_path: Path, origin: Origin
):
    more = '[retention]\nledger_max_bytes = "1KB"\n'
    file = config(tmp_path, more=more)
    origin.gate.clear()
    try:
        with running_box(tmp_path, origin, more=more) as box:
            ended = [box.submit(f"/thirteen/{n}", f"/status/404/thirteen/{n}") for n in range(3)]
            for job_id in ended:
                box.ended(job_id)
            open_job = box.submit("/gate/thirteen")
            env = environment(tmp_path, file)
            out = tmp_path / "export.jsonl"
            assert run("manifests", "export", "--out", str(out), env=env).returncode == 0
            exported = {json.loads(line)["job_id"] for line in out.read_text().splitlines()}
            assert exported == {*ended, open_job}
            dry = run("manifests", "prune", "--dry-run", env=env)
            assert dry.stdout.startswith("3 jobs would be pruned"), dry.stdout + dry.stderr
            assert run("manifests", "prune", env=env).stdout.startswith("3 jobs pruned")
            assert {box.client.get(f"/operators/jobs/{one}").status_code for one in ended} == {404}
            assert [len(box.letters(one)) for one in ended] == [1, 1, 1], "dead letters outlive their jobs"
            assert box.client.post("/operators/dlq/replay", json={"job_id": ended[0]}).json() == {"replayed": 0}
            assert box.job(open_job)["status"] in ("queued", "in_progress")
    finally:
        origin.gate.set()


def test_acceptance_14_cyclic_pools_refuse_to_start(tmp_path: Path):
    pools = '[proxy.pools.a]\nfallbacks = ["b"]\n[proxy.pools.b]\nfallbacks = ["a"]\n'
    ended = run("up", env=environment(tmp_path, config(tmp_path, more=pools)))
    assert ended.returncode == 2
    assert "circle" in ended.stderr


def test_default_headers_that_cannot_be_sent_refuse_to_start(tmp_path: Path):
    more = '[job_types.odd.default_headers]\nX-A = "a\\u0001secret"\n'
    ended = run("up", env=environment(tmp_path, config(tmp_path, more=more)))
    assert ended.returncode == 2
    assert "job_types.odd: default_headers: X-A must not contain control characters" in ended.stderr
    assert "secret" not in ended.stderr


def test_acceptance_15_direct_producers_and_the_mirrored_streams(
    tmp_path: Path, origin: Origin, valkey_server: ValkeyServer
):
    valkey_server.empty()
    client: Any = redis.Redis.from_url(valkey_server.url, decode_responses=True)

    def stream(name: str) -> list[dict[str, Any]]:
        return [json.loads(fields["data"]) for _, fields in client.xrange(f"fetchbox.jobs.{name}")]

    with running_box(tmp_path, origin, LONGLINE_REDIS=valkey_server.url) as box:
        eventually(lambda: client.hgetall("fetchbox.positions"))
        task = {"job_id": "direct-1", "job_type": "gallery", "resource_id": "a", "url": f"{origin.url}/fifteen"}
        file = tmp_path / "task.json"
        file.write_text(json.dumps(task | {"resources_total": 2, "manifest_key": "s3://elsewhere/m.json"}))
        env = environment(tmp_path, tmp_path / "fetchbox.toml", LONGLINE_REDIS=valkey_server.url)
        command = [sys.executable, "-m", "longline.cli.commands.fetchbox", "publish-task", "--file", str(file)]
        subprocess.run(command, env=env, check=True, capture_output=True)
        eventually(lambda: box.client.get("/operators/jobs/direct-1").status_code == 200)
        job = box.until("direct-1", lambda job: job["resource_completed"] == 1)
        assert (job["status"], job["origin"], job["resource_total"]) == ("in_progress", "direct", 2)
        assert listed(box, "in_progress") == ["direct-1"]
        assert not any(listed(box, other) for other in ("queued", "completed", "failed"))
        client.xadd("fetchbox.jobs.tasks", {"data": json.dumps(task | {"resource_id": "b"})})
        client.xadd("fetchbox.jobs.tasks", {"data": json.dumps(task)})
        client.xadd("fetchbox.jobs.tasks", {"data": "no task"})
        job = box.ended("direct-1")
        assert (job["status"], job["resource_completed"], job["manifest_key"]) == (
            "completed",
            2,
            "s3://elsewhere/m.json",
        )
        assert (listed(box, "in_progress"), listed(box, "completed")) == ([], ["direct-1"])
        assert box.read("resources/gallery/direct-1/a") == content("/fifteen")
        job_id = box.submit("/mirrored", "/status/404/mirrored")
        box.ended(job_id)
        [letter] = eventually(lambda: [one for one in stream("dlq") if one["task"] and one["task"]["job_id"] == job_id])
        assert letter["failure_code"] == "HTTP_404"
        last = eventually(lambda: [s for s in stream("status") if s["job_id"] == job_id and s["state"] == "failed"])
        assert (last[-1]["resources_completed"], last[-1]["resources_failed"]) == (1, 1)
        records = [fields["data"] for _, fields in client.xrange("fetchbox.jobs.tasks")]
        tasks = [json.loads(data) for data in records if job_id in data]
        assert sorted(one["resource_id"] for one in tasks) == ["r0", "r1"]
        eventually(lambda: len([one for one in stream("logs") if one["job_id"] == job_id]) >= 2)
        assert [one["record"] for one in stream("dlq") if one["task"] is None] == ["no task"]
    client.close()
    valkey_server.empty()


def test_tenants_have_keys_limits_and_strict_keys(tmp_path: Path, origin: Origin):
    hashed = hashlib.sha256(b"acme-key").hexdigest()
    more = f"""
[idempotency]
strict = true
[tenants.acme]
api_keys = ["{hashed}"]
requests_per_minute = 4
[tenants.plain]
requests_per_minute = 2
[operator]
token = "open-sesame"
"""
    with running_box(tmp_path, origin, more=more) as box:
        body = box.manifest("/tenant")
        assert box.post(body, X_Fetchbox_Tenant="acme").status_code == 401
        assert box.post(box.manifest("/tenant", attributes={"tenant": "acme"})).status_code == 401
        key = {"Authorization": "Bearer acme-key"}
        assert box.post(body, X_Fetchbox_Tenant="other", **key).status_code == 401
        assert box.post(body, **{KEY: "k"}, **key).status_code == 202
        conflict = box.post(box.manifest("/else"), **{KEY: "k"}, **key)
        assert (conflict.status_code, conflict.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
        answers = [box.post(body, **key) for _ in range(5)]
        limited = next(one for one in answers if one.status_code == 429)
        assert limited.json()["error"]["code"] == "RATE_LIMITED"
        assert int(limited.headers["retry-after"]) > 0
        named = box.manifest("/tenant", attributes={"tenant": "plain"})
        assert [box.post(named).status_code for _ in range(3)] == [202, 202, 429]
        get = box.client.get
        assert get("/operators/jobs").status_code == 401
        assert get("/operators/jobs", headers={"X-Fetchbox-Operator-Token": "wrong"}).status_code == 401
        assert get("/operators/jobs", headers={"X-Fetchbox-Operator-Token": "open-sesame"}).status_code == 200
        assert get("/operators/jobs", headers={"Authorization": "Bearer open-sesame"}).status_code == 200


def test_a_url_with_a_password_is_refused_and_not_told(box: Box):
    host = box.origin.url.removeprefix("http://")
    answer = box.post(box.manifest("/a.bin", f"http://bob:hunter2canary@{host}/b.bin"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_PAYLOAD")
    assert "resources[1].url" in answer.text
    assert "hunter2canary" not in answer.text
