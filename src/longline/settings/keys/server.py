"""Keys of the HTTP server: address, timeouts, secrets."""

from typing import Annotated

from longline.settings.keys.engines import EngineKeys
from longline.settings.values import (
    DOOR_ACCESS,
    ID_AND_KEY,
    LIST,
    POSITIVE_DURATION,
    SWITCH,
    TEXT,
    Key,
    integer,
    one_of,
)


class ServerKeys(EngineKeys, frozen=True, kw_only=True):
    """The HTTP server, its timeouts, and the secrets of the platform."""

    host: Annotated[str, Key(TEXT, "Address that the server listens on.")] = "127.0.0.1"
    port: Annotated[int, Key(integer(0, 65535), "TCP port that the server listens on; 0 takes any free port.")] = 8060
    server_read_timeout: Annotated[float, Key(POSITIVE_DURATION, "Time limit for a client to send a request.")] = 30.0
    server_write_timeout: Annotated[
        float, Key(POSITIVE_DURATION, "Time limit for a client to receive a response; event streams have none.")
    ] = 60.0
    server_idle_timeout: Annotated[
        float, Key(POSITIVE_DURATION, "Time that an idle connection of a client stays open.")
    ] = 120.0
    api_key: Annotated[
        str,
        Key(
            ID_AND_KEY,
            "Key that clients must send as X-API-Key beside the access token; if not set, none.",
            secret=True,
        ),
    ] = ""
    jwt_public_key_file: Annotated[
        str,
        Key(TEXT, "File with the RSA public key (PEM) that verifies tokens signed with RS256; if not set, none are."),
    ] = ""
    intervals_access: Annotated[
        str,
        Key(
            one_of(*DOOR_ACCESS),
            "Credentials at the interval API: key requires a token or an API key, open none; auto is open on loopback.",
        ),
    ] = "key"
    caller_per_minute: Annotated[
        int,
        Key(integer(0), "Requests a minute of one caller at one API, unless its API key has a limit; 0 is no limit."),
    ] = 0
    profile_port: Annotated[
        int, Key(integer(0, 65535), "Loopback port of the CPU and memory profiler; 0 switches the profiler off.")
    ] = 0
    metrics_open: Annotated[
        bool, Key(SWITCH, "Serve /metrics without a token even when the server listens beyond loopback.")
    ] = False
    metrics_hosts: Annotated[
        tuple[str, ...],
        Key(LIST, "Domains whose fetches have a host group of their own in /metrics; all others are in `other`."),
    ] = ()
    jwt_secret: Annotated[
        str,
        Key(
            TEXT,
            "Secret that signs access tokens; if not set, one is generated and kept in the data folder.",
            secret=True,
        ),
    ] = ""
    vault_key: Annotated[
        str,
        Key(
            TEXT,
            "Key that encrypts stored passwords; if not set, one is generated and kept in the data folder.",
            secret=True,
        ),
    ] = ""
    internal_secret: Annotated[
        str,
        Key(
            TEXT,
            "Secret that other services send to the internal fetch endpoint; if not set, there is no such endpoint.",
            secret=True,
        ),
    ] = ""
