"""A URL that was submitted over HTTP is fetched by any worker."""

import httpx

from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.journeys.place import PATIENCE, Place, wait_until
from tests.journeys.test_serve import up
from tests.web import running_site


def test_a_url_that_is_given_is_fetched_and_one_that_is_not_there_is_dead(place: Place):
    with running_site(pages=2) as site, up(place) as it:
        token = Tokens(jwt_secret(place.settings), lambda: 4_000_000_000_000).issue("admin", "me", 3600)
        with httpx.Client(base_url=it.where, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as client:

            def give(url: str) -> str:
                answer = client.post("/api/v1/frontier", json={"url": url, "source_id": "s"})
                assert answer.status_code == 201
                return f"/api/v1/frontier/{answer.json()['id']}"

            found, missing = give(site.page_urls[0]), give(f"{site.url}nowhere")
            wait_until(lambda: client.get(found).json()["status"] == "fetched", "a fetched page")
            wait_until(lambda: client.get(missing).json()["status"] == "dead", "a dead URL")
            assert client.get(missing).json()["last_error"] == "not_found"
            assert set(client.get(found).json()) >= {"last_fetched_at", "content_hash"}
            stats = client.get("/api/v1/frontier/stats").json()
            assert (stats["total_fetched"], stats["total_dead"], stats["total_pending"]) == (1, 1, 0)
        it.stop()
    assert place.value("SELECT state FROM runs") == "queued", "it stands: there may be more"
