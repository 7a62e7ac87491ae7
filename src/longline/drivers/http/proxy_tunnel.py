"""The status of a refused CONNECT: the library reports the refusal without the proxy's status."""

import asyncio
from base64 import b64encode
from contextlib import suppress

from longline.drivers.http.route import Route
from longline.model.proxies.proxy_uri import Proxy

TUNNEL_TIMEOUT_SECONDS = 5.0


async def refusal_status(route: Route, target: str) -> int | None:
    """Return the status with which the proxy answers a CONNECT to `host:port`, or None without an answer.

    No request is sent through: a tunnel that opens this time is closed at once. A proxy behind TLS is not queried,
    because the password must not go to a proxy with an unverified certificate.
    """
    if route.proxy is None or route.proxy.scheme != "http":
        return None
    with suppress(OSError, TimeoutError, ValueError):
        async with asyncio.timeout(TUNNEL_TIMEOUT_SECONDS):
            return await _ask(str(route.proxy_addresses[0]), route.proxy, target)
    return None


async def _ask(address: str, proxy: Proxy, target: str) -> int:
    reader, writer = await asyncio.open_connection(address, proxy.port, limit=4096)
    try:
        writer.write(_connect(proxy, target))
        await writer.drain()
        return int((await reader.readline()).split()[1])
    except IndexError:
        raise ValueError("not a status line") from None
    finally:
        writer.close()


def _connect(proxy: Proxy, target: str) -> bytes:
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.username or proxy.password:
        pair = f"{proxy.username}:{proxy.password}".encode()
        lines.append(f"Proxy-Authorization: Basic {b64encode(pair).decode()}")
    return "\r\n".join([*lines, "", ""]).encode()
