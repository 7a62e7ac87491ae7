"""Passwords in URLs of products: refused, and not shown."""

from typing import Any

import pytest

from tests.surfaces.products.running import Door
from tests.surfaces.products.tasks.crawling import domain

PASSWORD = "hunter2canary"
SECRET_URL = f"https://bob:{PASSWORD}@shop.example/p"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("admin/tasks", {"url": SECRET_URL}),
        ("admin/tasks", {"url": "https://shop.example/p", "webhook_url": SECRET_URL}),
        ("admin/domains", {"domain_name": "x.example", "base_url": SECRET_URL, "parser_name": "product"}),
        (
            "admin/domains",
            {"domain_name": f"bob:{PASSWORD}@x.example", "base_url": "https://x.example", "parser_name": "product"},
        ),
    ],
)
async def test_a_url_with_a_password_is_refused(door: Door, path: str, body: dict[str, Any]):
    answer = await door.ask("POST", path, body | ({"domain_id": domain(door)} if path == "admin/tasks" else {}))
    assert answer.status_code == 400, answer.text
    assert PASSWORD not in answer.text


async def test_a_url_with_a_password_is_left_out_of_a_batch(door: Door):
    domain_id = domain(door)
    body = {"domain_id": domain_id, "urls": ["https://shop.example/p", SECRET_URL]}
    answer = await door.ask("POST", "admin/tasks/batch", body)
    assert PASSWORD not in answer.text, answer.text
    listed = await door.ask("GET", "admin/tasks")
    assert PASSWORD not in listed.text
