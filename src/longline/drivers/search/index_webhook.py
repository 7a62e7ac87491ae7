"""A webhook that gets one POST for each event."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import wreq
from wreq import exceptions

from longline.drivers.http.certificates import load_issuers
from longline.model.errors import Unavailable
from longline.model.urls.url_credentials import hide_in_text

DEFAULT_PATH = "/api/v1/events"
REQUEST_TIMEOUT = timedelta(seconds=2)


class IndexWebhook:
    """The webhook at an address; without a path, events are sent to `DEFAULT_PATH`."""

    def __init__(self, url: str, roots: Path | None = None) -> None:
        self._url = url if urlsplit(url).path.strip("/") else url.rstrip("/") + DEFAULT_PATH
        self._client = wreq.Client(
            tls_verify=load_issuers(roots).store,
            no_proxy=True,
            timeout=REQUEST_TIMEOUT,
            redirect=wreq.Policy.none(),
        )

    async def post(self, event: Mapping[str, Any]) -> None:
        """Send one event; raise `Unavailable` unless the service accepts the event."""
        headers = {"content-type": "application/json"}
        try:
            async with self._client.post(self._url, body=orjson.dumps(event), headers=headers) as answer:
                status = answer.status.as_int()
        except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.RequestError) as error:
            raise Unavailable(hide_in_text(f"{self._url}: {str(error).splitlines()[0]}")) from error
        if status >= 300:
            raise Unavailable(hide_in_text(f"{self._url} answered {status}"))

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()
