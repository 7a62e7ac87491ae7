import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.surfaces.conftest import Stage, serving


def figures(answer: httpx.Response) -> dict[tuple[str, ...], float]:
    """Return every sample by its name and label values."""
    families = text_string_to_metric_families(answer.text)
    return {(s.name, *(s.labels[k] for k in sorted(s.labels))): s.value for f in families for s in f.samples}


async def test_figures_are_as_of_now(client: httpx.AsyncClient, stage: Stage):
    stage.database.found = {"open": 5, "running": 1}
    found = figures(await client.get("/metrics"))
    assert found["longline_tasks", "open"] == 5
    assert found["longline_tasks", "skipped"] == 0
    assert found["longline_runs", "running"] == 1
    assert found[("longline_records_up",)] == 1
    stage.database.found = {"open": 4}
    found = figures(await client.get("/metrics"))
    assert found["longline_tasks", "open"] == 4
    assert found["longline_runs", "running"] == 0


async def test_figures_name_the_process_and_the_build(client: httpx.AsyncClient):
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = figures(answer)
    assert found["longline_build_info", "1.2.3"] == 1
    assert found[("process_resident_memory_bytes",)] > 0


async def test_requests_are_counted_by_route_and_not_by_path(client: httpx.AsyncClient):
    for path in ("/health", "/health", "/nowhere/1", "/nowhere/2"):
        await client.get(path)
    await client.request("PROPFIND", "/health")
    found = figures(await client.get("/metrics"))
    assert found["longline_http_requests_total", "GET", "/health", "200"] == 2
    assert found["longline_http_requests_total", "GET", "unmatched", "404"] == 2
    assert found["longline_http_requests_total", "other", "unmatched", "405"] == 1
    assert found["longline_http_request_duration_seconds_count", "GET", "/health"] == 2
    assert found["longline_http_request_duration_seconds_sum", "GET", "/health"] > 0
    assert "/nowhere" not in str(found)


async def test_without_records_all_other_metrics_are_exported(client: httpx.AsyncClient, stage: Stage):
    await client.get("/metrics")
    stage.database.up = False
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    found = figures(answer)
    assert found[("longline_records_up",)] == 0
    assert not [key for key in found if key[0] in ("longline_tasks", "longline_runs")]


async def test_two_applications_count_apart():
    first, second = Stage(), Stage()
    async with serving(first.app) as one, serving(second.app) as two:
        await one.get("/health")
        assert ("longline_http_requests_total", "GET", "/health", "200") not in figures(await two.get("/metrics"))


async def test_beyond_loopback_figures_need_a_token():
    stage = Stage(metrics_open=False)
    async with serving(stage.app) as client:
        assert (await client.get("/metrics")).status_code == 401
        token = stage.tokens.issue("metrics", "prometheus", 60)
        assert (await client.get("/metrics", headers={"Authorization": f"Bearer {token}"})).status_code == 200
        assert (await client.get("/health")).status_code == 200
