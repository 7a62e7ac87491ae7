"""Tasks of bots on either engine: pulled, answered for, taken back. The rules are in `model/bots/bot_task.py`."""

from collections.abc import Sequence
from functools import partial

import msgspec

from longline.drivers.records.bots.outcomes import RestedTask, holdings, rest
from longline.drivers.records.bots.pulls import pull
from longline.drivers.records.bots.task_creation import add, delete, drop, plan
from longline.drivers.records.callers.audit import audited, audited_many
from longline.drivers.records.database import Database, Transaction
from longline.model.bots.bot_policy import Planned
from longline.model.bots.bot_task import (
    LAPSED,
    LAPSED_ERROR,
    REPAIRS,
    AnswerVerdict,
    BotAnswer,
    Deletion,
    Holding,
    NewBotTask,
    Pull,
    Pulled,
    Refusal,
    Repair,
    Swept,
    after_answer,
    after_lapse,
    refusal,
    url_key,
)
from longline.model.callers.audit import State
from longline.model.ids import task_uuid
from longline.model.states import ENDED, TaskState
from longline.ports.records.frontier.frontier import HostSetting


class BotTaskRecords:
    """Tasks of bots, and their leases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pull(self, pulls: Sequence[Pull]) -> list[Pulled]:
        return await self._database.transact(partial(pull, pulls))

    async def submit(self, answers: Sequence[BotAnswer], keep_ms: int) -> list[AnswerVerdict]:
        return await self._database.transact(partial(_submit, answers, keep_ms))

    async def extend(self, task_id: int, created_at: int, bot: str) -> AnswerVerdict:
        return await self._database.transact(partial(_extend, task_id, created_at, bot))

    async def sweep(self, limit: int, *, retry: bool, dry: bool) -> Swept:
        def audited_state(swept: Swept) -> State | None:
            return None if dry or swept == Swept() else msgspec.structs.asdict(swept)

        return await audited_many(self._database, "task", audited_state, partial(_sweep, limit, retry, dry))

    async def repair(self, tasks: Sequence[tuple[int, int]], repair: Repair) -> list[int]:
        def audited_state(moved: list[int]) -> State | None:
            named = [task_uuid(*task) for task in tasks if task[0] in moved]
            return {"move": repair, "moved": len(moved), "tasks": named} if moved else None

        return await audited_many(self._database, "task", audited_state, partial(_repair, tasks, repair))

    async def delete(self, task_id: int, created_at: int) -> Deletion | None:
        return await audited(self._database, "task", task_id, partial(delete, task_id, created_at))

    async def add(self, tasks: Sequence[NewBotTask], hosts: Sequence[HostSetting]) -> list[int]:
        return await audited(self._database, "task", lambda ids: ids[0] if ids else None, partial(add, tasks, hosts))

    async def plan(self, limit: int, delay_ms: int, *, dry: bool) -> Planned:
        def audited_state(planned: Planned) -> State | None:
            return None if dry or not planned.created else msgspec.structs.asdict(planned)

        return await audited_many(self._database, "task", audited_state, partial(plan, limit, delay_ms, dry))

    async def drop(self, uid: str) -> list[str] | None:
        return await audited(self._database, "schedule", uid, partial(drop, uid))


async def _submit(answers: Sequence[BotAnswer], keep_ms: int, tx: Transaction) -> list[AnswerVerdict]:
    held = await holdings(tx, (a.task_id for a in answers))
    # After the locks: an earlier answer with the same key is committed by now.
    kept = await _kept(tx, answers, keep_ms)
    verdicts: dict[int, AnswerVerdict] = {}
    rests: list[RestedTask] = []
    for n, answer in enumerate(answers):
        holding = held.get(answer.task_id)
        if (before := kept.get((answer.bot, answer.key))) is not None:
            verdicts[n] = before
        elif (refused := refusal(holding, answer.created_at, answer.bot, tx.now)) or holding is None:
            verdicts[n] = _refused(holding, refused)
        else:
            rests.append(_rest(holding, answer))
            verdicts[n] = _accepted(rests[-1], answer)
    due = await rest(tx, rests, "bot")
    await _keep(tx, [(a, verdicts[n]) for n, a in enumerate(answers) if verdicts[n].state in ENDED])
    for n, verdict in verdicts.items():
        if verdict.schedule_id is not None and not verdict.replayed:
            verdicts[n] = msgspec.structs.replace(verdict, next_due=due.get(verdict.schedule_id))
    fresh = [(a, verdicts[n]) for n, a in enumerate(answers) if a.key and not _known(verdicts[n])]
    await tx.batch("keep_answers", [(a.bot, a.key, msgspec.json.encode(v).decode()) for a, v in fresh])
    return [verdicts[n] for n in range(len(answers))]


def _known(verdict: AnswerVerdict) -> bool:
    return verdict.replayed or verdict.refusal is not None


async def _kept(
    tx: Transaction, answers: Sequence[BotAnswer], keep_ms: int
) -> dict[tuple[str, str | None], AnswerVerdict]:
    keys = sorted({(a.bot, a.key) for a in answers if a.key})
    rows = await tx.batch("answers_kept", keys, since=tx.now - keep_ms)
    decode = msgspec.json.Decoder(AnswerVerdict).decode
    return {(row["bot"], row["key"]): msgspec.structs.replace(decode(row["answer"]), replayed=True) for row in rows}


def _refused(holding: Holding | None, why: Refusal | None) -> AnswerVerdict:
    if holding is None or why is None or why == "missing":
        return AnswerVerdict(refusal="missing")
    return AnswerVerdict(refusal=why, state=holding.shown, holder=holding.holder or "")


def _rest(holding: Holding, answer: BotAnswer) -> RestedTask:
    became = after_answer(holding, found=answer.found is not None)
    retries = holding.retries + (became == TaskState.PENDING)
    reason = "ok" if answer.found else "bot_failed"
    return RestedTask(holding, became, reason, retries, None if answer.found else answer.error, answered=True)


def _accepted(r: RestedTask, answer: BotAnswer) -> AnswerVerdict:
    return AnswerVerdict(
        state=r.became,
        retries=r.retries,
        max_retries=r.holding.max_retries,
        error=answer.error,
        found=answer.found,
        schedule_id=r.holding.schedule_id,
        replaced=r.holding.page_key if answer.found else None,
    )


async def _keep(tx: Transaction, ended: Sequence[tuple[BotAnswer, AnswerVerdict]]) -> None:
    found = [(a.task_id, v.found) for a, v in ended if v.found is not None and not v.replayed]
    rows = [(i, f.uid, f.price, f.currency, f.title, f.in_stock, f.data, f.page_key) for i, f in found]
    await tx.batch("keep_results", rows)


async def _extend(task_id: int, created_at: int, bot: str, tx: Transaction) -> AnswerVerdict:
    holding = (await holdings(tx, [task_id])).get(task_id)
    refused = refusal(holding, created_at, bot, tx.now)
    if refused or holding is None:
        return _refused(holding, refused)
    row = await tx.one("extend_offer", id=task_id, token=holding.token, ttl=holding.held_ms)
    return AnswerVerdict(state=holding.shown, until=row["due"] if row else None)


async def _sweep(limit: int, retry: bool, dry: bool, tx: Transaction) -> Swept:
    ids = [row["id"] for row in await tx.all("lapsed_bot_offers", limit=limit)]
    rests = []
    for holding in (await holdings(tx, ids)).values():
        became = after_lapse(holding, retry)
        retries = holding.retries + (retry and became == TaskState.PENDING)
        rests.append(RestedTask(holding, became, LAPSED, retries, LAPSED_ERROR))
    if not dry:
        await rest(tx, rests, "upkeep")
    became_of = [r.became for r in rests]
    return Swept(
        became_of.count(TaskState.EXPIRED), became_of.count(TaskState.PENDING), became_of.count(TaskState.FAILED)
    )


async def _repair(tasks: Sequence[tuple[int, int]], repair: Repair, tx: Transaction) -> list[int]:
    ids = [(task_id,) for task_id in sorted({task_id for task_id, _ in tasks})]
    await tx.batch("lock_offers", ids)
    # A task that has ended has no offer to be locked.
    await tx.batch("lock_bot_tasks", ids)
    named, found = set(tasks), await holdings(tx, (task_id for task_id, _ in tasks))
    held = {i: h for i, h in found.items() if (i, h.created_at) in named}
    if repair == "restart":
        held = await _reopened(tx, held)
    else:
        held = {i: h for i, h in held.items() if h.owner is not None}
    rests = [RestedTask(h, REPAIRS[repair], repair, 0 if h.state in ENDED else h.retries) for h in held.values()]
    await rest(tx, rests, "person")
    return sorted(held)


async def _reopened(tx: Transaction, held: dict[int, Holding]) -> dict[int, Holding]:
    """Return the tasks that can be restarted: held or not pending, and without an open successor."""
    held = {i: h for i, h in held.items() if h.owner is not None or h.state != TaskState.PENDING}
    ids = sorted({h.schedule_id for h in held.values() if h.schedule_id is not None and h.state in ENDED})
    await tx.batch("lock_bot_schedules", [(i,) for i in ids])
    ended = {i: (h.schedule_id, url_key(h.url)) for i, h in held.items() if h.state in ENDED}
    rows = await tx.batch(
        "open_bot_tasks", sorted({(schedule_id, key) for schedule_id, key in ended.values() if schedule_id is not None})
    )
    open_now = {(row["schedule_id"], bytes(row["open_key"])) for row in rows}
    reopened: dict[int, bytes] = {}
    for i, (schedule_id, key) in sorted(ended.items()):
        if (schedule_id, key) in open_now:
            held.pop(i)
        else:
            reopened[i] = key
            open_now |= {(schedule_id, key)} if schedule_id is not None else set()
    await tx.batch("reopen_bot_tasks", sorted(reopened.items()))
    return held
