"""The interval crawler's samples in `/metrics`."""

from prometheus_client.parser import text_string_to_metric_families

from tests.surfaces.intervals.stage import Stage


async def figures(stage: Stage) -> dict[tuple[str, ...], float]:
    """Return every sample by its name and label values."""
    families = text_string_to_metric_families((await stage.client.get("/metrics")).text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


async def test_jobs_executions_and_urls_are_counted(stage: Stage):
    await stage.job()
    await stage.run()
    await stage.recurring()
    nobodys = await stage.job("nobody", max_retries=0)
    await stage.poll()
    stage.advance(3)
    await stage.work()
    await stage.ask("POST", "/api/v1/frontier", {"url": "https://a.example/", "source_id": nobodys["source_id"]}, 201)
    found = await figures(stage)
    jobs = {key[1]: count for key, count in found.items() if key[0] == "longline_jobs"}
    assert {state: count for state, count in jobs.items() if count} == {"completed": 1, "scheduled": 1, "failed": 1}
    assert len(jobs) == 7
    assert (found["longline_executions", "completed"], found["longline_executions", "failed"]) == (2, 1)
    assert found["longline_executions", "cancelled"] == 0
    assert found[("longline_execution_duration_seconds",)] == 1, "the average of three seconds and twice zero"
    assert found["longline_frontier_urls", "pending"] == 1


async def test_pages_are_counted_by_type_method_reason_and_size(stage: Stage):
    await stage.platform.records.counters.add(
        {
            "pages.type.article": 3,
            "pages.type.listing": 1,
            "pages.method.selector": 4,
            "pages.skipped.quality_gate": 1,
            "pages.words.<50": 1,
            "pages.words.<200": 2,
            "pages.words.>=2000": 1,
        }
    )
    found = await figures(stage)
    assert (found["longline_pages_total", "article"], found["longline_pages_total", "listing"]) == (3, 1)
    assert found["longline_extractions_total", "selector"] == 4
    assert found["longline_pages_skipped_total", "quality_gate"] == 1
    sizes = {key[1]: count for key, count in found.items() if key[0] == "longline_page_words_bucket"}
    assert sizes == {"50.0": 1, "200.0": 3, "+Inf": 4}
