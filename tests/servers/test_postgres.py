import asyncio
import importlib.util
from pathlib import Path

import asyncpg
import pytest

from tests.servers import PostgresServer, ServerFailed, postgres, running_postgres
from tests.servers.postgres import find_binaries


async def ask(url: str, question: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def databases(server: PostgresServer) -> object:
    return await ask(server.address, "SELECT array_agg(datname::text) FROM pg_database")


async def test_each_test_gets_an_empty_database(postgres_url):
    assert await ask(postgres_url, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") == 0
    await ask(postgres_url, "CREATE TABLE mine (id INT)")


async def test_no_table_of_the_previous_test_is_left(postgres_url):
    assert await ask(postgres_url, "SELECT to_regclass('mine')") is None


async def test_a_database_is_copied_and_dropped_again(postgres_server):
    first = await postgres_server.create_database()
    await ask(first, "CREATE TABLE fish AS SELECT 7 AS weight")
    second = await postgres_server.create_database(template=first.rpartition("/")[2])
    await postgres_server.drop_database(first)

    assert await ask(second, "SELECT weight FROM fish") == 7

    await postgres_server.drop_database(second)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await ask(second, "SELECT 1")


async def test_a_database_is_dropped_under_its_users(postgres_server):
    url = await postgres_server.create_database()
    connection = await asyncpg.connect(url)
    await postgres_server.drop_database(url)

    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await connection.fetchval("SELECT 1")


async def test_many_sessions_work_at_once(postgres_url):
    pool = await asyncpg.create_pool(postgres_url, min_size=20, max_size=20)
    async with pool:
        answers = await asyncio.gather(
            *(pool.fetchval("SELECT pg_backend_pid() FROM pg_sleep(0.01)") for _ in range(60))
        )

    assert len(set(answers)) > 1


async def test_the_version_is_that_of_the_server(postgres_server):
    told = str(await ask(postgres_server.address, "SHOW server_version"))

    assert postgres_server.version.startswith(f"PostgreSQL {told.split()[0]} (")


@pytest.mark.usefixtures("no_server_named")
@pytest.mark.parametrize(("durable", "fsync"), [(True, "on"), (False, "off")])
async def test_durability_is_a_choice(durable, fsync):
    with running_postgres(durable=durable) as server:
        assert await ask(server.address, "SHOW fsync") == fsync
        assert await ask(server.address, "SHOW synchronous_commit") == fsync


async def test_a_named_server_is_used_and_left_clean(postgres_server, monkeypatch):
    before = await databases(postgres_server)
    monkeypatch.setenv("LONGLINE_TEST_POSTGRES", postgres_server.address)

    with running_postgres() as borrowed:
        assert borrowed.version.endswith("(LONGLINE_TEST_POSTGRES)")
        assert borrowed.folder is None
        url = await borrowed.create_database()
        assert await ask(url, "SELECT 1") == 1

    assert await databases(postgres_server) == before
    assert await ask(postgres_server.address, "SELECT 1") == 1


def test_a_named_server_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setenv("LONGLINE_TEST_POSTGRES", "postgresql://nobody@127.0.0.1:1/nothing")

    with pytest.raises(OSError, match=r"127\.0\.0\.1"), running_postgres():
        pass


def test_a_url_keeps_the_credentials_and_options_of_the_server():
    server = PostgresServer("postgresql://me:secret@db.example:5433/postgres?sslmode=require", "PostgreSQL")

    assert server.url("fish") == "postgresql://me:secret@db.example:5433/fish?sslmode=require"


@pytest.mark.usefixtures("no_server_named")
class TestBinaries:
    def test_the_wheel_takes_precedence_over_an_installed_server(self):
        assert find_binaries().origin == "wheel"

    def test_a_named_folder_comes_first(self, monkeypatch, tmp_path):
        (tmp_path / "postgres").touch()
        monkeypatch.setenv("PG_BIN", str(tmp_path))

        assert find_binaries() == (tmp_path, "PG_BIN")

    def test_a_named_folder_without_postgres_is_an_error(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PG_BIN", str(tmp_path))

        with pytest.raises(ServerFailed, match="no program named postgres"):
            find_binaries()

    def test_the_newest_installed_one_is_found_without_the_wheel(self, monkeypatch, tmp_path):
        for version in ("9.6", "15", "18"):
            (tmp_path / version / "bin").mkdir(parents=True)
            (tmp_path / version / "bin" / "postgres").touch()
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
        monkeypatch.setattr(postgres, "DEBIAN", tmp_path)

        assert find_binaries() == (tmp_path / "18" / "bin", "installed")

    def test_the_path_is_searched_last(self, monkeypatch, tmp_path):
        (tmp_path / "postgres").touch(mode=0o755)
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
        monkeypatch.setattr(postgres, "DEBIAN", Path("/nowhere"))
        monkeypatch.setenv("PATH", str(tmp_path))

        assert find_binaries() == (tmp_path, "installed")

    def test_missing_programs_are_an_error(self, monkeypatch, tmp_path):
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
        monkeypatch.setattr(postgres, "DEBIAN", Path("/nowhere"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(ServerFailed, match="no PostgreSQL"):
            find_binaries()
