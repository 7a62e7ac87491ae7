"""`/api/crawl/pull/`, `/submit/` and `/heartbeat/`: the requests of bots."""

import time
from collections.abc import Mapping

from litestar import post
from litestar.handlers import HTTPRouteHandler

from longline.model.bots.bot import AnswerVerdict
from longline.services.bots.pull import BotPulls, Caller
from longline.surfaces.bots import shapes
from longline.surfaces.bots.envelope import PREFIX, Ask, Handle, Reply, failed, plain, succeeded
from longline.surfaces.bots.fields import Fields, read, uuid
from longline.surfaces.bots.lane import Act, RawRequest
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.openapi import HeartbeatOperation, PullOperation, SubmitOperation
from longline.surfaces.bots.words import refused

_BEARER = "bearer "


class BotRoutes:
    """The handlers of bots' requests: parse, validate, authenticate, act."""

    def __init__(self, work: BotPulls, meter: BotMetrics) -> None:
        self._work, self._meter = work, meter

    def acts(self) -> Mapping[str, Act]:
        """Return the acts of the fast path, by path."""
        return {f"{PREFIX}/{act.__name__}": act for act in (self.pull, self.submit, self.heartbeat)}

    def handlers(self) -> list[HTTPRouteHandler]:
        """Return the acts as routes of the framework."""
        kept = "Keep the lock on a job for as long again"
        said = "Submit a result, or a failure"
        return [
            post("/pull", operation_class=PullOperation, summary="Pull jobs")(plain(_framed(self.pull))),
            post("/submit", operation_class=SubmitOperation, summary=said)(plain(_framed(self.submit))),
            post("/heartbeat", operation_class=HeartbeatOperation, summary=kept)(plain(_framed(self.heartbeat))),
        ]

    async def pull(self, asked: RawRequest) -> Reply:
        """Jobs for a bot, each locked for it."""
        fields = Fields(read(asked.body))
        caller = shapes.caller(fields, _bearer(asked))
        order = shapes.pull_order(fields)
        fields.check()
        pulled = await self._work.pull(caller, order)
        self._meter.pulled(caller.name, pulled)
        return succeeded(shapes.pulled(pulled))

    async def submit(self, asked: RawRequest) -> Reply:
        """What became of a job; answered after it is committed."""
        begun = time.perf_counter()
        fields = Fields(read(asked.body))
        caller = shapes.caller(fields, _bearer(asked))
        submission = shapes.submission(fields, asked.header(b"idempotency-key"))
        fields.check()
        verdict = await self._work.submit(caller, submission)
        self._meter.submitted(caller.name, verdict, time.perf_counter() - begun)
        if verdict.refusal is not None:
            return _refused(verdict, submission.task, caller)
        status, told = shapes.submitted(verdict, submission.task)
        return succeeded(told, status)

    async def heartbeat(self, asked: RawRequest) -> Reply:
        """A lock that runs anew."""
        fields = Fields(read(asked.body))
        caller, task = shapes.caller(fields, _bearer(asked)), uuid(fields, "job_id")
        fields.check()
        verdict = await self._work.extend(caller, task)
        if verdict.refusal is not None:
            return _refused(verdict, task, caller)
        return succeeded({"job_id": task, "status": "locked", "locked_until": shapes.moment(verdict.until)})


def _refused(verdict: AnswerVerdict, task: str, caller: Caller) -> Reply:
    assert verdict.refusal is not None
    return failed(*refused(verdict, verdict.refusal, task, caller.name))


def _bearer(asked: RawRequest) -> str | None:
    given = asked.header(b"authorization") or ""
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else None


def _framed(act: Act) -> Handle:
    async def handle(request: Ask) -> Reply:
        return await act(RawRequest(await request.body(), dict(request.scope["headers"])))

    handle.__name__, handle.__doc__ = act.__name__, act.__doc__
    return handle
