"""Tables to play on, and what a refusal must look like."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fairdeal.errors import FairdealError, FormatError, StateError, VerificationError
from seeds.local import Book, LocalTable


@pytest.fixture
def book():
    return Book()


@pytest.fixture
def new_table(book):
    """A table of a game on the test's own log."""

    def make(game: str = "kozel", **terms) -> LocalTable:
        return LocalTable(book, game, **terms)

    return make


@pytest.fixture(scope="session")
def refused():
    """A block that must raise an error of this package with one of these codes.

    The type is asserted too: format errors are no state errors.
    """

    @contextmanager
    def block(*codes: str, kind: type[FairdealError] | None = None) -> Iterator[None]:
        with pytest.raises(FairdealError) as caught:
            yield
        assert not codes or caught.value.code in codes, caught.value.code
        assert isinstance(caught.value, (FormatError, StateError, VerificationError))
        assert kind is None or isinstance(caught.value, kind)

    return block
