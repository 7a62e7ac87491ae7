"""The run that a command reads: the run of a number, or the last one."""

from longline.model.errors import NotFound
from longline.model.runs.run import RunKind, RunRow
from longline.ports.records.runs.runs import RunStore


async def find_run(runs: RunStore, run_id: int | None) -> RunRow:
    """Return a run by its number, by default the last crawl; without any crawl, the last run of another kind."""
    if run_id is not None:
        found = await runs.get(run_id)
        if found is None:
            raise NotFound("run", run_id, f"there is no run {run_id}; longline runs lists the runs of a folder")
        return found
    # On a platform the last run may be the poll of a feed.
    latest = await runs.find(limit=1, kind=RunKind.CRAWL) or await runs.find(limit=1)
    if not latest:
        raise NotFound("run", text="nothing was crawled here yet; name the folder with --data")
    return latest[0]
