"""Names of the manifest contract: its settings file, the prefix of its variables, and its tables for our settings."""

from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from longline.settings.tables import Tables
from longline.settings.values import RawValue

CONFIG_NAME = "FETCHBOX_CONFIG"
CONFIG_FILE = "config/fetchbox.toml"
PREFIX = "FETCHBOX__"
_ENCRYPTIONS = {"none": "", "aes256": "AES256", "aws:kms": "aws:kms"}


def settings_of_tables(tables: Tables, origins: dict[str, str]) -> dict[str, RawValue]:
    """Return the settings that tables stand for, with the origin of the table's key."""
    built: dict[str, RawValue] = {}
    if address := tables.server.bind_addr:
        host, _, port = address.rpartition(":")
        origin = origins["server.bind_addr"]
        built |= {"host": RawValue(host.strip("[]"), origin), "port": RawValue(port, origin)}
    if objects := _objects(tables):
        key = next(key for key in origins if key.startswith("storage."))
        built["objects"] = RawValue(objects, origins[key])
    if tables.broker.endpoint:
        built["redis"] = RawValue(_redis(tables), origins["broker.endpoint"])
    return built


def _objects(tables: Tables) -> str:
    storage = tables.storage
    if storage.provider == "filesystem":
        return storage.endpoint
    given = {
        "endpoint": storage.endpoint,
        "region": storage.region,
        "access_key_id": storage.access_key,
        "secret_access_key": storage.secret_key,
        "encryption": _ENCRYPTIONS[storage.encryption],
        "kms_key": storage.kms_key,
    }
    for name, bucket in storage.buckets.items():
        given |= {f"encryption.{name}": _ENCRYPTIONS[bucket.encryption], f"kms_key.{name}": bucket.kms_key}
    query = urlencode({name: value for name, value in given.items() if value}, quote_via=quote)
    return f"s3://{storage.bucket}" + (f"?{query}" if query else "")


def _redis(tables: Tables) -> str:
    broker = tables.broker
    if not broker.secret:
        return broker.endpoint
    parts = urlsplit(broker.endpoint)
    login = f"{quote(broker.client_id, safe='')}:{quote(broker.secret, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}"))
