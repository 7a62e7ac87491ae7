import asyncio

from longline.surfaces.platform.profile import profile_app
from tests.surfaces.conftest import serving


def busy() -> int:
    return sum(range(1000))


async def keep_busy(kept: list[bytes]) -> None:
    while True:
        busy()
        kept.append(bytes(10_000))
        await asyncio.sleep(0)


async def test_profiles_show_time_memory_and_tasks():
    kept: list[bytes] = []
    working = asyncio.create_task(keep_busy(kept), name="a busy task")
    async with serving(profile_app()) as client:
        told = {
            name: (await client.get(f"/debug/pprof/{name}", params={"seconds": 0.2})).text
            for name in ("profile", "heap", "tasks")
        }
        assert (await client.get("/debug/pprof/")).text.startswith("profile?seconds=10")
    working.cancel()
    assert "(busy)" in told["profile"]
    assert "test_profile.py" in told["heap"]
    assert "a busy task" in told["tasks"]


async def test_one_measurement_runs_at_a_time_for_a_bounded_time():
    async with serving(profile_app()) as client:
        first = asyncio.create_task(client.get("/debug/pprof/heap", params={"seconds": 2}))
        while "_heap" not in (await client.get("/debug/pprof/tasks")).text:
            assert not first.done()
        second = await client.get("/debug/pprof/profile", params={"seconds": 1})
        assert (second.status_code, second.json()) == (409, {"error": "another measurement is running"})
        assert (await first).status_code == 200
        for seconds in ("0", "301", "x"):
            assert (await client.get("/debug/pprof/profile", params={"seconds": seconds})).status_code == 400
