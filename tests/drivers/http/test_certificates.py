"""Certificates: the operator's issuers are added to the usual ones, and every invalid certificate is refused."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import pytest
import trustme

from longline.drivers.http import WreqHttp
from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.connection_pool import TlsSettings
from longline.model.errors import BadInput
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import keeps_answering, serving, to_loopback

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def issuer() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(autouse=True)
def no_list_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


def certificate(issuer: trustme.CA, host: str = "site.test", days: int = 1) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    until = NOW + timedelta(days=days)
    issuer.issue_cert(host, not_before=until - timedelta(days=30), not_after=until).configure_cert(context)
    return context


def written(issuer: trustme.CA, folder: Path, name: str = "issuer.pem") -> Path:
    file = folder / name
    issuer.cert_pem.write_to_path(file)
    return file


@asynccontextmanager
async def trusting(roots: Path | None) -> AsyncIterator[WreqHttp]:
    client = WreqHttp(to_loopback, roots=roots)
    yield client
    await client.close()


async def fetched(client: WreqHttp, context: ssl.SSLContext) -> str:
    """Return `ok`, or the kind of the failure."""
    async with serving(keeps_answering, secure=context) as server:
        try:
            answer = await client.fetch(Request(server.url("/x", "site.test", "https")))
        except FetchFailed as failed:
            return failed.kind if "certificate verify failed" in str(failed) else str(failed)
        return "ok" if answer.body == b"/x" else repr(answer)


async def test_an_issuer_of_the_operator_is_trusted(issuer: trustme.CA, tmp_path: Path):
    async with trusting(written(issuer, tmp_path)) as client:
        assert await fetched(client, certificate(issuer)) == "ok"
        assert await fetched(client, certificate(issuer, host="other.test")) == "tls"
        assert await fetched(client, certificate(issuer, days=-1)) == "tls"
        assert await fetched(client, certificate(trustme.CA())) == "tls"


async def test_a_certificate_of_an_unknown_issuer_is_refused(issuer: trustme.CA):
    async with trusting(None) as client:
        assert await fetched(client, certificate(issuer)) == "tls"


async def test_a_self_signed_certificate_is_trusted_only_if_the_operator_lists_it(issuer: trustme.CA, tmp_path: Path):
    """A self-signed certificate is treated like one of an unknown issuer, unless the operator lists it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent / "site.test.pem")
    async with trusting(written(issuer, tmp_path)) as client:
        assert await fetched(client, context) == "tls"
    async with trusting(Path(__file__).parent / "site.test.pem") as client:
        assert await fetched(client, context) == "ok"


async def test_the_operators_file_adds_to_the_other_issuers(
    issuer: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each of three issuers, one from each list, is trusted as long as its list is used."""
    mozilla, system = trustme.CA(), trustme.CA()
    monkeypatch.setattr(certifi, "where", lambda: str(written(mozilla, tmp_path, "mozilla.pem")))
    monkeypatch.setenv("SSL_CERT_FILE", str(written(system, tmp_path, "system.pem")))
    async with trusting(written(issuer, tmp_path)) as client:
        assert [await fetched(client, certificate(one)) for one in (mozilla, system, issuer)] == ["ok", "ok", "ok"]
        assert client.issuers == tuple(tmp_path / name for name in ("mozilla.pem", "system.pem", "issuer.pem"))
    async with trusting(None) as client:
        assert [await fetched(client, certificate(one)) for one in (mozilla, system, issuer)] == ["ok", "ok", "tls"]
        assert client.issuers == tuple(tmp_path / name for name in ("mozilla.pem", "system.pem"))


def test_a_system_without_issuers_uses_those_of_certifi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    monkeypatch.setattr("longline.drivers.http.certificates._SYSTEM", ())
    assert load_issuers().files == (Path(certifi.where()),)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "no certificates can be read"),
        ("", "holds no certificate"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "holds no certificate"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is broken"),
    ],
)
def test_an_unusable_file_of_issuers_is_refused(tmp_path: Path, content: str | None, complaint: str):
    file = tmp_path / "issuer.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadInput, match=complaint) as caught:
        load_issuers(file)
    assert str(file) in str(caught.value)


# -- TLS settings of the operator -------------------------------------------------------------------------------


async def speaking(tls: TlsSettings, context: ssl.SSLContext) -> str:
    client = WreqHttp(to_loopback, tls=tls)
    try:
        return await fetched(client, context)
    finally:
        await client.close()


async def test_without_verification_every_certificate_is_accepted(issuer: trustme.CA):
    for context in (certificate(issuer), certificate(issuer, host="other.test"), certificate(issuer, days=-1)):
        assert await speaking(TlsSettings(), context) == "tls"
        assert await speaking(TlsSettings(verify=False), context) == "ok"


@pytest.mark.parametrize(
    ("tls", "server", "well"),
    [
        (TlsSettings(False, "1.2", "1.3"), ssl.TLSVersion.TLSv1_2, True),
        (TlsSettings(False, "1.2", "1.3"), ssl.TLSVersion.TLSv1_3, True),
        (TlsSettings(False, "1.3", "1.3"), ssl.TLSVersion.TLSv1_2, False),
        (TlsSettings(False, "1.2", "1.2"), ssl.TLSVersion.TLSv1_3, False),
        (TlsSettings(False, "1.2", "1.2"), ssl.TLSVersion.TLSv1_2, True),
    ],
)
async def test_connections_use_the_configured_tls_versions(
    issuer: trustme.CA, tls: TlsSettings, server: ssl.TLSVersion, well: bool
):
    context = certificate(issuer)
    context.minimum_version = context.maximum_version = server
    assert (await speaking(tls, context) == "ok") is well
