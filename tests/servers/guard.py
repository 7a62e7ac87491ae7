"""The guard of one server and its folder for as long as standard input stays open; run as a script of its own.

The pipe ends when the owner closes it and also when the owner dies, by SIGKILL too. So there is one
way to stop a server, and none to leave it behind.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> int:
    """Read the order from the command line, obey it, and clean up after the server."""
    order = json.loads(sys.argv[1])
    # A handler, not SIG_IGN: ignored signals stay ignored in the server, handlers do not.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    try:
        return serve(order)
    finally:
        shutil.rmtree(order["folder"], ignore_errors=True)
        for litter in order["litter"]:
            Path(litter).unlink(missing_ok=True)


def serve(order: dict[str, Any]) -> int:
    """Run the preparing commands, then the server until it ends or the owner has died."""
    manner: dict[str, Any] = {"env": order["environment"], "stdin": subprocess.DEVNULL, "cwd": order["folder"]}
    if order["user"] is not None:
        manner |= {"user": order["user"][0], "group": order["user"][1], "extra_groups": []}
    for command in order["prepare"]:
        subprocess.run(command, check=True, **manner)
    server = subprocess.Popen(order["command"], start_new_session=True, **manner)
    Path(order["folder"], "pid").write_text(str(server.pid))
    threading.Thread(target=stop_when_alone, args=(server, order["stop"], order["patience"]), daemon=True).start()
    code = server.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)
    return code


def stop_when_alone(server: subprocess.Popen[bytes], stop: int, patience: float) -> None:
    """Wait for the end of the owner, stop the server, and kill it after a timeout."""
    # Straight from the descriptor: a daemon thread that holds a buffered stream's lock breaks the interpreter's exit.
    while os.read(0, 1024):
        pass
    server.send_signal(stop)
    try:
        server.wait(patience)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())
