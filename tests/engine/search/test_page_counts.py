"""Counting how pages were read."""

from longline.engine.search.page_counts import PageCounts
from longline.model.search.item import NewItem
from longline.ports.records import Records
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names

READINGS = (
    '{"method": "selector", "words": "<200", "type": "article", "skipped": null}',
    '{"method": "selector", "words": "<50", "type": "stub", "skipped": "quality_gate"}',
    '{"of": "somebody else"}',
)


async def test_pages_are_counted_by_what_is_said_of_them(records: Records):
    items = [
        NewItem("h", "extraction", 1, 1, "https://a.example/", fields=f, key=bytes([n])) for n, f in enumerate(READINGS)
    ]
    await records.items.put(
        [*items, NewItem("h", "article", 1, 1, "https://a.example/", fields='{"type": "x"}', key=b"a")]
    )
    counts = PageCounts(records.tallies)
    counts.tell(await records.items.unindexed(10))
    for _ in range(2):
        await counts.once()
    counts.tell(await records.items.unindexed(1))
    await counts.once()
    assert await records.tallies.all() == {
        "pages.method.selector": 3,
        "pages.words.<200": 2,
        "pages.words.<50": 1,
        "pages.type.article": 2,
        "pages.type.stub": 1,
        "pages.skipped.quality_gate": 1,
    }
