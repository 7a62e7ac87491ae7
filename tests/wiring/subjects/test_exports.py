"""Writers of items, made of the paths in the settings."""

from pathlib import Path

from longline.model.exports.export import table_file
from longline.model.search.item import Origin, new_items
from longline.services.exports.item_tables import ItemOutputs
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.subjects.exports import live_items
from tests.drivers.records.world import queued_run


async def test_items_are_written_into_the_named_files(settings: Settings, tmp_path: Path):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        run = await queued_run(platform.records)
        origin = Origin(run.id, 1, "https://a.example/")
        await platform.records.items.put(new_items([("book", {"title": "A"}), ("page", {"title": "P"})], origin))
        assert live_items(platform.records.items, platform.clock, ItemOutputs()) is None
        writer = live_items(platform.records.items, platform.clock, ItemOutputs((table_file(str(tmp_path / "x.csv")),)))
        assert writer is not None
        written = await writer.finish(run.id)
    assert written.left_out == {"page": 1}
    assert (tmp_path / "x.csv").read_text() == "title\nA\n"
