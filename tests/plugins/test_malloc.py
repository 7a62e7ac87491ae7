"""Freed memory that is kept: fewer faults, in a process of its own since the choice cannot be taken back."""

import subprocess
import sys

import pytest

CHURN = """
import resource, sys
from longline.plugins.malloc import keep_freed_memory
understood = keep_freed_memory() if sys.argv[1] == "keep" else False
def churn():
    pieces = [bytearray(1_000_000) for _ in range(10)]
    pieces.clear()
churn()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    churn()
print(understood, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def churned(how: str) -> tuple[bool, int]:
    told = subprocess.run([sys.executable, "-c", CHURN, how], capture_output=True, text=True, check=True).stdout.split()
    return told[0] == "True", int(told[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be asked")
@pytest.mark.slow(reason="starts processes")
def test_freed_memory_is_used_again_without_the_system():
    understood, kept = churned("keep")
    assert understood
    _, given_back = churned("give back")
    assert kept * 10 < given_back, "most of the memory was requested from the system again"
