"""Engines that stop while the door is open: every operation names the engine that it misses (§1.1)."""

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.servers import PostgresServer
from tests.surfaces.products.running import Stage, error, visiting

SILENT = {
    "admin/queues": "RABBITMQ_ERROR",
    "products": "ELASTICSEARCH_ERROR",
    "products/search": "ELASTICSEARCH_ERROR",
    "products/1": "DATABASE_ERROR",
    "admin/tasks": "DATABASE_ERROR",
    "admin/tasks/1": "DATABASE_ERROR",
    "admin/tasks/stats": "DATABASE_ERROR",
    "admin/domains": "DATABASE_ERROR",
    "admin/proxies": "DATABASE_ERROR",
    "admin/stats": "DATABASE_ERROR",
    "admin/alerts": "DATABASE_ERROR",
}
TEXTS = {
    "RABBITMQ_ERROR": "The queue is not available",
    "ELASTICSEARCH_ERROR": "The search is not available",
    "DATABASE_ERROR": "The database is not available",
}


def damage(database: Path) -> None:
    """Overwrite a database; a change committed afterwards makes other connections drop their cached pages.

    The log must be empty before: a page in it would be read from there. A reader can keep a checkpoint from it.
    """
    log = database.with_name(f"{database.name}-wal")
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as connection:
        while not connection.in_transaction:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("BEGIN IMMEDIATE")
            if log.stat().st_size:
                connection.execute("ROLLBACK")
        connection.execute("CREATE TABLE last_words (id INTEGER)")
        with database.open("r+b") as file:
            file.write(bytes(database.stat().st_size))
        connection.execute("COMMIT")


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_an_engine_that_is_gone_is_named(engine: str, tmp_path: Path, request: pytest.FixtureRequest):
    with ExitStack() as servers:
        url = ""
        if engine == "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            url = servers.enter_context(server.fresh_database())
        stage = Stage(tmp_path, url)
        async with visiting(stage) as door:
            for path in SILENT:
                assert (await door.ask("GET", path, q="x")).status_code in (200, 404), path
            servers.close()
            if engine == "sqlite":
                damage(tmp_path / "longline.db")
            for path, code in SILENT.items():
                answer = await door.ask("GET", path, q="x")
                assert error(answer) == (500, code, TEXTS[code]), path
                assert "127.0.0.1" not in answer.text
            body = {"domain_name": "shop.example", "base_url": "https://shop.example", "parser_name": "product"}
            assert error(await door.ask("POST", "admin/domains", body))[:2] == (500, "DATABASE_ERROR")
            health = await door.ask("GET", "health")
            assert (health.status_code, health.json()["data"]["status"]) == (503, "unhealthy")
        stage.close()
