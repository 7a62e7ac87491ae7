"""Tasks of direct producers: each is stored, or parked with its reason, without an effect on others."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput
from longline.ports.records import Records
from longline.ports.sources import Delivery
from longline.services.manifests.direct_tasks import MAX_DELIVERIES, DirectTask, DirectTasks
from longline.settings import Settings
from longline.surfaces.manifests.streams.stream_records import read_task
from longline.wiring.subjects.manifests import manifest_kinds

TASK: dict[str, Any] = {"job_id": "job", "job_type": "gallery", "resource_id": "a", "url": "https://a.example/"}


class Queue:
    """A queue with these messages, each at its last delivery."""

    def __init__(self, *bodies: bytes) -> None:
        self._waiting = [Delivery(str(number), body, MAX_DELIVERIES) for number, body in enumerate(bodies)]
        self.parked, self.settled = dict[str, str](), list[str]()

    async def receive(self) -> Sequence[Delivery]:
        waiting, self._waiting = self._waiting, []
        return waiting

    async def acknowledge(self, ids: Sequence[str]) -> None:
        self.settled += ids

    async def park(self, delivery: Delivery, why: str) -> None:
        self.parked[delivery.id] = why

    async def close(self) -> None:
        """Do nothing: a queue in memory has no connection."""


def consumer(records: Records, queue: Queue, folder: Path) -> DirectTasks:
    kinds = manifest_kinds(Settings(data=folder))
    lifecycle = ManifestLifecycle(records.manifests.runs, Lifecycle(records).downloads)
    return DirectTasks(queue, records.manifests.snapshots, lifecycle, kinds, Vault("a key of tests"), read_task)


def body(**more: Any) -> bytes:
    return json.dumps(TASK | more).encode()


NUL = "a\0b"
ODD = [
    *({name: NUL} for name in ("job_id", "job_type", "resource_id", "url", "manifest_key", "tenant", "trace_id")),
    *({"storage_hint": {name: NUL}} for name in ("bucket", "key", "key_prefix")),
    *({"attributes": {name: NUL}} for name in ("checksum_hint", "mime_hint")),
    {"attributes": {"tags": {"content_type": NUL}}},
    {"resources_total": -1},
    {"resources_total": 2**70},
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: json.dumps(odd)[:60])
async def test_a_task_that_cannot_be_stored_is_parked_alone_with_its_reason(
    records: Records, tmp_path: Path, odd: dict[str, Any]
):
    queue = Queue(body(**odd), body(resource_id="good"))
    await consumer(records, queue, tmp_path).once()
    assert queue.settled == ["1"]
    assert queue.parked["0"].startswith("not a task: ")
    with pytest.raises(BadInput):
        read_task(body(**odd))


@pytest.mark.parametrize("extra", [{"page": 5}, {"page": {"part": [1, None]}}])
async def test_any_attributes_of_a_task_are_read(extra: dict[str, Any]):
    task = read_task(body(attributes={"extra": extra, "tags": {"kind": "cover"}}))
    assert task is not None
    assert task.tags == {"kind": "cover"}


BROKEN = [b'{"job_id": "\xff"}', b"\xff\xfe", b"", b"[" * 5000]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: repr(broken[:20]))
async def test_a_record_that_is_no_task_is_parked_alone(records: Records, tmp_path: Path, broken: bytes):
    queue = Queue(broken, body(resource_id="good"))
    await consumer(records, queue, tmp_path).once()
    assert (queue.settled, list(queue.parked)) == (["1"], ["0"])
    assert queue.parked["0"].startswith("not a task: ")


async def test_an_error_of_the_reader_does_not_stop_the_stream(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    queue = Queue(b"odd", body(resource_id="good"))
    direct = consumer(records, queue, tmp_path)

    def failing(data: bytes) -> DirectTask | None:
        if data == b"odd":
            raise TypeError("no such field")
        return read_task(data)

    monkeypatch.setattr(direct, "_read", failing)
    await direct.once()
    assert queue.settled == ["1"]
    assert queue.parked["0"].startswith("not a task: TypeError(")


async def test_a_failed_task_does_not_fail_the_others_of_its_manifest(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    queue = Queue(*(body(resource_id=name) for name in ("a", "b", "c")))
    direct = consumer(records, queue, tmp_path)
    downloads = direct._downloads

    def failing(tasks: Sequence[DirectTask], kind: Any) -> Any:
        if any(task.resource_id == "b" for task in tasks):
            raise ZeroDivisionError("no such number")
        return downloads(tasks, kind)

    monkeypatch.setattr(direct, "_downloads", failing)
    await direct.once()
    assert queue.settled == ["0", "2"]
    assert queue.parked == {"1": "the task could not be stored: ZeroDivisionError('no such number')"}
    found = await records.manifests.snapshots.get("job")
    assert found is not None
    assert found.admitted == 2
