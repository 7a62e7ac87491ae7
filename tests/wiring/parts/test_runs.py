"""Parts of runs without a schedule."""

from longline.drivers.records.runs.end_effects import AT_ONCE
from longline.model.runs.effect import PlannedEffect, RunEffectKind
from longline.model.runs.judgement import EndRules
from longline.model.runs.plan import CrawlPlan
from longline.ports.records.frontier.frontier import Change
from longline.settings import Settings
from longline.wiring.house import migrate_tables, open_house
from longline.wiring.parts.runs import run_effect_worker
from tests.drivers.records.world import queued_run


async def test_every_kind_of_effect_has_a_handler(settings: Settings):
    effects = tuple(PlannedEffect(kind) for kind in RunEffectKind if kind not in AT_ONCE)
    async with open_house(settings) as house:
        await migrate_tables(house, may_migrate=True)
        run = await queued_run(house.records, plan=CrawlPlan((), end=EndRules(effects=effects)).text())
        await house.records.moves.apply(Change("run", run.id, "cancel", "queued", "cancelled", "person"))
        assert await run_effect_worker(house).once() == len(effects)
        assert await house.records.run_effects.waiting() == {}
