"""A PostgreSQL that can be restarted without warning, as `pg_ctl restart -m immediate` does it."""

import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg

from tests.servers.postgres import PostgresServer, _launch, find_binaries
from tests.servers.process import START_SECONDS, Launch, ServerFailed

NOT_YET = (OSError, asyncpg.CannotConnectNowError, asyncpg.PostgresConnectionError)


class RestartablePostgres:
    """A durable server of the caller's own."""

    def __init__(self, launch: Launch[PostgresServer]) -> None:
        self._launch = launch
        self._manner: dict[str, Any] = {"env": dict(launch.environment), "start_new_session": True}
        self._manner |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        if launch.user is not None:
            self._manner |= {"user": launch.user[0], "group": launch.user[1], "extra_groups": []}
        for command in launch.prepare:
            subprocess.run(command, check=True, **self._manner)
        self.server = self.start()

    def start(self) -> PostgresServer:
        """Start the server and wait for its answer."""
        self._process = subprocess.Popen(self._launch.command, **self._manner)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(*NOT_YET):
                if (server := self._launch.answer()) is not None:
                    return server
            time.sleep(0.05)
        raise ServerFailed("the server does not answer")

    def stop(self) -> None:
        """Stop the server without a word to its clients and without a checkpoint."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def restart(self) -> None:
        """Stop the server and start it again."""
        self.stop()
        self.start()


@contextmanager
def restartable_postgres() -> Iterator[RestartablePostgres]:
    """Yield a server that can be restarted, for the time of the context."""
    with tempfile.TemporaryDirectory(prefix="longline-", dir="/tmp") as folder:
        postgres = RestartablePostgres(_launch(Path(folder), find_binaries(), durable=True))
        try:
            yield postgres
        finally:
            postgres.stop()
