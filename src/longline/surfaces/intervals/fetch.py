"""`/api/internal/v1/fetch`: a fetch for another internal service, authenticated by a shared secret."""

import hmac
from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler

from longline.model.errors import BadInput
from longline.services.page_preview import NoPreview, PagePreview, PagePreviews
from longline.surfaces.http import answer
from longline.surfaces.intervals.asking import Asked, body, typed

Body = dict[str, Any]
DEFAULT_SECONDS, MOST_SECONDS = 15, 30


def shown(glance: PagePreview) -> Body:
    """Return a page preview in the contract's format."""
    return {
        "url": glance.url,
        "final_url": glance.final_url,
        "status_code": glance.status,
        "content_type": glance.content_type,
        "html": glance.html,
        "title": glance.title,
        "body": glance.text,
        "author": glance.author,
        "description": glance.description,
        "og": glance.told or None,
        "duration_ms": glance.took_ms,
    }


def seconds(found: Body) -> int:
    """Return the timeout of a fetch."""
    asked = typed(found, "timeout", int) or 0
    return min(asked, MOST_SECONDS) if asked > 0 else DEFAULT_SECONDS


def fetch_route(secret: str) -> HTTPRouteHandler:
    """Return the handler, which requires the secret; without a configured secret it must not be mounted."""

    @post("/api/internal/v1/fetch", status_code=200, summary="Fetch and extract one page")
    async def fetch(request: Asked, glances: NamedDependency[PagePreviews]) -> Response[Any]:
        if not hmac.compare_digest(request.headers.get("x-internal-secret", "").encode(), secret.encode()):
            return answer(401, "invalid internal auth")
        found = await body(request)
        url = typed(found, "url", str)
        if not url:
            raise BadInput("url is required")
        try:
            return Response(shown(await glances.take(url, seconds(found))))
        except NoPreview as failed:
            return answer(502, str(failed))

    return fetch
