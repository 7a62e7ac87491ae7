"""Parts of runs without a schedule."""

from longline.engine.runs.end_effects import RunEffectWorker
from longline.model.runs.effect import RunEffectKind
from longline.wiring.house import House


def run_effect_worker(house: House) -> RunEffectWorker:
    """Return the worker that carries out the effects of run ends, with a handler for each kind."""
    effects = house.records.run_effects
    return RunEffectWorker(effects, {RunEffectKind.SOURCE_HEALTH: effects.note_health})
