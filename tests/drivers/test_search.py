"""Search on a cluster, opened by its nodes."""

import pytest

from longline.drivers.search import open_search
from longline.model.errors import Unavailable


async def test_nothing_is_touched_until_something_is_asked():
    search = open_search(["http://127.0.0.1:1"], "id:key")
    with pytest.raises(Unavailable):
        await search.check()
    await search.close()
