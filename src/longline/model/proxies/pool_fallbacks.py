"""Fallbacks of proxies: where the proxies of a request come from, and the pools that follow when a pool has none."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from longline.model.errors import BadInput
from longline.model.proxies.proxy import Pool, ProxyRequest


def proxies_from(ask: ProxyRequest, *, has_own: bool) -> Literal["own", "pools", "all"]:
    """Return where the proxies of a request come from.

    A source with proxies of its own never falls back to others, not even when all of its own are used up.
    """
    if has_own:
        return "own"
    return "all" if ask.pool is None else "pools"


def pools_in_order(ask: ProxyRequest, pools: Sequence[Pool]) -> list[Pool]:
    """Return the pool of a request, then its fallbacks, then the fallbacks of the request, each once."""
    names = (*(() if ask.pool is None else (ask.pool,)), *ask.fallbacks)
    return list({tier.name: tier for name in names for tier in tiers(name, pools)}.values())


def tiers(name: str, pools: Iterable[Pool]) -> list[Pool]:
    """Return a pool and its fallbacks, depth first, each once; raise `BadInput` for an unknown name and for a cycle."""
    known = {pool.name: pool for pool in pools}
    found: dict[str, Pool] = {}
    _descend(name, known, found, ())
    return list(found.values())


def _descend(name: str, known: Mapping[str, Pool], found: dict[str, Pool], above: tuple[str, ...]) -> None:
    if name in above:
        ring = " → ".join((*above[above.index(name) :], name))
        raise BadInput(f"proxy pools fall back on each other in a ring: {ring}")
    if name not in known:
        by = f", which {above[-1]} falls back on" if above else ""
        raise BadInput(f"there is no proxy pool named {name!r}{by}")
    if name in found:
        return
    found[name] = known[name]
    for fallback in known[name].fallbacks:
        _descend(fallback, known, found, (*above, name))
