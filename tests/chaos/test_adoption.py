"""Jobs over processes that die, in a size for every day; the large form is a program of its own."""

from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.adoption import SMALL, Size, Verdict, Visit, address, judge_archive, judge_visits, storm


async def test_jobs_go_on_and_lose_nothing_after_any_kill(tmp_path: Path):
    verdict = await storm(SMALL, tmp_path)
    assert (verdict.kills.total(), verdict.restarts) == (SMALL.kills, SMALL.restarts)
    assert verdict.faults(SMALL) == []


ONE = Size(jobs=1, pages=3, delay=1.0, seconds=0, kills=0, restarts=0)
HOST = address(0)


def visits(*paths: str, gap: float = 1.0) -> list[Visit]:
    return [(HOST, path, n * gap, n * gap + 0.1, 0) for n, path in enumerate(paths)]


def judged(seen: list[Visit], kept: dict[str, int]) -> Verdict:
    verdict = Verdict(executions=Counter({"completed": 1}))
    judge_visits(verdict, seen, ONE)
    judge_archive(verdict, seen, Counter({f"http://{HOST}:1{path}": n for path, n in kept.items()}), ONE)
    return verdict


WHOLE = ("/robots.txt", "/", "/story/1", "/story/2")
KEPT = {"/": 1, "/story/1": 1, "/story/2": 1}


def test_the_judge_accepts_a_whole_crawl_and_repeats_of_unreported_pages():
    again = ("/robots.txt", "/", "/robots.txt", "/", "/story/1", "/story/1", "/story/2")
    assert judged(visits(*WHOLE), KEPT).faults(ONE) == []
    assert judged(visits(*again), KEPT).faults(ONE) == [], "pages without a report are fetched again"


@pytest.mark.parametrize(
    ("seen", "kept", "fault"),
    [
        (visits(*WHOLE, "/"), KEPT, "1 executions began again"),
        (visits(*WHOLE, gap=0.9), KEPT, "3 requests came too soon"),
        (visits(*WHOLE), KEPT | {"/": 2}, "1 pages are archived more than once"),
        (visits(*WHOLE), {"/": 1, "/story/1": 1}, "1 pages were served and are not archived"),
    ],
)
def test_the_judge_reports_each_fault(seen: list[Visit], kept: dict[str, int], fault: str):
    assert fault in judged(seen, kept).faults(ONE)
