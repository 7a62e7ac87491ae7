"""`[proxy.pools.<name>]`: named pools of proxies."""

from typing import Annotated

import msgspec

from longline.settings.tables.schema import SettingsTable, TableEntries
from longline.settings.values import LIST, PROXIES, Key, integer


class ProxyPoolTable(SettingsTable, frozen=True, kw_only=True):
    """One pool of proxies, and the pools that follow it."""

    primary: Annotated[tuple[str, ...], Key(PROXIES, "Proxies of the pool, used in turn.")] = ()
    fallbacks: Annotated[
        tuple[str, ...], Key(LIST, "Pools that follow in this order when all proxies of this pool have failed.")
    ] = ()
    retry_backoff_ms: Annotated[
        int, Key(integer(0), "Milliseconds before the second attempt; they double with each attempt.")
    ] = 500
    max_retries: Annotated[int, Key(integer(0), "Attempts after the first one.")] = 3


class ProxyTable(SettingsTable, frozen=True, kw_only=True):
    """The proxies of the platform."""

    pools: Annotated[dict[str, ProxyPoolTable], TableEntries(ProxyPoolTable)] = msgspec.field(default_factory=dict)
