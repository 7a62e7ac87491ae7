"""Hints about links that a bound of the crawl left out, each with the option that takes them up."""

from collections.abc import Iterable, Mapping

from longline.model.frontier.task import MAX_REFUSED_URLS
from longline.model.runs.crawl_bounds import BOUND_REASONS, DEPTH
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import Fate, RunRow


def refused_links(run: RunRow, fates: Iterable[Fate], stored: Mapping[str, int]) -> dict[str, int]:
    """Return the number of links that were not admitted, by reason.

    The stored ones count once each, and no more after wider bounds have admitted them.
    """
    kept = {*BOUND_REASONS, DEPTH, "budget"} if CrawlPlan.read(run.plan).bounds.keep_refused else set()
    met = {fate.reason: fate.count for fate in fates if fate.fate == "refused"}
    counts = {reason: stored.get(reason, 0) if reason in kept else count for reason, count in met.items()}
    return {reason: count for reason, count in counts.items() if count}


def _left_out(count: int, text: str) -> str:
    return f"1 link was {text.removesuffix('them')}it" if count == 1 else f"{count:,} links were {text}"


def bound_hints(run: RunRow, refused: Mapping[str, int], dropped: int = 0) -> list[str]:
    """Return a sentence for each bound that left links out, with the option that takes them up.

    `dropped` is the number of links that are only counted.
    """
    plan = CrawlPlan.read(run.plan)
    texts = {
        "depth": f"beyond --depth {plan.bounds.max_depth}; a larger --depth goes on with them",
        "offsite": "to other hosts; --offsite goes on with them",
        "not_included": "in no --include; a wider --include goes on with them",
        "excluded": "in an --exclude; a narrower --exclude goes on with them",
        "budget": f"beyond --limit {run.budget}; a larger --limit goes on with them",
    }
    counted = ((refused.get(reason, 0), text) for reason, text in texts.items())
    found = [_left_out(count, text) for count, text in counted if count]
    if dropped:
        links = "1 further link was" if dropped == 1 else f"{dropped:,} further links were"
        found.append(
            f"{links} left out and not stored, as a crawl stores {MAX_REFUSED_URLS:,}; "
            "wider bounds follow them only in a new crawl: --again"
        )
    return found
