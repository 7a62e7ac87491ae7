"""Keys of the workers, their leases, and the standing frontier."""

from typing import Annotated

from longline.settings.keys.server import ServerKeys
from longline.settings.values import POSITIVE_DURATION, SWITCH, Key, integer


class FrontierKeys(ServerKeys, frozen=True, kw_only=True):
    """The workers, their leases, and the standing frontier."""

    workers: Annotated[
        int, Key(integer(1, 256), "Worker processes that `longline up` runs, or `longline worker` with the role fetch.")
    ] = 1
    concurrency: Annotated[int, Key(integer(1, 10_000), "Concurrent fetches in each worker.")] = 64
    lease: Annotated[
        float,
        Key(POSITIVE_DURATION, "Lease of a host: a worker that does not renew a lease for this long loses the host."),
    ] = 30.0
    reap: Annotated[float, Key(POSITIVE_DURATION, "Interval at which expired leases are reclaimed.")] = 5.0
    claim_pause: Annotated[float, Key(POSITIVE_DURATION, "Pause of a worker after a claim that found no work.")] = 0.5
    frontier: Annotated[bool, Key(SWITCH, "Fetch the URLs of the standing frontier; while off, they wait.")] = True
    frontier_links: Annotated[
        bool, Key(SWITCH, "Submit on-site links that scheduled runs find to the standing frontier as well.")
    ] = False
    frontier_attempts: Annotated[
        int, Key(integer(1, 100), "Attempts at a URL of the standing frontier, the first included.")
    ] = 3
    frontier_redirects: Annotated[
        int, Key(integer(0, 100), "Redirects followed from a URL of the standing frontier.")
    ] = 5
