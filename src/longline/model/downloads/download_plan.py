"""The part of a plan by which the tasks of a run are downloads."""

import msgspec

DEFAULT_PARALLEL = 8
"""Downloads at once from one host, unless the options of a job type have another number."""
MAX_REDIRECTS = 5
"""Largest number of redirects of a download."""


class DownloadPlan(msgspec.Struct, frozen=True):
    """The rules of a run of downloads: each task streams one file into the object store, without robots.txt or parser.

    Attempts, pauses and further statuses to retry are those of `Retries`, the limit of redirects, the headers of every
    request and the proxies those of `FetchOptions`, requests at once those of `Politeness`.
    """

    kind: str = ""
    """Word for the kind of run, which dead letters keep."""

    tenant: str = ""
    """Tenant of the run, which dead letters keep."""

    connect_seconds: float = 10.0
    """Longest time for a connection to a host."""

    idle_seconds: float = 30.0
    """Longest silence of a host in the middle of a file."""

    total_seconds: float = 3600.0
    """Longest time for one attempt."""

    max_bytes: int = 5 * 1024**3
    """Size of the largest accepted file."""

    storage_attempts: int = 3
    """Attempts to store a file that the object store does not take, the first one included."""

    measures_images: bool = False
    """Whether the dimensions of images are stored."""

    forbidden_blames_proxy: bool = False
    """Whether a response with 403 counts against the proxy; otherwise it is the word of the host."""
