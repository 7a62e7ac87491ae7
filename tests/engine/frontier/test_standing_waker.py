"""Tasks of the standing frontier that wait to be woken, on both engines."""

from longline.engine.frontier.standing_waker import StandingWaker
from longline.model.frontier.standing_frontier import NEVER_DUE_MS, SCOPE
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from tests.drivers.records.world import admit, claim_one, queued_run, url


async def test_tasks_that_are_never_due_are_woken_once(records: Records) -> None:
    run = await queued_run(records, seed="s")
    await admit(records, *(url(run, path=f"/{n}", scope=SCOPE, due=NEVER_DUE_MS) for n in range(3)))
    assert await records.frontier.claim(ClaimRequest(1, 10, 10, 1000)) == []

    assert [await StandingWaker(records.standing).once() for _ in range(2)] == [3, 0]

    assert len((await claim_one(records)).tasks) == 3
