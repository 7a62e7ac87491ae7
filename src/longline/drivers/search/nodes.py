"""The nodes of a cluster: the first node that can answers a request."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import wreq
from wreq import exceptions

from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.credentials import split_credentials
from longline.model.errors import BadInput, Unavailable

JSON, LINES = "application/json", "application/x-ndjson"
REQUEST_TIMEOUT = timedelta(seconds=30)
UNAVAILABLE_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses of a node that is busy or away: the next node is tried."""


class NodeOptions(NamedTuple):
    """TLS options for nodes.

    `roots` is a PEM file of extra issuers, `identity` the PEM files of a client certificate and its key. Without
    `verify` the nodes' certificates are not checked.
    """

    roots: Path | None = None
    identity: tuple[Path, Path] | None = None
    verify: bool = True


class NodeResponse(NamedTuple):
    """Status and decoded body of a node's response."""

    status: int
    said: Any

    @property
    def error_type(self) -> str:
        """Return the error type in the response, in the cluster's own term."""
        error = self.said.get("error") if isinstance(self.said, dict) else None
        return str(error.get("type", error) if isinstance(error, dict) else error or self.status)


def _config(manners: NodeOptions) -> "wreq.ClientConfig":
    config: wreq.ClientConfig = {
        "no_proxy": True,
        "timeout": REQUEST_TIMEOUT,
        "redirect": wreq.Policy.none(),
        "tls_verify": load_issuers(manners.roots).store if manners.verify else False,
        "tls_verify_hostname": manners.verify,
    }
    if manners.identity is not None:
        try:
            config["tls_identity"] = wreq.Identity.from_pkcs8_pem(*(file.read_bytes() for file in manners.identity))
        except OSError as error:
            raise BadInput(f"{error.filename} cannot be read: {error.strerror}") from None
        except (ValueError, exceptions.BuilderError, exceptions.TlsError) as error:
            raise BadInput(f"{manners.identity[0]} and its key are no certificate in PEM form: {error}") from None
    return config


class Nodes:
    """The nodes of one cluster, tried in turn, beginning with the last one that answered."""

    def __init__(self, urls: Sequence[str], api_key: str, manners: NodeOptions) -> None:
        self._nodes = [split_credentials(url.rstrip("/")) for url in urls]
        self._key = f"ApiKey {b64encode(api_key.encode()).decode()}" if api_key else None
        self._client = wreq.Client(**_config(manners))

    async def send(self, method: wreq.Method, path: str, body: bytes | None = None, kind: str = JSON) -> NodeResponse:
        """Return the first response whose status is not in `UNAVAILABLE_STATUSES`, or raise `Unavailable`."""
        failures = []
        for node in list(self._nodes):
            try:
                answer = await self._ask(node, method, path, body, kind)
            except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.RequestError) as error:
                failures.append(f"{node[0]}: {str(error).splitlines()[0]}")
            except (exceptions.BodyError, exceptions.ConnectionResetError, orjson.JSONDecodeError) as error:
                failures.append(f"{node[0]}: {str(error).splitlines()[0]}")
            else:
                if answer.status not in UNAVAILABLE_STATUSES:
                    return answer
                failures.append(f"{node[0]}: {answer.status} {answer.error_type}")
            self._nodes.append(self._nodes.pop(0))
        raise Unavailable(f"search cannot be used: {'; '.join(failures)}")

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()

    async def _ask(
        self, node: tuple[str, str | None], method: wreq.Method, path: str, body: bytes | None, kind: str
    ) -> NodeResponse:
        url, authorization = node[0] + path, self._key or node[1]
        headers = {"accept": JSON} | ({"authorization": authorization} if authorization else {})
        given = (
            {"body": body, "headers": headers | {"content-type": kind}} if body is not None else {"headers": headers}
        )
        async with self._client.request(method, url, **given) as answer:
            data = bytes(await answer.bytes())
            return NodeResponse(answer.status.as_int(), orjson.loads(data) if data else None)
