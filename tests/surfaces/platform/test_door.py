"""The platform's own paths, and the callers that may see them."""

import httpx
import pytest

from tests.surfaces.conftest import Stage, serving

PUBLIC = ("/", "/docs", "/health", "/health/memory", "/openapi.json")


async def test_everything_but_metrics_is_public():
    async with serving(Stage(metrics_open=False).app) as client:
        for path in PUBLIC:
            assert (await client.get(path)).status_code == 200, path
        answer = await client.get("/metrics")
        assert (answer.status_code, answer.json()) == (401, {"error": "missing authorization"})


async def test_metrics_need_a_token_unless_they_are_open(client: httpx.AsyncClient):
    assert (await client.get("/metrics")).status_code == 200, "they are open here"
    stage = Stage(metrics_open=False)
    async with serving(stage.app) as closed:
        token = stage.tokens.issue("admin", "me", 60)
        assert (await closed.get("/metrics", headers={"authorization": f"Bearer {token}"})).status_code == 200


@pytest.mark.parametrize("path", ["/nothing", "/docs/nothing"])
async def test_unknown_paths_are_answered_in_the_usual_format(client: httpx.AsyncClient, path: str):
    answer = await client.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
