"""Manifests are stored with their runs, all or nothing, and each idempotency key is answered once."""

import asyncio

import pytest

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.manifests.idempotency_key import Reservation, ScopedKey
from longline.model.manifests.manifest import ManifestFilter, NewManifest
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.ports.records.manifests import ManifestSubmission
from tests.drivers.records.downloads.files import PLAN, file

HOUR_MS = 3_600_000


def lifecycle(records: Records) -> ManifestLifecycle:
    return ManifestLifecycle(records.manifests.runs, Lifecycle(records).downloads)


def manifest(reservation: Reservation | None = None, kind: str = "images", **more: object) -> NewManifest:
    given: dict[str, object] = {"total": 2, "bytes": 600, "reservation": reservation} | more
    return NewManifest(kind, "acme", "manifests/images/1/metadata.json", 2, **given)  # type: ignore[arg-type]


def reservation(key: str = "k") -> Reservation:
    return Reservation(ScopedKey("acme", "images", key), new_id(), "digest", HOUR_MS)


async def submission(records: Records, row: NewManifest, *names: str) -> ManifestSubmission:
    placed = await lifecycle(records).place([file(name) for name in names], PLAN)
    uid = row.reservation.holder if row.reservation else new_id()
    return ManifestSubmission(NewRun(uid, RunKind.MANIFEST, PLAN.text(), uid), row, placed)


async def test_a_manifest_is_stored_with_its_run_and_files(records: Records):
    one = await submission(records, manifest(), "a", "b")
    [run_id] = await lifecycle(records).submit([one])
    found = await records.manifests.snapshots.get(one.run.uid)
    assert found is not None
    assert (found.run_id, found.kind, found.tenant, found.state) == (run_id, "images", "acme", "running")
    assert (found.total, found.admitted, found.completed, found.open, found.begun) == (2, 2, 0, 2, False)
    assert len(await records.downloads.find(found.run_id)) == 2
    assert await records.manifests.snapshots.bytes() == (1, 600)


async def test_several_manifests_share_a_transaction(records: Records):
    many = [await submission(records, manifest(), "a", "b", str(n)) for n in range(3)]
    made = await lifecycle(records).submit(many)
    assert len(set(made)) == 3
    for run_id in made:
        assert run_id is not None
        assert len(await records.downloads.find(run_id)) == 3


async def test_a_manifest_that_cannot_be_queued_has_a_failed_run(records: Records):
    held = reservation()
    await records.manifests.keys.reserve([held], 60_000)
    one = await submission(records, manifest(held, code="HANDLER_FATAL", message="broken"))
    await lifecycle(records).refuse(one.run, one.manifest, "broken")
    found = await records.manifests.snapshots.get(one.run.uid)
    assert found is not None
    assert (found.state, found.error_code, found.error_message) == ("failed", "HANDLER_FATAL", "broken")
    assert await records.manifests.keys.get(held.key) is None


async def test_a_key_is_reserved_once_answered_once_and_kept(records: Records):
    first, twin = reservation(), reservation()
    [mine] = await records.manifests.keys.reserve([first], 60_000)
    [theirs] = await records.manifests.keys.reserve([twin], 60_000)
    assert (mine.holder, theirs.holder, theirs.run_uid) == (first.holder, first.holder, None)
    late = await submission(records, manifest(twin), "a")
    held = await submission(records, manifest(first), "a")
    assert (await lifecycle(records).submit([late, held]))[0] is None
    assert await records.manifests.snapshots.get(late.run.uid) is None
    [answered] = await records.manifests.keys.reserve([twin], 60_000)
    assert (answered.run_uid, answered.resources) == (first.holder, 2)
    assert not await records.manifests.keys.release(first)


async def test_a_reservation_lapses_and_a_released_one_is_free(records: Records):
    first, second, third = reservation(), reservation(), reservation()
    await records.manifests.keys.reserve([first], -1)
    [taken] = await records.manifests.keys.reserve([second], 60_000)
    assert taken.holder == second.holder
    # The slow holder returns after its lease: it stores nothing, and removes nothing.
    assert await lifecycle(records).submit([await submission(records, manifest(first), "a")]) == [None]
    assert not await records.manifests.keys.release(first)
    assert await records.manifests.keys.release(second)
    [free] = await records.manifests.keys.reserve([third], 60_000)
    assert free.holder == third.holder


async def test_concurrent_reservations_of_one_key_have_one_holder(records: Records):
    twins = [reservation() for _ in range(8)]
    found = await asyncio.gather(*(records.manifests.keys.reserve([one], 60_000) for one in twins))
    assert len({row.holder for [row] in found}) == 1


async def test_old_answers_are_deleted(records: Records):
    held = reservation()
    short = Reservation(held.key, held.holder, held.digest, -1)
    await records.manifests.keys.reserve([short], 60_000)
    await lifecycle(records).submit([await submission(records, manifest(short), "a")])
    [taken] = await records.manifests.keys.reserve([reservation()], 60_000)
    assert taken.run_uid is None
    assert await records.manifests.keys.forget(10) == 0
    await records.manifests.keys.release(Reservation(held.key, taken.holder, "", 0))


async def test_lists_are_filtered_and_continued(records: Records):
    uids = []
    for n in range(5):
        one = await submission(records, manifest(kind=f"k{n % 2}"), "a")
        await lifecycle(records).submit([one])
        uids.append(one.run.uid)
    store = records.manifests.snapshots
    everything = await store.find(ManifestFilter(), 2**62, 10)
    assert [one.uid for one in everything] == uids[::-1]
    assert [one.uid for one in await store.find(ManifestFilter(), everything[1].run_id, 2)] == uids[2:0:-1]
    assert [one.uid for one in await store.find(ManifestFilter(kind="k1"), 2**62, 10)] == [uids[3], uids[1]]
    assert len(await store.find(ManifestFilter(tenant="acme", kind="k0"), 2**62, 10)) == 3
    assert len(await store.find(ManifestFilter(states=("running", "failed")), 2**62, 10)) == 5
    assert await store.find(ManifestFilter(states=("failed",)), 2**62, 10) == []
    assert len(await store.find(ManifestFilter(since=everything[-1].created_at), 2**62, 10)) == 5
    assert await store.find(ManifestFilter(since=2**60), 2**62, 10) == []
    assert [one.uid for one in await store.after(everything[-1].run_id, 0, 2)] == uids[1:3]
    assert len(await store.of_runs([everything[0].run_id, 10**9])) == 1


async def test_ended_manifests_that_await_files_are_found(records: Records):
    uids = {}
    for name, total in (("unknown", None), ("half", 4), ("whole", 1)):
        one = await submission(records, manifest(origin="direct", total=total), "a")
        [run_id] = await lifecycle(records).submit([one])
        assert run_id is not None
        uids[one.run.uid] = name
        await records.moves.apply(Change("run", run_id, "fail", "running", "failed", "worker"))
    one = await submission(records, manifest(), "a")
    await lifecycle(records).submit([one])

    async def found(wanted: ManifestFilter) -> set[str]:
        return {uids.get(one.uid, "open") for one in await records.manifests.snapshots.find(wanted, 2**62, 10)}

    assert await found(ManifestFilter(states=("running",))) == {"open"}
    assert await found(ManifestFilter(states=("running",), awaiting=True)) == {"open", "unknown", "half"}


async def test_files_that_come_later_are_admitted_once(records: Records):
    one = await submission(records, manifest(origin="direct", total=None), "a")
    [run_id] = await lifecycle(records).submit([one])
    assert run_id is not None
    more = await lifecycle(records).place([file("a"), file("b")], PLAN)
    assert await lifecycle(records).extend(run_id, more) == 1
    assert await lifecycle(records).extend(run_id, more) == 0
    await records.manifests.snapshots.note_total(run_id, 2)
    await records.manifests.snapshots.note_total(run_id, 1)
    found = await records.manifests.snapshots.get(one.run.uid)
    assert found is not None
    assert (found.admitted, found.total) == (2, 2)
    with pytest.raises(NotFound):
        await lifecycle(records).extend(10**9, await lifecycle(records).place([file("c")], PLAN))
