"""Tenants of manifests: their keys, the subjects of their certificates, and their rate limits."""

import hashlib
from collections.abc import Mapping

import msgspec

from longline.services.callers.rate_limits import RateLimits

LIMIT_NAME = "manifests/tenant"


class Tenant(msgspec.Struct, frozen=True):
    """A configured tenant: SHA-256 hashes of its keys, subjects of its client certificates, requests a minute."""

    name: str
    key_hashes: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    per_minute: int = 0

    @property
    def needs_credentials(self) -> bool:
        """Return whether senders must prove that they belong to the tenant."""
        return bool(self.key_hashes or self.subjects)


class Tenants:
    """All configured tenants."""

    def __init__(self, tenants: Mapping[str, Tenant], limits: RateLimits | None = None) -> None:
        self._tenants, self._limits = tenants, limits
        self._by_hash = {found: one.name for one in tenants.values() for found in one.key_hashes}
        self._by_subject = {subject: one.name for one in tenants.values() for subject in one.subjects}

    def of_key(self, key: str | None) -> str | None:
        """Return the tenant of a key, or None."""
        return None if not key else self._by_hash.get(hashlib.sha256(key.encode()).hexdigest())

    def of_subject(self, subject: str | None) -> str | None:
        """Return the tenant of the subject of a verified certificate, or None."""
        return None if not subject else self._by_subject.get(subject)

    def needs_credentials(self, tenant: str) -> bool:
        """Return whether senders must prove that they belong to a tenant."""
        found = self._tenants.get(tenant)
        return found is not None and found.needs_credentials

    async def check_rate(self, tenant: str) -> None:
        """Count one request of a tenant; raise `TooOften` beyond its limit."""
        found = self._tenants.get(tenant)
        if found is not None and found.per_minute and self._limits is not None:
            await self._limits.check(f"{LIMIT_NAME}:{tenant}", found.per_minute)
