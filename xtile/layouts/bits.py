"""Linear algebra over bits: vectors are integers, and addition is exclusive or."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Span:
    """The sums of some vectors, which are added one by one.

    Args:
        vectors: The vectors to begin with.
    """

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self._reduced: dict[int, tuple[int, int]] = {}
        self._count = 0
        for vector in vectors:
            self.add(vector)

    @property
    def rank(self) -> int:
        """How many of the vectors are independent of those before them."""
        return len(self._reduced)

    def add(self, vector: int) -> bool:
        """Adds a vector, and returns whether it is independent of those before it."""
        rest, combination = self._reduce(vector)
        if rest:
            self._reduced[rest.bit_length()] = rest, combination | 1 << self._count
        self._count += 1
        return bool(rest)

    def __contains__(self, vector: int) -> bool:
        return not self._reduce(vector)[0]

    def combination(self, vector: int) -> int | None:
        """Which vectors add up to another one, as a set of bits; None if none do.

        Only vectors are taken that are independent of those before them, so there is one answer.
        """
        rest, combination = self._reduce(vector)
        return None if rest else combination

    def _reduce(self, vector: int) -> tuple[int, int]:
        """What is left of a vector, and the vectors that were added to it."""
        combination = 0
        for high in range(vector.bit_length(), 0, -1):
            if vector >> (high - 1) & 1 and high in self._reduced:
                reduced, used = self._reduced[high]
                vector, combination = vector ^ reduced, combination ^ used
        return vector, combination


def rank(vectors: Iterable[int]) -> int:
    """The dimension of what some vectors span."""
    return Span(vectors).rank


def independent(vectors: Iterable[int], of: Iterable[int] = ()) -> list[int]:
    """The vectors that are independent of `of` and of those before them."""
    span = Span(of)
    return [vector for vector in vectors if span.add(vector)]


def units(size: int) -> list[int]:
    """The vectors with a single one among so many bits, the lowest first."""
    return [1 << bit for bit in range(size)]


def combined(vectors: Sequence[int], combination: int) -> int:
    """The sum of the vectors whose bits are set."""
    total = 0
    for position, vector in enumerate(vectors):
        if combination >> position & 1:
            total ^= vector
    return total


def null_space(vectors: Sequence[int]) -> list[int]:
    """A basis of the combinations that add up to zero, as sets of bits."""
    span, found = Span(), list[int]()
    for position, vector in enumerate(vectors):
        combination = span.combination(vector)
        if combination is not None:
            found.append(combination | 1 << position)
        span.add(vector)
    return found


def intersection(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """A basis of the vectors that both spans have."""
    a, b = independent(left), independent(right)
    mask = (1 << len(a)) - 1
    return [combined(a, combination & mask) for combination in null_space([*a, *b])]
