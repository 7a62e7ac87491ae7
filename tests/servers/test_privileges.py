import os
import pwd

import asyncpg
import pytest

from tests.servers import privileges, running_postgres
from tests.servers.postgres import find_binaries
from tests.servers.privileges import Privileges, without_root

# The tests start a server, also if the environment names a running one.
pytestmark = pytest.mark.usefixtures("no_server_named")
NAMELESS = 1_234_567_890
NOBODY = (pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)


def test_an_ordinary_user_needs_no_detour(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY[0])

    assert without_root() == Privileges()


def test_a_user_without_a_name_borrows_one(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: NAMELESS)
    monkeypatch.setattr(privileges, "user_namespaces_work", lambda: True)

    assert without_root().prefix[:3] == ("unshare", "--user", f"--map-user={NOBODY[0]}")


def test_a_user_without_a_name_cannot_become_another(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: NAMELESS)
    monkeypatch.setattr(privileges, "user_namespaces_work", lambda: False)

    assert without_root() == Privileges()


def test_root_hides_in_a_user_namespace_when_it_can(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(privileges, "user_namespaces_work", lambda: True)

    assert without_root().prefix[:2] == ("unshare", "--user")
    assert without_root().user is None


def test_root_changes_to_an_unprivileged_user_when_namespaces_are_forbidden(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(privileges, "user_namespaces_work", lambda: False)

    assert without_root() == Privileges(user=NOBODY)


def test_no_unshare_means_no_namespaces(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not privileges.user_namespaces_work()


def test_an_unshare_that_refuses_means_no_namespaces(monkeypatch, tmp_path):
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not privileges.user_namespaces_work()


def forbid_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid namespaces, as a hardened container does; a user without a name has no other way, and keeps this one."""
    if os.geteuid() == 0 or privileges.has_name(os.geteuid()):
        monkeypatch.setattr(privileges, "user_namespaces_work", lambda: False)


async def test_postgres_runs_without_namespaces(monkeypatch):
    """For root, as in a container, the server belongs to `nobody`. Another user starts it as before."""
    forbid_namespaces(monkeypatch)

    with running_postgres() as server:
        assert server.folder is not None
        owner = (server.folder / "data").stat().st_uid
        assert await select_one(server.address) == 1

    assert owner == (NOBODY[0] if os.geteuid() == 0 else os.geteuid())


async def test_postgres_runs_from_a_folder_that_only_we_may_enter(monkeypatch, tmp_path):
    installed = find_binaries().folder
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "site").symlink_to(installed.parents[2])
    monkeypatch.setenv("PG_BIN", str(closed / "site" / installed.relative_to(installed.parents[2])))
    forbid_namespaces(monkeypatch)

    with running_postgres() as server:
        assert server.version.endswith("(PG_BIN)")
        assert server.folder is not None
        assert (server.folder / "install").exists() == (os.geteuid() == 0)
        assert await select_one(server.address) == 1


async def select_one(url: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval("SELECT 1")
    finally:
        await connection.close()
