"""Versions of sources, on both engines: every change has a larger one, in the order of commits of its part."""

import asyncio

import msgspec

from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.source import NewSource, SourceChange, SourceRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change


async def made(records: Records, name: str = "a") -> SourceRow:
    return await records.sources.make(NewSource(name, f"https://{name}.example/"))


async def versions(records: Records, *sources: SourceRow) -> list[int]:
    return [await records.catalogues.versions.get(each.id if each else None) for each in sources]


async def whole(records: Records) -> int:
    return await records.catalogues.versions.get(None)


async def test_a_change_of_a_source_is_a_new_version(records: Records):
    begin = await whole(records)
    first, other = await made(records), await made(records, "b")
    before, then = await versions(records, first, other), await whole(records)
    assert begin < then
    assert min(before) > 0
    await records.sources.change(msgspec.structs.replace(first, extension_config='{"a":1}'))
    after = await versions(records, first, other)
    assert after[0] > before[0]
    assert after[1] == before[1]
    assert await whole(records) > then
    then = await whole(records)
    await records.sources.remove(first.id)
    assert (await versions(records, first))[0] > after[0]
    assert await whole(records) > then


async def test_a_run_of_the_catalogue_that_changes_its_state_is_a_new_version(records: Records):
    source = await made(records)
    seen = await versions(records, source)
    run = await records.runs.add(NewRun(new_id(), RunKind.SERIES, "{}", "https://a.example/", source_id=source.id))
    seen += await versions(records, source)
    await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    seen += await versions(records, source)
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    seen += await versions(records, source)
    assert seen == sorted(set(seen))
    await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", "https://a.example/", source_id=source.id))
    assert await versions(records, source) == seen[-1:], "runs of other kinds are in no cache"


async def test_changes_after_a_version_are_listed_in_the_order_of_commits(records: Records):
    sources = [await made(records, f"s{n}") for n in range(20)]  # more than there are parts
    place, end = await records.catalogues.versions.parts(), await whole(records) + 200
    assert len(place) == 16
    seen: list[SourceChange] = []

    async def write(source: SourceRow) -> None:
        for n in range(10):
            row = await records.sources.get(source.id)
            assert row is not None
            await records.sources.change(msgspec.structs.replace(row, extension_config=f'{{"n":{n}}}'))

    async def follow() -> None:
        while sum(place.values()) < end:
            for change in await records.catalogues.versions.after(place, 7):
                assert change.version > place[change.part]
                seen.append(change)
                place[change.part] = change.version
            await asyncio.sleep(0)

    async with asyncio.timeout(60):
        await asyncio.gather(follow(), *(write(source) for source in sources))
    last = {source.id: await records.catalogues.versions.get(source.id) for source in sources}
    assert {key: max(each.version for each in seen if each.source_id == key) for key in last} == last
