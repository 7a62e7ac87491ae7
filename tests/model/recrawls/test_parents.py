import pytest

from longline.model.errors import BadInput
from longline.model.recrawls.parents import MAX_DEPTH, check_parent


def test_a_recrawl_may_have_children_until_the_largest_depth():
    check_parent(1, MAX_DEPTH - 1, "pending")
    with pytest.raises(BadInput, match="3 parents above it"):
        check_parent(1, MAX_DEPTH, "pending")


def test_no_task_waits_for_a_cancelled_one():
    with pytest.raises(BadInput, match="is cancelled"):
        check_parent(1, 0, "cancelled")
