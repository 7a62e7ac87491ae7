"""Counts of the standing frontier in the log, on both engines."""

import logging

import pytest

from longline.engine.frontier.standing_counts import StandingCountLog
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from tests.drivers.records.world import admit, claim_one, url


async def test_the_count_of_every_rest_is_logged(records: Records, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await StandingCountLog(records.standing).once()
    assert caplog.records == [], "an empty frontier is not logged"
    run = await records.runs.add(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}", seed="s"))
    await admit(records, url(run, scope=SCOPE))
    await claim_one(records)
    await admit(records, *(url(run, "b.example", f"/{n}", scope=SCOPE) for n in range(2)))
    with caplog.at_level(logging.INFO):
        await StandingCountLog(records.standing).once()
    [said] = caplog.records
    assert {rest: getattr(said, rest) for rest in ("waiting", "held", "done", "given_up")} == {
        "waiting": 2,
        "held": 1,
        "done": 0,
        "given_up": 0,
    }
