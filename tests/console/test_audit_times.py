"""Times in the states of an audit row: they are shown as times, in the zone of the visitor."""

import re

import httpx

from longline.model.callers.audit import AuditFilter
from tests.surfaces.intervals.platform import Door


async def test_times_of_a_state_are_shown_as_times(door: Door, visitor: httpx.AsyncClient):
    [row] = await door.platform.records.audit.find(AuditFilter(noun="session"), limit=1)
    page = (await visitor.get(f"/console/audit/{row.uid}")).text
    for field in ("created_at", "expires_at"):
        shown = re.search(rf'<code>{field}</code></td>.*?data-l="After"><bdi>([^<]*)</bdi>', page)
        assert shown is not None, field
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown[1]), shown[1]
    number = re.search(r'<code>id</code></td>.*?data-l="After"><bdi>([^<]*)</bdi>', page)
    assert number is not None
    assert number[1].isdecimal(), "a number that is no time stays one"
