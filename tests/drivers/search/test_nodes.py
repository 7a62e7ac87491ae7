"""The nodes of a cluster: an unreachable node is replaced by the next one."""

import base64
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from wreq import Method

from longline.drivers.search.nodes import NodeOptions, Nodes
from longline.model.errors import BadInput, Unavailable
from tests.drivers.search.cluster import Cluster, running

NOBODY = "http://127.0.0.1:1"


async def test_the_next_node_is_tried_and_remembered():
    async with running(Cluster()) as cluster:
        nodes = Nodes([NOBODY, cluster.url + "/"], "", NodeOptions())
        for _ in range(2):
            assert (await nodes.send(Method.GET, "/")).status == 200
        cluster.trouble = [503]
        with pytest.raises(Unavailable, match=r"503 planted; .*127\.0\.0\.1:1"):
            await nodes.send(Method.GET, "/")
        await nodes.close()


async def test_without_a_node_search_is_unavailable_in_one_line():
    nodes = Nodes([NOBODY], "", NodeOptions())
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
        nodes = Nodes([cluster.url.replace("//", f"//{name}")], key, NodeOptions())
        assert (await nodes.send(Method.GET, "/")).status == 200
        assert cluster.headers.get("authorization") == sent
        cluster.trouble = [429]
        with pytest.raises(Unavailable) as refused:
            await nodes.send(Method.GET, "/")
        await nodes.close()
    assert "me:" not in str(refused.value)


# -- TLS --------------------------------------------------------------------------------------------------------


def secured(issuer: trustme.CA, *, asks: bool = False) -> ssl.SSLContext:
    """Return the TLS context of a node; one that `asks` requires a client certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("127.0.0.1").configure_cert(context)
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        issuer.configure_trust(context)
    return context


async def said(cluster: Cluster, manners: NodeOptions) -> int | None:
    """Return the status of a response, or None without one."""
    nodes = Nodes([cluster.url], "", manners)
    try:
        return (await nodes.send(Method.GET, "/")).status
    except Unavailable:
        return None
    finally:
        await nodes.close()


async def test_nodes_are_verified_by_certificate_unless_the_operator_disables_it(tmp_path: Path):
    issuer, roots = trustme.CA(), tmp_path / "issuer.pem"
    issuer.cert_pem.write_to_path(roots)
    async with running(Cluster(), secured(issuer)) as cluster:
        assert await said(cluster, NodeOptions()) is None
        assert await said(cluster, NodeOptions(roots)) == 200
        assert await said(cluster, NodeOptions(verify=False)) == 200


async def test_a_node_may_require_a_client_certificate(tmp_path: Path):
    issuer, roots, ours = trustme.CA(), tmp_path / "issuer.pem", (tmp_path / "cert.pem", tmp_path / "key.pem")
    issuer.cert_pem.write_to_path(roots)
    mine = issuer.issue_cert("longline.test")
    mine.cert_chain_pems[0].write_to_path(ours[0])
    ours[1].write_bytes(pkcs8(mine.private_key_pem.bytes()))
    async with running(Cluster(), secured(issuer, asks=True)) as cluster:
        assert await said(cluster, NodeOptions(roots)) is None
        assert await said(cluster, NodeOptions(roots, ours)) == 200


def pkcs8(pem: bytes) -> bytes:
    """Return a private key in PKCS #8, the present default form."""
    key = serialization.load_pem_private_key(pem, None)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_unusable_certificate_is_reported_in_one_line(tmp_path: Path, content: str | None):
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    for file in files if content else ():
        file.write_text(content or "")
    with pytest.raises(BadInput, match=r"cert\.pem") as refused:
        Nodes(["https://127.0.0.1:1"], "", NodeOptions(identity=files))
    assert "\n" not in str(refused.value)
