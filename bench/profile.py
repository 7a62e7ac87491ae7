"""The parts of the time of one page in Longline's crawl, by sampling; `python -m bench profile`."""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.contestants import chosen
from bench.lap import Course, folder
from bench.site import prepared
from bench.web import RIVALS, served

SAMPLES_PER_SECOND = 250
"""More would slow down the measured program."""

CRAWL = "Runner.run"
"""The frame above all frames of the crawl."""

LOOP = "MainThread"
"""The thread of the event loop: the cost of a page there bounds the rate."""


@dataclass
class Costs:
    """Samples by function (with and without its callees) on the loop's thread, and by thread."""

    pages: int = 0
    whole: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    threads: Counter[str] = field(default_factory=Counter)

    def add(self, stacks: str) -> None:
        """Add the samples of one profile."""
        for thread, frames, samples in _stacks(stacks):
            if thread == LOOP and not (frames := _of_crawl(frames)):
                continue
            self.threads[thread] += samples
            if thread == LOOP:
                self.own[frames[-1]] += samples
                self.whole.update(dict.fromkeys(frames, samples))

    def micros(self, samples: int) -> float:
        """Return samples as microseconds for one page."""
        return samples / SAMPLES_PER_SECOND / self.pages * 1e6


def main(arguments: Sequence[str]) -> None:
    """Profile the embedded crawl a few times and print the cost of a page."""
    parser = argparse.ArgumentParser(prog="python -m bench profile", description=__doc__)
    parser.add_argument("--pages", type=int, default=4000, help="size of the site")
    parser.add_argument("--repeat", type=int, default=3, help="crawls to take samples of")
    parser.add_argument("--top", type=int, default=40, help="functions to show")
    asked = parser.parse_args(arguments)
    console, costs = Console(width=None if sys.stdout.isatty() else 100), Costs()
    with console.status("preparing the site") as status:
        site = prepared(asked.pages, status.update)
        with served(site) as server:
            for number in range(asked.repeat):
                status.update(f"crawl {number + 1} of {asked.repeat}")
                costs.add(_profiled(Course(site, server, 64)))
                costs.pages += site.count
    console.print(_table(costs, asked.top))


def _profiled(course: Course) -> str:
    """Return the stacks of one crawl, in the form of flame graphs."""
    ours = chosen("ours")[0]
    with folder(course.scratch) as place:
        found = place / "stacks"
        kept = place / "kept"
        kept.mkdir()
        instrument = [str(RIVALS / "py-spy"), "record", "--rate", str(SAMPLES_PER_SECOND), "--nonblocking"]
        shape = ["--function", "--threads", "--format", "raw", "--output", str(found), "--"]
        done = subprocess.run(
            [*instrument, *shape, *ours.command(course.order(ours, str(kept), ""))],
            cwd=Path(__file__).parents[1],
            input="\n\n",  # go, and: it was measured
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.exists():
            raise SystemExit(f"the profile failed: {done.stderr[-600:]}")
        return found.read_text()


def _stacks(text: str) -> Iterator[tuple[str, list[str], int]]:
    for line in text.splitlines():
        stack, _, samples = line.rpartition(" ")
        thread, *frames = stack.split(";")
        if frames:
            yield thread.partition(": ")[2], frames, int(samples)


def _of_crawl(frames: list[str]) -> list[str]:
    """Return the frames from the crawl on; none for a sample before or after it."""
    first = next((n for n, frame in enumerate(frames) if frame.startswith(CRAWL)), len(frames))
    return frames[first:]


def _table(costs: Costs, top: int) -> Table:
    threads = ", ".join(f"{name} {costs.micros(n):,.0f}" for name, n in costs.threads.most_common(4) if name)
    table = Table(title=f"microseconds a page; by thread: {threads}", title_justify="left")
    table.add_column("function", no_wrap=True)
    table.add_column("with what it calls", justify="right")
    table.add_column("by itself", justify="right")
    for name, samples in costs.whole.most_common(top):
        table.add_row(name, f"{costs.micros(samples):,.0f}", f"{costs.micros(costs.own[name]):,.0f}")
    return table
