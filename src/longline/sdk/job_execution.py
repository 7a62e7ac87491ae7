"""One pulled job: its handler runs until shortly before the lock ends, and the outcome is submitted."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Literal

from longline.sdk.client import ApiClient, RequestRefused, Unreachable
from longline.sdk.handlers import Handler
from longline.sdk.job import Found, Job, JobFailed, Unsendable, failure

Outcome = Literal["done", "failed", "handled", "lost", "unsent"]

MAX_MARGIN_SECONDS = 15.0
MARGIN_SHARE = 0.25
"""Share of a lock's time that is reserved for submitting, up to `MAX_MARGIN_SECONDS`."""

CANCEL_SECONDS = 5.0
"""Time that a cancelled handler has to end before another job takes its place."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobExecution:
    """A job and the handler that works on it."""

    door: ApiClient
    job: Job
    handler: Handler

    async def run(self) -> Outcome:
        """Run the handler, submit its result or its failure, and return the outcome."""
        working = asyncio.create_task(self._handle(), name=f"handler of {self.job.job_id}")
        working.add_done_callback(_retrieve)
        try:
            await self._until_deadline(working)
            return await self._submit(working)
        finally:
            await self._end(working)

    async def _handle(self) -> Found:
        try:
            return await self.handler(self.job)
        except SystemExit as leaving:
            # A SystemExit would end the bot at once, with every other job that it holds.
            raise JobFailed(f"SystemExit: {leaving.code}") from leaving

    async def _until_deadline(self, working: "asyncio.Task[Found]") -> None:
        """Wait for the handler until the margin before the lock's end; a heartbeat moves that end."""
        margin = min(MAX_MARGIN_SECONDS, self.job.timeout_seconds * MARGIN_SHARE)
        while not working.done() and (left := self.door.seconds_left(self.job) - margin) > 0:
            await asyncio.wait({working}, timeout=left)

    async def _submit(self, working: "asyncio.Task[Found]") -> Outcome:
        if not working.done():
            working.cancel()
            seconds = self.job.timeout_seconds
            return await self._fail(TimeoutError(f"the handler did not end before the lock of {seconds} seconds"))
        if working.cancelled():
            return await self._fail("CancelledError: the handler was cancelled")
        if (error := working.exception()) is not None:
            return await self._fail(error)
        return await self._succeed(working.result())

    async def _succeed(self, found: object) -> Outcome:
        """Submit a result; a result that cannot be sent, or is refused for its content, is submitted as a failure."""
        if not isinstance(found, Found):
            return await self._fail(f"the handler returned {type(found).__name__}, not Found")
        try:
            await self.door.submit(self.job, found)
        except Unsendable as error:
            return await self._fail(error)
        except RequestRefused as refused:
            if refused.code == "validation_error" or refused.status == 413:
                return await self._fail(f"the result was refused: {refused}")
            return self._refused(refused)
        except Unreachable as error:
            return self._unsent(error)
        return "done"

    async def _fail(self, error: BaseException | str) -> Outcome:
        log.info("job %s failed: %s", self.job.job_id, failure(error)["error_msg"])
        try:
            await self.door.fail(self.job, error)
        except RequestRefused as refused:
            return self._refused(refused)
        except Unreachable as unreachable:
            return self._unsent(unreachable)
        return "failed"

    def _refused(self, refused: RequestRefused) -> Outcome:
        log.warning("result of job %s rejected: %s", self.job.job_id, refused)
        return "handled" if refused.code == "job_not_locked" else "lost"

    def _unsent(self, error: Unreachable) -> Outcome:
        log.warning("result of job %s not submitted: %s", self.job.job_id, error)
        return "unsent"

    async def _end(self, working: "asyncio.Task[Found]") -> None:
        """Cancel a handler that still runs, and wait up to `CANCEL_SECONDS` for its end."""
        if working.done():
            return
        # A cancelled handler may be cleaning up, and a second cancellation would interrupt its cleanup.
        if not working.cancelling():
            working.cancel()
        await asyncio.wait({working}, timeout=CANCEL_SECONDS)
        if not working.done():
            log.warning("handler of job %s is still running after its cancellation", self.job.job_id)


def _retrieve(working: "asyncio.Task[Found]") -> None:
    """Retrieve a handler's exception, so that asyncio does not log it as never retrieved."""
    if not working.cancelled():
        working.exception()
