"""Commands as a person types them into a shell, where `longline` starts as quickly as it does in other tests.

The shell finds a small script before the installed one. The script gives its words, folder, environment and streams to
the process that runs the tests, which starts the program with them and answers with the exit code.
"""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.servers.program import Program

MAX_ORDER_BYTES = 200_000
SCRIPT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as starts:
    starts.connect({address!r})
    order = dict(words=sys.argv[1:], folder=os.getcwd(), environment=dict(os.environ))
    socket.send_fds(starts, [json.dumps(order).encode()], [0, 1, 2])
    sys.exit(int(starts.recv(32)))
"""
_SIGNALLED = 128


def type_command(command: str, env: Mapping[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of a shell to its end; it finds this Python, its scripts and the program."""
    path = f"PATH={_scripts()}:{Path(sys.executable).parent}:$PATH\n"
    return subprocess.run(["sh", "-c", path + command], env=env, cwd=cwd, capture_output=True, text=True, check=False)


@cache
def _scripts() -> Path:
    """Return a folder with the script; it waits for starts until the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="longline-"))
    address = str(folder / "starts")
    starts = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    starts.bind(address)
    starts.listen()
    script = folder / "longline"
    script.write_text(SCRIPT.format(python=sys.executable, address=address))
    script.chmod(0o755)
    threading.Thread(target=_accept, args=(starts,), name="starts of the program", daemon=True).start()
    atexit.register(_end, starts, folder)
    return folder


def _accept(starts: socket.socket) -> None:
    while True:
        try:
            asked, _ = starts.accept()
        except OSError:
            return
        threading.Thread(target=_start, args=(asked,), name="a start of the program", daemon=True).start()


def _start(asked: socket.socket) -> None:
    with asked:
        data, streams, _, _ = socket.recv_fds(asked, MAX_ORDER_BYTES, 3)
        order = json.loads(data)
        given, out, error = streams
        process = Program(
            order["words"], order["environment"], cwd=order["folder"], stdin=given, stdout=out, stderr=error
        )
        for each in streams:
            os.close(each)
        code = process.wait()
        asked.send(str(code if code >= 0 else _SIGNALLED - code).encode())


def _end(starts: socket.socket, folder: Path) -> None:
    starts.shutdown(socket.SHUT_RDWR)
    starts.close()
    shutil.rmtree(folder, ignore_errors=True)
