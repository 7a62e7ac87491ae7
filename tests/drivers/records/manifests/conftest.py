"""Records on each engine for the tests of this folder."""

from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
