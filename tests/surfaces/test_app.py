import httpx


async def test_the_openapi_document_names_every_path(client: httpx.AsyncClient):
    answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    document = answer.json()
    assert document["info"] == {"title": "Longline", "version": "1.2.3"}
    own = {"/", "/docs", "/docs/style.css", "/openapi.json", "/health", "/health/memory", "/metrics"}
    assert set(document["paths"]) == own
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


async def test_no_viewer_that_loads_scripts_from_elsewhere_is_served(client: httpx.AsyncClient):
    for path in ("/schema", "/swagger", "/redoc", "/elements", "/rapidoc"):
        assert (await client.get(path)).status_code == 404, path
