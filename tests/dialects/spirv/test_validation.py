"""Modules are checked beyond the table: operands that spirv-val passes over, functions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    Attribute,
    FunctionType,
    VectorType,
    f32,
    i16,
    i32,
    i64,
)
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from tests.dialects.spirv.kernels import Kernel, copy_kernel
from tests.generators.spirv_modules import random_module
from tests.seeds import share_of
from tests.spirv_tools import problems_of
from xtile.dialects.spirv import (
    ArrayType,
    FuncOp,
    ModuleOp,
    PointerType,
    decorate,
    encode,
    operation,
)

V2, V4 = VectorType(f32, [2]), VectorType(f32, [4])
LOCAL = PointerType(V4, "Function")


def errors_of(module: ModuleOp) -> str:
    """What is wrong with a module."""
    with pytest.raises(VerifyException) as error:
        module.verify()
    return str(error.value)


@settings(max_examples=share_of(40))
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    random_module(Random(seed)).verify()


# --- results ---


@pytest.mark.parametrize(
    ("name", "type", "message"),
    [
        ("Undef", VectorType(f32, [9]), "a vector of SPIR-V has 2, 3, 4, 8, 16 components"),
        ("Undef", PointerType(VectorType(f32, [5]), "Function"), "vector<5xf32>"),
        ("Undef", None, "a result is missing"),
        ("Nop", f32, "expected 0 results, got 1"),
    ],
)
def test_wrong_results(name: str, type: Attribute | None, message: str) -> None:
    kernel = Kernel()
    kernel.add(name, type)
    assert message in errors_of(kernel.finish())


# --- matrices and blocks ---


def multiply(change: Callable[[dict[str, SSAValue], Kernel], None] = lambda *_: None) -> ModuleOp:
    """A kernel with a product of a subgroup's matrices."""
    words, values = VectorType(i32, [8]), VectorType(f32, [8])
    kernel = Kernel(VectorType(i16, [8]), words, values, i32)
    a, b, c, number = kernel.parameters
    operands = {"k": kernel.constant(i32, 16), "a": a, "b": b, "c": c, "number": number}
    change(operands, kernel)
    kernel.add(
        "SubgroupMatrixMultiplyAccumulateINTEL",
        values,
        *(operands[name] for name in "kabc"),
        "MatrixAPackedBFloat16INTEL|MatrixBPackedBFloat16INTEL",
    )
    return kernel.finish()


def test_a_product_of_a_subgroup() -> None:
    multiply().verify()
    assert problems_of(encode(multiply())) == ""


def test_wrong_products_of_a_subgroup() -> None:
    def accumulate_words(operands: dict[str, SSAValue], kernel: Kernel) -> None:
        operands["c"] = operands["b"]

    def vary(operands: dict[str, SSAValue], kernel: Kernel) -> None:
        operands["k"] = operands["number"]

    def narrow(operands: dict[str, SSAValue], kernel: Kernel) -> None:
        operands["k"] = kernel.constant(i16, 16)

    assert "expected vector<8xf32> as Matrix C, got vector<8xi32>" in errors_of(
        multiply(accumulate_words)
    )
    assert "expected a constant as K Dim" in errors_of(multiply(vary))
    assert "expected i32 as K Dim, got i16" in errors_of(multiply(narrow))


BLOCKS = (
    *("Subgroup2DBlockLoadINTEL", "Subgroup2DBlockLoadTransformINTEL"),
    *("Subgroup2DBlockLoadTransposeINTEL", "Subgroup2DBlockPrefetchINTEL"),
    "Subgroup2DBlockStoreINTEL",
)


def block_access(name: str, wrong: str = "") -> ModuleOp:
    """A kernel that loads, stores or prefetches a block; one argument may be wrong."""
    pair = VectorType(i32, [2])
    registers = PointerType(ArrayType(i16, 8), "Function")
    kernel = Kernel(PointerType(i16, "CrossWorkgroup"), i32, pair, i64)
    memory, size, coordinate, long = kernel.parameters
    constant = kernel.constant(i32, 2)
    private = kernel.value("Variable", registers, "Function")
    right = {
        "sizes": constant,
        "memory": memory,
        "surface": size,
        "coordinate": coordinate,
        "private": private,
    }
    mistakes = {
        "sizes": size,
        "memory": private,
        "surface": long,
        "coordinate": size,
        "private": memory,
    }
    values = {key: mistakes[key] if key == wrong else value for key, value in right.items()}
    pointers = ["memory"]
    if "Store" in name:
        pointers = ["private", "memory"]
    order = ["sizes"] * 4 + pointers + ["surface"] * 3 + ["coordinate"]
    if "Load" in name:
        order.append("private")
    kernel.add(name, None, *(values[key] for key in order))
    return kernel.finish()


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    module = block_access(name)
    module.verify()
    assert problems_of(encode(module)) == ""


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("sizes", "expected a constant as Element Size"),
        ("memory", "Base Pointer points to CrossWorkgroup, got !spirv.ptr"),
        ("surface", "expected i32 as Memory Width, got i64"),
        ("coordinate", "expected vector<2xi32> as Coordinate, got i32"),
    ],
)
def test_wrong_blocks(name: str, wrong: str, message: str) -> None:
    assert message in errors_of(block_access(name, wrong))


@pytest.mark.parametrize("name", ["Subgroup2DBlockLoadINTEL", "Subgroup2DBlockStoreINTEL"])
def test_blocks_of_registers_are_private(name: str) -> None:
    assert "Pointer points to Function, got !spirv.ptr" in errors_of(block_access(name, "private"))


# --- functions and modules ---


def test_what_branches_give_to_blocks() -> None:
    kernel = Kernel(f32)
    end = Block(arg_types=[i32])
    kernel.function.body.add_block(end)
    kernel.add("Branch", None, (end, kernel.parameters[0]))
    kernel.block = end
    assert "expected i32 as argument 1 of a block, got f32" in errors_of(kernel.finish())


def test_what_functions_return() -> None:
    kernel = Kernel(f32)
    kernel.add("ReturnValue", None, kernel.parameters[0])
    assert "expected !spirv.void as the value that is returned" in errors_of(kernel.module)
    module = copy_kernel()
    other = FuncOp("g", FunctionType.from_lists([], [f32]))
    other.entry_block.add_op(operation("Return", None))
    module.block.add_op(other)
    assert "the function returns f32: use spirv.ReturnValue" in errors_of(module)


def module_with(*operations: FuncOp) -> ModuleOp:
    """A module of functions."""
    module = ModuleOp()
    module.block.add_ops(operations)
    return module


NOTHING = FunctionType.from_lists([], [])


def body_of(function: FuncOp) -> FuncOp:
    """The function with a body that returns."""
    function.entry_block.add_op(operation("Return", None))
    return function


def called(name: str) -> ModuleOp:
    """A module with a call of a function that may not be there."""
    kernel = Kernel()
    kernel.add("FunctionCall", None, name)
    return kernel.finish()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (module_with(body_of(FuncOp("f", NOTHING, linkage="Exprt"))), "expected a LinkageType"),
        (module_with(body_of(FuncOp("f", NOTHING, control="Fast"))), "expected a FunctionControl"),
        (
            module_with(body_of(FuncOp("f", NOTHING)), body_of(FuncOp("f", NOTHING))),
            "there are two functions f",
        ),
        (called("g"), "there is no function g"),
        (ModuleOp("Physical128"), "expected an AddressingModel as argument 1, got 'Physical128'"),
        (ModuleOp(version=(1, 9)), "there is no version 1.9 of SPIR-V"),
    ],
)
def test_wrong_modules(module: ModuleOp, message: str) -> None:
    assert message in errors_of(module)


def test_wrong_decorations() -> None:
    kernel = Kernel(f32)
    made = kernel.value("FAdd", f32, kernel.parameters[0], kernel.parameters[0])
    decorate(made.owner, ("FPFastMathMode", "Faster"))
    assert "expected a FPFastMathMode" in errors_of(kernel.finish())
