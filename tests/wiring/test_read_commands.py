from pathlib import Path

import pytest

from longline.drivers.search.opensearch import OpenSearch
from longline.model.errors import NotFound
from longline.model.search.item import Origin, new_items
from longline.model.urls.url import BadUrl
from longline.services.search.item_search import SearchRequest
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.read_commands import FolderOutput, export, read_page, search
from tests.services.kept import keep


@pytest.fixture
async def runs(settings: Settings) -> list[int]:
    """Two runs, each with a page and an item that is not indexed yet."""
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        made = [
            await keep(platform.records, platform.blobs, f"warc/{n}", {f"/{n}": f"page {n}".encode()}) for n in (1, 2)
        ]
        for run in made:
            (page,) = await platform.records.pages.of_run(run.id)
            origin = Origin(run.id, page.task_id, f"https://a.example/{run.id}")
            await platform.records.items.put(new_items([("page", {"title": f"Item {run.id}", "body": "hook"})], origin))
    return [run.id for run in made]


async def test_the_last_run_is_exported_unless_another_is_named(settings: Settings, runs: list[int], tmp_path: Path):
    for asked, run_id in ((None, runs[1]), (runs[0], runs[0])):
        done: dict[int, int] = {}
        exported = await export(settings, asked, FolderOutput(tmp_path / "out", ["jsonl"]), done.__setitem__)
        assert (exported.pages, done) == (1, {1: 1})
        assert [Path(file.path).name for file in exported.files] == ["items.jsonl", "pages.jsonl", "urls.jsonl"]
        assert f'"run_id":{run_id}}}' in (tmp_path / "out" / "items.jsonl").read_text()


async def test_the_error_of_an_export_names_the_missing_run(settings: Settings, tmp_path: Path):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
    with pytest.raises(NotFound, match="nothing was crawled here"):
        await export(settings, None, FolderOutput(tmp_path / "out", ["jsonl"]), print)
    with pytest.raises(NotFound, match="there is no run 7; longline runs lists the runs"):
        await export(settings, 7, FolderOutput(tmp_path / "out", ["jsonl"]), print)


async def test_a_page_is_read_by_url_or_number(settings: Settings, runs: list[int]):
    page = await read_page(settings, "https://a.example/2")
    assert page.body == b"page 2"
    assert await read_page(settings, str(page.row.task_id)) == page
    with pytest.raises(BadUrl):
        await read_page(settings, "9" * 5_000)


async def test_a_search_finds_items_that_are_not_indexed_yet(settings: Settings, runs: list[int]):
    found = await search(settings, SearchRequest("hook"))
    assert {hit.item.title for hit in found.hits} == {f"Item {run}" for run in runs}


async def test_the_search_cluster_of_the_settings_is_used(tmp_path: Path):
    async with open_platform(Settings(data=tmp_path, search=("http://127.0.0.1:1",))) as platform:
        assert isinstance(platform.search, OpenSearch)
    async with open_platform(Settings(data=tmp_path)) as platform:
        assert platform.search is platform.records.search
