"""`[server]`, `[storage]`, `[broker]` and `[telemetry]`: addresses and limits of the platform's parts."""

from typing import Annotated

import msgspec

from longline.settings.tables.schema import SettingsTable, TableEntries
from longline.settings.values import HOST_AND_PORT, SIZE, SWITCH, TEXT, Key, integer, one_of, url

MAX_MANIFEST_BYTES = 5 * 1024 * 1024


class ServerTable(SettingsTable, frozen=True, kw_only=True):
    """The address of the server, and the limits of manifests."""

    bind_addr: Annotated[str, Key(HOST_AND_PORT, "Address and port of the server; sets `host` and `port`.")] = ""
    max_manifest_bytes: Annotated[int, Key(SIZE, "Largest manifest, after decompression.")] = MAX_MANIFEST_BYTES
    allow_large_manifests: Annotated[bool, Key(SWITCH, "Allow a `max_manifest_bytes` above 5MB.")] = False
    max_resources: Annotated[int, Key(integer(1), "Most resources of a manifest.")] = 1000
    strict_urls: Annotated[bool, Key(SWITCH, "Refuse manifests with URLs that are not http or https.")] = False
    max_upload_bytes: Annotated[int, Key(SIZE, "Largest manifest that is uploaded in parts.")] = 50 * 1024 * 1024
    client_subject_header: Annotated[
        str,
        Key(
            TEXT,
            "Header in which a proxy in front names the subject of a client certificate that it has verified; if not"
            " set, none is trusted.",
        ),
    ] = ""


class BucketTable(SettingsTable, frozen=True, kw_only=True):
    """The encryption of one bucket of the S3 server, which then encrypts its objects."""

    encryption: Annotated[str, Key(one_of("none", "aes256", "aws:kms"), "Server-side encryption of the bucket.")] = (
        "none"
    )
    kms_key: Annotated[str, Key(TEXT, "Key of the server's key management, for `aws:kms`.")] = ""


class StorageTable(SettingsTable, frozen=True, kw_only=True):
    """The object store; sets `objects`."""

    provider: Annotated[str, Key(one_of("s3", "filesystem"), "Kind of object store.")] = "filesystem"
    bucket: Annotated[str, Key(TEXT, "Bucket of the S3 server.")] = ""
    region: Annotated[str, Key(TEXT, "Region of the S3 server.")] = ""
    endpoint: Annotated[str, Key(TEXT, "URL of the S3 server, or the folder of a filesystem.")] = ""
    access_key: Annotated[str, Key(TEXT, "Access key id for the S3 server.")] = ""
    secret_key: Annotated[str, Key(TEXT, "Secret access key for the S3 server.", secret=True)] = ""
    encryption: Annotated[
        str, Key(one_of("none", "aes256", "aws:kms"), "Server-side encryption of all buckets of the S3 server.")
    ] = "none"
    kms_key: Annotated[str, Key(TEXT, "Key of the server's key management, for `aws:kms`.")] = ""
    client_side_key: Annotated[
        str,
        Key(
            TEXT,
            "Key, of at least 16 characters, with which manifests and their metadata are encrypted (AES-256-GCM)"
            " before they are stored; if not set, they are stored as sent. Downloaded files are not encrypted.",
            secret=True,
        ),
    ] = ""
    buckets: Annotated[dict[str, BucketTable], TableEntries(BucketTable)] = msgspec.field(default_factory=dict)


class BrokerTable(SettingsTable, frozen=True, kw_only=True):
    """The Redis server to which streams are copied; sets `redis`."""

    endpoint: Annotated[str, Key(url("redis", "rediss", "unix"), "Address of the Redis server.")] = ""
    client_id: Annotated[str, Key(TEXT, "User of the Redis server.")] = ""
    secret: Annotated[str, Key(TEXT, "Password of the Redis server.", secret=True)] = ""


class TelemetryTable(SettingsTable, frozen=True, kw_only=True):
    """The addresses of metrics and traces."""

    metrics_addr: Annotated[
        str, Key(HOST_AND_PORT, "Further address that serves `/metrics`, without a token; if not set, none.")
    ] = ""
    otlp_endpoint: Annotated[
        str,
        Key(
            url("http", "https"),
            "OTLP collector, such as `http://localhost:4318`, which gets all metrics every minute by HTTP; traces are"
            " not exported.",
        ),
    ] = ""
