import pytest

from longline.drivers.blobs import open_blobs
from longline.engine.frontier.lapsed_leases import Reaper
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import Unavailable
from longline.model.frontier.task import PARSE
from longline.model.frontier.worker import WorkerRow
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, ReportBatch, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import TTL, admit, claim, ended, get_run, host_report, page, running_run, url, urls
from tests.engine.fakes import FakeBlobs, part


class FakePresence:
    """The presence of workers, as a test sets it."""

    def __init__(self) -> None:
        self.dead: set[str] = set()
        self.forgotten: list[str] = []

    def enter(self) -> str:
        return "mine"

    def gone(self, mark: str) -> bool:
        return mark in self.dead

    def forget(self, mark: str) -> None:
        self.forgotten.append(mark)

    def release(self) -> None:
        pass


@pytest.fixture
def presence() -> FakePresence:
    return FakePresence()


@pytest.fixture
def blobs() -> Blobs:
    return open_blobs("memory://")


@pytest.fixture
def reaper(records: Records, blobs: Blobs, presence: FakePresence) -> Reaper:
    return Reaper(Lifecycle(records), records.workers, records.segments, blobs, presence)


async def joined(records: Records, mark: str) -> WorkerRow:
    return await records.workers.join(f"machine:{mark}", "fetch", mark)


async def objects(blobs: Blobs) -> set[str]:
    return {info.key async for info in blobs.list()}


async def test_hosts_of_a_dead_worker_are_released_at_once(
    records: Records, reaper: Reaper, presence: FakePresence, clock: FakeClock
):
    dead, living = await joined(records, "dead"), await joined(records, "living")
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3), url(run, "b.example"))
    first = await records.frontier.claim(ClaimRequest(dead.id, 1, 10, TTL))
    second = await records.frontier.claim(ClaimRequest(living.id, 1, 10, TTL))
    presence.dead = {"dead"}
    assert await reaper.reap_dead_workers() == 1
    assert presence.forgotten == ["dead"]
    assert [w.id for w in await records.workers.find()] == [living.id]
    clock.advance(1)  # the dead worker may have sent a request just before
    freed = await claim(records, living.id)
    assert set(freed) == {first[0].host}
    assert {t.claims for t in freed[first[0].host].tasks} == {2}
    # The report of the dead worker is stale, that of the living one is not.
    late = await records.frontier.report(ReportBatch(reports=[host_report(first[0])]))
    assert late.stale == {first[0].host_id}
    assert not (await records.frontier.report(ReportBatch(reports=[host_report(second[0])]))).refused


async def test_leases_of_a_living_worker_are_left_alone(records: Records, reaper: Reaper, peek: Peek, blobs: Blobs):
    living = await joined(records, "living")
    run = await running_run(records)
    await admit(records, url(run))
    await records.frontier.claim(ClaimRequest(living.id, 1, 10, TTL))
    await records.segments.begin("warc/half", living.id)
    await blobs.put("warc/half", b"half")
    before = await peek.snapshot()
    assert await reaper.reap_dead_workers() == 0
    assert await peek.snapshot() == before
    assert await objects(blobs) == {"warc/half"}


async def test_unfinished_segments_of_a_dead_worker_are_deleted(
    records: Records, reaper: Reaper, presence: FakePresence, blobs: Blobs, peek: Peek
):
    dead, living = await joined(records, "dead"), await joined(records, "living")
    run = await running_run(records)
    await admit(records, url(run))
    [lease] = await records.frontier.claim(ClaimRequest(dead.id, 1, 10, TTL))
    for owner, key in ((dead, "warc/named"), (dead, "warc/half"), (dead, "warc/never-put"), (living, "warc/theirs")):
        number = await records.segments.begin(key, owner.id)
        if key == "warc/named":
            outcome = ended(lease.tasks[0], page=page())
            batch = ReportBatch(reports=[host_report(lease, [outcome])], segment=WrittenSegment(number, 1, 100))
            assert not (await records.frontier.report(batch)).refused
        if key != "warc/never-put":
            await blobs.put(key, b"bytes")
    presence.dead = {"dead"}
    await reaper.reap_dead_workers()
    assert await objects(blobs) == {"warc/named", "warc/theirs"}
    rows = await peek.rows("SELECT key, state FROM segments ORDER BY key")
    assert rows == [("warc/named", "stored"), ("warc/theirs", "writing")]


async def test_runs_and_taken_tasks_of_a_dead_worker_are_released_as_well(
    records: Records, reaper: Reaper, presence: FakePresence, peek: Peek
):
    dead = await joined(records, "dead")
    run = await running_run(records)
    await admit(records, url(run, executor=PARSE))
    lifecycle = Lifecycle(records)
    await lifecycle.move(MoveRequest("run", run.id, "adopt", "worker", owner=dead.id, lease_ms=TTL))
    [taken] = await records.hands.take(PARSE, dead.id, 1, TTL)
    presence.dead = {"dead"}
    await reaper.reap_dead_workers()
    assert (await get_run(records, run.id)).owner is None
    [again] = await records.hands.take(PARSE, dead.id + 1, 1, TTL)
    assert (again.task.id, again.token == taken.token) == (taken.task.id, False)


async def test_a_failed_archive_delays_the_removal_of_a_dead_worker(
    records: Records, presence: FakePresence, blobs: Blobs
):
    dead = await joined(records, "dead")
    await records.segments.begin("warc/half", dead.id)
    await blobs.put("warc/half", b"half")
    presence.dead = {"dead"}

    away = FakeBlobs([])
    away.away = True
    with pytest.raises(Unavailable):
        await Reaper(Lifecycle(records), records.workers, records.segments, part(away), presence).reap_dead_workers()
    assert ([w.id for w in await records.workers.find()], presence.forgotten) == ([dead.id], [])
    reaper = Reaper(Lifecycle(records), records.workers, records.segments, blobs, presence)
    assert await reaper.reap_dead_workers() == 1
    assert await objects(blobs) == set()


async def test_a_worker_that_leaves_is_removed_with_its_leases_and_segments(
    records: Records, reaper: Reaper, blobs: Blobs, peek: Peek, clock: FakeClock
):
    leaving = await joined(records, "mine")
    run = await running_run(records)
    await admit(records, url(run))
    await records.frontier.claim(ClaimRequest(leaving.id, 1, 10, TTL))
    await records.segments.begin("warc/half", leaving.id)
    await blobs.put("warc/half", b"half")
    assert await reaper.remove_worker(leaving.id) == 1
    assert await reaper.remove_worker(leaving.id) == 0
    assert (await records.workers.find(), await objects(blobs)) == ([], set())
    assert await peek.value("SELECT COUNT(*) FROM segments") == 0
    assert await peek.value("SELECT COUNT(*) FROM line WHERE owner IS NOT NULL") == 0


async def test_lapsed_leases_are_released_once(records: Records, reaper: Reaper, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    await records.frontier.claim(ClaimRequest(1, 1, 10, TTL))
    assert (await reaper.once())["hosts"] == 0
    clock.advance(TTL / 1000 + 1)
    assert await reaper.once() == {"hosts": 1, "offers": 0, "runs": 0, "schedules": 0, "dead_workers": 0}
    assert (await reaper.once())["hosts"] == 0


async def test_a_worker_without_heartbeats_counts_as_dead(
    records: Records, reaper: Reaper, clock: FakeClock, blobs: Blobs
):
    """The presence of a process of another machine is unknown; only its heartbeats count."""
    silent, beating = await joined(records, "on another machine"), await joined(records, "here")
    await records.segments.begin("warc/half", silent.id)
    await blobs.put("warc/half", b"half")
    clock.advance(599)
    await records.workers.beat(beating)
    assert await reaper.reap_dead_workers() == 0
    clock.advance(2)
    assert await reaper.reap_dead_workers() == 1
    assert [w.id for w in await records.workers.find()] == [beating.id]
    assert await objects(blobs) == set()
