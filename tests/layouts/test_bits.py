"""Linear algebra over bits, against all sums of all vectors of three bits."""

from __future__ import annotations

from itertools import product

import pytest

from xtile.layouts.bits import Span, combined, independent, intersection, null_space, rank, units

FAMILIES = [
    list(family) for count in range(5) for family in product(range(8), repeat=count) if count < 4
] + [list(family) for family in product((1, 2, 3, 6), repeat=4)]


def sums(vectors: list[int]) -> set[int]:
    return {combined(vectors, choice) for choice in range(1 << len(vectors))}


def test_rank_and_membership() -> None:
    for family in FAMILIES:
        reached = sums(family)
        assert 1 << rank(family) == len(reached)
        span = Span(family)
        assert {vector for vector in range(8) if vector in span} == reached


def test_a_combination_adds_up_and_takes_what_is_independent() -> None:
    for family in FAMILIES:
        span = Span(family)
        kept = [i for i in range(len(family)) if family[i] not in sums(family[:i])]
        for vector in range(8):
            combination = span.combination(vector)
            if combination is None:
                assert vector not in sums(family)
            else:
                assert combined(family, combination) == vector
                assert all(i in kept for i in range(len(family)) if combination >> i & 1)


def test_independent_vectors_span_the_same() -> None:
    for family in FAMILIES:
        assert sums(independent(family)) == sums(family)
        assert len(sums(independent(family))) == 1 << len(independent(family))
        completed = [*family, *independent(units(3), family)]
        assert sums(completed) == set(range(8))
        assert rank(family) + len(independent(units(3), family)) == 3


def test_null_space() -> None:
    for family in FAMILIES:
        basis = null_space(family)
        found = {combined(basis, choice) for choice in range(1 << len(basis))}
        expected = {c for c in range(1 << len(family)) if combined(family, c) == 0}
        assert found == expected
        assert len(found) == 1 << len(basis)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2])
def test_intersection(size: int) -> None:
    for left in FAMILIES[:585]:
        for right in product(range(8), repeat=size):
            assert sums(intersection(left, list(right))) == sums(left) & sums(list(right))
