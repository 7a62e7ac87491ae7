"""The nodes of a cluster: the next one is asked where one is away."""

import base64

import pytest
from wreq import Method

from longline.drivers.search.nodes import Nodes
from longline.model.errors import Unavailable
from tests.drivers.search.cluster import Cluster, running

NOBODY = "http://127.0.0.1:1"


async def test_the_next_node_is_asked_and_remembered():
    async with running(Cluster()) as cluster:
        nodes = Nodes([NOBODY, cluster.url + "/"], "", None)
        for _ in range(2):
            assert (await nodes.send(Method.GET, "/")).status == 200
        cluster.trouble = [503]
        with pytest.raises(Unavailable, match=r"503 planted; .*127\.0\.0\.1:1"):
            await nodes.send(Method.GET, "/")
        await nodes.close()


async def test_without_a_node_search_is_unavailable_in_one_line():
    nodes = Nodes([NOBODY], "", None)
    with pytest.raises(Unavailable, match="search cannot be used") as refused:
        await nodes.send(Method.GET, "/")
    assert "\n" not in str(refused.value)
    await nodes.close()


@pytest.mark.parametrize(
    ("name", "key", "sent"),
    [
        ("", "", None),
        ("me:p%40ss@", "", "Basic " + base64.b64encode(b"me:p@ss").decode()),
        ("me:x@", "i:k", "ApiKey aTpr"),
    ],
)
async def test_credentials_go_into_a_header_and_into_no_message(name: str, key: str, sent: str | None):
    async with running(Cluster()) as cluster:
        nodes = Nodes([cluster.url.replace("//", f"//{name}")], key, None)
        assert (await nodes.send(Method.GET, "/")).status == 200
        assert cluster.headers.get("authorization") == sent
        cluster.trouble = [429]
        with pytest.raises(Unavailable) as refused:
            await nodes.send(Method.GET, "/")
        await nodes.close()
    assert "me:" not in str(refused.value)
