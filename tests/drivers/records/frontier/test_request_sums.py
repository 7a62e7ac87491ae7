"""Requests of runs, summed on each engine."""

import msgspec

from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import RequestMade
from longline.model.runs.run import RequestSum
from longline.model.states import TaskState
from longline.ports.records import Records
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim_one, ended, host_report, report, running_run, url

LATE = RequestMade(503, 7, 10, "http_5xx", "HTTP 503")


async def take(
    records: Records, path: str, *asked: RequestMade, at: int, became: TaskState = TaskState.COMPLETED
) -> None:
    """Claim the task of this path and report its requests."""
    lease = await claim_one(records)
    [task] = [task for task in lease.tasks if task.url.endswith(path)]
    others = tuple(other for other in lease.tasks if other != task)
    outcome = msgspec.structs.replace(ended(task, became, asked=asked), at=at)
    assert not (await report(records, host_report(lease, [outcome], unstarted=others))).refused


async def test_requests_are_summed_by_their_result(records: Records):
    run, other = await running_run(records), await running_run(records)
    await admit(records, url(run, path="/z"), url(run, path="/a"))
    await take(records, "/z", LATE, at=5, became=TaskState.PENDING)
    await take(records, "/z", RequestMade(302, 1), RequestMade(200, 3, 90), at=6)
    await take(records, "/a", LATE, RequestMade(reason="dns", error="e" * 5000), at=7, became=TaskState.FAILED)
    found = await records.history.review([run.id, other.id])
    assert found[run.id].survey.asked == (
        RequestSum("dns", 0, 1),
        RequestSum("http_5xx", 503, 2, 20, 14, 7, 7),
        RequestSum("ok", 200, 1, 90, 3, 3, 3),
        RequestSum("ok", 302, 1, 0, 1, 1, 1),
    )
    assert found[run.id].survey.errors == (
        ("HTTP 503", 2, "https://a.example/a"),
        ("e" * 200, 1, "https://a.example/a"),
    )
    assert found[other.id].survey.asked == ()


async def test_the_last_url_of_an_error_is_that_of_the_latest_request(records: Records):
    """Neither the order of the reports nor that of the alphabet decides."""
    run = await running_run(records)
    await admit(records, *(url(run, path=path) for path in ("/a", "/m", "/z")))
    for path, at in (("/m", 9), ("/z", 8), ("/a", 8)):
        await take(records, path, LATE, at=at, became=TaskState.FAILED)
    [(_, count, last)] = (await records.history.review([run.id]))[run.id].survey.errors
    assert (count, last) == (3, "https://a.example/m")


async def test_requests_of_the_standing_frontier_are_not_summed(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run, scope=SCOPE))
    await take(records, "/", LATE, at=1, became=TaskState.FAILED)
    assert await peek.value("SELECT COUNT(*) FROM requests") == 0
