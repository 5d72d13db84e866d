"""Tokens as sets of accesses, and what is remembered of each element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.test import TestOp as AnyOp

from xtile.semantics.memory import Buffer
from xtile.semantics.observer import Access, AccessKind
from xtile.semantics.ordering import NOTHING, Order, Token
from xtile.semantics.sanitizer.memories import Memories
from xtile.semantics.sanitizer.token_order import Conflict, TokenOrder


def test_sets_of_accesses() -> None:
    first = NOTHING.with_access(3)
    second = first.with_access(70).with_others({5: 0b110})
    both = first.joined(Token(1)).joined(Token(0, {5: 0b1001, 6: 1})).joined(second)
    assert [n for n in range(80) if both.has(n, 2, 2)] == [0, 3, 70]
    assert [n for n in range(80) if both.has(n, 5, 2)] == [0, 1, 2, 3]
    assert [n for n in range(80) if both.has(n, 6, 2)] == [0]
    assert not both.has(0, 7, 2)
    # A token of block 5 would have its own accesses elsewhere.
    assert not both.has(1, 5, 5)
    assert not NOTHING.has(0, 0, 0)


@pytest.mark.parametrize(
    ("semantics", "scope", "expected"),
    [
        ("weak", "", (False, False, False, False)),
        ("relaxed", "tl_blk", (True, False, False, False)),
        ("acquire", "device", (True, True, False, True)),
        ("release", "sys", (True, False, True, True)),
        ("acq_rel", "device", (True, True, True, True)),
    ],
)
def test_semantics_and_scopes(semantics: str, scope: str, expected: tuple[bool, ...]) -> None:
    order = Order(NOTHING, semantics, scope)
    assert expected == (order.is_strong, order.acquires, order.releases, order.has_wide_scope)


class Blocks:
    """Accesses of tile blocks to one piece of memory."""

    def __init__(self) -> None:
        self.memories = Memories()
        self.order = TokenOrder(self.memories)
        self.buffer = Buffer(np.zeros(8, np.int32), "%a")
        self.block = 0

    def next(self) -> None:
        """Begins the next tile block."""
        self.block += 1
        self.order.begin_block()

    def access(
        self, kind: AccessKind, *elements: int, token: Token = NOTHING, values: Any = None
    ) -> tuple[Token, list[Conflict]]:
        positions = np.array(elements, np.int64)
        written = None if values is None else np.array(values, np.int32)
        access = Access(AnyOp(), kind, self.buffer, positions, (positions,), (), None, written)
        return self.order.access([access], Order(token), self.block)


def test_only_elements_that_both_access_conflict() -> None:
    blocks = Blocks()
    _, none = blocks.access(AccessKind.WRITE, 0, 1, 2)
    assert not none
    assert not blocks.access(AccessKind.READ, 3, 4)[1]
    (conflict,) = blocks.access(AccessKind.READ, 5, 2)[1]
    (other,) = blocks.access(AccessKind.WRITE, 7, 4)[1]
    assert conflict.at == other.at == 1
    assert conflict.is_same_block


def test_a_token_has_the_accesses_before() -> None:
    blocks = Blocks()
    first, _ = blocks.access(AccessKind.WRITE, 0)
    second, found = blocks.access(AccessKind.READ, 0, token=first)
    assert not found
    third, found = blocks.access(AccessKind.WRITE, 0, token=second)
    assert not found
    assert [n for n in range(5) if third.has(n, 0, 0)] == [0, 1, 2]
    blocks.next()
    # The number of an access says nothing without its block.
    (conflict,) = blocks.access(AccessKind.READ, 0, token=third)[1]
    assert not conflict.is_same_block


def test_reads_of_many_blocks() -> None:
    blocks = Blocks()
    for _ in range(100):
        assert not blocks.access(AccessKind.READ, 0, 1)[1]
        blocks.next()
    (conflict,) = blocks.access(AccessKind.WRITE, 1)[1]
    assert conflict.access.kind is AccessKind.WRITE
    assert not blocks.access(AccessKind.READ, 0)[1]


def test_a_value_that_is_there_already() -> None:
    blocks = Blocks()
    blocks.access(AccessKind.WRITE, 0, 1, values=[0, 0])
    assert not blocks.access(AccessKind.WRITE, 0, 1, values=[0, 0])[1]
    (conflict,) = blocks.access(AccessKind.WRITE, 0, 1, values=[0, 5])[1]
    assert conflict.at == 1


def test_memory_that_ended_is_forgotten() -> None:
    blocks = Blocks()
    blocks.access(AccessKind.WRITE, 0)
    memory = blocks.memories.forget(blocks.buffer)
    assert memory is not None
    blocks.order.forget(memory)
    assert not blocks.access(AccessKind.READ, 0)[1]


def test_places_outside_are_left_out() -> None:
    blocks = Blocks()
    blocks.access(AccessKind.WRITE, -1, 8)
    assert not blocks.access(AccessKind.READ, -1, 8)[1]
