import os
from pathlib import Path

import pytest

from longline.model.errors import NotFound, Unavailable
from longline.model.exports.export import table_file
from longline.model.frontier.fate import UrlFilters
from longline.services.exports.item_tables import ItemOutputs
from longline.services.search.item_search import SearchRequest
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.read_commands import FolderOutput, export, export_items, export_urls, list_urls, read_page, search
from longline.wiring.read_only_archive import open_archive


async def test_reading_creates_nothing(tmp_path: Path):
    nowhere = Settings(data=tmp_path / "none")
    for reading in (
        lambda: export(nowhere, None, FolderOutput(tmp_path / "out", ["jsonl"]), print),
        lambda: export_items(nowhere, None, ItemOutputs((table_file(str(tmp_path / "out/x.csv")),))),
        lambda: export_urls(nowhere, None, UrlFilters(), table_file(str(tmp_path / "out/x.csv"))),
        lambda: list_urls(nowhere, None, UrlFilters(), print),
        lambda: read_page(nowhere, "https://a.example/"),
        lambda: search(nowhere, SearchRequest("hook")),
    ):
        with pytest.raises(NotFound, match=f"there is no crawl in {nowhere.data}; name the folder of one with --data"):
            await reading()
    assert os.listdir(tmp_path) == []


async def test_tables_of_another_version_are_not_touched(tmp_path: Path):
    async with open_platform(Settings(data=tmp_path)):
        pass
    with pytest.raises(Unavailable, match="migrations behind; run: longline migrate"):
        async with open_archive(Settings(data=tmp_path)):
            pass


@pytest.mark.parametrize("write", [False, True])
async def test_an_archive_is_writable_only_on_request(settings: Settings, write: bool):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
    async with open_archive(settings, write=write) as archive:
        assert archive.writable is write
        if settings.database.startswith("sqlite") and not write:
            with pytest.raises(Unavailable, match="cannot be opened for writing"):
                await archive.records.workers.join("a:1", "fetch", "")
