import asyncio
import os
import signal

import httpx
import pytest
from litestar import get

from longline.model.errors import LonglineError
from longline.surfaces.server.http_server import HttpServer
from tests.surfaces.conftest import Stage, serving


async def test_a_server_answers_as_soon_as_it_has_started(stage: Stage):
    server = HttpServer()
    where = await server.start(stage.app, "127.0.0.1", 0)
    async with httpx.AsyncClient(timeout=60) as client:
        assert (await client.get(f"{where}/health")).status_code == 200
    await server.stop()
    async with httpx.AsyncClient(timeout=60) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"{where}/health")
    await server.stop()


async def test_a_taken_port_is_said_in_one_line(stage: Stage):
    async with serving(stage.app) as client:
        port = client.base_url.port
        assert port
        with pytest.raises(LonglineError) as caught:
            await HttpServer().start(Stage().app, "127.0.0.1", port)
    said = f"port {port} on 127.0.0.1 is in use; stop what runs there or choose another with --port"
    assert str(caught.value) == said


async def test_requests_under_way_are_answered_before_it_stops(stage: Stage):
    arrived, go_on = asyncio.Event(), asyncio.Event()

    @get("/slow")
    async def slow() -> str:
        arrived.set()
        await go_on.wait()
        return "done"

    stage.app.register(slow)
    server = HttpServer()
    where = await server.start(stage.app, "127.0.0.1", 0)
    async with httpx.AsyncClient(timeout=60) as client:
        asking = asyncio.create_task(client.get(f"{where}/slow"))
        await arrived.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0.05)
        assert not stopping.done()
        go_on.set()
        assert (await asking).text == "done"
        await stopping


async def test_signals_stay_with_the_process(stage: Stage):
    heard = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, heard.set)
    ours = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        async with serving(stage.app) as client:
            assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == ours
            os.kill(os.getpid(), signal.SIGTERM)
            async with asyncio.timeout(60):
                await heard.wait()
            assert (await client.get("/health")).status_code == 200
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
