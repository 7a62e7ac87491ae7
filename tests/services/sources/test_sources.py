"""Sources as a service."""

from collections.abc import Iterator
from types import ModuleType

import msgspec
import pytest

from longline.model.errors import BadInput, Conflict, NotFound
from longline.model.proxies.proxy import Pool
from longline.model.sources.source import NewSource, SourceQuery
from longline.model.sources.source_uses import SourceUse
from longline.plugins import Item, Page, parser
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.sources.sources import Sources
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


class Shelf(msgspec.Struct):
    """The config of a parser."""

    currency: str = "GBP"
    pages: int = 1


@parser("books", config=Shelf)
def books(page: Page, config: Shelf) -> Iterator[Item]:
    yield Item("book", url=page.url, currency=config.currency)


MODULE = ModuleType("shop")
vars(MODULE)["books"] = books
PARSERS = Registry(MODULE)


@pytest.fixture
def sources(records: Records, clock: FakeClock) -> Sources:
    return Sources(records.sources, records.feeds, clock, PARSERS, sinks={"books"})


async def test_names_are_unique(sources: Sources):
    first = await sources.make(NewSource("a", "https://a.example/"))
    other = await sources.make(NewSource("b", "https://b.example/"))
    with pytest.raises(Conflict):
        await sources.make(NewSource("a", "https://c.example/"))
    with pytest.raises(Conflict):
        await sources.change(other.id, lambda row: msgspec.structs.replace(row, name="a"))
    assert (await sources.get(first.id)).base_url == "https://a.example/"


async def test_a_disabled_source_has_the_time_and_the_reason(sources: Sources, clock: FakeClock):
    row = await sources.make(NewSource("a", "https://a.example/", feed_url="https://a.example/feed"))
    off = await sources.switch(row.id, False, "broken")
    assert (off.enabled, off.disabled_at, off.disable_reason) == (False, clock.now(), "broken")
    silent = await sources.switch_feed(row.id, False, "gone")
    assert (silent.feed_disabled_at, silent.feed_disable_reason) == (clock.now(), "gone")
    assert await sources.find(SourceQuery(feed_active=True), 10, 0) == ([], 0)
    back = await sources.switch_feed(row.id, True)
    assert (back.feed_disabled_at, back.feed_disable_reason) == (None, None)
    assert (await sources.find(SourceQuery(feed_active=True), 10, 0))[1] == 1
    assert (await sources.find(SourceQuery(enabled=True), 10, 0))[1] == 0
    with pytest.raises(NotFound):
        await sources.switch(1, True)
    with pytest.raises(NotFound):
        await sources.remove(1)


BAD = [
    (None, '{"pages":1}', "config is the config of a parser: name the parser with the field parser"),
    ("bocks", "{}", "there is no parser 'bocks'; loaded are books. The setting parsers names the files or modules"),
    (
        "books",
        '{"curency":"GBP"}',
        "the parser 'books' has no key 'curency'; its keys are currency, pages",
    ),
    ("books", '{"pages":"two"}', "the config of the parser 'books' is not valid: pages: expected int, got str"),
]


@pytest.mark.parametrize(("name", "config", "error"), BAD)
async def test_an_unknown_parser_and_an_invalid_config_are_refused(
    sources: Sources, name: str | None, config: str, error: str
):
    with pytest.raises(BadInput, match=error):
        await sources.make(NewSource("a", "https://a.example/", parser=name, config=config))
    row = await sources.make(NewSource("a", "https://a.example/", parser="books", config='{"pages":2}'))
    with pytest.raises(BadInput, match=error):
        await sources.change(row.id, lambda was: msgspec.structs.replace(was, parser=name, config=config))
    assert await sources.get(row.id) == row


async def test_other_fields_of_a_source_with_a_removed_parser_can_be_changed(records: Records, sources: Sources):
    row = await records.sources.make(NewSource("a", "https://a.example/", parser="gone", config='{"x":1}'))
    renamed = await sources.change(row.id, lambda was: msgspec.structs.replace(was, name="b"))
    assert (renamed.name, renamed.parser, renamed.config) == ("b", "gone", '{"x":1}')
    mended = await sources.change(row.id, lambda was: msgspec.structs.replace(was, parser="books", config="{}"))
    assert (mended.parser, mended.config) == ("books", "{}")


async def test_a_source_that_another_api_uses_is_not_deleted(sources: Sources):
    shop = await sources.make(NewSource("s", "https://s.example/", use=SourceUse.PRODUCTS))
    await sources.make(NewSource("s", "https://s.example/"))
    with pytest.raises(Conflict, match="source s is also used by products: take off its use by interval instead"):
        await sources.remove(shop.id)
    with pytest.raises(Conflict, match="source s is also used by interval"):
        await sources.remove(shop.id, SourceUse.PRODUCTS)
    await sources.set_use(shop.id, SourceUse.INTERVAL, on=False)
    await sources.remove(shop.id, SourceUse.PRODUCTS)
    with pytest.raises(NotFound):
        await sources.get(shop.id)


async def test_a_use_is_added_and_removed(sources: Sources):
    row = await sources.make(NewSource("s", "https://s.example/"))
    assert (await sources.set_use(row.id, SourceUse.CATALOGUE, on=True)).uses == '["catalogue","interval"]'
    assert (await sources.set_use(row.id, SourceUse.INTERVAL, on=False)).uses == '["catalogue"]'
    assert (await sources.set_use(row.id, SourceUse.CATALOGUE, on=False)).uses == "[]"


async def test_sinks_of_a_source_must_be_in_the_settings(records: Records, sources: Sources):
    row = await sources.make(NewSource("a", "https://a.example/", sinks='["books"]'))
    assert row.sinks == '["books"]'
    for sinks in ('["bucks"]', '["books","books"]'):
        with pytest.raises(BadInput, match="sink"):
            await sources.make(NewSource("b", "https://b.example/", sinks=sinks))
        with pytest.raises(BadInput, match="sink"):
            await sources.change(row.id, lambda was, sinks=sinks: msgspec.structs.replace(was, sinks=sinks))  # type: ignore[misc]
    assert (await sources.change(row.id, lambda was: msgspec.structs.replace(was, sinks="[]"))).sinks == "[]"
    gone = await records.sources.make(NewSource("c", "https://c.example/", sinks='["gone"]'))
    renamed = await sources.change(gone.id, lambda was: msgspec.structs.replace(was, name="d"))
    assert (renamed.name, renamed.sinks) == ("d", '["gone"]'), "a removed sink prevents no other change"


async def test_the_pools_of_a_source_must_exist(records: Records, clock: FakeClock):
    sources = Sources(records.sources, records.feeds, clock, PARSERS, pools=records.pools)
    await records.pools.put([Pool("homes"), Pool("cheap")])
    row = await sources.make(NewSource("a", "https://a.example/", proxy_pools='["homes","cheap"]'))
    assert row.proxy_pools == '["homes","cheap"]'
    with pytest.raises(BadInput, match="no proxy pool named 'dear'"):
        await sources.make(NewSource("b", "https://b.example/", proxy_pools='["homes","dear"]'))
    with pytest.raises(BadInput, match="no proxy pool named 'dear'"):
        await sources.change(row.id, lambda was: msgspec.structs.replace(was, proxy_pools='["dear"]'))
    await records.pools.drop("cheap")
    assert (await sources.change(row.id, lambda was: msgspec.structs.replace(was, name="c"))).name == "c"
