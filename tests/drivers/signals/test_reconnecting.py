"""What carriers that can be lost promise about it: trouble is told, and what broke is mended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import NamedTuple

import pytest

from longline.drivers.signals import open_signals, postgres, reconnecting, redis
from longline.model.errors import Unavailable
from longline.ports.signals import Signals
from tests.drivers.signals.hearing import PATIENCE, heard_again, next_of
from tests.drivers.signals.relay import Relay, relay_to
from tests.servers import running_postgres, running_valkey
from tests.servers.process import free_ports


@contextmanager
def own_postgres() -> Iterator[str]:
    with running_postgres() as server:
        yield server.address


@contextmanager
def own_valkey() -> Iterator[str]:
    with running_valkey() as server:
        yield server.url


class Engine(NamedTuple):
    """How to start a server of one's own, the fixture of everybody's, and how to open signals at a URL."""

    start: Callable[[], AbstractContextManager[str]]
    fixture: str
    open: Callable[[str], Signals]


ENGINES = {
    "postgres": Engine(own_postgres, "postgres_url", open_signals),
    "redis": Engine(own_valkey, "redis_url", lambda url: open_signals("sqlite:///x.db", url)),
}


class Line(NamedTuple):
    """Signals that run through a relay, and others that run beside it."""

    signals: Signals
    relay: Relay
    beside: Signals


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


@pytest.fixture
async def line(engine: Engine, request: pytest.FixtureRequest) -> AsyncIterator[Line]:
    url = request.getfixturevalue(engine.fixture)
    async with relay_to(url) as relay:
        line = Line(engine.open(relay.url(url)), relay, engine.open(url))
        yield line
        await line.signals.close()
        await line.beside.close()


async def test_a_server_that_is_killed_and_comes_back_is_heard_again(engine):
    with ExitStack() as first_life:
        url = first_life.enter_context(engine.start())
        async with relay_to(url) as relay:
            signals = engine.open(relay.url(url))
            async with signals.listen("work") as heard:
                await signals.send("work", "before")
                assert (await next_of(heard)).text == "before"
                first_life.close()
                relay.point_at(None)
                relay.cut()  # for a server that is only borrowed, and so still runs
                for attempt in (signals.send("work", "lost"), signals.check()):
                    with pytest.raises(Unavailable, match="cannot be used for signals"):
                        await attempt
                with engine.start() as second_life:
                    relay.point_at(second_life)
                    assert (await heard_again(heard, signals, "work")).text == "again"
                    await signals.close()


async def test_a_cut_connection_is_mended(line):
    async with line.signals.listen("work") as heard:
        for number in range(3):
            line.relay.cut()
            assert (await heard_again(heard, line.beside, "work")).text == "again", number


async def test_a_connection_that_falls_silent_is_noticed(line, monkeypatch):
    for module in (postgres, redis):
        monkeypatch.setattr(module, "_PING_AFTER_SECONDS", 0.1)
        monkeypatch.setattr(module, "_ANSWER_TIMEOUT_SECONDS", 0.5)
    async with line.signals.listen("work") as heard:
        line.relay.hold()
        await line.beside.send("work", "lost")
        # Whoever asked and got no answer tries another connection.
        await asyncio.wait_for(line.relay.next_client(), PATIENCE)
        line.relay.release()  # the old connection would now deliver again, had it not been given up
        texts = {(await heard_again(heard, line.beside, "work")).text}
        assert texts == {"again"}


async def test_a_quiet_connection_is_left_alone(line, monkeypatch):
    for module in (postgres, redis):
        monkeypatch.setattr(module, "_PING_AFTER_SECONDS", 0.05)
    async with line.signals.listen("work") as heard:
        before = line.relay.accepted
        await asyncio.sleep(0.5)
        assert line.relay.accepted == before
        await line.beside.send("work", "still here")
        assert (await next_of(heard)).text == "still here"


async def test_a_send_over_a_connection_that_died_in_the_meantime_arrives(line):
    async with line.beside.listen("work") as heard:
        await line.signals.send("work", "first")
        line.relay.cut()
        await line.signals.send("work", "second")
        assert [(await next_of(heard)).text for _ in range(2)] == ["first", "second"]


async def test_a_server_that_hangs_does_not_hold_up_the_senders(line, monkeypatch):
    monkeypatch.setattr(reconnecting, "_SEND_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(reconnecting, "_SEND_PAUSE_SECONDS", 1.0)
    await line.signals.send("work", "before")
    line.relay.hold()
    with pytest.raises(Unavailable, match="was not sent within"):
        await asyncio.wait_for(line.signals.send("work", "late"), 2)
    for _ in range(20):
        with pytest.raises(Unavailable, match="has not answered"):
            await asyncio.wait_for(line.signals.send("work", "at once"), 0.1)
    line.relay.release()
    async with line.beside.listen("work") as heard:
        await asyncio.sleep(1.0)
        await line.signals.send("work", "after")
        while (await next_of(heard)).text != "after":
            pass


async def test_closing_over_a_dead_connection_is_no_trouble(line):
    async with line.signals.listen("work"):
        await line.signals.send("work")
        line.relay.point_at(None)
        line.relay.cut()
        await line.signals.close()


async def test_one_connection_serves_all_listeners(line):
    async with line.signals.listen("work") as first:
        count = line.relay.accepted
        async with line.signals.listen("work") as second, line.signals.listen("other") as third:
            await line.beside.send("work", "x")
            await line.beside.send("other", "y")
            texts = [(await next_of(heard)).text for heard in (first, second, third)]
            assert (texts, line.relay.accepted) == (["x", "x", "y"], count)


async def test_what_others_write_on_the_channel_is_passed_over(engine, line):
    async with line.signals.listen("work") as heard:
        for payload in ("", "text", "{}", '["work"]', '["work", 5]', '["work", "a", "b"]'):
            await line.beside._carrier.publish(payload)
        await line.beside.send("work", "ours")
        assert (await next_of(heard)).text == "ours"


@pytest.mark.parametrize("verb", ["check", "send", "listen"])
async def test_a_server_that_is_not_there_is_one_clear_line(engine, verb):
    address = f"127.0.0.1:{free_ports(1)[0]}"
    url = f"postgresql://me:hidden@{address}/x" if engine.fixture == "postgres_url" else f"redis://:hidden@{address}/0"
    signals = engine.open(url)
    attempts = {
        "check": signals.check,
        "send": lambda: signals.send("work"),
        "listen": signals.listen("work").__aenter__,
    }
    with pytest.raises(Unavailable) as caught:
        await attempts[verb]()
    assert address in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)
    await signals.close()
