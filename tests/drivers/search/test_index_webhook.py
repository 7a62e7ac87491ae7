"""Events to another service over real HTTP."""

import pytest

from longline.drivers.search.index_webhook import IndexWebhook
from longline.model.errors import Unavailable
from tests.web import running_site
from tests.web.wire import Answer


async def test_an_event_is_sent_to_the_default_path_or_the_path_of_the_url() -> None:
    with running_site(pages=1) as site:
        site.site.extra |= {"/api/v1/events": Answer(202), "/hook": Answer(200), "/no": Answer(500)}
        for url in (site.url, f"{site.url}hook"):
            service = IndexWebhook(url)
            await service.post({"stage": "indexed"})
            await service.close()
        sent = [(visit.method, visit.path, visit.headers["content-type"]) for visit in site.requests]
        assert sent == [("POST", path, "application/json") for path in ("/api/v1/events", "/hook")]
        refused = IndexWebhook(f"{site.url}no")
        with pytest.raises(Unavailable, match="answered 500"):
            await refused.post({})
        await refused.close()


async def test_an_unreachable_service_is_unavailable() -> None:
    service = IndexWebhook("http://127.0.0.1:1/")
    with pytest.raises(Unavailable):
        await service.post({})
    await service.close()
