from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from longline.drivers.signals import open_signals, postgres
from longline.model.errors import Unavailable
from tests.drivers.signals.hearing import heard_again, next_of


@pytest.fixture
async def server(postgres_url):
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


async def test_a_terminated_backend_is_replaced(postgres_url, server, monkeypatch):
    monkeypatch.setattr(postgres, "_PING_AFTER_SECONDS", 1000.0)  # the end must be noticed without a query
    signals, beside = open_signals(postgres_url), open_signals(postgres_url)
    async with signals.listen("work") as heard:
        ended = await server.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert ended == 1
        assert (await heard_again(heard, beside, "work")).text == "again"
    await signals.close()
    await beside.close()


async def test_schemas_do_not_share_signals(postgres_url, server):
    long = "s" * 63
    await server.execute(f'CREATE SCHEMA other; CREATE SCHEMA "{long}"')
    urls = [postgres_url, f"{postgres_url}?search_path=other", f"{postgres_url}?search_path={long}"]
    plain, other, longest = map(open_signals, urls)
    async with other.listen("work") as heard, longest.listen("work") as far:
        await plain.send("work", "plain")
        await longest.send("work", "longest")
        await other.send("work", "other")
        assert (await next_of(heard)).text == "other"
        assert (await next_of(far)).text == "longest"
    for signals in (plain, other, longest):
        await signals.close()


async def test_closing_leaves_no_connection(postgres_url, server):
    signals = open_signals(postgres_url)
    async with signals.listen("work"):
        await signals.send("work")
        count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        count += " AND backend_type = 'client backend'"
        assert await server.fetchval(count) == 1
    await signals.close()
    while await server.fetchval(count):
        await server.execute("SELECT pg_sleep(0.01)")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "/no_such_database"}, 'database "no_such_database" does not exist'),
        ({"query": "sslmode=wrong"}, "sslmode"),
    ],
)
async def test_an_error_of_the_server_is_reported(postgres_url, change, said):
    signals = open_signals(urlunsplit(urlsplit(postgres_url)._replace(**change)))
    with pytest.raises(Unavailable, match=said):
        await signals.check()
    await signals.close()
