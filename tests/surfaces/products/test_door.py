"""The frame of the door: envelope, error format, access."""

import pytest

from tests.surfaces.products.running import Door, data, error


async def test_health_reports_the_engines_that_are_in_use(door: Door):
    told = data(await door.ask("GET", "health"))
    assert set(told) == {"status", "timestamp", "version", "services"}
    assert set(told["services"]) == {"database", "rabbitmq", "elasticsearch"}
    engine = "SQLite" if "sqlite" in door.stage.settings.database else "PostgreSQL"
    for service in told["services"].values():
        assert service["status"] == "healthy"
        assert service["response_time_ms"] >= 0
        assert engine in service["engine"]


async def test_the_stream_of_health_events_belongs_to_the_interval_door(door: Door):
    answer = await door.ask("GET", "health/events")
    assert (answer.status_code, answer.json()) == (401, {"error": "missing authorization"})


@pytest.mark.parametrize("path", ["admin/nothing", "products/1/nothing", "admin"])
async def test_an_unknown_path_is_answered_in_the_envelope(door: Door, path: str):
    assert error(await door.ask("GET", path))[:2] == (404, "NOT_FOUND")


async def test_a_wrong_method_is_answered_in_the_envelope(door: Door):
    assert error(await door.ask("DELETE", "health"))[:2] == (405, "METHOD_NOT_ALLOWED")


async def test_a_trailing_slash_is_no_other_path(door: Door):
    assert data(await door.ask("GET", "health/"))["status"]
