"""The command line with a wall clock that is set while it runs.

The file of JUMP_FILE has the seconds by which the wall clock is wrong; without the file it is right. The monotonic
clock is not changed.
"""

import os
import runpy
import time
from pathlib import Path

NS = 1_000_000_000


def main() -> None:
    """Put the wrong wall clock in the place of the right one, and start the command line."""
    file, right = Path(os.environ["JUMP_FILE"]), time.time_ns

    def wrong() -> int:
        return right() + NS * int(file.read_text() if file.exists() else 0)

    time.time_ns = wrong
    time.time = lambda: wrong() / NS
    runpy.run_module("longline.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
