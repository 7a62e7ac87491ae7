"""Streams in Redis with records at the edges: tasks of direct producers, and the tasks of dead letters."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.journeys.place import wait_until
from tests.servers import PostgresServer, ValkeyServer
from tests.surfaces.manifests.origin import Origin
from tests.surfaces.manifests.running import Box, running_box

NUL = "\0"


class Streams:
    """The streams of a service, for a direct producer and a reader outside."""

    def __init__(self, url: str) -> None:
        self._client: Any = redis.Redis.from_url(url, decode_responses=True)

    def add(self, task: dict[str, Any]) -> None:
        self._client.xadd("fetchbox.jobs.tasks", {"data": json.dumps(task)})

    def read(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(fields["data"]) for _, fields in self._client.xrange(f"fetchbox.jobs.{name}")]

    def pending(self) -> int:
        return sum(group["pending"] for group in self._client.xinfo_groups("fetchbox.jobs.tasks"))

    def is_followed(self) -> bool:
        return bool(self._client.hgetall("fetchbox.positions"))

    def close(self) -> None:
        self._client.close()


@pytest.fixture(params=["sqlite", "postgres"])
def streaming(
    request: pytest.FixtureRequest, tmp_path: Path, origin: Origin, valkey_server: ValkeyServer
) -> Iterator[tuple[Box, Streams]]:
    """A service with streams, on either database."""
    valkey_server.empty()
    streams = Streams(valkey_server.url)
    with ExitStack() as stack:
        database = ""
        if request.param == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            database = stack.enter_context(postgres.fresh_database())
        named = {"LONGLINE_DATABASE": database, "LONGLINE_REDIS": valkey_server.url}
        box = stack.enter_context(running_box(tmp_path, origin, None, "", **named))
        wait_until(streams.is_followed, "positions")
        yield box, streams
    streams.close()
    valkey_server.empty()


def task(box: Box, job_id: str, **more: Any) -> dict[str, Any]:
    return {"job_id": job_id, "job_type": "gallery", "resource_id": "a", "url": f"{box.origin.url}/streams"} | more


def known(box: Box, job_id: str) -> bool:
    return box.client.get(f"/operators/jobs/{job_id}").status_code == 200


def test_tasks_that_cannot_be_stored_are_dead_letters_at_once(streaming: tuple[Box, Streams]):
    box, streams = streaming
    broken: list[dict[str, Any]] = [
        task(box, f"nul{NUL}"),
        task(box, "nul-id", resource_id=f"a{NUL}"),
        task(box, "nul-url", url=f"http://a.invalid/{NUL}"),
        task(box, "nul-tag", attributes={"tags": {"a": NUL}}),
        task(box, "nul-manifest", manifest_key=f"s3://elsewhere/{NUL}"),
        task(box, "too-many", resources_total=10**30),
        task(box, "none", resources_total=0),
        task(box, "fewer", resources_total=-1),
    ]
    for one in broken:
        streams.add(one)
    streams.add(task(box, "whole", resources_total=1))
    wait_until(lambda: known(box, "whole"), "the whole task")
    assert box.ended("whole")["status"] == "completed"
    wait_until(lambda: len(streams.read("dlq")) == len(broken), "dead letters of broken tasks")
    letters = streams.read("dlq")
    assert {one["failure_code"] for one in letters} == {"VALIDATION_UNREADABLE_TASK"}
    assert all(one["failed_at_ms"] > 1_600_000_000_000 for one in letters)
    wait_until(lambda: streams.pending() == 0, "acknowledgements")
    assert [job["job_id"] for job in box.client.get("/operators/jobs").json()["jobs"]] == ["whole"]


def test_a_direct_job_without_a_manifest_refers_to_none(streaming: tuple[Box, Streams]):
    box, streams = streaming
    streams.add(task(box, "bare", resources_total=1))
    wait_until(lambda: known(box, "bare"), "the job")
    assert box.ended("bare")["manifest_key"] is None
    wait_until(lambda: any(one["state"] == "completed" for one in streams.read("status")), "the end")
    assert {one["manifest_key"] for one in streams.read("status")} == {None}


def test_a_total_is_never_below_the_resources_that_came(streaming: tuple[Box, Streams]):
    box, streams = streaming
    job_id = box.submit("/streams/own")
    box.ended(job_id)
    streams.add(task(box, job_id, resource_id="further"))
    streams.add(task(box, "announced", resources_total=1))
    box.until(job_id, lambda job: job["resource_completed"] == 2)
    wait_until(lambda: known(box, "announced"), "the announced job")
    box.ended("announced")
    streams.add(task(box, "announced", resource_id="further"))
    box.until("announced", lambda job: job["resource_completed"] == 2)
    assert [box.job(one)["resource_total"] for one in (job_id, "announced")] == [2, 2]


def test_the_task_of_a_dead_letter_is_whole(streaming: tuple[Box, Streams]):
    box, streams = streaming
    url = f"{box.origin.url}/status/404/whole-letter"
    tags = {"content_type": "image/x-own", "checksum_hint": "sha256:ab"}
    body = box.manifest("/") | {"resources": [{"id": "a", "url": url, "tags": tags}]}
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    accepted = box.post(body, X_Fetchbox_Tenant="acme", traceparent=f"00-{trace}-00f067aa0ba902b7-01").json()
    box.ended(accepted["job_id"])
    wait_until(lambda: streams.read("dlq"), "the dead letter")
    [queued], [letter] = streams.read("tasks"), streams.read("dlq")
    assert letter["task"] == queued | {"attempt": 1, "origin": None}
    assert (letter["task"]["manifest_key"], letter["task"]["trace_id"]) == (accepted["manifest_key"], trace)
    assert letter["task"]["attributes"]["tags"] == tags


def test_every_job_is_announced_as_queued_before_its_other_states(streaming: tuple[Box, Streams]):
    box, streams = streaming
    refused = box.post(box.manifest("/none", metadata={"wish": "fail"}), "picky").json()["error"]["job_id"]
    jobs = {box.submit("/quick"): "completed", box.submit("/status/404/quick"): "failed", refused: "failed"}
    for job_id in jobs:
        box.ended(job_id)

    def states(job_id: str) -> list[dict[str, Any]]:
        return [one for one in streams.read("status") if one["job_id"] == job_id]

    wait_until(
        lambda: all(last in {one["state"] for one in states(job_id)} for job_id, last in jobs.items()), "the ends"
    )
    for job_id, last in jobs.items():
        first, *others = states(job_id)
        assert (first["state"], first["resources_completed"], first["resources_failed"]) == ("queued", 0, 0)
        assert first["last_error_code"] is None
        assert others[-1]["state"] == last


def test_each_dead_letter_is_one_record(streaming: tuple[Box, Streams]):
    box, streams = streaming
    job_id = box.submit("/status/404/one-record")
    box.ended(job_id)
    wait_until(lambda: len(streams.read("dlq")) == 1, "the first dead letter")
    [first] = box.letters(job_id)
    assert box.client.post(f"/operators/dlq/{first['offset']}/replay").json() == {"replayed": 1}
    wait_until(lambda: len(box.letters(job_id)) == 2, "the second dead letter")
    numbers = [one["offset"] for one in box.letters(job_id)]
    box.ended(job_id)
    last = box.submit("/status/404/afterwards")
    box.ended(last)
    wait_until(lambda: any(one["task"]["job_id"] == last for one in streams.read("dlq")), "the last dead letter")
    assert [one["offset"] for one in streams.read("dlq") if one["task"]["job_id"] == job_id] == numbers
