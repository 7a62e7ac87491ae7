"""Sources are looked up in the local table."""

import msgspec
import pytest

from longline.engine.sources.source_lookup import LocalSources
from longline.model.sources.source import CrawlSource, NewSource
from longline.ports.records import Records


async def test_sources_of_the_local_table(records: Records):
    crawl = {"rate_limit": 5, "max_depth": 2, "priority": "high", "rules": {"allow": ["("], "disallow": ["/x"]}}
    row = await records.sources.add(NewSource("n", "https://n.example/", crawl=msgspec.json.encode(crawl).decode()))
    directory = LocalSources(records.sources)
    found = CrawlSource(
        ref=row.public_id,
        name="n",
        url="https://n.example/",
        id=row.id,
        rate_limit="5",
        max_depth=2,
        priority="high",
        disallow=("/x",),
    )
    assert await directory.get(row.public_id) == found
    assert [await directory.get(ref) for ref in ("", "uuid", "9" * 40, "1")] == [None] * 4
    assert await directory.all() == [found]
    assert [await directory.ref_of(number) for number in (row.id, 7)] == [row.public_id, "7"]


async def test_the_local_table_is_read_to_its_end(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longline.engine.sources.source_lookup.PAGE_SIZE", 2)
    for number in range(5):
        await records.sources.add(NewSource(f"s{number}", "https://s.example/"))
    assert [one.name for one in await LocalSources(records.sources).all()] == [f"s{number}" for number in range(5)]
