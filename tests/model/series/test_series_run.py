"""Runs of catalogues before they are queued."""

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.series.series_run import SERIES_END, new_series_run


@pytest.mark.parametrize(("series_id", "subject"), [("0190-a", "0190-a"), (None, ""), ("", "")])
def test_a_run_is_of_one_series_or_of_the_whole_catalogue(series_id: str | None, subject: str):
    run = new_series_run(("https://a.example/1", "https://a.example/2"), 7, "site", series_id, 1_000)
    assert (run.kind, run.subject, run.source_id, run.due) == (RunKind.SERIES, subject, 7, 1_000)
    assert run.seed == "https://a.example/1"
    plan = CrawlPlan.read(run.plan)
    assert (plan.seeds, plan.end) == (("https://a.example/1", "https://a.example/2"), SERIES_END)
    assert (plan.source_id, plan.source_name) == (7, "site")


def test_each_run_has_an_id_of_its_own():
    assert len({new_series_run(("https://a.example/",), 7, "site", None, 0).uid for _ in range(3)}) == 3
