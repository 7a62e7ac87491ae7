"""Random requests against a model of the contract, and many identical triggers at once, in their small forms."""

import asyncio
import random

import pytest

from tests.surfaces.catalogue.random_requests import drive
from tests.surfaces.catalogue.running import Admin, error
from tests.surfaces.products.running import Stage


@pytest.mark.slow(reason="hundreds of requests over HTTP")
async def test_random_requests_get_the_answers_of_the_contract(stage: Stage):
    stage.empty()
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")  # shown with a failure
    admin = await drive(stage, seed, 400)
    assert admin.sent >= 400
    assert admin.model.audit


async def test_of_fifty_identical_triggers_one_is_made(admin: Admin):
    for number in range(3):
        source = await admin.source(f"Race {number}")
        body = {"sourceid": source["id"], "scheduledat": "2099-01-01T00:00:00Z"}
        others = [Admin(admin.client, admin.stage, "x")] * 16
        answers = await asyncio.gather(*(each.ask("POST", "crawler/jobs", body) for each in others))
        assert sorted(answer.status_code for answer in answers) == [201, *[409] * 15]
        text = "A job for this comic and source is already queued or running."
        assert {error(answer) for answer in answers if answer.status_code == 409} == {(409, "CONFLICT", text)}
