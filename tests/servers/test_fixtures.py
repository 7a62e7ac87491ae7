import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

ROOT = Path(__file__).parents[2]


def run_tests(*chosen: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


async def test_a_database_is_given_on_each_engine(database_url, request):
    kind, _, place = database_url.partition("://")
    assert request.node.callspec.id in ("sqlite", "postgres")
    if kind == "sqlite":
        assert place.endswith("/longline.db")
        sqlite3.connect(place[1:]).close()
    else:
        connection = await asyncpg.connect(database_url)
        await connection.close()


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_run_says_which_servers_it_really_used(processes: str):
    ran = run_tests("tests/servers/test_valkey.py", "-k", "streams or version", "-n", processes)

    assert ran.returncode == 0, ran.stdout
    lines = [line for line in ran.stdout.splitlines() if line.startswith("servers used: ")]
    assert len(lines) == 1
    assert lines[0].startswith("servers used: Valkey ")
    assert "PostgreSQL" not in lines[0]


def test_a_run_without_servers_says_so():
    ran = run_tests("tests/servers/test_postgres.py", "-k", "a_url_keeps")

    assert ran.returncode == 0, ran.stdout
    assert "servers used: none" in ran.stdout.splitlines()


def test_a_server_that_cannot_be_used_is_an_error_and_not_a_skip():
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    ran = run_tests("tests/servers/test_postgres.py", "-k", "gets_an_empty", LONGLINE_TEST_POSTGRES=nowhere)

    assert ran.returncode == 1, ran.stdout
    assert "1 error" in ran.stdout
    assert "skipped" not in ran.stdout
