"""Diagrams of states: every state has a place and can be highlighted, every move is an edge."""

import re
from itertools import combinations

import pytest

from longline.console.drawing.state_diagram import PLACES, moves_from, state_diagram
from longline.model.states import MOVES, STATES, Noun, legal

EVERY_STATE = [(noun, state.value) for noun, states in STATES.items() for state in states]


def test_every_state_of_the_table_has_a_place():
    assert {noun: set(places) for noun, places in PLACES.items()} == {
        noun: {state.value for state in states} for noun, states in STATES.items()
    }


def test_no_two_boxes_overlap():
    for places in PLACES.values():
        for (ax, ay), (bx, by) in combinations(places.values(), 2):
            assert abs(ax - bx) >= 115 or abs(ay - by) >= 40


@pytest.mark.parametrize(("noun", "state"), EVERY_STATE)
def test_every_state_is_drawn_and_lit(noun: Noun, state: str):
    drawn = state_diagram(noun, state)
    assert drawn.count('class="box here"') == 1
    assert drawn.count('class="halo"') == 1
    assert len(re.findall('class="box ', drawn)) == len(STATES[noun])
    for name in STATES[noun]:
        assert name.value.replace("_", " ") in drawn


@pytest.mark.parametrize(("noun", "state"), EVERY_STATE)
def test_legal_moves_are_lit_and_named_and_no_other(noun: Noun, state: str):
    lit = re.findall(r'<path class="edge lit"[^>]*><title>([^<]*)</title>', state_diagram(noun, state))
    ways = {name for names in lit for name in names.split(", ")}
    away = {name for name, became in moves_from(noun, state) if became != state}
    assert ways == away
    assert {name for name, _ in moves_from(noun, state)} == set(legal(noun, state))


def test_every_move_is_an_edge_of_some_diagram():
    drawn = {noun: "".join(state_diagram(noun, state.value) for state in states) for noun, states in STATES.items()}
    for move in MOVES:
        if move.was - {move.became}:
            assert move.name in drawn[move.noun]


def test_the_way_that_was_taken_is_dark():
    drawn = state_diagram("task", "crawling", ["pending", "queued"])
    assert drawn.count('class="edge past"') >= 2
    assert drawn.count('class="box past"') == 2
