"""The run that a command reads."""

import pytest

from longline.model.errors import NotFound
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from longline.services.runs.last_run import find_run


async def test_the_last_crawl_is_found_before_newer_runs_of_other_kinds(records: Records):
    with pytest.raises(NotFound, match="nothing was crawled here"):
        await find_run(records.runs, None)
    poll = await records.runs.add(NewRun("1", RunKind.FEED_POLL, "{}", "s", None))
    assert (await find_run(records.runs, None)).id == poll.id
    crawl = await records.runs.add(NewRun("2", RunKind.CRAWL, "{}", "s", None))
    await records.runs.add(NewRun("3", RunKind.FEED_POLL, "{}", "s", None))
    assert (await find_run(records.runs, None)).id == crawl.id
    assert (await find_run(records.runs, poll.id)).id == poll.id
    with pytest.raises(NotFound, match="there is no run 7"):
        await find_run(records.runs, 7)
