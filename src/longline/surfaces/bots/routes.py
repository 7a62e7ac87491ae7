"""`/api/crawl/pull/`, `/submit/` and `/heartbeat/`: what bots ask for."""

import time
from typing import Any

from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler

from longline.model.bot import Verdict
from longline.services.bots import BotWork, Caller
from longline.surfaces.bots import shapes
from longline.surfaces.bots.answers import failed, plain, succeeded
from longline.surfaces.bots.fields import Fields, read, uuid
from longline.surfaces.bots.meter import Meter
from longline.surfaces.bots.openapi import HeartbeatOperation, PullOperation, SubmitOperation
from longline.surfaces.bots.words import refused

Ask = Request[Any, Any, Any]

_BEARER = "bearer "


class BotRoutes:
    """The handlers of bots' requests: parse, validate, authenticate, act."""

    def __init__(self, work: BotWork, meter: Meter) -> None:
        self._work, self._meter = work, meter

    def handlers(self) -> list[HTTPRouteHandler]:
        """Every route of the bots."""
        kept = "Keep the lock on a job for as long again"
        said = "Submit a result, or a failure"
        return [
            post("/pull", operation_class=PullOperation, summary="Pull jobs")(plain(self.pull)),
            post("/submit", operation_class=SubmitOperation, summary=said)(plain(self.submit)),
            post("/heartbeat", operation_class=HeartbeatOperation, summary=kept)(plain(self.heartbeat)),
        ]

    async def pull(self, request: Ask) -> Response[bytes]:
        """Jobs for a bot, each locked for it."""
        fields = Fields(read(await request.body()))
        caller = shapes.caller(fields, _bearer(request))
        limit, domain = shapes.pull_order(fields)
        fields.check()
        pulled = await self._work.pull(caller, limit, domain)
        self._meter.pulled(caller.name, pulled)
        return succeeded(shapes.pulled(pulled))

    async def submit(self, request: Ask) -> Response[bytes]:
        """What became of a job; answered after it is committed."""
        begun = time.perf_counter()
        fields = Fields(read(await request.body()))
        caller = shapes.caller(fields, _bearer(request))
        submission = shapes.submission(fields, request.headers.get("idempotency-key"))
        fields.check()
        verdict = await self._work.submit(caller, submission)
        self._meter.submitted(caller.name, verdict, time.perf_counter() - begun)
        if verdict.refusal is not None:
            return _refused(verdict, submission.task, caller)
        status, told = shapes.submitted(verdict, submission.task)
        return succeeded(told, status)

    async def heartbeat(self, request: Ask) -> Response[bytes]:
        """A lock that runs anew."""
        fields = Fields(read(await request.body()))
        caller, task = shapes.caller(fields, _bearer(request)), uuid(fields, "job_id")
        fields.check()
        verdict = await self._work.extend(caller, task)
        if verdict.refusal is not None:
            return _refused(verdict, task, caller)
        return succeeded({"job_id": task, "status": "locked", "locked_until": shapes.moment(verdict.until)})


def _refused(verdict: Verdict, task: str, caller: Caller) -> Response[bytes]:
    assert verdict.refusal is not None
    return failed(*refused(verdict, verdict.refusal, task, caller.name))


def _bearer(request: Ask) -> str | None:
    given = request.headers.get("authorization", "")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else None
