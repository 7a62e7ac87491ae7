"""Sources that several APIs use, on both engines."""

import asyncio
from typing import Any

import msgspec
import pytest

from longline.model.errors import Conflict
from longline.model.series.series import NewSeries
from longline.model.sources.source import NewSource, SourceRow, Taken
from longline.model.sources.source_uses import SourceUse, decode_uses
from longline.ports.records import Records

SHOP = NewSource("shop.example", "https://shop.example/", use=SourceUse.PRODUCTS, delay_ms=500, user_agent="shop/1")
NEWS = NewSource(
    "shop.example", "https://shop.example/news", crawl='{"max_depth":2}', feed_url="https://shop.example/f"
)


async def test_an_api_adds_its_use_to_a_source_of_the_same_name(records: Records):
    shop = await records.sources.make(SHOP)
    both = await records.sources.make(NEWS)
    assert both.id == shop.id
    assert decode_uses(both.uses) == {SourceUse.PRODUCTS, SourceUse.INTERVAL}
    assert (both.base_url, both.delay_ms, both.user_agent) == ("https://shop.example/", 500, "shop/1")
    assert (both.crawl, both.feed_url) == ('{"max_depth":2}', "https://shop.example/f")
    for again in (SHOP, NEWS):
        with pytest.raises(Taken) as taken:
            await records.sources.make(again)
        assert (taken.value.field, str(taken.value)) == ("name", "there is a source called shop.example")


async def test_a_name_on_another_host_is_another_source(records: Records):
    await records.sources.make(SHOP)
    with pytest.raises(Conflict, match=r"there is a source called shop\.example on another host"):
        await records.sources.make(msgspec.structs.replace(NEWS, base_url="https://other.example/"))


async def test_long_names_that_differ_at_their_end_have_slugs_too(records: Records):
    made = [await records.sources.make(NewSource(f"{'a' * 130} {n}", f"https://{n}.example/")) for n in range(1, 5)]
    assert [row.slug for row in made] == ["a" * 120, *(f"{'a' * 118}-{n}" for n in (2, 3, 4))]
    series = [await records.catalogues.series.add(NewSeries("b" * 200)) for _ in range(3)]
    assert [row.slug for row in series] == ["b" * 120, "b" * 118 + "-2", "b" * 118 + "-3"]


async def test_slugs_are_made_of_names_and_unique(records: Records):
    made = [await records.sources.make(NewSource(name, "https://a.example/")) for name in ("A b", "a-b", "a.b")]
    assert [row.slug for row in made] == ["a-b", "a-b-2", "a-b-3"]
    with pytest.raises(Taken) as taken:
        await records.sources.make(NewSource("c", "https://c.example/", slug="a-b-2"))
    assert taken.value.field == "slug"
    with pytest.raises(Taken) as taken:
        await records.sources.change(msgspec.structs.replace(made[0], slug="a-b-3"))
    assert taken.value.field == "slug"
    own = await records.sources.make(NewSource("c", "https://c.example/", slug="own"))
    assert own.slug == "own"


async def test_concurrent_sources_of_one_name_or_slug_end_in_the_same_errors(records: Records):
    async def attempt(**facts: Any) -> str:
        try:
            await records.sources.make(NewSource(**facts))
        except Taken as taken:
            return taken.field
        return "made"

    names = await asyncio.gather(*(attempt(name="n", base_url="https://n.example/") for _ in range(8)))
    assert sorted(names) == ["made", *["name"] * 7]
    slugs = await asyncio.gather(*(attempt(name=f"s{n}", base_url="https://s.example/", slug="s") for n in range(8)))
    assert sorted(slugs) == ["made", *["slug"] * 7]
    alike = await asyncio.gather(*(attempt(name="x" + "!" * n, base_url="https://x.example/") for n in range(8)))
    assert alike == ["made"] * 8, "a slug that is made of a name is replaced"


async def test_concurrent_changes_to_one_name_end_in_an_error(records: Records):
    made = [await records.sources.make(NewSource(f"r{n}", "https://r.example/")) for n in range(6)]

    async def rename(row: SourceRow) -> str:
        try:
            await records.sources.change(msgspec.structs.replace(row, name="same"))
        except Taken as taken:
            return taken.field
        return "changed"

    assert sorted(await asyncio.gather(*map(rename, made))) == ["changed", *["name"] * 5]


async def test_a_source_is_removed_only_if_its_uses_are_the_expected_ones(records: Records):
    shop = await records.sources.make(SHOP)
    await records.sources.make(NEWS)
    assert not await records.sources.remove(shop.id, shop.uses)
    both = await records.sources.get_by_name("shop.example")
    assert both is not None
    assert await records.sources.remove(shop.id, both.uses)
    assert await records.sources.get(shop.id) is None


async def test_feeds_and_sitemaps_are_those_of_sources_with_a_schedule(records: Records):
    shop = await records.sources.make(msgspec.structs.replace(SHOP, feed_url="https://shop.example/f"))
    bare = await records.sources.make(NewSource("bare", "https://bare.example/", use=SourceUse.CATALOGUE))

    async def due() -> set[int]:
        feeds = [await records.feeds.claim(10, 0, searching=searching) for searching in (False, True)]
        return {feed.source_id for found in feeds for feed in found} | {
            row.source_id for row in await records.sitemaps.claim(10, 0)
        }

    assert await due() == set()
    await records.sources.make(NEWS)
    assert await due() == {shop.id}
    assert bare.id != shop.id
