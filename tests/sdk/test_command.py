"""The two bots of the guide, run as programs against a real server and a website."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.surfaces.bots.running import Door as Server

BOTS = Path(__file__).parents[2] / "docs/how-to/bots"

PAGES = {
    "/lamp": '<script type="application/ld+json">{"@type": "Product", "name": "Lamp", "offers": '
    '{"price": 12.30, "priceCurrency": "EUR", "availability": "https://schema.org/OutOfStock"}}</script>',
    "/book": '<title>A book</title><span class="price">7.05 EUR</span>',
    "/saw": '<b data-price="19.99"></b><i class="sold-out"></i>',
    "/nothing": "<p>hello</p>",
}


@asynccontextmanager
async def website() -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        body = PAGES[path].encode()
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


async def started(where: str, name: str, token: str, *flags: str) -> asyncio.subprocess.Process:
    environ = {"LONGLINE_SERVER": where, "BOT_TOKEN": token, "PAUSE": "0.01"}
    command = (sys.executable, str(BOTS / name), *flags)
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, env=environ, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize(
    ("name", "host", "paths", "results"),
    [
        ("price_bot", "127.0.0.1", ["lamp"], [(12.3, "EUR", "Lamp", False)]),
        ("slow_bot", "localhost", ["book"], [(7.05, "EUR", "A book", True)]),
        ("slow_bot", "127.0.0.1", ["saw"], [(19.99, "USD", "", False)]),
    ],
)
async def test_a_bot_of_the_guide(
    server: Server, where: str, name: str, host: str, paths: list[str], results: list[tuple[object, ...]]
):
    token = (await server.post("bots", bot_id=name.replace("_", "-")))["api_token"]
    async with website() as port:
        for path in [*paths, "nothing"]:
            await server.job(f"http://{host}:{port}/{path}", max_retries=0)
        bot = await started(where, f"{name}.py", token, "--once")
        said, _ = await asyncio.wait_for(bot.communicate(), 60)
    assert (bot.returncode, said.decode().strip()) == (1, "pulled 2, done 1, failed 1, lost 0")
    found = (await server.get("results"))["results"]
    assert [(r["price"], r["currency"], r["title"], r["in_stock"]) for r in found] == results
    [failed] = (await server.get("jobs?status=failed"))["jobs"]
    assert "this page" in failed["last_error"]


async def ended(bot: asyncio.subprocess.Process) -> tuple[int | None, str, str]:
    """Wait until a bot has ended; return its exit code, and its output."""
    said, complaint = await asyncio.wait_for(bot.communicate(), 60)
    return bot.returncode, said.decode(), complaint.decode()


async def test_the_error_of_a_wrong_token_is_one_line(server: Server, where: str):
    await server.post("bots", bot_id="price-bot")
    for flags in ((), ("--once",)):
        bot = await started(where, "price_bot.py", "wrong", *flags)
        text = f"price-bot: {where} refused this bot: authentication_error: Invalid or missing API token\n"
        assert await ended(bot) == (2, "", text)


async def test_an_unreachable_server_is_an_error_in_sentences(tmp_path: Path):
    code, said, complaint = await ended(await started("http://127.0.0.1:9", "price_bot.py", "x", "--once"))
    assert (code, said) == (1, "")
    *attempts, last = complaint.splitlines()
    assert last == "price-bot: http://127.0.0.1:9 cannot be reached: the connection was refused"
    assert all("cannot be reached" in line and "next attempt" in line for line in attempts)
    bot = await started("http//127.0.0.1", "price_bot.py", "x", "--once")
    assert (await ended(bot))[2].endswith(
        "refused this bot: bad_address: 'http//127.0.0.1' is not the address of a server\n"
    )


async def test_the_error_of_an_address_of_another_service_is_one_line():
    async with website() as port:
        PAGES["/api/crawl/pull/"] = "<p>a shop</p>"
        code, _, complaint = await ended(await started(f"http://127.0.0.1:{port}", "price_bot.py", "x", "--once"))
    assert code == 1
    assert "Traceback" not in complaint
    assert "in words that are not this contract's" in complaint.splitlines()[-1]


SLOW = """
import asyncio, os
from longline.sdk import Bot, Found, main

bot = Bot(os.environ["LONGLINE_SERVER"], "slow", concurrency=2)

@bot.on()
async def work(job):
    print("begun", flush=True)
    await asyncio.sleep(1 if job.url.endswith("short") else 600)
    return Found("1", "USD")

raise SystemExit(main(bot))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_while_a_handler_works(server: Server, where: str, tmp_path: Path, number: int):
    (tmp_path / "slow.py").write_text(SLOW)
    short = await server.job("https://example.com/short")
    bot = await started(where, str(tmp_path / "slow.py"), "")
    assert bot.stdout
    await asyncio.wait_for(bot.stdout.readline(), 60)
    later = await server.job("https://example.com/later")
    bot.send_signal(number)
    assert await ended(bot) == (0, "pulled 1, done 1, failed 0, lost 0\n", "")
    assert [await server.status(job) for job in (short, later)] == ["done", "pending"]


async def test_a_second_signal_ends_the_bot_at_once(server: Server, where: str, tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW)
    await server.job("https://example.com/long")
    bot = await started(where, str(tmp_path / "slow.py"), "")
    assert bot.stdout
    await asyncio.wait_for(bot.stdout.readline(), 60)
    bot.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.5)
    assert bot.returncode is None, "the bot finishes the job that it holds"
    bot.send_signal(signal.SIGTERM)
    assert await ended(bot) == (1, "pulled 1, done 0, failed 0, lost 1\n", "")


async def test_a_signal_stops_a_bot_in_good_order(server: Server, where: str):
    token = (await server.post("bots", bot_id="price-bot"))["api_token"]
    bot = await started(where, "price_bot.py", token)
    async with asyncio.timeout(60):
        while not (await server.get("bots"))["bots"][0]["last_pull_at"]:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    bot.send_signal(signal.SIGTERM)
    said, _ = await asyncio.wait_for(bot.communicate(), 60)
    assert (bot.returncode, said.decode().strip()) == (0, "pulled 0, done 0, failed 0, lost 0")
