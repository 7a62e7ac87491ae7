"""Routers of the interval API, with guards and error handlers."""

from collections.abc import Sequence
from typing import Any

from litestar import Request, Response, Router
from litestar.connection import ASGIConnection
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.handlers.base import BaseRouteHandler
from litestar.types import ExceptionHandlersMap, Guard

from longline.model.errors import IllegalMove, NotFound
from longline.model.states import move
from longline.services.tokens import Tokens
from longline.surfaces.http import answer, bearer
from longline.surfaces.intervals.backfill import BACKFILL
from longline.surfaces.intervals.executions import EXECUTIONS, ONE_EXECUTION
from longline.surfaces.intervals.fetch import fetch_route
from longline.surfaces.intervals.jobs import CONTROLS, JOBS
from longline.surfaces.intervals.scheduler import SCHEDULER, NotPlanning
from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.trials import TRIALS

Answer = Response[dict[str, str]]


def on_illegal(_: Request[Any, Any, Any], error: IllegalMove) -> Answer:
    """Answer 400 to a move that the job's state does not allow."""
    return answer(400, f"invalid state transition from {error.state} to {move('schedule', error.move).became}")


def on_idle(_: Request[Any, Any, Any], __: NotPlanning) -> Answer:
    """Answer 503 while the scheduler is off."""
    return answer(503, "Scheduler not available")


def missing(text: str) -> ExceptionHandlersMap:
    """Return the error handlers of a router; `text` is the message of its 404."""

    def on_missing(_: Request[Any, Any, Any], __: NotFound) -> Answer:
        return answer(404, text)

    return {NotFound: on_missing, IllegalMove: on_illegal, NotPlanning: on_idle}


HANDLERS: tuple[tuple[str, Sequence[HTTPRouteHandler]], ...] = (
    ("Job not found", (*JOBS, *CONTROLS, *EXECUTIONS, *SCHEDULER, *BACKFILL)),
    ("Execution not found", ONE_EXECUTION),
    ("Source not found", TRIALS),
)
"""Handlers of the interval API, by the message of their 404."""


def guard(tokens: Tokens) -> Guard:
    """Return a guard that requires a token, except for handlers marked as public."""
    ask = bearer(tokens)

    def check(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        if not handler.opt.get("public"):
            ask(connection, handler)

    return check


def routes(desk: IntervalServices, tokens: Tokens) -> list[Router]:
    """Return the routers of the interval API."""
    given = {"desk": Provide(lambda: desk, sync_to_thread=False)}
    guards = [guard(tokens)]
    guarded = [
        Router("/", route_handlers=handlers, dependencies=given, exception_handlers=missing(text), guards=guards)
        for text, handlers in HANDLERS
    ]
    if not desk.internal_secret:
        return guarded
    glances = {"glances": Provide(lambda: desk.glances, sync_to_thread=False)}
    return [*guarded, Router("/", route_handlers=[fetch_route(desk.internal_secret)], dependencies=glances)]
