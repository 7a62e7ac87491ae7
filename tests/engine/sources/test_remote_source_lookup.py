"""Sources are looked up in the local table, and in a source service; the sources of the service are stored as well."""

import logging
from collections.abc import AsyncIterator, Iterator

import pytest

from longline.drivers.sources.source_manager import HttpSourceManager
from longline.engine.sources.remote_source_lookup import RETRY_AFTER_SECONDS, STORED_SOURCES_USED, RemoteSources
from longline.engine.sources.source_lookup import CachedSources, LocalSources
from longline.model.errors import Unavailable
from longline.model.sources.source import CrawlSource, NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.servers.source_manager import SourceManager, running_manager, token


@pytest.fixture
def manager() -> Iterator[SourceManager]:
    with running_manager() as manager:
        yield manager


@pytest.fixture
async def elsewhere(records: Records, manager: SourceManager, clock: FakeClock) -> AsyncIterator[RemoteSources]:
    """A directory of another service's sources; time passes during a request."""
    service = HttpSourceManager(manager.url, token)

    async def now() -> int:
        clock.advance(1)
        return clock.now()

    yield RemoteSources(service, records.remote_sources, LocalSources(records.sources), now)
    await service.close()


async def test_a_source_of_another_service_is_stored_under_its_id_there(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc", name="n", url="https://n.example/", rate_limit=10, enabled=False, selectors={}, max_depth=0)
    found = await elsewhere.get("abc")
    assert found is not None
    assert found == CrawlSource(
        ref="abc", id=found.id, name="n", url="https://n.example/", rate_limit="10", enabled=False
    )
    row = await records.sources.get_by_ref("abc")
    assert row is not None
    assert (row.id, row.name) == (found.id, "n")
    assert await elsewhere.ref_of(row.id) == "abc"
    assert await elsewhere.get("gone") is None


async def test_a_source_is_read_anew_each_time(manager: SourceManager, elsewhere: RemoteSources):
    manager.add("abc", render_mode="static")
    before = await elsewhere.get("abc")
    manager.sources["abc"] |= {"render_mode": "dynamic", "rate_limit": "9s", "name": "other"}
    after = await elsewhere.get("abc")
    assert before is not None
    assert after is not None
    assert (before.dynamic, after.dynamic, after.rate_limit, after.name) == (False, True, "9s", "other")
    assert before.id == after.id


async def test_stored_sources_are_used_while_the_service_is_down(
    manager: SourceManager, elsewhere: RemoteSources, clock: FakeClock, caplog: pytest.LogCaptureFixture
):
    manager.add("abc")
    before = await elsewhere.get("abc")
    for status, said in ((500, b"{}"), (401, b"{}"), (200, b"<html>"), (200, b"[]"), (302, b"")):
        manager.answer_always(status, said)
        manager.calls.clear()
        for _ in range(3):
            assert await elsewhere.get("abc") == before
        assert len(manager.calls) == 1, "a service that is down is requested once in a while"
        for ask in (elsewhere.get("new"), elsewhere.all()):
            with pytest.raises(Unavailable):
                await ask
        clock.advance(RETRY_AFTER_SECONDS)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == [STORED_SOURCES_USED], (
        "logged once"
    )
    manager.trouble = lambda _: None
    del manager.sources["abc"]
    assert await elsewhere.get("abc") is None, "a deleted source is not found, unlike one of an unavailable service"


async def test_a_source_of_another_door_is_found_beside_those_of_the_service(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc")
    own = await records.sources.add(NewSource("own", "https://own.example/"))
    found = await elsewhere.get(own.public_id)
    assert found is not None
    assert (found.name, found.id) == ("own", own.id)
    assert [source.ref for source in await elsewhere.all()] == ["abc"]


async def test_all_sources_of_the_service_are_listed(manager: SourceManager, elsewhere: RemoteSources):
    for number in range(1203):
        manager.add(f"s{number:04}")
    assert [source.ref for source in await elsewhere.all()] == list(manager.sources)
    assert [call.query["limit"] for call in manager.calls] == ["500"] * 3


async def test_an_invalid_source_is_returned_without_an_id(manager: SourceManager, elsewhere: RemoteSources):
    manager.add("abc", url="nowhere")
    found = await elsewhere.get("abc")
    assert found is not None
    assert (found.url, found.id) == ("nowhere", None)


async def test_a_cached_lookup_requests_only_unknown_sources(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc", rate_limit="3s")
    near = CachedSources(LocalSources(records.sources), elsewhere)
    found = [await near.get("abc") for _ in range(3)]
    assert [source.rate_limit for source in found if source] == ["3s"] * 3
    assert len(manager.calls) == 1
    assert await near.ref_of(found[0].id or 0 if found[0] else 0) == "abc"
    assert [source.ref for source in await near.all()] == ["abc"]
    assert await near.get("gone") is None
