"""Pages of other sites in a browser of this machine, at the APIs that are open on loopback."""

import httpx

from tests.journeys.place import Place
from tests.journeys.test_serve import up

EVIL = {"Origin": "https://evil.example"}
PATHS = ("/api/admin/tasks", "/operators/jobs")


def test_a_page_of_another_site_needs_credentials(embedded: Place):
    with up(embedded) as platform, httpx.Client(base_url=platform.where) as client:
        for path in PATHS:
            assert client.get(path).status_code == 200, path
            assert client.get(path, headers={"Origin": platform.where}).status_code == 200, path
            refused = client.get(path, headers=EVIL)
            assert (refused.status_code, "another site" in refused.text) == (403, True), path
            assert refused.headers["access-control-allow-origin"] == "*"
            assert client.get(path, headers={"Host": "evil.example"}).status_code == 403, "DNS rebinding"
        pull = "/api/crawl/pull/", {"bot_id": "b"}
        assert client.post(pull[0], json=pull[1]).status_code == 200
        assert client.post(pull[0], json=pull[1], headers=EVIL).status_code == 403
        body = {"domain_name": "shop.example", "base_url": "https://shop.example", "parser_name": "product"}
        assert client.post("/api/admin/domains", json=body, headers=EVIL).status_code == 403
        assert client.get("/api/admin/domains").json()["data"] == []
        asked = client.options("/api/admin/tasks", headers=EVIL | {"Access-Control-Request-Method": "GET"})
        assert asked.status_code == 204, "with credentials the page may call"
        assert client.get("/health", headers=EVIL).status_code == 200
        platform.stop()


def test_an_operator_may_open_an_api_to_pages_of_all_sites(embedded: Place):
    with up(embedded, LONGLINE_PRODUCTS_ACCESS="open") as platform, httpx.Client(base_url=platform.where) as client:
        assert client.get("/api/admin/tasks", headers=EVIL).status_code == 200
        assert client.get("/operators/jobs", headers=EVIL).status_code == 403
        platform.stop()
