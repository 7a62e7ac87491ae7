"""Pages in an archive, stored as a crawl stores them."""

from collections.abc import Mapping

from longline.model.archive.warc import Capture, Original, Segment, WarcRecord, response_record, revisit_record
from longline.model.frontier.task import NewTask, PageFacts
from longline.model.runs.run import RunRow
from longline.model.urls.normalization import dedupe_key
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import WrittenSegment
from tests.drivers.records.world import ME, admit, claim, ended, host_report, report, running_run

HEADERS = (("Content-Type", "text/html"),)
AT = 1_700_000_000_000


async def keep(
    records: Records,
    blobs: Blobs,
    name: str,
    bodies: Mapping[str, bytes],
    *,
    body_of: int | None = None,
    before: bytes = b"",
) -> RunRow:
    """Store a run with its pages in one segment behind `before`; with `body_of` these are revisits of its page."""
    run = await running_run(records)
    await admit(records, *(_task(run.id, f"https://a.example{path}") for path in bodies))
    (lease,) = (await claim(records)).values()
    segment, outcomes = Segment([before] if before else ()), []
    for task in lease.tasks:
        body = bodies[task.url.removeprefix("https://a.example")]
        record = _record(task.url, body, again=body_of is not None)
        place = segment.add(record)
        at, title = AT + task.id, f"at {task.url}"
        facts = PageFacts(*place, record.digest, 200, "text/html", len(body), at, 5, task.url, title, body_of=body_of)
        outcomes.append(ended(task, page=facts))
    await blobs.put(name, segment.parts)
    begun = await records.segments.begin(name, ME)
    await report(records, host_report(lease, outcomes), segment=WrittenSegment(begun, segment.records, segment.size))
    return run


def _task(run_id: int, link: str) -> NewTask:
    return NewTask(link, "a.example", dedupe_key(link), scope=run_id, run_id=run_id)


def _record(link: str, body: bytes, *, again: bool) -> WarcRecord:
    first = Capture(link, AT, 200, HEADERS, body)
    if not again:
        return response_record(first)
    return revisit_record(Capture(link, AT, 304, HEADERS, b""), Original(link, AT, response_record(first).digest))
