"""Object stores: a folder, memory, or S3, chosen by URL."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from longline.drivers.blobs.folder import FolderBlobs
from longline.drivers.extras import load_driver
from longline.model.errors import BadInput
from longline.ports.blobs import StreamingBlobs


def open_blobs(url: str) -> StreamingBlobs:
    """Return the store at a path, `file:///path`, `memory://` or `s3://bucket/prefix?endpoint=…`, without any I/O."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return _open_folder(url)
    match scheme.lower():
        case "file":
            return _open_folder(_file_path(url))
        case "memory" if not rest.strip("/"):
            memory: StreamingBlobs = load_driver("longline.drivers.blobs.object_store").open_memory()
            return memory
        case "s3":
            s3: StreamingBlobs = load_driver("longline.drivers.blobs.s3_address").open_s3(url)
            return s3
    raise BadInput(f"no object store is called {scheme}://: use a folder, memory:// or s3://bucket")


def _open_folder(path: str) -> FolderBlobs:
    if not path or "\0" in path:
        raise BadInput("the path of the objects folder is empty or has a NUL")
    # Absolute from the start: a later change of the working folder must not move the store.
    return FolderBlobs(Path(path).expanduser().absolute())


def _file_path(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        raise BadInput("a folder's address is file:///path, with three slashes, and nothing after the path")
    return unquote(parts.path)
