"""Lists of URLs in batches."""

from datetime import UTC

from longline.model.frontier.fate import UrlFilters
from longline.ports.records import Records
from longline.services.frontier import url_fates
from longline.services.frontier.url_fates import UrlFates
from tests.drivers.records.world import admit, running_run, urls


async def test_batches_have_every_url_once(records: Records, monkeypatch):
    monkeypatch.setattr(url_fates, "BATCH_SIZE", 3)
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 7))
    batches = [batch async for batch in UrlFates(records.tasks).batches(run.id, UrlFilters())]
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert len({row.url for batch in batches for row in batch}) == 7
    row = batches[0][0]
    assert (row.fate, row.run_id, row.ended_at) == ("open", run.id, None)
    assert row.found_at.tzinfo is UTC
