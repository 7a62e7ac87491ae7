"""Dead letters: lists by filter, replay of many at once, purge by age."""

from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.runs.run import RunRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from tests.drivers.records.downloads.files import begin, file, given_up, stored
from tests.drivers.records.world import ME, TTL, claim, get_run, host_report, report

REASONS = (("http_4xx", 404), ("http_4xx", 403), ("dns", None), ("upload", 200))


async def failed_run(records: Records, host: str = "a.example") -> RunRow:
    """A run of which every file was given up, each for another reason."""
    run = await begin(records, [file(f"{host}-{n}", f"https://{host}/{n}") for n in range(len(REASONS))])
    lease = (await claim(records))[host]
    outcomes = [given_up(lease, task, *why) for task, why in zip(lease.tasks, REASONS, strict=True)]
    assert not (await report(records, host_report(lease, outcomes))).refused
    return run


async def test_letters_are_found_by_every_filter_and_from_an_offset(records: Records):
    one, two = await failed_run(records), await failed_run(records, "b.example")

    async def found(**wanted: object) -> list[int]:
        letters = await records.dead_letters.find(DeadLetterFilter(**wanted))  # type: ignore[arg-type]
        assert await records.dead_letters.count(DeadLetterFilter(**wanted)) == len(letters)  # type: ignore[arg-type]
        return [letter.number for letter in letters]

    everything = await found()
    assert everything == sorted(everything)
    assert len(everything) == 8
    assert await found(run_id=one.id) == everything[:4]
    assert await found(host="b.example") == everything[4:]
    assert len(await found(reason="http_4xx")) == 4
    assert len(await found(reason="http_4xx", status=403, run_id=two.id)) == 1
    assert await found(kind="images", tenant="acme", since=1, before=2, replayed=False) == everything
    assert (
        await found(kind="other") == await found(tenant="other") == await found(since=2) == await found(before=1) == []
    )
    assert await found(replayed=True) == []
    assert await found(number=everything[2]) == [everything[2]]
    rest = await records.dead_letters.find(DeadLetterFilter(), after=everything[5], limit=1)
    assert [letter.number for letter in rest] == [everything[6]]


async def test_letters_are_found_by_their_tasks(records: Records):
    await failed_run(records)
    letters = await records.dead_letters.find(DeadLetterFilter())
    asked = [letters[2].task_id, letters[0].task_id, 0]
    assert await records.dead_letters.of_tasks(asked) == [letters[0], letters[2]]
    await Lifecycle(records).downloads.replay(DeadLetterFilter(number=letters[0].number))
    lease = (await claim(records))["a.example"]
    await report(records, host_report(lease, [given_up(lease, task, "dns", None) for task in lease.tasks]))
    of_task = await records.dead_letters.of_tasks([letters[0].task_id])
    assert [letter.reason for letter in of_task] == ["http_4xx", "dns"]
    assert await records.dead_letters.of_tasks([]) == []


async def test_a_replay_opens_task_and_run_again_without_attempts(records: Records):
    run, lifecycle = await failed_run(records), Lifecycle(records)
    assert await lifecycle.downloads.replay(DeadLetterFilter(reason="http_4xx")) == 2
    assert ((now := await get_run(records, run.id)).state, now.open, now.failed) == ("running", 2, 2)
    # Only a worker with the stage gets them.
    assert not await records.frontier.claim(ClaimRequest(ME, 9, 9, TTL, downloads=False))
    lease = (await claim(records))["a.example"]
    assert [(task.attempt, task.download is not None) for task in lease.tasks] == [(1, True)] * 2
    assert await records.dead_letters.count(DeadLetterFilter(replayed=True)) == 2
    assert await lifecycle.downloads.replay(DeadLetterFilter(reason="http_4xx")) == 0
    await report(records, host_report(lease, [stored(lease, task) for task in lease.tasks]))
    assert ((now := await get_run(records, run.id)).state, now.completed) == ("failed", 2)
    assert await lifecycle.downloads.replay(DeadLetterFilter(run_id=run.id)) == 2
    lease = (await claim(records))["a.example"]
    await report(records, host_report(lease, [given_up(lease, lease.tasks[0]), stored(lease, lease.tasks[1])]))
    letters = await records.dead_letters.find(DeadLetterFilter(run_id=run.id))
    assert [letter.replayed_at is None for letter in letters] == [False] * 4 + [True]


async def test_letters_of_runs_that_are_cancelled_or_gone_stay(records: Records):
    run, lifecycle = await failed_run(records), Lifecycle(records)
    await lifecycle.downloads.replay(DeadLetterFilter(reason="dns"))
    await lifecycle.move(MoveRequest("run", run.id, "cancel", "person"))
    assert await lifecycle.downloads.replay(DeadLetterFilter()) == 0
    gone = await failed_run(records, "b.example")
    assert await records.retention.mark(gone.id) is None
    while not (await records.retention.delete_piece(gone.id, 100)).is_gone:
        pass
    assert await lifecycle.downloads.replay(DeadLetterFilter()) == 0
    assert await records.dead_letters.count(DeadLetterFilter(run_id=gone.id)) == 4
    assert await records.downloads.find(gone.id) == []


async def test_old_letters_are_purged_in_pieces(records: Records):
    await failed_run(records)
    assert await records.dead_letters.purge(1, 10) == 0
    assert await records.dead_letters.purge(2, 3) == 3
    assert await records.dead_letters.purge(2, 3) == 1
