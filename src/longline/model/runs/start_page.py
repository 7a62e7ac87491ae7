"""The start page of a run, and the failure of a run without one."""

import msgspec

from longline.model.states import TaskState


class StartPage(msgspec.Struct, frozen=True):
    """The end of a run's first URL; `pages` are the first pages of the run, by URL."""

    url: str
    state: str
    reason: str | None
    error: str | None
    pages: dict[str, str]


class StartOutcome(msgspec.Struct, frozen=True):
    """The end of a run's start URL, or of the URL that its redirects led to; `empty` is a page without a body."""

    url: str
    state: str
    reason: str | None
    error: str | None
    empty: bool = False

    def failure(self, fetched: int) -> str | None:
        """Return the error of a run that has `fetched` pages but not its start page; None for a run that began."""
        if self.state not in (TaskState.FAILED, TaskState.SKIPPED):
            return f"start URL {self.url} brought no page: its body is empty" if self.empty and fetched == 1 else None
        if self.reason == "robots":
            return f"start URL refused by robots.txt: {self.url}"
        if self.reason == "redirected":
            where = f": {self.error}" if self.error else ""
            return f"start URL {self.url} redirects to another site{where}"
        return None if fetched else f"start URL {self.url} brought no page: {self.error or self.reason}"
