"""Handlers of manifests: classes of the operator that adjust the downloads of a manifest.

A handler is a class with some of the hooks in `HOOKS`, each of them a function or a coroutine function. It is made once
in each process, with the options of its kind of manifests.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

import msgspec

from longline.model.errors import BadInput, LonglineError
from longline.model.fetch.credentials import header_problem
from longline.model.manifests.handler_hooks import BUILD, FINALIZE, HOOK_TIMEOUT_SECONDS, HOOKS, OVERRIDE, PREPARE
from longline.model.manifests.manifest import ManifestResource
from longline.model.manifests.manifest import ProxyHint as ProxyHint  # for authors of handlers
from longline.model.storable_text import storable

MAX_ERROR_CHARS = 2000
"""Length to which the text of an error of a handler is cut."""


class Manifest(msgspec.Struct, frozen=True):
    """A submitted manifest, as its handler gets it; the metadata is a copy."""

    id: str
    kind: str
    version: str
    metadata: dict[str, Any]
    resources: tuple[ManifestResource, ...]
    attributes: dict[str, Any]
    tenant: str = ""


class DownloadTask(msgspec.Struct, frozen=True):
    """One download that a handler wants: its URL and headers, and the place of its object.

    Without a `bucket` or a `key` the file is stored in the usual place; `object_metadata` are attributes of the object.
    With a `proxy_hint` the pools that it names serve the request, in the place of those of the kind.
    """

    resource_id: str
    url: str
    headers: dict[str, str] = {}
    tags: dict[str, str] = {}
    attributes: dict[str, Any] = {}
    bucket: str | None = None
    key: str | None = None
    object_metadata: dict[str, str] = {}
    proxy_hint: ProxyHint | None = None


class StoragePlace(msgspec.Struct, frozen=True):
    """The place of a file in the object store; a part that is None stays as it was."""

    bucket: str | None = None
    key: str | None = None
    object_metadata: dict[str, str] = {}


class ManifestSummary(msgspec.Struct, frozen=True):
    """The end of a manifest: `state` is completed or failed; a repeated call has the same `end_id`."""

    id: str
    kind: str
    tenant: str
    state: str
    total: int
    completed: int
    failed: int
    metadata_key: str
    error: str | None = None
    end_id: int = 0


class InvalidManifest(ValueError):
    """A manifest that its handler refuses; the text is for the sender."""


class HandlerFailed(LonglineError):
    """A hook that failed: the name of the hook, and whether it called the manifest invalid."""

    def __init__(self, hook: str, error: BaseException) -> None:
        super().__init__(f"{hook} failed: {_text(error)}")
        self.hook, self.is_refusal = hook, isinstance(error, InvalidManifest)


Emit = Callable[[DownloadTask], None]


class ManifestHandler:
    """The hooks of one kind of manifests; the default of each hook uses the manifest as it was submitted."""

    def __init__(self, hooks: object | None = None) -> None:
        self._hooks = {name: hook for name in HOOKS if (hook := getattr(hooks, name, None)) is not None}

    def has(self, hook: str) -> bool:
        """Return whether the handler has a hook of its own."""
        return hook in self._hooks

    async def tasks(self, manifest: Manifest) -> list[DownloadTask]:
        """Return the downloads of a manifest; raise `HandlerFailed` when a hook fails."""
        prepared = await self._call(PREPARE, manifest) if self.has(PREPARE) else manifest
        emitted: list[DownloadTask] = []
        if self.has(BUILD):
            await self._call(BUILD, prepared, emitted.append, gather=emitted)
        else:
            emitted = _echo(prepared if isinstance(prepared, Manifest) else manifest)
        return [_checked(task) for task in emitted]

    async def finalize(self, summary: ManifestSummary) -> None:
        """Tell the handler that a manifest has ended; raise `HandlerFailed` when the hook fails."""
        if self.has(FINALIZE):
            await self._call(FINALIZE, summary)

    @property
    def reads_manifests(self) -> bool:
        """Return whether a hook gets whole manifests."""
        return self.has(PREPARE) or self.has(BUILD)

    async def placed(self, task: DownloadTask) -> DownloadTask:
        """Return a task with the place that the handler chooses for its file."""
        found = await self._call(OVERRIDE, task) if self.has(OVERRIDE) else None
        if found is None:
            return task
        if not isinstance(found, StoragePlace):
            raise HandlerFailed(OVERRIDE, TypeError("the result is not a StoragePlace"))
        extra = task.object_metadata | found.object_metadata
        place = {"bucket": found.bucket or task.bucket, "key": found.key or task.key, "object_metadata": extra}
        return _checked(msgspec.structs.replace(task, **place))

    async def _call(self, name: str, *given: Any, gather: list[DownloadTask] | None = None) -> Any:
        """Call a hook, a plain function in a thread; tasks that a generator yields are gathered."""
        hook = self._hooks[name]
        try:
            async with asyncio.timeout(HOOK_TIMEOUT_SECONDS):
                if inspect.isasyncgenfunction(hook):
                    return await _gathered(hook(*given), gather)
                if inspect.iscoroutinefunction(hook):
                    return await hook(*given)
                return await asyncio.to_thread(_called, hook, given, gather)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise HandlerFailed(name, error) from error  # of the hook itself: nothing has cancelled this request
        except (Exception, SystemExit) as error:
            raise HandlerFailed(name, error) from error


def load_handler(place: str, options: Mapping[str, Any]) -> ManifestHandler:
    """Load the class at `package.module:Class`; raise `BadInput` for one that cannot be used."""
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise BadInput(f'the handler "{place}" has not the form package.module:Class')
    try:
        found = getattr(import_module(module), name)
        made = found(dict(options)) if _takes_options(found) else found()
    except Exception as error:
        raise BadInput(f'the handler "{place}" cannot be loaded: {_text(error)}') from error
    _check_hooks(place, made)
    return ManifestHandler(made)


def _takes_options(found: Any) -> bool:
    return bool(inspect.signature(found).parameters)


def _check_hooks(place: str, made: object) -> None:
    hooks = {name: getattr(made, name) for name in HOOKS if hasattr(made, name)}
    if not hooks:
        raise BadInput(f'the handler "{place}" has none of {", ".join(HOOKS)}')
    for name, hook in hooks.items():
        if not callable(hook):
            raise BadInput(f'{name} of the handler "{place}" is not a function')
        try:
            inspect.signature(hook).bind(*range(HOOKS[name]))
        except TypeError as error:
            raise BadInput(f'{name} of the handler "{place}" must take {HOOKS[name]} arguments') from error


def _echo(manifest: Manifest) -> list[DownloadTask]:
    return [DownloadTask(one.id, one.url, dict(one.headers), dict(one.tags)) for one in manifest.resources]


def _checked(task: object) -> DownloadTask:
    if not isinstance(task, DownloadTask):
        raise HandlerFailed(BUILD, TypeError("a task is not a DownloadTask"))
    try:
        found = msgspec.convert(msgspec.to_builtins(task), DownloadTask)
        msgspec.json.encode(found.attributes)
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError, RecursionError) as error:
        raise HandlerFailed(BUILD, error) from error
    if problem := _task_problem(found):
        raise HandlerFailed(BUILD, ValueError(problem))
    return found


def _task_problem(task: DownloadTask) -> str:
    """Return the reason for which a task cannot be sent or stored; an empty text for one that can be both."""
    if not task.resource_id:
        return "a task has no resource_id"
    for name, value in task.headers.items():
        if problem := header_problem(name, value):
            return f"the header {name} {problem}"
    fields = {"resource_id": task.resource_id, "url": task.url, "key": task.key or "", "bucket": task.bucket or ""}
    parts: dict[str, tuple[str, ...]] = {field: (text,) for field, text in fields.items()}
    parts["headers"] = tuple(task.headers.values())
    for field, named in (("tags", task.tags), ("object_metadata", task.object_metadata)):
        parts[field] = (*named, *named.values())
    wrong = (field for field, texts in parts.items() if any(storable(text) != text for text in texts))
    field = next(wrong, "")
    return f"a text of {field} has a character that cannot be stored" if field else ""


def _called(hook: Callable[..., Any], given: tuple[Any, ...], gather: list[DownloadTask] | None) -> Any:
    try:
        result = hook(*given)
    except StopIteration as error:
        # A future cannot have it as its error, so nothing would wake the caller.
        raise RuntimeError("function raised StopIteration") from error
    if gather is not None and isinstance(result, Iterable):
        gather.extend(result)
    return result


async def _gathered(tasks: AsyncIterator[DownloadTask], gather: list[DownloadTask] | None) -> None:
    async for task in tasks:
        if gather is not None:
            gather.append(task)


def _text(error: BaseException) -> str:
    """Return the name and the text of an error of foreign code, whose text may be long, or fail itself."""
    try:
        text = storable(str(error))[:MAX_ERROR_CHARS]
    except Exception:
        text = ""
    name = storable(type(error).__name__)
    return f"{name}: {text}" if text else name
