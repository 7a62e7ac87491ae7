"""`longline proxies`: proxies, their statistics, and their pools."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read_rows
from longline.cli.flags import ENGINES, takes
from longline.cli.listing import Cell, Column, Listing
from longline.model.proxies.proxy import Pool
from longline.model.proxies.proxy_uri import bracketed
from longline.services.proxies.pools import Pools
from longline.services.proxies.proxies import Proxies, ProxyView
from longline.settings import Loaded
from longline.wiring import Platform, open_platform
from longline.wiring.platform import migrate_tables

T = TypeVar("T")

Id = Annotated[int, typer.Argument(help="Number of the proxy, from `longline proxies list`.")]
Ids = Annotated[list[int], typer.Argument(help="Numbers of proxies.")]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Proxies and pools of proxies.", no_args_is_help=True)
    app.command(name="list")(show)
    for command in (add, remove, enable, disable, assign, pool, pools):
        app.command()(command)
    return app


@takes(*ENGINES, "vault_key")
def show(loaded: Loaded) -> None:
    """List the proxies with their statistics."""
    found = _read(loaded, lambda platform: _proxies(platform).find(limit=500))
    keys = (Column("id", copied=True, right=True), Column("proxy", copied=True))
    numbers = (Column(title, right=True) for title in ("ok", "failed", "streak", "ms"))
    listing = Listing(*keys, "state", *numbers, "last used")
    for proxy in found:
        listing.add(*_row(proxy))
    listing.print()
    if not found:
        listing.note("no proxies; add one with: longline proxies add http://host:port")


@takes(*ENGINES, "vault_key")
def add(
    loaded: Loaded,
    uri: Annotated[str, typer.Argument(help="URI, like socks5://user:password@192.0.2.1:1080.")],
    country: Annotated[str | None, typer.Option(help="Country code of its exit, two letters.")] = None,
    provider: Annotated[str | None, typer.Option(help="Provider of the proxy.")] = None,
    per_hour: Annotated[int, typer.Option(min=0, help="Maximum number of requests an hour.")] = 1000,
    priority: Annotated[int, typer.Option(help="Order of proxies that were never used; lower goes first.")] = 5,
) -> None:
    """Register a proxy; its password is stored encrypted."""
    facts = {"country": country, "provider": provider, "max_per_hour": per_hour, "priority": priority}
    proxy = _call(loaded, lambda platform: _proxies(platform).add(uri, **facts), "proxy.create")
    typer.echo(f"proxy {proxy.id}: {proxy.scheme}://{bracketed(proxy.host)}:{proxy.port}")


@takes(*ENGINES, "vault_key")
def remove(loaded: Loaded, proxy: Id) -> None:
    """Remove a proxy."""
    _call(loaded, lambda platform: _proxies(platform).remove(proxy), "proxy.delete")
    typer.echo(f"proxy {proxy} is removed")


@takes(*ENGINES, "vault_key")
def enable(loaded: Loaded, proxy: Id) -> None:
    """Switch a proxy on and reset its failure streak."""
    _call(loaded, lambda platform: _proxies(platform).enable(proxy), "proxy.enable")
    typer.echo(f"proxy {proxy} is on")


@takes(*ENGINES, "vault_key")
def disable(loaded: Loaded, proxy: Id) -> None:
    """Switch a proxy off until an operator switches it on."""
    _call(loaded, lambda platform: _proxies(platform).disable(proxy), "proxy.disable")
    typer.echo(f"proxy {proxy} is off")


@takes(*ENGINES, "vault_key")
def assign(loaded: Loaded, source: Annotated[int, typer.Argument(help="Number of the source.")], proxies: Ids) -> None:
    """Assign proxies to a source; the source then uses no others."""
    new = _call(loaded, lambda platform: _proxies(platform).assign(source, proxies), "proxy.assign")
    typer.echo(f"source {source}: {new} {'proxy' if new == 1 else 'proxies'} added")


@takes(*ENGINES)
def pool(
    loaded: Loaded,
    name: Annotated[str, typer.Argument(help="Name of the pool.")],
    proxies: Annotated[
        list[int] | None, typer.Argument(help="Numbers of its proxies; without them the pool is removed.")
    ] = None,
    fallback: Annotated[list[str] | None, typer.Option(help="Pool to use when all proxies of this pool fail.")] = None,
) -> None:
    """Create a pool of proxies, or replace the pool of that name."""
    if not proxies:
        _call(loaded, lambda platform: Pools(platform.records.pools).drop(name), "pool.delete")
        typer.echo(f"pool {name} is removed")
        return
    kept = _call(
        loaded, lambda platform: Pools(platform.records.pools).put(name, proxies, fallback or ()), "pool.change"
    )
    typer.echo(_line(kept))


@takes(*ENGINES)
def pools(loaded: Loaded) -> None:
    """List the pools."""
    found = _read(loaded, lambda platform: Pools(platform.records.pools).find())
    for kept in found:
        typer.echo(_line(kept))
    if not found:
        typer.echo("no pools; make one with: longline proxies pool NAME PROXY…", err=True)


def _call(loaded: Loaded, method: Callable[[Platform], Coroutine[Any, Any, T]], action: str) -> T:
    async def work() -> T:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            return await method(platform)

    return run_change(action, work())


def _read(loaded: Loaded, method: Callable[[Platform], Coroutine[Any, Any, list[T]]]) -> list[T]:
    async def work() -> list[T]:
        async with open_platform(loaded.settings, reading=True) as platform:
            await migrate_tables(platform, may_migrate=True)
            return await method(platform)

    return read_rows(loaded, work)


def _proxies(platform: Platform) -> Proxies:
    return platform.proxies


def _line(pool: Pool) -> str:
    rest = f", then {', '.join(pool.fallbacks)}" if pool.fallbacks else ""
    return f"{pool.name}: proxies {', '.join(map(str, pool.proxies))}{rest}"


def _row(proxy: ProxyView) -> tuple[Cell, ...]:
    failed = proxy.disabled_reason == "auto"
    state = Text("on", "green") if proxy.active else Text("failed", "red") if failed else "off"
    used = datetime.fromtimestamp(proxy.last_used_at / 1000, UTC) if proxy.last_used_at else None
    return (
        str(proxy.id),
        f"{proxy.scheme}://{bracketed(proxy.host)}:{proxy.port}",
        state,
        f"{proxy.success_count:,}",
        f"{proxy.total_failures:,}",
        str(proxy.failure_count),
        str(proxy.avg_ms if proxy.avg_ms is not None else "–"),
        f"{used:%Y-%m-%d %H:%M:%S}" if used else "never",
    )
