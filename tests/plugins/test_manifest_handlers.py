"""Handlers are loaded and checked once, and their hooks may be functions, coroutine functions or generators."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.model.manifests.manifest import ManifestResource
from longline.plugins.manifest_handlers import (
    MAX_ERROR_CHARS,
    DownloadTask,
    HandlerFailed,
    InvalidManifest,
    Manifest,
    ManifestHandler,
    ManifestSummary,
    StoragePlace,
    load_handler,
)

MANIFEST = Manifest("1", "gallery", "v1", {}, (ManifestResource("a", "https://a.example/", {"H": "1"}),), {})
SUMMARY = ManifestSummary("1", "gallery", "", "completed", 1, 1, 0, "key")


class AsyncGenerator:
    async def build_tasks(self, _: Manifest, emit: Any) -> AsyncIterator[DownloadTask]:
        emit(DownloadTask("first", "https://a.example/1"))
        yield DownloadTask("second", "https://a.example/2")


class WrongTask:
    def build_tasks(self, _: Manifest, emit: Any) -> None:
        emit({"resource_id": "a"})


class Refusing:
    async def prepare_manifest(self, _: Manifest) -> Manifest:
        raise InvalidManifest("no")


class WrongPlace:
    def override_storage(self, _: DownloadTask) -> Any:
        return "there"


class Options:
    def __init__(self, options: dict[str, Any]) -> None:
        self.key = options["key"]

    def override_storage(self, _: DownloadTask) -> StoragePlace:
        return StoragePlace(key=self.key)


class TooFewArguments:
    def finalize_job(self) -> None:
        """Accept no argument, unlike the hook of a handler."""


class Broken:
    def __init__(self) -> None:
        raise RuntimeError("boom")


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


async def test_without_hooks_the_manifest_is_used_unchanged():
    [task] = await ManifestHandler().tasks(MANIFEST)
    assert task == DownloadTask("a", "https://a.example/", {"H": "1"})
    assert await ManifestHandler().placed(task) == task
    await ManifestHandler().finalize(SUMMARY)


async def test_tasks_are_emitted_and_yielded():
    tasks = await ManifestHandler(AsyncGenerator()).tasks(MANIFEST)
    assert [task.resource_id for task in tasks] == ["first", "second"]


@pytest.mark.parametrize(("made", "is_refusal"), [(WrongTask(), False), (Refusing(), True)])
async def test_a_refusal_by_a_hook_differs_from_a_failure(made: object, is_refusal: bool):
    with pytest.raises(HandlerFailed) as caught:
        await ManifestHandler(made).tasks(MANIFEST)
    assert caught.value.is_refusal is is_refusal


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"headers": {"X A": "a"}}, "the header X A is not a valid header name"),
        ({"headers": {"X-A": "a\r\nX-B: b"}}, "the header X-A must not contain line breaks"),
        ({"resource_id": ""}, "a task has no resource_id"),
        ({"resource_id": "a\0b"}, "a text of resource_id has a character that cannot be stored"),
        ({"resource_id": "\ud800"}, "a text of resource_id has a character that cannot be stored"),
        ({"url": "https://a.example/\ud800"}, "a text of url has a character that cannot be stored"),
        ({"key": "a\0b"}, "a text of key has a character that cannot be stored"),
        ({"bucket": "\ud800"}, "a text of bucket has a character that cannot be stored"),
        ({"tags": {"content_type": "a\0"}}, "a text of tags has a character that cannot be stored"),
        ({"object_metadata": {"a\ud800": "b"}}, "a text of object_metadata has a character that cannot be stored"),
        ({"attributes": {"a": ["\ud800"]}}, "surrogates not allowed"),
        ({"attributes": {"a": nested(100_000)}}, "recursion"),
    ],
)
async def test_a_task_that_cannot_be_sent_or_stored_is_a_failure(wrong: dict[str, Any], why: str):
    class Odd:
        def build_tasks(self, _prepared: Manifest, emit: Callable[[DownloadTask], None]) -> None:
            emit(DownloadTask(**{"resource_id": "a", "url": "https://a.example/"} | wrong))

    with pytest.raises(HandlerFailed, match=why):
        await ManifestHandler(Odd()).tasks(MANIFEST)


class Untold(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StopIteration(), "prepare_manifest failed: RuntimeError: function raised StopIteration"),
        (SystemExit(3), "prepare_manifest failed: SystemExit: 3"),
        (asyncio.CancelledError(), "prepare_manifest failed: CancelledError"),
        (ValueError("a\ud800b\0c"), "prepare_manifest failed: ValueError: a?bc"),
        (ValueError("x" * 10_000), "prepare_manifest failed: ValueError: " + "x" * MAX_ERROR_CHARS),
        (Untold(), "prepare_manifest failed: Untold"),
    ],
    ids=lambda given: type(given).__name__,
)
async def test_any_error_of_a_hook_is_a_failure_with_a_text(error: BaseException, said: str):
    class Failing:
        def prepare_manifest(self, _manifest: Manifest) -> Manifest:
            raise error

    class AlsoFailing:
        async def prepare_manifest(self, _manifest: Manifest) -> Manifest:
            raise error

    hooks = [Failing()] if isinstance(error, StopIteration) else [Failing(), AlsoFailing()]
    for hook in hooks:
        with pytest.raises(HandlerFailed) as caught:
            await asyncio.wait_for(ManifestHandler(hook).tasks(MANIFEST), 10)
        assert str(caught.value) == said


async def test_a_cancelled_request_stays_cancelled():
    class Slow:
        async def prepare_manifest(self, _manifest: Manifest) -> Manifest:
            await asyncio.sleep(60)
            raise AssertionError("not cancelled")

    asked = asyncio.create_task(ManifestHandler(Slow()).tasks(MANIFEST))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_wrong_place_is_a_failure():
    with pytest.raises(HandlerFailed):
        await ManifestHandler(WrongPlace()).placed(DownloadTask("a", "https://a.example/"))


async def test_options_are_given_to_the_class():
    handler = load_handler(f"{__name__}:Options", {"key": "k"})
    assert (await handler.placed(DownloadTask("a", "https://a.example/"))).key == "k"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere", "form"),
        ("nowhere.at.all:Class", "cannot be loaded"),
        (f"{__name__}:Missing", "cannot be loaded"),
        (f"{__name__}:Broken", "boom"),
        (f"{__name__}:TooFewArguments", "must take 1 argument"),
        ("builtins:object", "has none of"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_at_the_start(place: str, said: str):
    with pytest.raises(BadInput, match=said):
        load_handler(place, {})
