"""URLs that pages of recrawls brought: children are submitted, images are stored. Each is taken once or more often.

A kill between the submission and the deletion repeats the submission, which finds its URLs known.
"""

import logging
from collections.abc import Sequence
from itertools import groupby

from longline.model.errors import LonglineError, Unavailable
from longline.model.recrawls.recrawl import PRIORITY_STEP, FoundUrl
from longline.ports.records.recrawls.recrawls import FoundUrlStore
from longline.services.recrawls.images import ProductImages
from longline.services.recrawls.recrawls import RecrawlOrder, Recrawls

log = logging.getLogger(__name__)

BATCH_SIZE = 1000
AUTHOR = "system"
"""Author of recrawls that parsers name."""


class FoundUrls:
    """The taker of these URLs."""

    def __init__(self, found: FoundUrlStore, recrawls: Recrawls, images: ProductImages) -> None:
        self._found, self._recrawls, self._images = found, recrawls, images

    async def once(self) -> int:
        """Take everything that waits; return how many URLs."""
        count = 0
        while batch := await self._found.find(BATCH_SIZE):
            for parent_id, children in groupby(_of_kind(batch, "child"), lambda one: one.task_id):
                await self._submit(parent_id, [one.url for one in children])
            for source_id, images in groupby(_of_kind(batch, "image"), lambda one: one.source_id):
                await self._images.store(source_id, list(dict.fromkeys(one.url for one in images)))
            await self._found.delete([one.id for one in batch])
            count += len(batch)
        return count

    async def _submit(self, parent_id: int, urls: Sequence[str]) -> None:
        try:
            made = await self._recrawls.submit_all(urls, await self._order(parent_id))
        except Unavailable:
            raise
        except LonglineError as error:
            # The depth is used up, the parent was cancelled, or the source is off.
            log.info("children not submitted", extra={"task": parent_id, "urls": len(urls), "reason": str(error)})
        else:
            log.debug("children submitted", extra={"task": parent_id, "urls": len(made.ids)})

    async def _order(self, parent_id: int) -> RecrawlOrder:
        parent = await self._recrawls.get(parent_id)
        return RecrawlOrder(
            source_id=parent.source_id,
            created_by=AUTHOR,
            priority=parent.priority // PRIORITY_STEP,
            frequency=parent.frequency,
            recurring=parent.recurring,
            batch_id=parent.batch_id,
            parent_id=parent.id,
        )


def _of_kind(batch: Sequence[FoundUrl], kind: str) -> list[FoundUrl]:
    return sorted((one for one in batch if one.kind == kind), key=lambda one: (one.source_id, one.task_id, one.id))
