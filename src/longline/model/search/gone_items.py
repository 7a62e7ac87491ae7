"""The rule for items that are gone.

An item that the later run did not find is gone if all pages that had it are settled, and no unread page can have it. A
page is settled if the later run read it, or if the site answered 404 or 410. A page without a task in the later run is
settled if the run was complete, and no redirect led away from the page: no page links to it any more. An item of its
own page, without a key of its parser, can be nowhere else. Any other item may have moved to a page that failed, or be
on a page that had items of its kind and that robots.txt forbids now.
"""

from collections.abc import Collection, Iterable

import msgspec

from longline.model.states import RunState, TaskState

PAGE_GONE = (404, 410)
"""Statuses of a page that does not exist any more."""

BOUNDED = frozenset({"budget", "source_budget", "depth", "too_many_links"})
"""Reasons for refused URLs after which a page without a task may still be linked."""


class MissingItem(msgspec.Struct, frozen=True):
    """A page that had an item which the later run did not find, and the task of the page in the later run.

    `is_of_page` is set for an item that only this page can have; `is_moved` for a page that redirects now.
    """

    item_id: int
    kind: str
    is_of_page: bool
    state: str | None
    reason: str | None
    status: int | None
    is_moved: bool


class UnreadPages(msgspec.Struct, frozen=True):
    """Pages that the later run did not read: the kind of items that they had before, and whether robots forbid them."""

    kind: str | None
    is_forbidden: bool


class RunReading(msgspec.Struct, frozen=True):
    """The part of a site that a run has read: all of it, or all but pages that may have items of some kinds."""

    is_complete: bool
    unread_kinds: frozenset[str] = frozenset()
    has_failures: bool = False

    def may_have(self, kind: str) -> bool:
        """Return whether a page that was not read may have items of this kind."""
        return self.has_failures or kind in self.unread_kinds


def reading(state: str, unread: Collection[UnreadPages], refused: Iterable[str], *, same_bounds: bool) -> RunReading:
    """Return the part of a site that a run has read, by its state, its unread pages and its refusals."""
    failures = any(not pages.is_forbidden for pages in unread)
    return RunReading(
        is_complete=state == RunState.COMPLETED and same_bounds and not failures and BOUNDED.isdisjoint(refused),
        unread_kinds=frozenset(pages.kind for pages in unread if pages.kind is not None),
        has_failures=failures,
    )


def is_gone(pages: Iterable[MissingItem], read: RunReading) -> bool:
    """Return whether an item is gone that these pages had and that the later run did not find."""
    return all(_is_settled(page, read) and (page.is_of_page or not read.may_have(page.kind)) for page in pages)


def _is_settled(page: MissingItem, read: RunReading) -> bool:
    if page.state is None:
        return read.is_complete and not page.is_moved
    return page.state == TaskState.COMPLETED or (page.state == TaskState.FAILED and page.status in PAGE_GONE)
