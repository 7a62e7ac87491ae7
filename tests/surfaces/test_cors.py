import httpx

from longline.surfaces.cors import cors_config

ELSEWHERE = {"Origin": "https://page.example"}


async def test_pages_of_any_origin_may_call_without_cookies(client: httpx.AsyncClient):
    asked = {**ELSEWHERE, "Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": "X-Mine"}
    before = await client.options("/health", headers=asked)
    answer = await client.get("/health", headers=ELSEWHERE)
    assert before.status_code == 204
    assert before.headers["access-control-max-age"] == "43200"
    assert "DELETE" in before.headers["access-control-allow-methods"]
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    assert cors_config().allow_credentials is False
