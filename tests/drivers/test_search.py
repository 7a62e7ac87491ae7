"""Search on a cluster, opened by its nodes."""

import pytest

from longline.drivers.search import open_search
from longline.model.errors import Unavailable


async def test_opening_search_sends_no_request():
    search = open_search(["http://127.0.0.1:1"], "id:key")
    with pytest.raises(Unavailable):
        await search.check()
    await search.close()
