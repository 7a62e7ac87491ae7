"""The address of an S3 bucket: its endpoint, its region and its credentials."""

import asyncio
import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from obstore.store import S3Store

from longline.drivers.blobs.key_rules import checked_prefix
from longline.drivers.blobs.object_store import ObjectBlobs, StoreTraits
from longline.drivers.blobs.object_uploads import MAX_BUFFERED_OBJECTS
from longline.drivers.blobs.s3_errors import is_final, s3_failure
from longline.model.errors import BadInput

if TYPE_CHECKING:  # these exist for type checkers only
    from obstore.store import ClientConfig, RetryConfig, S3Config, S3Credential, S3CredentialProvider

_OPTIONS = ("endpoint", "region", "access_key_id", "secret_access_key", "session_token", "encryption", "kms_key")
_BUCKET_OPTIONS = ("encryption", "kms_key")
"""Options that may be given for one bucket, as `encryption.<bucket>`."""

_ENCRYPTIONS = ("AES256", "aws:kms")
_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_CREDENTIAL_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
)
_ENDPOINT = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")

# Long enough for a short outage, short enough that a mistyped address fails soon.
_RETRY: "RetryConfig" = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=3), "base": 2},
}


def open_s3(url: str) -> ObjectBlobs:
    """Return the bucket at `s3://bucket/prefix?endpoint=…`; missing options come from the AWS environment variables."""
    parts = urlsplit(url)
    if "@" in parts.netloc or not parts.netloc:
        raise BadInput("an S3 address is s3://bucket/prefix?endpoint=…&region=…&access_key_id=…&secret_access_key=…")
    options = read_options(parts.query)
    endpoint = options.get("endpoint") or _first_variable(_ENDPOINT_VARIABLES)
    _check_endpoint(endpoint)
    _check_credentials(options, endpoint)
    slots = asyncio.Semaphore(MAX_BUFFERED_OBJECTS)

    def opened(bucket: str, prefix: str = "") -> ObjectBlobs:
        store = S3Store(
            bucket,
            prefix=prefix or None,
            config=_config(options, endpoint) | _encryption(options, bucket),
            client_options=client_options(endpoint),
            retry_config=_RETRY,
            credential_provider=_credentials(options),
        )
        name = f"S3 bucket {bucket!r} at {endpoint or 'AWS'}"
        traits = StoreTraits(name, lambda error: s3_failure(name, str(error)), opened, is_final)
        return ObjectBlobs(store, traits, slots)

    return opened(parts.netloc, checked_prefix(unquote(parts.path).strip("/")))


def read_options(query: str) -> Mapping[str, str]:
    """Return the options of an address; a plus sign stays a plus sign."""
    options = {}
    for pair in filter(None, query.split("&")):
        option, _, value = pair.partition("=")
        if option not in _OPTIONS and option.partition(".")[0] not in _BUCKET_OPTIONS:
            raise BadInput(f"unknown S3 option {option!r}; there are: {', '.join(_OPTIONS)}")
        options[option] = unquote(value)  # not unquote_plus: secrets have plus signs and no spaces
        if option.partition(".")[0] == "encryption" and options[option] not in _ENCRYPTIONS:
            raise BadInput(f"the encryption of an S3 bucket is one of: {', '.join(_ENCRYPTIONS)}")
    return options


def _check_endpoint(endpoint: str | None) -> None:
    if endpoint is not None and not _ENDPOINT.fullmatch(endpoint):
        raise BadInput("the S3 endpoint is not an http:// or https:// address without a user name")


def _check_credentials(options: Mapping[str, str], endpoint: str | None) -> None:
    """Require a complete key: without one obstore queries AWS instance metadata, which is slow to fail elsewhere."""
    if ("access_key_id" in options) != ("secret_access_key" in options):
        raise BadInput("an S3 address has access_key_id and secret_access_key both, or neither")
    if endpoint and "access_key_id" not in options and not _first_variable(_CREDENTIAL_VARIABLES):
        raise BadInput(f"the S3 server at {endpoint} needs access_key_id and secret_access_key")


def _config(options: Mapping[str, str], endpoint: str | None) -> "S3Config":
    region = options.get("region") or _first_variable(("AWS_REGION", "AWS_DEFAULT_REGION")) or "us-east-1"
    config: S3Config = {"region": region}
    if endpoint:
        # Both names: an environment variable for the second would override the address in the first.
        config["endpoint"] = config["aws_endpoint_url_s3"] = endpoint
        config["virtual_hosted_style_request"] = False
    return config


def _encryption(options: Mapping[str, str], bucket: str) -> "S3Config":
    """Return the server-side encryption of a bucket: its own, or that of all buckets."""
    own = options.get(f"encryption.{bucket}")
    kind = own or options.get("encryption")
    if kind is None:
        return {}
    key = options.get(f"kms_key.{bucket}" if own else "kms_key")
    config: S3Config = {"server_side_encryption": kind}
    if kind == "aws:kms" and key:
        config["sse_kms_key_id"] = key
    return config


def _credentials(options: Mapping[str, str]) -> "S3CredentialProvider | None":
    """Return only the address's key: as settings, the key would be mixed with a session token from AWS variables."""
    if "access_key_id" not in options:
        return None
    key: S3Credential = {
        "access_key_id": options["access_key_id"],
        "secret_access_key": options["secret_access_key"],
        "token": options.get("session_token") or None,
        "expires_at": None,
    }
    return lambda: key


def client_options(endpoint: str | None) -> "ClientConfig":
    """Return the HTTP client's options; unencrypted only when the address begins with http://."""
    return {
        "allow_http": endpoint is not None and endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=5),
        "timeout": timedelta(seconds=60),
    }


def _first_variable(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name))), None)
