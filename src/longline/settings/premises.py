"""Settings of the engines, and of the server with its deadlines and keys."""

from pathlib import Path
from typing import Annotated

import msgspec

from longline.settings.values import FOLDER, PAIR, SPAN, SWITCH, TEXT, URLS, Key, among, url, whole

STORE = url("file", "s3", "memory", folder=True)
"""Addresses of object stores."""


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the settings about the engines and access to the server."""

    data: Annotated[Path, Key(FOLDER, "Folder that holds everything the embedded engines keep.")] = Path(
        "longline-data"
    )
    database: Annotated[
        str,
        Key(
            url("sqlite", "postgresql", "postgres"),
            "Where records are kept; unless set, SQLite inside the data folder.",
        ),
    ] = ""
    objects: Annotated[
        str,
        Key(STORE, "Where pages and other objects are kept; unless set, a folder inside the data folder."),
    ] = ""
    html_archive: Annotated[
        str,
        Key(STORE, "Where every HTML answer is kept as an object of its own as well; unless set, nowhere."),
    ] = ""
    html_facts: Annotated[str, Key(STORE, "Where what is known of those objects is kept; unless set, beside them.")] = (
        ""
    )
    redis: Annotated[
        str, Key(url("redis", "rediss", "unix"), "Redis server that carries signals; unless set, Redis is not used.")
    ] = ""
    search: Annotated[
        tuple[str, ...],
        Key(URLS, "OpenSearch or Elasticsearch nodes; unless set, search runs inside the database."),
    ] = ()
    search_key: Annotated[str, Key(PAIR, "API key of the search nodes.", secret=True)] = ""
    search_cert: Annotated[str, Key(TEXT, "PEM file of a certificate to show to the search nodes.")] = ""
    search_cert_key: Annotated[str, Key(TEXT, "PEM file of that certificate's key.")] = ""
    search_verify: Annotated[bool, Key(SWITCH, "Believe search nodes only by a certificate; off for trials alone.")] = (
        True
    )
    index_every: Annotated[float, Key(SPAN, "How often what is new is brought to the index.")] = 1.0
    index_batch: Annotated[int, Key(whole(1, 10_000), "Items that are indexed in one go.")] = 200

    pipeline_url: Annotated[
        str, Key(url("http", "https"), "Service that is told of every document that was indexed; unless set, none.")
    ] = ""

    fixtures: Annotated[
        str, Key(TEXT, "Folder of answers that are given instead of asking a website; unless set, websites are asked.")
    ] = ""
    fixtures_mode: Annotated[
        str,
        Key(among("replay", "record"), "Whether answers come from that folder, or from websites and are kept there."),
    ] = "replay"

    host: Annotated[str, Key(TEXT, "Address the server listens on.")] = "127.0.0.1"
    port: Annotated[int, Key(whole(0, 65535), "Port the server listens on; 0 takes any free one.")] = 8060
    server_read_timeout: Annotated[float, Key(SPAN, "How long a client may take to send a request.")] = 30.0
    server_write_timeout: Annotated[
        float, Key(SPAN, "How long an answer may take until the client has it, unless it is a stream of events.")
    ] = 60.0
    server_idle_timeout: Annotated[float, Key(SPAN, "How long a connection is kept for another request.")] = 120.0
    api_key: Annotated[
        str, Key(PAIR, "Key that must come as X-API-Key with every access token; unless set, none.", secret=True)
    ] = ""
    profile_port: Annotated[
        int, Key(whole(0, 65535), "Port of this machine alone that tells where time and memory go; 0 for none.")
    ] = 0
    metrics_open: Annotated[
        bool, Key(SWITCH, "Serve /metrics without a token even when the server listens beyond loopback.")
    ] = False
    jwt_secret: Annotated[
        str,
        Key(TEXT, "Secret that signs access tokens; unless set, one is made and kept in the data folder.", secret=True),
    ] = ""
    vault_key: Annotated[
        str,
        Key(
            TEXT,
            "Key that stored passwords are locked with; unless set, one is made and kept in the data folder.",
            secret=True,
        ),
    ] = ""
    internal_secret: Annotated[
        str, Key(TEXT, "Secret that opens the internal fetch endpoint to other services.", secret=True)
    ] = ""
