"""Lists of runs, and runs that can be compared."""

import pytest

from longline.model.errors import BadInput
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.services.runs.run_list import RunLists, check_comparable


async def add(records: Records, uid: str, kind: RunKind = RunKind.CRAWL, seed: str = "s", source: int | None = None):
    return await records.runs.add(NewRun(uid, kind, "{}", seed, source))


async def test_crawls_are_listed_newest_first_with_the_names_of_their_sources(records: Records):
    source = await records.sources.add(NewSource("Harbour Times", "https://a.example/"))
    first = await add(records, "1")
    await add(records, "2", RunKind.FEED_POLL)
    third = await add(records, "3", source=source.id)
    lists = RunLists(records.runs, records.sources, records.schedules)
    found = await lists.find(limit=10)
    assert [(listed.run.id, listed.source) for listed in found] == [(third.id, "Harbour Times"), (first.id, "")]
    assert len(await lists.find(limit=10, kind=None)) == 3
    assert len(await lists.find(limit=1)) == 1


async def test_runs_of_one_start_url_or_one_source_can_be_compared(records: Records):
    source = await records.sources.add(NewSource("Harbour Times", "https://a.example/"))
    by_hand: list[RunRow] = [await add(records, str(n)) for n in range(3)]
    of_source = [await add(records, f"s{n}", seed=f"seed {n}", source=source.id) for n in range(2)]
    other = await add(records, "other", seed="other")
    check_comparable(by_hand[0], by_hand[1])
    check_comparable(by_hand[2], by_hand[1])
    check_comparable(*of_source)
    for one, two in ((by_hand[0], other), (by_hand[0], of_source[0])):
        with pytest.raises(BadInput, match=f"run {one.id} .* and run {two.id} .* cannot be compared"):
            check_comparable(one, two)
