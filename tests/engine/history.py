"""The history of all schedules, runs and tasks by the event log, checked against the table of moves."""

from collections import defaultdict
from collections.abc import Sequence

import orjson

from longline.model.logs.event import Event
from longline.model.states import BY_NAME, Actor, Noun, TaskState, is_reachable, move

IN_HAND_OF = {"pending": "queued", "downloaded": "parsing", "queued_parse": "parsing"}
"""The state in which a task at rest shows while it has an owner."""


class History:
    """The states of every schedule, run and task by the events read so far; `faults` lists illegal events."""

    def __init__(self, born: dict[tuple[Noun, int], str]) -> None:
        self.states = dict(born)
        self.faults: list[str] = []
        self.reasons: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        self.moves = 0

    def read(self, events: Sequence[Event]) -> None:
        """Follow events in the order in which they were written."""
        for event in events:
            if event.moves is not None:
                for task_id, was, became, reason in orjson.loads(event.moves):
                    if event.actor != "person":
                        self.reasons[reason].append((task_id, became))
                    self._batched(event, task_id, was, became, reason)
            else:
                self._single(event)

    def _batched(self, event: Event, task_id: int, was: str, became: str, reason: str) -> None:
        """Follow one line of a batch: a report under a lease, a person's move, or the end of a task with its run."""
        self._follow(("task", task_id), was, became, f"{event.move} {reason}")
        if reason.startswith("run "):
            legal = was in move("task", "cancel").was and became == TaskState.CANCELLED
        elif event.actor == "person":
            rule = move("task", reason)
            legal = rule.became == became and bool({was, IN_HAND_OF.get(was)} & rule.was)
        else:
            legal = (
                event.actor == "worker"
                and was in IN_HAND_OF
                and is_reachable("task", IN_HAND_OF[was], became, "worker")
            )
        if not legal:
            self.faults.append(f"task {task_id} was brought from {was} to {became} by {event.actor} ({reason})")

    def _single(self, event: Event) -> None:
        """Follow one move of one noun, by its name in the table."""
        noun: Noun = event.noun  # type: ignore[assignment]
        rule = BY_NAME.get((noun, event.move))
        actor: Actor = event.actor  # type: ignore[assignment]
        before: set[str | None] = {*rule.was} if rule and rule.was else {None}
        if rule is None or event.was not in before or event.became != rule.became or actor not in rule.actors:
            self.faults.append(f"not in the table: {event}")
        if event.was is None:
            self.moves += 1
            if (noun, event.subject) in self.states:
                self.faults.append(f"created twice: {event}")
            self.states[noun, event.subject] = str(event.became)
            return
        was = event.was
        rest = self.states.get((noun, event.subject), "nothing")
        # A person sees the state in hand of a task; the rest is changed.
        if noun == "task" and IN_HAND_OF.get(rest) == was:
            was = rest
        self._follow((noun, event.subject), was, str(event.became), event.move)

    def _follow(self, thing: tuple[Noun, int], was: str, became: str, how: str) -> None:
        self.moves += 1
        before = self.states.get(thing)
        if before != was:
            self.faults.append(f"{thing} was {before}, then {how} led it from {was} to {became}")
        self.states[thing] = became
