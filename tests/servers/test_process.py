import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import ServerFailed, running_postgres, running_s3, running_valkey, s3
from tests.servers.process import Launch, free_ports, running

ROOT = Path(__file__).parents[2]
SERVE = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1"]
pytestmark = pytest.mark.usefixtures("no_server_named")
STARTERS = pytest.mark.parametrize("start", [running_postgres, running_s3, running_valkey])


def wait_until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def pid_of(folder: Path) -> int:
    """Return the process of a server, which may answer before its guard has written the id."""
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
    return int((folder / "pid").read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def accepts(port: int) -> bool | None:
    with socket.create_connection(("127.0.0.1", port), timeout=60):
        return True


@STARTERS
def test_a_server_leaves_neither_process_nor_folder(start):
    with start() as server:
        folder, pid = server.folder, pid_of(server.folder)
        assert is_alive(pid)
        assert folder.exists()

    assert not is_alive(pid)
    assert not folder.exists()


def test_the_store_leaves_no_sockets_outside_of_its_folder(monkeypatch):
    """Only sockets that appear while the store runs are its own: a killed run leaves others, with ports that recur."""
    chosen: list[int] = []

    def remembered(count: int) -> list[int]:
        chosen[:] = free_ports(count)
        return chosen

    def sockets() -> set[Path]:
        return set(Path("/tmp").glob("seaweedfs-*.sock"))

    monkeypatch.setattr(s3, "free_ports", remembered)
    before = sockets()
    with running_s3():
        made = {path for path in sockets() - before if int(path.stem.rpartition("-")[2]) in chosen}
        assert made

    assert not made & sockets()


@STARTERS
def test_a_server_does_not_outlive_a_killed_owner(start):
    code = (
        f"import time; from {start.__module__} import {start.__name__} as start\n"
        "with start() as server: print(server.folder, (server.folder / 'pid').read_text(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        told_folder, told_pid = owner.stdout.readline().split()
        assert is_alive(int(told_pid))
        owner.kill()

    wait_until(lambda: not is_alive(int(told_pid)))
    wait_until(lambda: not Path(told_folder).exists())


def test_a_server_that_does_not_listen_is_killed(tmp_path):
    deaf = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('up', 'w')\n"
        "time.sleep(20); open(sys.argv[1], 'w')"
    )
    came_to_its_end = tmp_path / "end"

    def launch(folder: Path) -> Launch[Path]:
        command = [sys.executable, "-c", deaf, str(came_to_its_end)]
        return Launch(command, lambda: folder if (folder / "up").exists() else None, patience=0.1)

    with running(launch) as folder:
        pid = pid_of(folder)

    assert not is_alive(pid)
    assert not came_to_its_end.exists()
    assert not folder.exists()


def test_a_server_that_ends_at_once_is_an_error_with_its_last_words():
    folders = []

    def launch(folder: Path) -> Launch[str]:
        folders.append(folder)
        return Launch([sys.executable, "-c", "raise SystemExit('no bait left')"], lambda: None)

    with pytest.raises(ServerFailed, match="no bait left"), running(launch):
        pass

    assert len(folders) == 1
    assert not folders[0].exists()


def test_a_failing_preparation_is_an_error_with_its_last_words():
    def launch(folder: Path) -> Launch[str]:
        prepare = [[sys.executable, "-c", "raise SystemExit('no ice')"]]
        return Launch([sys.executable, "-c", "import time; time.sleep(60)"], lambda: None, prepare=prepare)

    with pytest.raises(ServerFailed, match="no ice"), running(launch):
        pass


def test_a_taken_port_is_tried_again_with_another():
    tried: list[int] = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = [taken.getsockname()[1], free_ports(1)[0]]

        def launch(folder: Path) -> Launch[int]:
            port = ports[len(tried)]
            tried.append(port)
            return Launch([*SERVE, str(port)], lambda: port if port != ports[0] and accepts(port) else None)

        with running(launch) as port:
            assert port == ports[1]

    assert tried == ports


def test_a_port_that_stays_taken_is_an_error():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(ServerFailed, match="already in use"),
            running(lambda _: Launch[int]([*SERVE, str(port)], lambda: None)),
        ):
            pass


def test_free_ports_differ():
    assert len(set(free_ports(50))) == 50


def test_the_guard_does_not_hand_its_deafness_to_the_server():
    ask = "import signal; print([signal.getsignal(n) for n in (15, 2, 1)], flush=True); raise SystemExit(1)"
    with pytest.raises(ServerFailed) as told, running(lambda _: Launch[int]([sys.executable, "-c", ask], lambda: None)):
        pass

    assert "SIG_IGN" not in str(told.value)
    assert signal.Handlers.SIG_DFL.name in str(told.value)
