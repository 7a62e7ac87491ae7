"""Parts of runs without a schedule."""

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import AT_ONCE, PlannedEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules
from longline.ports.records.frontier.frontier import Change
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.subjects.runs import run_effect_worker
from tests.drivers.records.world import queued_run


async def test_every_kind_of_effect_has_a_handler(settings: Settings):
    effects = tuple(PlannedEffect(kind) for kind in RunEffectKind if kind not in AT_ONCE)
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        run = await queued_run(platform.records, plan=CrawlPlan((), end=EndRules(effects=effects)).text())
        await platform.records.moves.apply(Change("run", run.id, "cancel", "queued", "cancelled", "person"))
        assert await run_effect_worker(platform).once() == len(effects)
        assert await platform.records.run_effects.waiting() == {}
