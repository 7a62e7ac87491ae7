import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.usage import cpu_seconds, processes, resident_bytes

BUSY = "import time\nwhile time.process_time() < 0.4: pass\n"
MEGABYTES = 64


@contextmanager
def child(code: str) -> Iterator[int]:
    """Yield a process that has done its work, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", code + "\nprint('ready', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    try:
        yield process.pid
    finally:
        process.communicate("\n")


def test_time_of_a_process_and_of_children_it_waited_for_counts():
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])\n{BUSY}"
    with child("") as idle, child(code) as busy:
        assert cpu_seconds(busy) >= 0.75
        assert cpu_seconds(idle) < cpu_seconds(busy) / 2


def test_time_and_memory_of_living_descendants_count():
    inner = f"{BUSY}x = b'x' * ({MEGABYTES} << 20)\nprint('on', flush=True)\ninput()"
    code = (
        "import subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, '-c', {inner!r}], stdin=-1, stdout=-1)\n"
        "p.stdout.readline()"
    )
    with child(code) as outer:
        assert len(processes(outer)) == 2
        assert cpu_seconds(outer) >= 0.4
        assert resident_bytes(outer) >= MEGABYTES << 20


def test_a_process_that_is_gone_used_nothing_more():
    with child("") as pid:
        assert resident_bytes(pid) > 0
    assert cpu_seconds(pid) == 0
    assert resident_bytes(pid) == 0
    assert os.getpid() in processes(os.getpid())
