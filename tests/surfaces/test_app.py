import httpx


async def test_the_openapi_document_names_every_path(client: httpx.AsyncClient):
    answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    document = answer.json()
    assert document["info"] == {"title": "Longline", "version": "1.2.3"}
    assert set(document["paths"]) == {"/health", "/health/memory", "/metrics", "/openapi.json"}
    assert set(document["paths"]["/health"]) == {"get", "head"}
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


async def test_nothing_is_served_that_needs_scripts_from_elsewhere(client: httpx.AsyncClient):
    for path in ("/", "/schema", "/swagger", "/redoc", "/elements", "/rapidoc"):
        assert (await client.get(path)).status_code == 404, path
