"""Checks between settings: errors that stop the start, and warnings."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from longline.model.errors import BadInput
from longline.model.fetch.egress import LOCAL_NAMES, AddressPolicy
from longline.settings.keys import Settings

_MIN_SECRET_BYTES = 32

Origins = Mapping[str, str]


def check_consistency(settings: Settings, origins: Origins) -> None:
    """Raise `BadInput` for settings that contradict each other or lack credentials."""
    if settings.tls_min > settings.tls_max:
        raise BadInput(f"{origins['tls_min']}: tls_min {settings.tls_min} is above tls_max {settings.tls_max}")
    known = settings.search_key or settings.search_cert
    for node in () if known else map(urlsplit, settings.search):
        if not node.username and not _is_local(node.hostname or ""):
            raise BadInput(
                f"{origins['search']}: the search node {node.hostname} is not on a local network and needs"
                " credentials: set ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD"
            )


def security_warnings(settings: Settings, origins: Origins) -> list[str]:
    """Return a warning for each setting that weakens security."""
    notes = []
    if 0 < len(settings.jwt_secret.encode()) < _MIN_SECRET_BYTES:
        notes.append(
            f"{origins['jwt_secret']} is shorter than {_MIN_SECRET_BYTES} bytes; tokens signed with it can be forged"
        )
    if not settings.tls_verify:
        notes.append(f"{origins['tls_verify']} disables certificate verification: pages may come from an impostor")
    if settings.search and not settings.search_verify:
        notes.append(f"{origins['search_verify']} disables certificate verification of the search nodes")
    return notes


def _is_local(host: str) -> bool:
    """Return True for a host on a local network: a private address, or a name that public DNS does not have."""
    try:
        return not AddressPolicy().admits(ipaddress.ip_address(host))
    except ValueError:
        return "." not in host or host.endswith(LOCAL_NAMES)
