"""What arguments the parameters of a function become."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

import xtile
from xtile.arguments.calling_convention import KernelArgument, kernel_arguments

NAMES = {
    "VALUE": "value",
    "POINTER": "ptr",
    "SIZE": "s",
    "STRIDE": "S",
    "OFFSET": "o",
    "POINTERS": "ptrs",
    "SIZES": "s*",
    "STRIDES": "S*",
    "COUNT": "n",
}


def _text(argument: KernelArgument) -> str:
    if argument.mode is not None:
        return f"{NAMES[argument.role.name]}{argument.mode}"
    if argument.role.name in ("OFFSET", "COUNT"):
        assert str(argument.type) == "i64"
        return NAMES[argument.role.name]
    return f"{NAMES[argument.role.name]}:{argument.type}"


def _arguments(parameter: Attribute) -> str:
    return " ".join(_text(argument) for argument in kernel_arguments(parameter))


def _tensor_language_type(text: str) -> Attribute:
    module = xtile.parse(f"func @f(%a: {text}) {{\n}}\n")
    (function,) = module.body.block.ops
    return function.regions[0].block.args[0].type


def _upstream_type(text: str) -> Attribute:
    module = xtile.parse(f"func.func private @f({text})\n", language="mlir")
    assert isinstance(module, ModuleOp)
    (function,) = module.body.block.ops
    return function.properties["function_type"].inputs.data[0]  # pyright: ignore


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("i8", "value:i8"),
        ("index", "value:i64"),
        ("bf16", "value:bf16"),
        ("c64", "value:complex<f64>"),
        ("memref<f32>", "ptr:f32"),
        ("memref<f32x4x8>", "ptr:f32"),
        ("memref<f32x?>", "ptr:f32 s0"),
        ("memref<f32x?x?>", "ptr:f32 s0 s1 S1"),
        ("memref<f32x4x?>", "ptr:f32 s1"),
        ("memref<f32x?x4x4>", "ptr:f32 s0 S1 S2"),
        ("memref<f64x4x?,strided<?,?>>", "ptr:f64 s1 S0 S1"),
        ("memref<f64x4x?,strided<1,64>>", "ptr:f64 s1"),
        ("group<memref<f32x16x16>x3>", "ptrs:f32"),
        ("group<memref<f32x16x16>x?>", "ptrs:f32 n"),
        ("group<memref<f32x16x?>x4, offset: ?>", "ptrs:f32 s*1 o"),
        ("group<memref<f32x16x16>x4, offset: 8>", "ptrs:f32"),
        ("group<memref<c32x?x?>x?, offset: ?>", "ptrs:complex<f32> s*0 s*1 S*1 n o"),
    ],
)
def test_tensor_language(type: str, expected: str) -> None:
    assert _arguments(_tensor_language_type(type)) == expected


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("i64", "value:i64"),
        ("complex<f32>", "value:complex<f32>"),
        ("memref<4x8xf32>", "ptr:f32"),
        ("memref<?x?xf32>", "ptr:f32 s1 s0 S0"),
        ("memref<?x4xf32>", "ptr:f32 s0"),
        ("memref<4x?xf32>", "ptr:f32 s1 S0"),
        ("memref<?x4xf32, strided<[?, 1]>>", "ptr:f32 s0 S0"),
        ("memref<?x4xf32, strided<[?, ?], offset: ?>>", "ptr:f32 s0 S1 S0 o"),
        ("memref<4x4xf32, strided<[4, 1], offset: 3>>", "ptr:f32"),
        ("memref<?xmemref<?x16xf32>>", "ptrs:f32 s*0 n"),
        ("memref<3xmemref<16x?xf32, strided<[?, 1]>>>", "ptrs:f32 s*1 S*0"),
        ("memref<4xi1>", "ptr:i1"),
        ("memref<4xf32, #gpu.address_space<global>>", "ptr:f32"),
    ],
)
def test_upstream(type: str, expected: str) -> None:
    assert _arguments(_upstream_type(type)) == expected


@pytest.mark.parametrize(
    "type",
    [
        "memref<f32x?x?>",
        "memref<f32x?x4x?>",
        "memref<f32x4x?,strided<?,?>>",
        "memref<f32x?x4>",
        "group<memref<f32x?x4>x?>",
    ],
)
def test_a_translated_parameter_keeps_its_arguments(type: str) -> None:
    from xtile.translate.tensorlang_to_core.types import core_type

    source = _tensor_language_type(type)
    roles = [argument.role for argument in kernel_arguments(source)]
    assert [argument.role for argument in kernel_arguments(core_type(source))] == roles


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i1", "a truth value cannot be passed to a kernel; pass an i8 and compare it"),
        ("vector<4xf32>", "a value of type vector<4xf32> cannot be passed to a kernel"),
        ("i24", "a value of type i24 cannot be passed to a kernel"),
        ("memref<4xf32, 3>", "local memory cannot be passed to a kernel; use global memory"),
        (
            "memref<4xf32, #gpu.address_space<workgroup>>",
            "local memory cannot be passed to a kernel; use global memory",
        ),
        ("memref<2x2xmemref<4xf32>>", "a group has one dimension and no layout"),
        (
            "memref<2xmemref<4xf32, strided<[1], offset: ?>>>",
            "the memrefs of a group have one offset",
        ),
        (
            "memref<4x4xf32, affine_map<(i, j) -> (i + j)>>",
            "is not one of strides",
        ),
    ],
)
def test_what_cannot_be_passed(type: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        kernel_arguments(_upstream_type(type))
    assert message in str(caught.value)


def test_pointers_are_followed_to_numbers() -> None:
    group = _tensor_language_type("group<memref<f32x?x?>x?, offset: ?>")
    depths = [argument.pointer_depth for argument in kernel_arguments(group)]
    assert depths == [2, 1, 1, 1, 0, 0]
    matrix = _tensor_language_type("memref<f32x?x?>")
    assert [argument.pointer_depth for argument in kernel_arguments(matrix)] == [1, 0, 0, 0]
