"""Files that a worker stored under a lease that it had lost: the object may not be the one that the rows describe.

A worker that was stopped between its last look at the lease and the end of an upload overwrites the object of the
worker that took over. The rows are right then, and the object is put right: the task is opened again.
"""

import hashlib
import logging
from itertools import islice

from longline.engine.lifecycle.tasks import TaskLifecycle, TaskOrder
from longline.model.bounded_dict import BoundedDict
from longline.model.downloads.download import DownloadRow, StoredFile
from longline.model.errors import NotFound
from longline.model.states import ENDED, TaskState
from longline.ports.blobs import Blobs, StreamingBlobs
from longline.ports.records.downloads import DownloadStore

log = logging.getLogger(__name__)

MAX_DISPUTED_FILES = 10_000
BATCH_SIZE = 100
READ_BYTES = 1024 * 1024


class DisputedFiles:
    """The disputed files of one worker, each until its task has ended."""

    def __init__(self, blobs: StreamingBlobs, downloads: DownloadStore, tasks: TaskLifecycle) -> None:
        self._blobs, self._downloads, self._tasks = blobs, downloads, tasks
        self._files: BoundedDict[int, StoredFile] = BoundedDict(MAX_DISPUTED_FILES)

    def add(self, task_id: int, file: StoredFile) -> None:
        """Remember a file whose report was refused."""
        log.warning("file stored under a lost lease", extra={"task": task_id, "key": file.key})
        self._files[task_id] = file

    async def settle(self) -> None:
        """Compare disputed files with the rows of those who reported them, and put right the objects that differ."""
        for task_id, file in list(islice(self._files.items(), BATCH_SIZE)):
            row = await self._downloads.get(task_id)
            if row is None or row.state in ENDED:
                if row is not None:
                    await self._compare(row, file)
                self._files.pop(task_id, None)
            else:
                self._files.move_to_end(task_id)  # its holder may have stored the object already, and reports later

    async def _compare(self, row: DownloadRow, file: StoredFile) -> None:
        if row.state == TaskState.COMPLETED and row.sha256 == file.sha256:
            return
        blobs = self._blobs if file.bucket is None else self._blobs.bucket(file.bucket)
        found = await digest_of(blobs, file)
        if found is None or (row.state == TaskState.COMPLETED and found == row.sha256):
            return
        log.warning("object differs from its row", extra={"task": row.task_id, "key": file.key, "state": row.state})
        if row.state == TaskState.COMPLETED:
            await self._tasks.move_all(TaskOrder("restart", "upkeep", "object overwritten"), [row.task_id])
        elif found == file.sha256:
            await blobs.delete([file.key])


async def digest_of(blobs: Blobs, file: StoredFile) -> str | None:
    """Return the digest of as many bytes of an object as the file has; None when the object is gone or shorter."""
    digest = hashlib.sha256()
    try:
        for start in range(0, file.bytes, READ_BYTES):
            digest.update(await blobs.get_range(file.key, start, min(READ_BYTES, file.bytes - start)))
    except NotFound:
        return None
    return digest.hexdigest()
