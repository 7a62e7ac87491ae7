"""Trusted certificate issuers: Mozilla's list, the system's, and the operator's own file on top."""

import os
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import certifi
import wreq

from longline.model.errors import BadInput

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.S)
_SYSTEM = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, the BSDs
)


class TrustedCertificates(NamedTuple):
    """A certificate store for the client, and the files that went into it."""

    store: wreq.CertStore
    files: tuple[Path, ...]


def load_issuers(extra: Path | None = None) -> TrustedCertificates:
    """Return the trusted certificates, with the issuers of a PEM file added to the usual ones."""
    files = [Path(certifi.where()), *_system_file()]
    certificates = [each for file in files for each in _certificates(file)]
    if extra is not None:
        certificates += _operators(extra)
        files.append(extra)
    # Several lists have the same issuer: add each once.
    return TrustedCertificates(wreq.CertStore(pem_certs=list(dict.fromkeys(certificates))), tuple(files))


def _system_file() -> Iterator[Path]:
    """Yield the system's own list, if there is one in a usual place."""
    configured = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    candidates = (Path(name) for name in (configured, *_SYSTEM) if name)
    file = next((path for path in candidates if path.is_file() and os.access(path, os.R_OK)), None)
    if file is not None:
        yield file


def _certificates(file: Path) -> list[str]:
    return _CERTIFICATE.findall(file.read_text("utf-8", "replace"))


def _operators(file: Path) -> list[str]:
    """Return the issuers of the operator's own file, checked because the client skips broken ones silently."""
    try:
        found = _certificates(file)
        for each in found:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=each)
    except ssl.SSLError:
        raise BadInput(f"{file} holds a certificate that is broken") from None
    except OSError as error:
        raise BadInput(f"no certificates can be read from {file}: {error.strerror}") from None
    if not found:
        raise BadInput(f"{file} holds no certificate in PEM form")
    return found
