"""`[tenants.<name>]` and `[operator]`: tenants of manifests, and the operator's token."""

from typing import Annotated

from longline.settings.tables.schema import SettingsTable
from longline.settings.values import LIST, TEXT, Key, integer


class TenantTable(SettingsTable, frozen=True, kw_only=True):
    """One tenant."""

    idempotency_window_hours: Annotated[
        int, Key(integer(0), "Hours for which an idempotency key of the tenant is remembered; 0 is the general value.")
    ] = 0
    api_keys: Annotated[
        tuple[str, ...], Key(LIST, "SHA-256 hashes, in hexadecimal, of the tenant's API keys.", secret=True)
    ] = ()
    subjects: Annotated[
        tuple[str, ...],
        Key(LIST, "Subjects of client certificates of the tenant; see `server.client_subject_header`."),
    ] = ()
    requests_per_minute: Annotated[int, Key(integer(0), "Most requests of the tenant in a minute; 0 is no limit.")] = 0


class OperatorTable(SettingsTable, frozen=True, kw_only=True):
    """The operators of manifests."""

    token: Annotated[
        str, Key(TEXT, "Token that operators must send; if not set, the paths of operators are open.", secret=True)
    ] = ""
