"""Keys of the engines: database, object store, Redis, search nodes."""

from pathlib import Path
from typing import Annotated

import msgspec

from longline.settings.values import FOLDER, ID_AND_KEY, POSITIVE_DURATION, SINKS, SWITCH, TEXT, URLS, Key, integer, url

STORE = url("file", "s3", "memory", folder=True)
"""Addresses of object stores."""


class EngineKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The data folder and the engines that keep records, objects and the index."""

    data: Annotated[Path, Key(FOLDER, "Folder of the embedded engines: database, objects, secrets.")] = Path(
        "longline-data"
    )
    database: Annotated[
        str, Key(url("sqlite", "postgresql", "postgres"), "Database; if not set, SQLite in the data folder.")
    ] = ""
    objects: Annotated[
        str, Key(STORE, "Object store of the WARC archive and other objects; if not set, a folder in the data folder.")
    ] = ""
    redis: Annotated[
        str, Key(url("redis", "rediss", "unix"), "Redis server for signals and streams; if not set, Redis is not used.")
    ] = ""
    archive_requests: Annotated[
        bool, Key(SWITCH, "Add the requests to the WARC archive, with all sent headers, cookies included.")
    ] = False
    html_archive: Annotated[
        str, Key(STORE, "Object store that gets every HTML response as a separate object as well; if not set, none.")
    ] = ""
    html_facts: Annotated[
        str, Key(STORE, "Object store of the metadata of the HTML archive; if not set, the HTML archive itself.")
    ] = ""
    search: Annotated[
        tuple[str, ...],
        Key(URLS, "OpenSearch or Elasticsearch nodes; if not set, the index of the database is searched."),
    ] = ()
    search_key: Annotated[str, Key(ID_AND_KEY, "API key for the search nodes.", secret=True)] = ""
    search_cert: Annotated[str, Key(TEXT, "PEM file of the client certificate for the search nodes.")] = ""
    search_cert_key: Annotated[
        str, Key(TEXT, "PEM file of the private key of the client certificate for the search nodes.")
    ] = ""
    search_verify: Annotated[
        bool, Key(SWITCH, "Verify the certificates of the search nodes; switch off for tests only.")
    ] = True
    index_every: Annotated[
        float, Key(POSITIVE_DURATION, "Interval between two bulk writes of new items to the search nodes.")
    ] = 1.0
    index_batch: Annotated[int, Key(integer(1, 10_000), "Items in one bulk write to the search nodes.")] = 200
    sinks: Annotated[
        tuple[str, ...],
        Key(
            SINKS,
            "Sinks of items: tables of PostgreSQL, webhooks, own functions. `NAME=URL` gets the runs of the sources "
            "that name it, `URL` alone gets all runs.",
            secret=True,
        ),
    ] = ()
    pipeline_url: Annotated[
        str, Key(url("http", "https"), "Webhook that gets a message for every indexed document; if not set, none.")
    ] = ""
