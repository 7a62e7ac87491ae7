"""Pages, as they are read from the records."""

from longline.drivers.blobs import open_blobs
from longline.model.urls.normalization import dedupe_key
from longline.ports.records import Records
from tests.services.kept import keep


async def test_pages_of_a_run_are_paged_and_counted(records: Records):
    blobs = open_blobs("memory://")
    run = await keep(records, blobs, "one", {f"/{n}": b"x" for n in range(5)})
    other = await keep(records, blobs, "two", {"/0": b"y"})
    first = await records.pages.of_run(run.id, limit=3)
    rest = await records.pages.of_run(run.id, after=first[-1].task_id, limit=3)
    assert {page.url for page in first + rest} == {f"https://a.example/{n}" for n in range(5)}
    assert {page.segment for page in first + rest} == {"one"}
    assert (await records.pages.count(run.id), await records.pages.count(other.id)) == (5, 1)
    assert await records.pages.get(first[0].task_id) == first[0]
    assert await records.pages.get(10**9) is None


async def test_captures_of_a_url_come_last_first_from_every_scope(records: Records):
    blobs = open_blobs("memory://")
    runs = [await keep(records, blobs, name, {"/": name.encode(), "/else": b"x"}) for name in ("one", "two", "three")]
    captures = await records.pages.captures("a.example", dedupe_key("https://a.example/"))
    assert [page.run_id for page in captures] == [run.id for run in reversed(runs)]
    assert await records.pages.captures("b.example", dedupe_key("https://a.example/")) == []
    assert await records.pages.captures("a.example", dedupe_key("https://a.example/none")) == []
