"""Ids of requests: that of the client, unless it is missing or too long."""

import pytest

from longline.surfaces.server.request_id import MAX_ID_CHARS, request_id


def test_the_id_of_a_client_is_kept():
    assert request_id([(b"host", b"a.example"), (b"x-request-id", b"abc")]) == "abc"


@pytest.mark.parametrize("given", [b"", b"x" * (MAX_ID_CHARS + 1)])
def test_any_other_request_gets_a_new_one(given: bytes):
    ids = {request_id([(b"x-request-id", given)]) for _ in range(2)}
    assert len(ids) == 2
    assert all(len(one) == 32 for one in ids)
