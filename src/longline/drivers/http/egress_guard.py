"""The egress guard: only the public addresses of a name may be dialled.

Private addresses are dropped rather than the whole name refused: a public site with a stray private record stays
reachable. This is safe, since exactly the addresses that passed are pinned to the client that dials.
"""

from longline.drivers.http.dns import Resolve
from longline.model.fetch.egress import Address, AddressPolicy
from longline.ports.http import FetchFailed

MAX_REMEMBERED = 10_000


class GuardedResolver:
    """A `Resolve` behind an address policy.

    `trusted` are host names, spelt as `Url.hostname` spells them, that the operator has entered: they may be private. A
    trusted name loses the trust with its first all-public answer, and cannot turn private later.
    """

    def __init__(self, names: Resolve, wall: AddressPolicy, trusted: frozenset[str] = frozenset()) -> None:
        self._names = names
        self._wall = wall
        self._trusted = set(trusted)
        self._last: dict[str, tuple[tuple[Address, ...], tuple[Address, ...]]] = {}

    async def resolve(self, hostname: str) -> tuple[Address, ...]:
        """Return the addresses that may be dialled for a host name; raise `FetchFailed` when there are none."""
        addresses = await self._names(hostname)
        answered, allowed = self._last.get(hostname, ((), ()))
        if answered is addresses:  # the same cached answer of the resolver, judged before
            return allowed
        allowed = self._judged(hostname, addresses)
        if len(self._last) >= MAX_REMEMBERED:
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
            # The message omits the address: the sender of the URL must not learn internal names from refusals.
            raise FetchFailed("egress", f"{hostname}: leads to no public address; see the setting egress_allow")
        return outside
