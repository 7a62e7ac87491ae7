"""The egress guard: of the addresses that a name has, only those outside are given to be dialled.

Inside ones are dropped rather than the whole name refused: a public site with a stray private record stays reachable,
and nothing is lost by it, since exactly the addresses that passed are pinned to the client that dials.
"""

from longline.drivers.http.dns import Resolve
from longline.model.fetch.egress import Address, AddressPolicy
from longline.ports.http import FetchFailed

MOST_REMEMBERED = 10_000


class GuardedResolver:
    """A `Resolve` behind a wall.

    `trusted` are host names, spelt as `Url.hostname` spells them, that the operator has typed: they may be inside. One
    that was public at its first answer has no need of that, and cannot turn inside later.
    """

    def __init__(self, names: Resolve, wall: AddressPolicy, trusted: frozenset[str] = frozenset()) -> None:
        self._names = names
        self._wall = wall
        self._trusted = set(trusted)
        self._last: dict[str, tuple[tuple[Address, ...], tuple[Address, ...]]] = {}

    async def resolve(self, hostname: str) -> tuple[Address, ...]:
        """The addresses that may be dialled for a host name; raises `FetchFailed` when there are none."""
        addresses = await self._names(hostname)
        answered, allowed = self._last.get(hostname, ((), ()))
        if answered is addresses:  # the very answer that was judged before, remembered by whoever was asked
            return allowed
        allowed = self._judged(hostname, addresses)
        if len(self._last) >= MOST_REMEMBERED:
            self._last.clear()
        self._last[hostname] = (addresses, allowed)
        return allowed

    def _judged(self, hostname: str, addresses: tuple[Address, ...]) -> tuple[Address, ...]:
        outside = tuple(address for address in addresses if self._wall.admits(address))
        if len(outside) == len(addresses):
            self._trusted.discard(hostname)
            return addresses
        if hostname in self._trusted:
            return addresses
        if not outside:
            # Which address it was stays with us: whoever sent the URL must not learn our names from our refusals.
            raise FetchFailed("egress", f"{hostname}: leads to no public address")
        return outside
