"""`/api/crawl/admin/*`: management of policies, jobs, results and bots. For admins only."""

from typing import Any

from litestar import Request, Router, delete, get, patch, post
from litestar.connection import ASGIConnection
from litestar.handlers import HTTPRouteHandler
from litestar.handlers.base import BaseRouteHandler
from litestar.types import Guard

from longline.model.bots.bot import NewBot
from longline.services.bots.policies import BotPolicies
from longline.services.bots.registry import BotRegistry
from longline.services.bots.tasks import BotTasks
from longline.services.tokens import Tokens
from longline.surfaces.bots import queries, shapes
from longline.surfaces.bots.envelope import NotAllowed, Reply, plain, succeeded
from longline.surfaces.bots.fields import Fields, Invalid, read, urls
from longline.surfaces.bots.paths import path_id
from longline.surfaces.bots.queries import knowing
from longline.surfaces.bots.words import REPAIRS
from longline.surfaces.http import bearer

Ask = Request[Any, Any, Any]
Connection = ASGIConnection[Any, Any, Any, Any]

TAKEN_URL = {"url": ["A policy with this url already exists."]}
TAKEN_NAME = {"non_field_errors": ["The fields domain, name must make a unique set."]}
TAKEN_BOT = {"bot_id": ["A bot with this bot_id already exists."]}


def admin_router(policies: "PolicyRoutes", jobs: "JobRoutes", bots: "BotAdminRoutes", tokens: Tokens) -> Router:
    """Return the router of `/admin`, which requires an admin's token."""
    handlers = [*policies.handlers(), *jobs.handlers(), *bots.handlers()]
    return Router("/admin", route_handlers=handlers, guards=[bearer(tokens), _admins_only()])


def _admins_only() -> Guard:
    def guard(connection: Connection, _: BaseRouteHandler) -> None:
        if connection.auth.role != "admin":
            raise NotAllowed("You do not have permission to perform this action.")

    return guard


async def _sent(request: Ask) -> Fields:
    raw = await request.body()
    return Fields(read(raw) if raw.strip() else {})


def _listed(name: str, rows: list[dict[str, Any]], page: dict[str, int]) -> Reply:
    return succeeded({name: rows, "count": len(rows), **page})


class PolicyRoutes:
    """Routes of policies, and of making jobs of due policies."""

    def __init__(self, plans: BotPolicies, now: Any) -> None:
        self._plans, self._now = plans, now

    def handlers(self) -> list[HTTPRouteHandler]:
        """Return every route of policies."""
        return [
            get("/policies", summary="Policies")(plain(knowing(self.find, *queries.POLICIES))),
            post("/policies", summary="Make a policy")(plain(knowing(self.add))),
            get("/policies/{id:str}", summary="One policy")(plain(knowing(self.show))),
            patch("/policies/{id:str}", summary="Change a policy")(plain(knowing(self.change))),
            delete("/policies/{id:str}", status_code=200, summary="Delete a policy and its jobs")(
                plain(knowing(self.remove))
            ),
            post("/create-jobs", summary="Make jobs of due policies")(plain(knowing(self.create_jobs))),
            post("/urls", summary="Make URLs known to policies of their domains")(plain(knowing(self.learn))),
        ]

    async def find(self, request: Ask) -> Reply:
        """Policies, newest first."""
        query, page = queries.page(request)
        wanted = queries.policies(query)
        query.check()
        rows = await self._plans.find(wanted, **page)
        return _listed("policies", [shapes.policy(row) for row in rows], page)

    async def add(self, request: Ask) -> Reply:
        """A new policy."""
        fields = await _sent(request)
        facts = shapes.new_policy(fields, self._now())
        fields.check()
        row = await self._plans.add(**facts)
        if row is None:
            raise Invalid(TAKEN_URL if facts.get("url") else TAKEN_NAME)
        return succeeded(shapes.policy(row), 201)

    async def show(self, request: Ask) -> Reply:
        """One policy."""
        return succeeded(shapes.policy(await self._plans.get(path_id(request))))

    async def change(self, request: Ask) -> Reply:
        """A policy, changed."""
        fields = await _sent(request)
        facts = shapes.policy_change(fields)
        row = await self._plans.get(path_id(request))
        # A policy keeps its form: one URL, or a domain.
        for name in ("domain", "name", "pattern") if row.url else ("url",):
            if name in facts:
                fields.wrong("url_pattern" if name == "pattern" else name, "This policy has the other form.")
        fields.check()
        changed = await self._plans.change(row.uid, **facts)
        if changed is None:
            raise Invalid(TAKEN_URL if row.url else TAKEN_NAME)
        return succeeded(shapes.policy(changed))

    async def remove(self, request: Ask) -> Reply:
        """A policy is gone, its jobs and their results with it."""
        await self._plans.remove(path_id(request))
        return succeeded({"id": path_id(request), "deleted": True})

    async def create_jobs(self, request: Ask) -> Reply:
        """Jobs for policies that are due."""
        fields = await _sent(request)
        fields.not_null("limit", "dry_run")
        limit, dry = fields.whole("limit", 1, 10_000, default=1000), fields.flag("dry_run")
        fields.check()
        planned = await self._plans.plan(limit, dry=dry)
        return succeeded({"created": planned.created, "skipped": planned.skipped})

    async def learn(self, request: Ask) -> Reply:
        """URLs that a policy of their domain is spread over."""
        fields = await _sent(request)
        known = urls(fields, "urls")
        fields.check()
        return succeeded({"added": await self._plans.learn(known)}, 201)


class JobRoutes:
    """Routes of jobs, their results and the dashboard."""

    def __init__(self, office: BotTasks, plans: BotPolicies) -> None:
        self._office, self._plans = office, plans

    def handlers(self) -> list[HTTPRouteHandler]:
        """Return every route of jobs and results."""
        repairs = [
            post(f"/jobs/{name}", status_code=200, summary=name)(plain(knowing(_repair(self._office, name))))
            for name in REPAIRS
        ]
        return [
            *repairs,
            get("/jobs", summary="Jobs")(plain(knowing(self.find, *queries.JOBS))),
            post("/jobs", summary="Make a one-off job")(plain(knowing(self.add))),
            get("/jobs/{id:str}", summary="One job with its result")(plain(knowing(self.show))),
            delete("/jobs/{id:str}", status_code=200, summary="Delete a job and its result")(
                plain(knowing(self.delete))
            ),
            get("/results", summary="Results")(plain(knowing(self.results, *queries.RESULTS))),
            get("/results/{id:str}", summary="One result with its page")(plain(knowing(self.result))),
            post("/expire-locks", status_code=200, summary="Sweep lapsed locks")(plain(knowing(self.expire_locks))),
            get("/dashboard", summary="How everything stands")(plain(knowing(self.dashboard))),
        ]

    async def find(self, request: Ask) -> Reply:
        """Jobs, newest first."""
        query, page = queries.page(request)
        wanted = queries.jobs(query)
        query.check()
        rows = await self._office.find(wanted, **page)
        return _listed("jobs", [shapes.job(row) for row in rows], page)

    async def add(self, request: Ask) -> Reply:
        """A job of no policy."""
        fields = await _sent(request)
        facts = shapes.new_job(fields)
        fields.check()
        return succeeded(shapes.job(await self._office.add(*facts)), 201)

    async def show(self, request: Ask) -> Reply:
        """One job, its result inline."""
        row, result = await self._office.get(path_id(request))
        return succeeded(shapes.job(row) | {"result": shapes.result(result) if result else None})

    async def delete(self, request: Ask) -> Reply:
        """Delete a job that is not locked, and its result."""
        await self._office.delete(path_id(request))
        return succeeded({"id": path_id(request), "deleted": True})

    async def results(self, request: Ask) -> Reply:
        """Results, newest first."""
        query, page = queries.page(request)
        wanted = queries.results(query)
        query.check()
        rows = await self._office.results(wanted, **page)
        return _listed("results", [shapes.result(row) for row in rows], page)

    async def result(self, request: Ask) -> Reply:
        """One result with the page it was made of."""
        row, page = await self._office.result(path_id(request))
        return succeeded(shapes.result(row) | {"raw_html": page})

    async def expire_locks(self, request: Ask) -> Reply:
        """Lapsed locks, swept."""
        fields = await _sent(request)
        fields.not_null("auto_retry", "limit", "dry_run")
        retry, dry = fields.flag("auto_retry"), fields.flag("dry_run")
        limit = fields.whole("limit", 1, 10_000, default=1000)
        fields.check()
        swept = await self._plans.sweep(limit, retry=retry, dry=dry)
        return succeeded({"expired": swept.expired, "requeued": swept.requeued, "failed": swept.failed})

    async def dashboard(self, request: Ask) -> Reply:  # noqa: ARG002 - all handlers have the same signature
        """Counts, retries, activity of bots, policies."""
        return succeeded(shapes.dashboard(await self._office.dashboard()))


def _repair(office: BotTasks, name: str) -> Any:
    async def repair(request: Ask) -> Reply:
        fields = await _sent(request)
        ids = fields.texts("ids", required=True)
        fields.check()
        return succeeded({"changed": await office.repair(ids, REPAIRS[name])})

    return repair


class BotAdminRoutes:
    """Routes of the bot registry."""

    def __init__(self, registry: BotRegistry) -> None:
        self._registry = registry

    def handlers(self) -> list[HTTPRouteHandler]:
        """Return every route of the bot registry."""
        return [
            get("/bots", summary="Bots")(plain(knowing(self.find, *queries.PAGE))),
            get("/bots/{id:str}", summary="One bot")(plain(knowing(self.show))),
            post("/bots", summary="Register a bot; the only answer that shows its token")(plain(knowing(self.add))),
            patch("/bots/{id:str}", summary="Change a bot")(plain(knowing(self.change))),
            post("/bots/{id:str}/rotate-token", status_code=200, summary="A new token")(plain(knowing(self.rotate))),
            post("/bots/{id:str}/reset-statistics", status_code=200, summary="Count anew")(plain(knowing(self.reset))),
        ]

    async def find(self, request: Ask) -> Reply:
        """Registered bots by name."""
        query, page = queries.page(request)
        query.check()
        rows = await self._registry.find(**page)
        return _listed("bots", [shapes.bot(row) for row in rows], page)

    async def add(self, request: Ask) -> Reply:
        """A new bot, with the token that is never shown again."""
        fields = await _sent(request)
        name, facts = fields.text("bot_id", most=100, required=True), shapes.bot_facts(fields)
        fields.check()
        made = await self._registry.register(NewBot(name=name, **facts))
        if made is None:
            raise Invalid(TAKEN_BOT)
        return succeeded(shapes.bot(made[0]) | {"api_token": made[1]}, 201)

    async def show(self, request: Ask) -> Reply:
        """Return one bot."""
        return succeeded(shapes.bot(await self._registry.get(path_id(request))))

    async def change(self, request: Ask) -> Reply:
        """A bot, changed."""
        fields = await _sent(request)
        facts = shapes.bot_facts(fields)
        fields.check()
        return succeeded(shapes.bot(await self._registry.change(path_id(request), **facts)))

    async def rotate(self, request: Ask) -> Reply:
        """A bot with a new token; the old one is dead."""
        row, token = await self._registry.rotate(path_id(request))
        return succeeded(shapes.bot(row) | {"api_token": token})

    async def reset(self, request: Ask) -> Reply:
        """A bot whose figures are zero."""
        return succeeded(shapes.bot(await self._registry.reset(path_id(request))))
