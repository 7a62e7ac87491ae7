"""Limits of callers with API keys, and the three headers (§1)."""

from datetime import datetime
from pathlib import Path

import pytest

from longline.model.callers.api_key import NewApiKey
from longline.model.callers.roles import Role
from longline.wiring.subjects.callers import api_keys
from tests.surfaces.products.running import error, running

NAMES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@pytest.mark.parametrize(("path", "limit"), [("admin/domains", 3), ("products", 5)])
async def test_a_key_has_so_many_requests_an_hour(tmp_path: Path, path: str, limit: int):
    async with running(tmp_path, products_admin_per_hour=3, products_read_per_hour=5) as door:
        _, key = door.call(api_keys(door.platform).create(NewApiKey("k", "products", Role.ADMIN)))
        headers = {"Authorization": f"Bearer {key}"}
        answers = [await door.client.get(f"/api/{path}", headers=headers) for _ in range(limit + 1)]
        assert [answer.status_code for answer in answers] == [*[200] * limit, 429]
        assert [answer.headers[NAMES[0]] for answer in answers] == [str(limit)] * (limit + 1)
        assert [int(answer.headers[NAMES[1]]) for answer in answers] == [*range(limit - 1, -1, -1), 0]
        reset = datetime.fromisoformat(answers[0].headers[NAMES[2]])
        assert reset.tzinfo is not None
        assert error(answers[-1])[:2] == (429, "RATE_LIMIT_EXCEEDED")
        assert int(answers[-1].headers["Retry-After"]) > 0
        # Requests without a key are not counted while the door is open.
        assert [(await door.client.get(f"/api/{path}")).status_code for _ in range(limit + 1)] == [200] * (limit + 1)


async def test_a_key_of_another_door_and_a_wrong_key_are_refused(tmp_path: Path):
    async with running(tmp_path, products_access="key") as door:
        _, key = door.call(api_keys(door.platform).create(NewApiKey("k", "intervals", Role.ADMIN)))
        answer = await door.client.get("/api/admin/domains", headers={"Authorization": f"Bearer {key}"})
        assert error(answer)[:2] == (403, "FORBIDDEN")
        answer = await door.client.get("/api/admin/domains", headers={"Authorization": f"Bearer {key[:-4]}AAAA"})
        assert error(answer)[:2] == (401, "UNAUTHORIZED")
        assert error(await door.ask("GET", "admin/domains"))[:2] == (401, "UNAUTHORIZED")
