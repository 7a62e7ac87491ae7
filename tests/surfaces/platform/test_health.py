import httpx

from tests.surfaces.conftest import Stage


async def test_a_healthy_platform(client: httpx.AsyncClient, stage: Stage):
    await stage.clock.sleep(3723.4)
    answer = await client.get("/health")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "status": "healthy",
        "service": "crawler",
        "version": "1.2.3",
        "uptime": "1h2m3s",
        "checks": {
            "database": {"status": "healthy", "response_time_ms": 0.0, "detail": "Engine 1.0"},
            "objects": {"status": "healthy", "response_time_ms": 0.0, "detail": "Engine 1.0"},
        },
    }


async def test_a_platform_that_just_started(client: httpx.AsyncClient):
    assert (await client.get("/health")).json()["uptime"] == "0s"


async def test_without_objects_the_platform_is_degraded_and_answers_200(client: httpx.AsyncClient, stage: Stage):
    stage.objects.up = False
    answer = await client.get("/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"


async def test_without_the_database_the_platform_is_unhealthy_and_answers_503(client: httpx.AsyncClient, stage: Stage):
    stage.database.up = False
    answer = await client.get("/health")
    assert answer.status_code == 503
    assert answer.json()["status"] == "unhealthy"
    assert answer.json()["checks"]["database"] == {
        "status": "unhealthy",
        "response_time_ms": 0.0,
        "error": "unavailable",
    }
    assert "10.1.2.3" not in answer.text
    stage.database.up = True
    assert (await client.get("/health")).status_code == 200


async def test_head_tells_the_status_without_a_body(client: httpx.AsyncClient, stage: Stage):
    assert (await client.head("/health")).status_code == 200
    stage.database.up = False
    answer = await client.head("/health")
    assert answer.status_code == 503
    assert answer.content == b""


async def test_the_memory_and_threads_of_the_process_are_shown(client: httpx.AsyncClient):
    told = (await client.get("/health/memory")).json()
    assert 0 < told["memory_mb"] <= told["memory_peak_mb"] * 1.5
    assert min(told["num_gc"], told["num_tasks"], told["num_threads"], told["cpus"]) >= 1
    assert told["timestamp"].endswith("Z")
