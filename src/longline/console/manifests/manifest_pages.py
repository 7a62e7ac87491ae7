"""Pages of manifests and dead letters: downloads that were given up, and their replay."""

from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.paging import page_of
from longline.console.template_filters import counted
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.manifests.manifest import ManifestFilter
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_LETTERS = 100

Text = Annotated[str, msgspec.Meta(max_length=200)]


class ManifestPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of manifests."""

    pages: Pages
    manifests: ManifestSnapshots
    letters: DeadLetters


class ManifestListQuery(msgspec.Struct, frozen=True):
    """The place in the list of manifests."""

    before: int | None = None


class LetterListQuery(msgspec.Struct, frozen=True):
    """The filters of the list of dead letters, and the place in it."""

    reason: Text = ""
    host: Text = ""
    run: int | None = None
    waiting: bool = False
    after: int = 0

    @property
    def choice(self) -> DeadLetterFilter:
        """The letters that are chosen."""
        return DeadLetterFilter(
            run_id=self.run,
            reason=self.reason.strip() or None,
            host=self.host.strip() or None,
            replayed=False if self.waiting else None,
        )


class ReplayForm(msgspec.Struct, frozen=True):
    """The filter of the letters that are replayed."""

    letter_reason: Text = ""
    host: Text = ""
    run: int = 0

    @property
    def choice(self) -> DeadLetterFilter:
        """The letters that are chosen, but for those that were replayed before."""
        return LetterListQuery(self.letter_reason, self.host, self.run or None, waiting=True).choice


@operation("GET", "/console/manifests", "Show manifests", access="reader")
async def show_manifests(
    services: ManifestPageServices, query: ManifestListQuery, identity: Visitor
) -> ApiResponse[Any]:
    found, older = await services.manifests.page(ManifestFilter(), query.before, PAGE_SIZE)
    return services.pages.page("manifests/list.html", identity, section="manifests", manifests=found, older=older)


@operation("GET", "/console/manifests/{uid}", "Show a manifest", access="reader")
async def show_manifest(services: ManifestPageServices, uid: str, identity: Visitor) -> ApiResponse[Any]:
    found = await services.manifests.get(uid)
    letters = await services.letters.find([DeadLetterFilter(run_id=found.run_id)], 0, MAX_LETTERS)
    return services.pages.page(
        "manifests/page.html", identity, section="manifests", manifest=found, letters=letters, most=MAX_LETTERS
    )


@operation("GET", "/console/dead-letters", "Show dead letters", access="reader")
async def show_letters(services: ManifestPageServices, query: LetterListQuery, identity: Visitor) -> ApiResponse[Any]:
    letters, last = page_of(await services.letters.find([query.choice], query.after, PAGE_SIZE + 1), PAGE_SIZE)
    return services.pages.page(
        "manifests/letters.html",
        identity,
        section="dead-letters",
        letters=letters,
        filters={"reason": query.reason, "host": query.host, "run": query.run, "waiting": query.waiting},
        older=None if last is None else last.number,
    )


@operation("POST", "/console/dead-letters/replay", "Replay dead letters", access="action", action="dead_letter.replay")
async def replay_letters(services: ManifestPageServices, body: ReplayForm) -> ApiResponse[Any]:
    count = await services.letters.replay([body.choice])
    return acted("/console/dead-letters", f"{counted(count, 'letter')} replayed.")


@operation(
    "POST",
    "/console/dead-letters/{number}/replay",
    "Replay a dead letter",
    access="action",
    action="dead_letter.replay",
)
async def replay_letter(services: ManifestPageServices, number: int) -> ApiResponse[Any]:
    letter = await services.letters.get(number)
    is_replayed = await services.letters.replay_one(number)
    outcome = "is replayed: its task is open again" if is_replayed else "was replayed before, or its run is gone"
    return acted(f"/console/tasks/{letter.task_id}", f"Letter {number:,} {outcome}.")


MANIFEST_PAGES = (show_manifests, show_manifest, show_letters, replay_letters, replay_letter)
