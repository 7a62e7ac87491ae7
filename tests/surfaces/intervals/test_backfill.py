"""Sources with thin documents, over HTTP: listed, and crawled again only by an explicit order."""

from typing import Any

from longline.model.runs.run import NewRun, RunKind
from longline.model.search.item import Origin, new_items
from tests.surfaces.intervals.stage import Stage


async def documents(stage: Stage, source: str, *words: Any) -> None:
    """Store documents of a source, each of that many words."""
    row = await stage.platform.records.sources.get_by_ref(source)
    assert row is not None
    made = await stage.platform.records.runs.add(NewRun(f"r{source}", RunKind.CRAWL, "{}", source_id=row.id))
    for number, count in enumerate(words):
        item = ("article", {"title": "T", "raw_text": "B", "word_count": count})
        where = Origin(made.id, 1, f"https://{source}.example/{number}")
        await stage.platform.records.items.put(new_items([item], where))


async def test_the_sources_with_the_shortest_documents_are_crawled_again(stage: Stage):
    thin, fair, long = [await stage.source(name) for name in ("thin", "fair", "long")]
    await documents(stage, thin, 10, 30, "many")
    await documents(stage, fair, 90, 100)
    await documents(stage, long, 500)
    path = "/api/v1/backfill/worst-sources"
    told = await stage.ask("POST", path)
    assert [(s["source_id"], s["average_word_count"], s["documents"]) for s in told["sources"]] == [
        (thin, 20, 2),
        (fair, 95, 2),
    ]
    assert (told["dry_run"], told["min_word_count"], told["dispatched"]) == (True, 100, 0)
    assert await stage.jobs() == []
    done = await stage.ask("POST", f"{path}?dry_run=false&limit=1&min_word_count=96")
    [job] = await stage.jobs()
    assert [s["job_id"] for s in done["sources"]] == [job["id"]]
    assert (job["source_id"], job["url"], job["status"]) == (thin, "https://thin.example/", "pending")
    for odd in ("limit=-1", "limit=x&min_word_count=x", "dry_run=perhaps"):
        assert await stage.ask("POST", f"{path}?{odd}") == told


async def test_a_source_passes_when_half_of_its_documents_have_enough_words(stage: Stage):
    half, fewer = [await stage.source(name) for name in ("half", "fewer")]
    await documents(stage, half, 100, 99)
    await documents(stage, fewer, 300, 1, 1)
    report = await stage.ask("GET", "/api/v1/backfill/validation-report")
    assert {s["source_id"]: (s["pass_rate"], s["passed"]) for s in report["sources"]} == {
        half: (0.5, True),
        fewer: (0.3333, False),
    }
    assert (report["total_sources"], report["passed"], report["failed"]) == (2, 1, 1)
    lower = await stage.ask("GET", "/api/v1/backfill/validation-report?min_word_count=1")
    assert (lower["passed"], lower["failed"], lower["min_word_count"]) == (2, 0, 1)
