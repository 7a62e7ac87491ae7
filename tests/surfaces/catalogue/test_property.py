"""Random requests against a model of the contract, and many identical triggers at once, in their small forms."""

import random

import pytest

from tests.surfaces.catalogue.identical_triggers import race
from tests.surfaces.catalogue.random_requests import drive
from tests.surfaces.products.running import Stage


@pytest.mark.slow(reason="hundreds of requests over HTTP")
async def test_random_requests_get_the_answers_of_the_contract(stage: Stage):
    stage.empty()
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")  # shown with a failure
    admin = await drive(stage, seed, 400)
    assert admin.sent >= 400
    assert admin.model.audit


async def test_of_fifty_identical_triggers_one_is_made(stage: Stage):
    stage.empty()
    seen = await race(stage, 3, 50)
    assert sorted((status, count) for (status, _), count in seen.items()) == [(201, 3), (409, 147)]
