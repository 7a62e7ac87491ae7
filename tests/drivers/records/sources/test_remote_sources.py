"""Sources that another service manages, on both engines."""

import asyncio
from functools import partial

import msgspec

from longline.model.feeds import feed_poll as poll
from longline.model.sources.remote_source import GONE
from longline.model.sources.source import NewSource, RemoteSource, SourceQuery, SourceRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek

FEED = "https://a.example/feed"


def said(ref: str, **more: object) -> RemoteSource:
    plain = RemoteSource(ref=ref, name=f"name of {ref}", base_url=f"https://{ref}.example/", feed_url=FEED)
    return msgspec.structs.replace(plain, **more)


async def take(records: Records, clock: FakeClock, *sources: RemoteSource) -> int:
    """Take over sources that were requested a second ago."""
    clock.advance(1)
    return await records.remote_sources.take(sources, clock.now())


async def row(records: Records, ref: str) -> SourceRow:
    found = await records.remote_sources.get(ref)
    assert found is not None
    return found


async def untold(records: Records) -> list[SourceRow]:
    """Return the sources to be reported, without a claim on them."""
    found = await records.remote_sources.claim(9, 1000)
    await records.remote_sources.release(found)
    return sorted(found, key=lambda one: one.id)


async def due(records: Records, *, searching: bool = False) -> list[int]:
    return [feed.source_id for feed in await records.feeds.claim(100, 1, searching=searching)]


async def test_new_remote_sources_are_added_and_changed_ones_updated(records: Records, clock: FakeClock) -> None:
    assert await take(records, clock, said("a"), said("b")) == 2
    assert await take(records, clock, said("a"), said("b")) == 0, "nothing is new"
    first = await row(records, "a")
    assert (first.name, first.feed_url, first.reported_feed_url, first.public_id) == ("name of a", FEED, FEED, "a")
    assert await take(records, clock, said("a", name="other", enabled=False, feed_every_ms=60_000), said("b")) == 1
    after = await row(records, "a")
    assert (after.id, after.name, after.enabled, after.feed_every_ms) == (first.id, "other", False, 60_000)
    assert await records.sources.get_by_ref("a") == after
    assert await records.sources.get_by_ref(after.uid or "") == after
    assert await records.source_names.of_refs(["a", after.uid or "", "c"]) == {"a": "other", after.uid: "other"}
    assert await records.source_names.of_refs([]) == {}
    assert await records.remote_sources.get("c") is None


async def test_a_source_that_is_enabled_again_loses_its_failures(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a"))
    failing = msgspec.structs.replace(await row(records, "a"), failures=5)
    assert await records.sources.change(failing)
    await take(records, clock, said("a", name="other"))
    assert (await row(records, "a")).failures == 5
    await take(records, clock, said("a", enabled=False))
    assert (await row(records, "a")).failures == 5
    await take(records, clock, said("a", enabled=True))
    assert (await row(records, "a")).failures == 0


async def test_the_parser_of_the_source_manager_replaces_ours_where_it_names_one(
    records: Records, clock: FakeClock
) -> None:
    ours = await records.sources.make(NewSource("name of a", "https://a.example/", parser="books", config='{"a":1}'))
    await take(records, clock, said("a"))
    assert await row(records, "a") == await records.sources.get(ours.id)
    assert ((await row(records, "a")).parser, (await row(records, "a")).config) == ("books", '{"a":1}')
    await take(records, clock, said("a", parser="comics", names_parser=True))
    assert ((await row(records, "a")).parser, (await row(records, "a")).config) == ("comics", "{}")
    await take(records, clock, said("a", names_parser=True))
    assert (await row(records, "a")).parser is None


async def test_concurrent_takes_add_each_source_once(records: Records, clock: FakeClock) -> None:
    many = [said(f"s{number}") for number in range(250)]
    clock.advance(1)
    took = await asyncio.gather(*(records.remote_sources.take(many, clock.now()) for _ in range(3)))
    assert sum(took) == 250
    assert len(await records.sources.find(limit=1000)) == 250
    assert len(await due(records)) == 100


async def test_a_change_since_the_list_was_requested_is_kept(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a"))
    source, asked_at = await row(records, "a"), clock.now()
    clock.advance(1)
    await records.feeds.change(source.id, partial(poll.disabled, reason="gone"))
    await records.remote_sources.mark_reported(await row(records, "a"))
    assert await records.remote_sources.take([said("a")], asked_at) == 0, "the list is older than the report"
    assert (await row(records, "a")).feed_disable_reason == "gone"
    assert await take(records, clock, said("a")) == 1, "a person has ended the rest at the source manager"
    assert (await row(records, "a")).feed_disabled_at is None


async def test_a_local_source_of_the_same_name_becomes_the_remote_one(records: Records, clock: FakeClock) -> None:
    own = await records.sources.add(NewSource("name of a", "https://old.example/", feed_url="https://old.example/f"))
    await take(records, clock, said("a", feed_url=None))
    after = await row(records, "a")
    assert (after.id, after.base_url, after.feed_url) == (own.id, "https://a.example/", "https://old.example/f")
    assert [one.id for one in await untold(records)] == [own.id], "the source manager lacks the feed"


async def test_two_sources_of_one_name_get_distinct_names_while_both_exist(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a", name="n"), said("b", name="n"))
    assert [(await row(records, ref)).name for ref in ("a", "b")] == ["n", "n (b)"]
    await take(records, clock, said("a", name="m"), said("b", name="n"))
    assert [(await row(records, ref)).name for ref in ("a", "b")] == ["m", "n"]
    for _ in range(2):  # sources that swap their names get them in two steps
        await take(records, clock, said("a", name="n"), said("b", name="m"))
    assert [(await row(records, ref)).name for ref in ("a", "b")] == ["n", "m"]


async def test_a_withdrawn_source_is_disabled_and_renamed_until_it_returns(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a"), said("b"))
    assert await records.remote_sources.present() == ["a", "b"]
    await records.remote_sources.withdraw(["a", "nobody"])
    gone = await row(records, "a")
    assert (gone.enabled, gone.disable_reason, await records.remote_sources.present()) == (False, GONE, ["b"])
    assert await due(records) == [(await row(records, "b")).id]
    await take(records, clock, said("new", name="name of a"))
    assert (await row(records, "new")).name == "name of a"
    await take(records, clock, said("a"), said("new", name="other"))
    await take(records, clock, said("a"))
    back = await row(records, "a")
    assert (back.id, back.name, back.enabled, back.disable_reason) == (gone.id, "name of a", True, None)


async def test_a_feed_is_polled_while_it_is_listed(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a", feed_listed=False))
    assert await due(records) == []
    await take(records, clock, said("a", feed_listed=True))
    assert await due(records) == [(await row(records, "a")).id]
    query = SourceQuery(feed_active=True)
    assert await records.sources.count(query) == 1
    await take(records, clock, said("a", feed_listed=False))
    assert (await records.sources.count(query), await records.sources.find(query)) == (0, [])
    await take(records, clock, said("b", feed_url=None, feed_listed=False))
    assert await due(records, searching=True) == [(await row(records, "b")).id], "a feed that is searched is on no list"


async def test_another_feed_url_is_polled_as_a_new_feed(records: Records, clock: FakeClock, peek: Peek) -> None:
    await take(records, clock, said("a"))
    source = await row(records, "a")
    await peek.rows(f"UPDATE feeds SET etag = 'e', errors = 2, due_at = {clock.now() + 9**9}")
    await take(records, clock, said("a", feed_url="https://a.example/other"))
    feed = await records.feeds.get(source.id)
    assert feed is not None
    assert (feed.url, feed.etag, feed.errors, feed.due_at) == ("https://a.example/other", None, 0, clock.now())


async def test_another_interval_counts_from_the_last_poll(records: Records, clock: FakeClock, peek: Peek) -> None:
    own = await records.sources.add(NewSource("own", "https://own.example/", feed_url=FEED))
    await take(records, clock, said("a"), said("silent", feed_url=None), said("slow"), said("rests"))
    refs = {ref: (await row(records, ref)).id for ref in ("a", "silent", "slow", "rests")}
    polled, later = clock.now(), clock.now() + 9**9
    await peek.rows(f"UPDATE feeds SET polled_at = {polled}, due_at = {later}")
    await peek.rows(f"UPDATE feeds SET next_poll_at = {later} WHERE source_id = {refs['slow']}")
    await records.feeds.change(refs["rests"], partial(poll.disabled, reason="gone"))
    await take(records, clock, *(said(ref, feed_every_ms=60_000) for ref in ("a", "slow", "rests")))
    await take(records, clock, said("silent", feed_url=None, feed_every_ms=60_000))
    await records.sources.change(msgspec.structs.replace(own, feed_every_ms=60_000))
    found = {ref: await records.feeds.get(source_id) for ref, source_id in (refs | {"own": own.id}).items()}
    assert [ref for ref, feed in found.items() if feed and feed.due_at == polled + 60_000] == ["a", "own"]


async def test_only_differences_are_reported_and_only_once(records: Records, clock: FakeClock) -> None:
    await take(records, clock, said("a"), said("b", feed_url=None))
    own = await records.sources.add(NewSource("own", "https://own.example/", feed_url=FEED))
    a, b = await row(records, "a"), await row(records, "b")
    assert await untold(records) == []
    for source_id in (a.id, own.id):
        await records.feeds.change(source_id, partial(poll.disabled, reason="gone"))
    await records.feeds.change(b.id, partial(poll.asked, run_id=5, stage="usual"))
    await records.feeds.change(b.id, partial(poll.found, run_id=5, url=FEED))
    told = await untold(records)
    assert [(one.ref, one.feed_url, one.feed_disable_reason) for one in told] == [
        ("a", FEED, "gone"),
        ("b", FEED, None),
    ]
    await records.feeds.change(a.id, poll.enabled)
    assert [one.ref for one in await untold(records)] == ["b"], "the rest was never reported"
    for one in told:
        await records.remote_sources.mark_reported(one)
    [again] = await untold(records)
    assert (again.ref, again.feed_disabled_at) == ("a", None), "the reported rest has ended"
    await records.remote_sources.mark_reported(again)
    assert await untold(records) == []


async def test_each_report_to_the_source_manager_is_claimed_once(records: Records, clock: FakeClock) -> None:
    refs = [f"s{number}" for number in range(6)]
    await take(records, clock, *map(said, refs))
    for ref in refs:
        await records.feeds.change((await row(records, ref)).id, partial(poll.disabled, reason="gone"))
    got = await asyncio.gather(*(records.remote_sources.claim(2, 1000) for _ in range(6)))
    assert sorted(one.ref or "" for some in got for one in some) == refs
    assert await records.remote_sources.claim(9, 1000) == []
    first, second, *_ = sorted((one for some in got for one in some), key=lambda one: one.id)
    await records.remote_sources.release([first])
    assert [one.ref for one in await records.remote_sources.claim(9, 1000)] == ["s0"]
    await records.remote_sources.mark_reported(second)
    clock.advance(1)
    assert {one.ref for one in await records.remote_sources.claim(9, 1000)} == {*refs} - {"s1"}, "their holder was lost"
