"""The frontier by host: hosts in line, the queue of a host, and workers with their hands."""

from typing import Annotated, Any, Literal

import msgspec

from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.frontier.frontier_lists import MAX_COUNTED_TASKS, ListedHost, PlaceInLine
from longline.services.frontier.host_lists import HostLists
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50


class HostListServices(msgspec.Struct, frozen=True):
    """The services behind the pages of hosts and workers."""

    pages: Pages
    hosts: HostLists


class HostListQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it: a time and a host, or a name."""

    show: Literal["free", "held"] = "free"
    text: Annotated[str, msgspec.Meta(max_length=255)] = ""
    at: int = -1
    after: int = 0
    name: Annotated[str, msgspec.Meta(max_length=255)] = ""


class QueueQuery(msgspec.Struct, frozen=True):
    """The place in the queue of a host."""

    due: int | None = None
    priority: int = 0
    run: int = 0
    id: int = 0

    @property
    def place(self) -> PlaceInLine | None:
        """The place behind which the queue goes on."""
        return None if self.due is None else PlaceInLine(self.due, self.priority, self.run, self.id)


async def _hosts(services: HostListServices, query: HostListQuery) -> list[ListedHost]:
    if query.text.strip():
        return await services.hosts.named(query.text, query.name, PAGE_SIZE + 1)
    chosen = services.hosts.held if query.show == "held" else services.hosts.free
    return await chosen((query.at, query.after), PAGE_SIZE + 1)


def _older(last: ListedHost, query: HostListQuery) -> dict[str, Any]:
    """Return the place behind a host."""
    return {"name": last.host} if query.text.strip() else {"at": last.wake_at, "after": last.host_id}


@operation("GET", "/console/hosts", "Show hosts in line", access="reader")
async def show_hosts(services: HostListServices, query: HostListQuery, identity: Visitor) -> ApiResponse[Any]:
    shown, last = page_of(await _hosts(services, query), PAGE_SIZE)
    return services.pages.page(
        "tasks/hosts.html",
        identity,
        section="hosts",
        hosts=shown,
        filters={"show": query.show, "text": query.text},
        older=None if last is None else _older(last, query),
        most=MAX_COUNTED_TASKS,
    )


@operation("GET", "/console/hosts/{host}", "Show the queue of a host", access="reader")
async def show_host(services: HostListServices, host: str, query: QueueQuery, identity: Visitor) -> ApiResponse[Any]:
    found = await services.hosts.get(host)
    tasks, last = page_of(await services.hosts.queue(found, query.place, PAGE_SIZE + 1), PAGE_SIZE)
    return services.pages.page(
        "tasks/host.html",
        identity,
        section="hosts",
        host=found,
        tasks=tasks,
        older=None if last is None else _behind(last.place),
        most=MAX_COUNTED_TASKS,
    )


def _behind(place: PlaceInLine) -> dict[str, int]:
    """Return the query that continues a queue behind a place."""
    return {"due": place.due, "priority": place.priority, "run": place.run_id, "id": place.id}


@operation("GET", "/console/workers", "Show workers", access="reader")
async def show_workers(services: HostListServices, identity: Visitor) -> ApiResponse[Any]:
    hands = await services.hosts.workers()
    return services.pages.page("tasks/workers.html", identity, section="workers", hands=hands)


@operation("GET", "/console/workers/{worker_id}", "Show the hand of a worker", access="reader")
async def show_worker(services: HostListServices, worker_id: int, identity: Visitor) -> ApiResponse[Any]:
    hosts, tasks, taken = await services.hosts.hand(worker_id)
    workers = [hand for hand in await services.hosts.workers() if hand.worker.id == worker_id]
    return services.pages.page(
        "tasks/worker.html",
        identity,
        section="workers",
        worker_id=worker_id,
        hand=workers[0] if workers else None,
        hosts=hosts,
        tasks=tasks,
        taken=taken,
    )


HOST_LIST = (show_hosts, show_host, show_workers, show_worker)
