"""Request and response bodies of the bot-pull contract."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from longline.model.bots.bot import HOUR_MS as HOUR
from longline.model.bots.bot import MINUTE_MS as MINUTE
from longline.model.bots.bot import (
    AnswerVerdict,
    BotActivity,
    BotFinding,
    BotPolicyRow,
    BotRow,
    BotTaskRow,
    Pulled,
    PulledTask,
    ResultRow,
)
from longline.model.errors import BadInput
from longline.model.ids import new_id, task_uuid
from longline.model.patterns import compile_pattern
from longline.model.states import ScheduleState, TaskState
from longline.services.bots.pull import Caller, PullOrder, Submission
from longline.services.bots.tasks import Dashboard
from longline.surfaces.bots import fields as sent
from longline.surfaces.bots.fields import Fields
from longline.surfaces.bots.words import STATES, shown, stored, word

MAX_JOBS = 100
MAX_HOSTS = 100
ERROR_CHARS = 500
CURRENCY = "Currency must be 3-letter ISO code (e.g., USD, VND, EUR)"
BOTH_NEEDED = "price and currency are required when success=true"
KEY_CHARS = 255

LATEST = 253_402_300_799_000
"""Last second with a four-digit year, in milliseconds; later times are shown as this one."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


def moment(at: int | None) -> str | None:
    """Return a time in the contract's format."""
    if at is None:
        return None
    at = min(at, LATEST)
    form = "milliseconds" if at % 1000 else "seconds"
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec=form).replace("+00:00", "Z")


def body(found: Any) -> bytes:
    """Encode a response body; amounts of money are exact decimal numbers."""
    return _encode(found)


# -- requests of bots -------------------------------------------------------------------------------------------


def caller(fields: Fields, bearer: str | None) -> Caller:
    """Return the calling bot; its token may be in the body or in the Authorization header."""
    name = fields.text("bot_id", most=100, required=True)
    return Caller(name, fields.text("api_token") or bearer)


def pull_order(fields: Fields) -> PullOrder:
    """Return the number of jobs and the hosts that a bot requests."""
    limit, domain = fields.whole("max_jobs", 1, MAX_JOBS, default=10), fields.text("domain", most=255).strip()
    return PullOrder(limit, domain, sent.hosts(fields, "hosts", MAX_HOSTS))


def submission(fields: Fields, key: str | None) -> Submission:
    """Return a bot's result or error of a job."""
    task = sent.uuid(fields, "job_id")
    succeeded = fields.flag("success", required=True)
    if key is not None and not 0 < len(key) <= KEY_CHARS:
        fields.wrong("Idempotency-Key", f"Ensure this header has 1 to {KEY_CHARS} characters.")
    if succeeded:
        return Submission(task, _found(fields), _page(fields), key=key)
    return Submission(task, error=_error(fields), key=key)


def _found(fields: Fields) -> BotFinding:
    price, currency = 0, ""
    if not fields.has("price") or not fields.has("currency"):
        fields.wrong("non_field_errors", BOTH_NEEDED)
    else:
        price = sent.money(fields, "price")
        currency = fields.text("currency")
        # Checked before upper-casing, which turns some single letters into two.
        if not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
            fields.errors["currency"] = [CURRENCY]
        currency = currency.upper()
    title = fields.text("title", most=500)
    in_stock = fields.flag("in_stock", default=True)
    return BotFinding(new_id(), price, currency, title, in_stock, body(fields.mapping("parsed_data")).decode())


def _error(fields: Fields) -> str:
    # Any error message is accepted, and truncated.
    said = fields.text("error_msg", raw=True).replace("\x00", "").strip()
    return said[:ERROR_CHARS] or "Unknown error"


def _page(fields: Fields) -> str | None:
    return fields.text("raw_html", raw=True) if fields.has("raw_html") else None


# -- responses to bots ------------------------------------------------------------------------------------------


def pulled(found: Pulled) -> dict[str, Any]:
    """Return the response to a pull."""
    return {"jobs": [_job(task) for task in found.tasks], "count": len(found.tasks), "skipped": found.skipped}


def _job(task: PulledTask) -> dict[str, Any]:
    return {
        "job_id": task_uuid(task.id, task.created_at),
        "url": task.url,
        "priority": shown(task.priority),
        "max_retries": task.max_retries,
        "timeout_seconds": task.held_ms // 1000,
        "retry_count": task.retries,
        "locked_until": moment(task.until),
    }


def submitted(verdict: AnswerVerdict, task: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the response to an accepted submit."""
    if verdict.found is not None:
        found = verdict.found
        return 201, {
            "result_id": found.uid,
            "job_id": task,
            "status": word(verdict.state),
            "price": price(found.price),
            "currency": found.currency,
            "policy_next_run": moment(verdict.next_due),
        }
    counts = {"retry_count": verdict.retries, "max_retries": verdict.max_retries}
    told: dict[str, Any] = {"job_id": task, "status": word(verdict.state), **counts}
    if verdict.state == TaskState.PENDING:
        return 200, told | {"message": "Job marked for retry"}
    return 200, told | {"error": verdict.error, "message": "Retries exhausted"}


def price(hundredths: int) -> Decimal:
    """Return an amount of money as a number with two places."""
    return Decimal(hundredths).scaleb(-2)


# -- responses to admins ----------------------------------------------------------------------------------------


def job(row: BotTaskRow) -> dict[str, Any]:
    """Return a job with all its fields."""
    held = row.owner is not None
    return {
        "id": task_uuid(row.id, row.created_at),
        "policy_id": row.schedule_uid,
        "url": row.url,
        "status": word(row.state),
        "priority": shown(row.priority),
        "max_retries": row.max_retries,
        "timeout_minutes": row.lease_ms // MINUTE,
        "lock_ttl_seconds": (row.held_ms if held else row.lease_ms) // 1000,
        "locked_by": row.holder,
        "locked_at": moment(row.held_at) if held else None,
        "locked_until": moment(row.due) if held else None,
        "retry_count": row.retries,
        "last_error": None if row.rest == TaskState.COMPLETED else row.error,
        "last_result_at": moment(row.answered_at),
        "expiry_count": row.lapses,
        "created_at": moment(row.created_at),
        "updated_at": moment(row.updated_at),
    }


def policy(row: BotPolicyRow) -> dict[str, Any]:
    """Return a policy with all its fields; fields of the other form, URL or domain, are null."""
    return {
        "id": row.uid,
        "url": row.url,
        "domain": row.domain,
        "name": row.name,
        "url_pattern": row.pattern if row.domain else None,
        "frequency_hours": row.interval_ms // HOUR,
        "priority": shown(row.priority),
        "max_retries": row.max_retries,
        "retry_backoff_minutes": row.backoff_ms // MINUTE,
        "timeout_minutes": row.lease_ms // MINUTE,
        "enabled": row.state == ScheduleState.SCHEDULED,
        "next_run_at": moment(row.next_due),
        "last_success_at": moment(row.last_success_at),
        "last_failed_at": moment(row.last_failed_at),
        "failure_count": row.failures,
        "crawl_config": msgspec.Raw(row.config.encode()),
        "created_at": moment(row.created_at),
        "updated_at": moment(row.updated_at),
    }


def result(row: ResultRow) -> dict[str, Any]:
    """Return a result without the text of its page."""
    return {
        "id": row.uid,
        "job_id": task_uuid(row.id, row.task_created_at),
        "url": row.url,
        "price": price(row.price),
        "currency": row.currency,
        "title": row.title,
        "in_stock": row.in_stock,
        "parsed_data": msgspec.Raw(row.data.encode()),
        "crawled_at": moment(row.crawled_at),
        "created_at": moment(row.created_at),
    }


def bot(row: BotRow) -> dict[str, Any]:
    """Return a bot with its figures, and only the beginning of its token."""
    return {
        "bot_id": row.name,
        "name": row.title,
        "description": row.description,
        "token_preview": row.preview,
        "enabled": row.enabled,
        "max_jobs_per_pull": row.max_pull,
        "custom_lock_ttl_seconds": None if row.lease_ms is None else row.lease_ms // 1000,
        "rate_limit_per_minute": row.per_minute,
        "priority_boost": row.boost,
        "allowed_domains": msgspec.Raw(row.domains.encode()),
        "total_jobs_pulled": row.pulled,
        "total_jobs_completed": row.completed,
        "total_jobs_failed": row.failed,
        "success_rate": rate(row.completed, row.failed),
        "last_pull_at": moment(row.last_pull_at),
        "last_submit_at": moment(row.last_submit_at),
        "token_expires_at": moment(row.secret_until),
        "created_at": moment(row.created_at),
        "updated_at": moment(row.updated_at),
    }


def rate(part: int, other: int) -> float:
    """Return the share of `part` in per cent; 0.0 if both are zero."""
    return round(part / (part + other) * 100, 2) if part + other else 0.0


def dashboard(found: Dashboard) -> dict[str, Any]:
    """Return the figures of the dashboard."""
    counts = dict.fromkeys(STATES, 0)
    for state, count in found.states.items():
        counts[word(state)] += count
    totals = found.totals
    return {
        "jobs": counts,
        "retry_histogram": {str(retries): count for retries, count in found.retries.items()},
        "jobs_pulled_per_hour": totals.pulled,
        "retry_rate": rate(totals.retried, totals.completed + totals.failed),
        "bot_activity": [_activity(b) for b in found.bots],
        "policies": {
            "total": found.schedules.total,
            "enabled": found.schedules.enabled,
            "due": found.schedules.due,
            "failing": found.schedules.failing,
            "next_due": moment(found.schedules.next_due),
        },
    }


def _activity(b: BotActivity) -> dict[str, Any]:
    return {
        "bot_id": b.name,
        "enabled": b.enabled,
        "registered": b.registered,
        "pulls_per_hour": b.pulls_now,
        "jobs_pulled_per_hour": b.pulled_now,
        "total_jobs_pulled": b.pulled,
        "total_jobs_completed": b.completed,
        "total_jobs_failed": b.failed,
        "success_rate": rate(b.completed, b.failed),
        "last_pull_at": moment(b.last_pull_at),
        "last_submit_at": moment(b.last_submit_at),
    }


# -- requests of admins -----------------------------------------------------------------------------------------


def new_policy(fields: Fields, now: int) -> dict[str, Any]:
    """Return the fields of a new policy, by internal name."""
    facts = policy_change(fields)
    url, domain = facts.get("url"), facts.get("domain")
    if (url is None) == (domain is None):
        fields.wrong("non_field_errors", "Exactly one of url and domain must be set.")
    elif domain is not None:
        facts["name"] = fields.text("name", most=255, required=True)
    defaults: dict[str, Any] = {
        "interval_ms": 24 * HOUR,
        "priority": stored(5),
        "max_retries": 3,
        "backoff_ms": 5 * MINUTE,
        "lease_ms": 10 * MINUTE,
        "enabled": True,
        "next_due": now,
    }
    return defaults | facts


def policy_change(fields: Fields) -> dict[str, Any]:
    """Return the sent fields of a policy, by internal name."""
    facts: dict[str, Any] = {}
    fields.not_null("frequency_hours", "priority", "max_retries", "retry_backoff_minutes", "timeout_minutes")
    fields.not_null("enabled", "next_run_at", "crawl_config")
    numbers = (("frequency_hours", "interval_ms", HOUR), ("retry_backoff_minutes", "backoff_ms", MINUTE))
    for name, ours, unit in (*numbers, ("timeout_minutes", "lease_ms", MINUTE)):
        if fields.has(name):
            facts[ours] = fields.whole(name, 1) * unit
    if fields.has("priority"):
        facts["priority"] = stored(fields.whole("priority", 1, 20))
    if fields.has("max_retries"):
        facts["max_retries"] = fields.whole("max_retries", 0)
    if fields.has("enabled"):
        facts["enabled"] = fields.flag("enabled")
    if (due := sent.moment(fields, "next_run_at")) is not None:
        facts["next_due"] = due
    if fields.has("crawl_config"):
        facts["config"] = body(fields.mapping("crawl_config")).decode()
    return facts | _subject(fields)


def _subject(fields: Fields) -> dict[str, str]:
    facts = {"url": sent.url(fields, "url")} if fields.has("url") else {}
    for name, ours, most in (("domain", "domain", 255), ("name", "name", 255), ("url_pattern", "pattern", 2048)):
        if fields.has(name):
            facts[ours] = fields.text(name, most=most, required=name != "url_pattern").strip()
    if "domain" in facts:
        facts["domain"] = facts["domain"].lower()
    if "pattern" in facts:
        try:
            compile_pattern(facts["pattern"])
        except BadInput as bad:
            fields.wrong("url_pattern", f"{bad}.")
    return facts


def new_job(fields: Fields) -> tuple[str, int, int, int]:
    """Return URL, priority, retries and lease of a one-off job."""
    fields.not_null("priority", "max_retries", "timeout_minutes")
    url = sent.url(fields, "url")
    priority = stored(fields.whole("priority", 1, 20, default=5))
    return (
        url,
        priority,
        fields.whole("max_retries", 0, default=3),
        fields.whole("timeout_minutes", 1, default=10) * MINUTE,
    )


def bot_facts(fields: Fields) -> dict[str, Any]:
    """Return the sent fields of a bot, by internal name."""
    facts: dict[str, Any] = {}
    fields.not_null("name", "description", "enabled", "max_jobs_per_pull", "priority_boost", "allowed_domains")
    texts = (("name", "title", 255), ("description", "description", 4000))
    facts |= {ours: fields.text(name, most=most) for name, ours, most in texts if fields.has(name)}
    if fields.has("enabled"):
        facts["enabled"] = fields.flag("enabled")
    if fields.has("max_jobs_per_pull"):
        facts["max_pull"] = fields.whole("max_jobs_per_pull", 1, MAX_JOBS)
    if fields.sent("custom_lock_ttl_seconds"):
        facts["lease_ms"] = fields.whole("custom_lock_ttl_seconds", 1) * 1000 or None
    if fields.sent("rate_limit_per_minute"):
        facts["per_minute"] = fields.whole("rate_limit_per_minute", 1) or None
    if fields.has("priority_boost"):
        facts["boost"] = fields.whole("priority_boost", -10, 10)
    if fields.sent("allowed_domains"):
        domains = [domain.strip().lower() for domain in fields.texts("allowed_domains")]
        facts["domains"] = body([domain for domain in domains if domain]).decode()
    if fields.sent("token_expires_at"):
        facts["secret_until"] = sent.moment(fields, "token_expires_at")
    return facts
