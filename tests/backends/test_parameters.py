"""The parameters of compiled kernels."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xtile.arguments.calling_convention import KernelArgument, kernel_arguments
from xtile.backends.parameters import Slot, slots_of
from xtile.dialects.core.signature import Role
from xtile.dialects.registry import make_context


def type_of(text: str) -> Attribute:
    return Parser(make_context(), text).parse_type()


def slots(*types: str) -> list[tuple[int, int]]:
    arguments = (argument for text in types for argument in kernel_arguments(type_of(text)))
    return [(slot.offset, slot.size) for slot in slots_of(arguments)]


def test_each_is_naturally_aligned() -> None:
    assert slots("i8", "i16", "i8", "i32", "i8", "f64", "bf16", "f32") == [
        *((0, 1), (2, 2), (4, 1), (8, 4), (12, 1), (16, 8), (24, 2), (28, 4)),
    ]


def test_a_complex_number_is_two() -> None:
    assert slots("f32", "complex<f32>", "complex<f64>") == [
        *((0, 4), (4, 4), (8, 4), (16, 8), (24, 8)),
    ]


def test_memory() -> None:
    # A pointer, then the dynamic sizes and strides.
    assert slots("i8", "!tensorlang.memref<?x4xf16, strided<1, ?>>", "i8") == [
        *((0, 1), (8, 8), (16, 8), (24, 8), (32, 1)),
    ]
    assert slots("!tensorlang.group<!tensorlang.memref<?x?xf32>x?, offset: ?>") == [
        *((0, 8), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8)),
    ]
    assert slots("index") == [(0, 8)]


def test_entries_of_tile_ir() -> None:
    types = ("ptr<f32>", "i1", "i4", "tf32", "f8E4M3FN", "i64", "f16")
    assert slots(*(f"!cuda_tile.tile<{type}>" for type in types)) == [
        *((0, 8), (8, 1), (9, 1), (12, 4), (16, 1), (24, 8), (32, 2)),
    ]
    pointer = kernel_arguments(type_of("!cuda_tile.tile<ptr<i64>>"))
    assert pointer == (KernelArgument(Role.POINTER, i64),)


def test_what_cannot_be_passed() -> None:
    with pytest.raises(ValueError, match="a truth value cannot be passed to a kernel"):
        kernel_arguments(type_of("i1"))


def test_nothing() -> None:
    assert slots_of([]) == ()
    assert Slot(0, 8) == Slot(offset=0, size=8)
