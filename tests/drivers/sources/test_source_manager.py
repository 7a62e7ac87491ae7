"""A source manager over real HTTP, with valid and invalid responses."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from longline.drivers.sources import source_manager as module
from longline.drivers.sources.source_manager import HttpSourceManager
from longline.model.errors import Conflict, Unavailable
from tests.servers.source_manager import SourceManager, running_manager, token


@pytest.fixture
def manager() -> Iterator[SourceManager]:
    with running_manager() as manager:
        yield manager


@pytest.fixture
async def service(manager: SourceManager) -> AsyncIterator[HttpSourceManager]:
    service = HttpSourceManager(f"{manager.url}/", token)
    yield service
    await service.close()


async def test_the_list_is_read_in_pages(manager: SourceManager, service: HttpSourceManager) -> None:
    for number in range(3):
        manager.add(f"s{number}", feed_url="https://a.example/feed" if number else None)
    manager.most = 2
    first, second = await service.page(1), await service.page(2)
    assert [[one["id"] for one in page.sources] for page in (first, second)] == [["s0", "s1"], ["s2"]]
    assert (first.total, first.pages) == (3, 2)
    assert (await service.page(3)).sources == []
    active = await service.page(1, feed_active=True)
    assert [one["id"] for one in active.sources] == ["s1", "s2"]
    assert {(call.query["limit"], call.query["sort_by"]) for call in manager.calls} == {("500", "created_at")}


async def test_one_source_is_read_written_and_switched(manager: SourceManager, service: HttpSourceManager) -> None:
    manager.add("a/b")
    manager.sources["a%2Fb"] = manager.sources.pop("a/b") | {"id": "a/b"}
    found = await service.get("a/b")
    assert found is not None
    await service.put("a/b", found | {"feed_url": "https://a.example/feed"})
    await service.disable_feed("a/b", "gone")
    changed = manager.sources["a%2Fb"]
    assert (changed["feed_url"], changed["feed_disable_reason"]) == ("https://a.example/feed", "gone")
    await service.enable_feed("a/b")
    assert "feed_disabled_at" not in changed
    assert manager.told() == [("a%2Fb/feed-disable", {"reason": "gone"}), ("a%2Fb/feed-enable", {})]


async def test_a_source_is_taken_out_of_its_envelope(manager: SourceManager, service: HttpSourceManager) -> None:
    manager.answer_always(200, b'{"source": {"id": "a"}}')
    assert await service.get("a") == {"id": "a"}


async def test_an_unknown_id_is_no_failure(service: HttpSourceManager) -> None:
    assert await service.get("nobody") is None
    await service.put("nobody", {})
    await service.disable_feed("nobody", "gone")


async def test_a_refused_change_is_a_conflict(manager: SourceManager, service: HttpSourceManager) -> None:
    manager.add("a")
    with pytest.raises(Conflict, match="400"):
        await service.put("a", {"name": "half of it"})
    manager.answer_always(422)
    with pytest.raises(Conflict, match="422"):
        await service.enable_feed("a")
    with pytest.raises(Unavailable, match="422"):
        await service.get("a")


@pytest.mark.parametrize(
    ("status", "said"),
    [(500, b"{}"), (401, b"{}"), (403, b"{}"), (429, b"{}"), (302, b"{}"), (200, b"<html>"), (200, b"[1]"), (200, b"")],
)
async def test_a_bad_reply_is_unavailable(manager: SourceManager, service: HttpSourceManager, status: int, said: bytes):
    manager.answer_always(status, said)
    asked = [service.page(1), service.get("a")]
    told = [service.put("a", {}), service.disable_feed("a", "gone"), service.enable_feed("a")]
    for ask in (*asked, *(told if status >= 300 else ())):
        with pytest.raises(Unavailable, match="the source service"):
            await ask
    for one in told if status < 300 else ():
        await one  # the success of the request is enough


@pytest.mark.parametrize("said", [b'{"sources": 7}', b'{"sources": "x"}'])
async def test_a_list_of_another_form_is_unavailable(manager: SourceManager, service: HttpSourceManager, said: bytes):
    manager.answer_always(200, said)
    with pytest.raises(Unavailable):
        await service.page(1)


async def test_an_entry_that_is_no_source_is_left_out(manager: SourceManager, service: HttpSourceManager) -> None:
    manager.answer_always(200, b'{"sources": [1, null, {"id": "a"}], "total": "many", "total_pages": true}')
    page = await service.page(1)
    assert (page.sources, page.total, page.pages) == ([{"id": "a"}], None, None)
    manager.answer_always(200, b'{"sources": null}')
    assert (await service.page(1)).sources == []


async def test_a_silent_server_is_unavailable(manager: SourceManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REQUEST_TIMEOUT", timedelta(seconds=0.2))
    manager.trouble = lambda _: (200, b"{}") if manager.closing.wait(60) else None
    service = HttpSourceManager(manager.url, token)
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable, match="cannot be asked"):
            await service.get("a")
    await service.close()


async def test_an_unreachable_server_is_unavailable() -> None:
    service = HttpSourceManager("http://127.0.0.1:1/api/v1/sources", token)
    with pytest.raises(Unavailable, match="cannot be asked"):
        await service.page(1)
    await service.close()


async def test_a_wrong_secret_is_unavailable(manager: SourceManager) -> None:
    manager.add("a")
    service = HttpSourceManager(manager.url, lambda: "x.y.z")
    assert (await service.page(1)).total == 1, "the list needs no secret"
    with pytest.raises(Unavailable, match="401"):
        await service.get("a")
    await service.close()
