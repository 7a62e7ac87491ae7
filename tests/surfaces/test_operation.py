"""Operations, as described by a handler's signature."""

from typing import Any

import pytest

from longline.surfaces.operation import operation
from tests.surfaces import small_door as small


def test_an_operation_knows_its_request_from_the_parameters_of_its_handler():
    assert small.add_book.name == "add_book"
    assert (small.add_book.body, small.add_book.needs_body, small.add_book.status) == (small.Book, True, 201)
    assert small.show_book.path_parameters == {"number": int}
    assert small.list_books.parameters["query"] is small.BookQuery
    assert small.list_books.answers == {200: small.Shelf}


def test_a_body_that_may_be_none_is_not_needed():
    assert (small.write_note.body, small.write_note.needs_body) == (small.Book, False)


def test_the_usual_status_is_the_lowest():
    assert small.show_book.status == 200


def test_a_parameter_that_no_request_fills_is_refused():
    async def wrong(colour: str) -> dict[str, Any]:
        return {"colour": colour}

    with pytest.raises(TypeError, match="wrong has parameters that no request fills: colour"):
        operation("GET", "/x/{size}", "Be wrong")(wrong)
