"""Fixtures for every test: real servers, started at their first use, and a fresh place in them for each test.

A server that cannot start is an error, never a skip: a green run has really used the servers that it lists.
"""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn.server

from longline.wiring.garbage_collection import GC_GENERATION_RATIO, GC_NEW_OBJECTS
from tests.applications import remembered_types
from tests.compiled import import_share
from tests.drivers.records import migrated
from tests.order import slow_first
from tests.servers import (
    PostgresServer,
    S3Bucket,
    S3Server,
    ValkeyServer,
    running_postgres,
    running_s3,
    running_valkey,
)
from tests.servers.chromium import NoBrowser, chromium_path

ROOT = Path(__file__).parent
SERVERS_USED = pytest.StashKey[list[str]]()
FIGURES = pytest.StashKey[list[str]]()
SERVERS = {"chromium", "postgres_server", "s3_server", "valkey_server"}
CARRIED = {"postgres", "postgres_url", "s3", "redis", "redis_url", "large"}
"""Names of parameters that make a fixture start a server later on."""
WHOLE = {"bench", "chaos", "cli", "console", "journeys", "migrations", "sdk", "servers", "surfaces", "wiring"}
"""Folders of tests that start servers or processes of their own."""
SLOW = {"chaos": 3, "journeys": 1}
"""Folders of tests that wait more than they compute."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin the lists that the summary shows; collect no garbage while modules are imported."""
    gc.disable()
    config.stash[SERVERS_USED] = []
    config.stash[FIGURES] = []
    if hasattr(config, "workerinput"):
        prepare_process(config, config.workerinput["workerid"], config.workerinput["workercount"])
    config.addinivalue_line(
        "markers", "servers: needs a server or a process of its own; `make test-fast` leaves it out"
    )
    config.addinivalue_line("markers", "slow(reason): takes a second of a processor; `make test-fast` leaves it out")


def prepare_process(config: pytest.Config, name: str, processes: int) -> None:
    """Prepare one of several processes, which are called gw0, gw1, ..."""
    config.pluginmanager.register(SlowFirst(processes))
    if [str(ROOT)] == [str(config.rootpath / asked) for asked in config.args] and not leaves_out_servers(config):
        import_share(sorted(ROOT.rglob("test_*.py")), ROOT, int(name.removeprefix("gw")), processes)


def leaves_out_servers(config: pytest.Config) -> bool:
    """Return true in `make test-fast`."""
    return bool(config.option.markexpr.startswith("not servers"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import folders that are left out: that takes as long as the tests themselves."""
    left_out = collection_path.parent == ROOT and collection_path.name in WHOLE
    return True if left_out and leaves_out_servers(config) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server."""
    for item in items:
        if needs_servers(item):
            item.add_marker("servers")


class SlowFirst:
    """A plugin of one of several processes."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put slow tests where xdist begins."""
        items[:] = slow_first(items, slowness, self._processes)


def slowness(item: pytest.Item) -> int:
    """Return a rank of the time that a test takes; 0 is quick."""
    folder = item.path.relative_to(ROOT).parts[0]
    return SLOW.get(folder, 0) or 2 * (item.get_closest_marker("slow") is not None)


def pytest_collection_finish() -> None:
    """Collect garbage as seldom as the program does: the modules and tests of this moment stay to the end."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(GC_NEW_OBJECTS, GC_GENERATION_RATIO, GC_GENERATION_RATIO)


def needs_servers(item: pytest.Item) -> bool:
    """Return true if a test uses a server, by its fixtures, its parameters or its folder."""
    asked = SERVERS & set(getattr(item, "fixturenames", ()))
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    named = [getattr(value, "fixture", value) for value in values]
    folder = item.path.relative_to(ROOT).parts[0]
    return bool(asked) or folder in WHOLE or any(isinstance(name, str) and name in CARRIED for name in named)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes that are no text by their argument: packed ones contain the time at which they were packed."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the servers and figures of one of several processes to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["servers"] = session.config.stash[SERVERS_USED]
        session.config.workeroutput["figures"] = session.config.stash[FIGURES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the servers and figures of a process that has ended."""
    told = getattr(node, "workeroutput", {})
    node.config.stash[SERVERS_USED] += told.get("servers", [])
    node.config.stash[FIGURES] += told.get("figures", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the figures of tests, and the servers that answered in this run, with their versions."""
    measured, used = config.stash[FIGURES], config.stash[SERVERS_USED]
    for line in sorted(measured):
        terminalreporter.write_line(line)
    terminalreporter.write_line(f"servers used: {', '.join(sorted({*used})) or 'none'}")


class Hurried:
    """The module asyncio, with shorter sleeps."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


@pytest.fixture(scope="session", autouse=True)
def servers_stop_at_once() -> Iterator[None]:
    """A uvicorn that checks every hundredth of a second for its stop: hundreds of tests wait for its tenths."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", Hurried())
        yield


@pytest.fixture(scope="session", autouse=True)
def types_are_parsed_once() -> Iterator[None]:
    """Caches of parsed routes and shapes of requests: a thousand tests build an application of the same ones."""
    with remembered_types():
        yield


@pytest.fixture
def figures(pytestconfig: pytest.Config) -> list[str]:
    """Lines that the summary of the whole run shows, added in any process."""
    return pytestconfig.stash[FIGURES]


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The path of a browser; the only requirement that is no wheel, so a test without it is skipped."""
    try:
        return chromium_path()
    except NoBrowser as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Iterator[PostgresServer]:
    """One PostgreSQL for the whole run."""
    with running_postgres() as server:
        pytestconfig.stash[SERVERS_USED].append(server.version)
        yield server


@pytest.fixture(scope="session")
def s3_server(pytestconfig: pytest.Config) -> Iterator[S3Server]:
    """One S3 store for the whole run."""
    with running_s3() as server:
        pytestconfig.stash[SERVERS_USED].append(server.version)
        yield server


@pytest.fixture(scope="session")
def valkey_server(pytestconfig: pytest.Config) -> Iterator[ValkeyServer]:
    """One Valkey for the whole run."""
    with running_valkey() as server:
        pytestconfig.stash[SERVERS_USED].append(server.version)
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty PostgreSQL database of this test's own."""
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A migrated SQLite database without a row: migrating one for each test would take most of their time."""
    return migrated.migrated_bytes(tmp_path_factory.mktemp("migrated"))


@pytest.fixture
def migrated_file(migrated_bytes: bytes, tmp_path: Path) -> str:
    """A migrated SQLite database of this test's own; its URL."""
    file = tmp_path / "longline.db"
    file.write_bytes(migrated_bytes)
    return f"sqlite:///{file}"


@pytest.fixture(scope="session")
def postgres_home(postgres_server: PostgresServer) -> Iterator[migrated.Home]:
    """One migrated PostgreSQL database for all tests that need no other: making one takes a second."""
    with migrated.postgres_home(postgres_server) as home:
        yield home


@pytest.fixture
def wiped_home(postgres_home: migrated.Home) -> str:
    """The migrated PostgreSQL database, without a row; ids begin again."""
    postgres_home.wipe()
    return postgres_home.url


@pytest.fixture(params=["sqlite", "postgres"])
def migrated_url(request: pytest.FixtureRequest) -> str:
    """A migrated database without a row, once on each engine."""
    url: str = request.getfixturevalue("migrated_file" if request.param == "sqlite" else "wiped_home")
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, once on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/longline.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def s3_bucket(s3_server: S3Server) -> Iterator[S3Bucket]:
    """An empty bucket of this test's own."""
    bucket = s3_server.create_bucket()
    yield bucket
    s3_server.delete_bucket(bucket)


@pytest.fixture
def redis_url(valkey_server: ValkeyServer) -> str:
    """A server of the Redis protocol without a key."""
    valkey_server.empty()
    return valkey_server.url
