"""Modules are checked beyond the table: types, places of definitions, versions."""

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
    f16,
    f32,
    f64,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.ir import Block, SSAValue

from tests.dialects.spirv.kernels import GLOBAL, Kernel, copy_kernel
from tests.dialects.spirv.random_modules import random_module
from tests.spirv_tools import assembled, problems_of
from xtile.dialects.spirv import (
    ArrayType,
    CooperativeMatrixType,
    FuncOp,
    ModuleOp,
    PointerType,
    StructType,
    decode,
    decorate,
    encode,
    operation,
    validate,
)
from xtile.text.diagnostics import DiagnosticError

V2, V4 = VectorType(f32, [2]), VectorType(f32, [4])
LOCAL = PointerType(V4, "Function")


def errors_of(module: ModuleOp) -> str:
    """What is wrong with a module."""
    with pytest.raises(DiagnosticError) as error:
        validate(module)
    return str(error.value)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    validate(random_module(Random(seed)))


# --- types ---

VALUES = {
    "x": f32,
    "h": f16,
    "d": f64,
    "i": i32,
    "j": i64,
    "b": i1,
    "v": V4,
    "u": VectorType(i32, [4]),
    "p": GLOBAL,
    "q": LOCAL,
}

RIGHT: list[tuple[str, Attribute | None, str]] = [
    ("FAdd", f32, "x x"),
    ("FMul", V4, "v v"),
    ("IAdd", VectorType(i32, [4]), "u u"),
    ("ShiftLeftLogical", i32, "i j"),
    ("FOrdLessThan", VectorType(i1, [4]), "v v"),
    ("SLessThan", i1, "j j"),
    ("ConvertSToF", f64, "i"),
    ("FConvert", f16, "x"),
    ("Bitcast", VectorType(i16, [2]), "x"),
    ("Bitcast", i64, "p"),
    ("Select", V4, "b v v"),
    ("Load", f32, "p"),
    ("Store", None, "q v"),
    ("CL.fma", V4, "v v v"),
    ("CL.s_max", i32, "i i"),
    ("CompositeConstruct", V4, "x x x x"),
    ("LogicalAnd", i1, "b b"),
]

WRONG: list[tuple[str, Attribute | None, str, str]] = [
    ("FAdd", f32, "x h", "expected f32 as operand 2, got f16"),
    ("FAdd", i32, "i i", "expected floats as the result, got i32"),
    ("IAdd", i32, "i j", "expected i32 as operand 2, got i64"),
    ("IAdd", i1, "b b", "expected integers as the result, got i1"),
    ("ShiftLeftLogical", i32, "i x", "expected integers as operand 2, got f32"),
    ("FOrdLessThan", i1, "v v", "expected the result with as many components as vector<4xf32>"),
    ("SLessThan", i1, "x x", "expected integers as operand 1, got f32"),
    ("SLessThan", i32, "i i", "expected booleans as the result, got i32"),
    ("ConvertSToF", i32, "i", "expected floats as the result, got i32"),
    ("ConvertFToS", i32, "v", "expected the result with as many components as vector<4xf32>"),
    ("Bitcast", f64, "x", "f32 has 32 bits, but f64 has 64"),
    ("Select", f32, "i x x", "expected booleans as operand 1, got i32"),
    ("Select", f32, "b x d", "expected f32 as operand 3, got f64"),
    ("Load", f64, "p", "expected f32 as the result, got f64"),
    ("Store", None, "q x", "expected vector<4xf32> as operand 2, got f32"),
    ("CL.exp", f32, "i", "expected f32 as operand 1, got i32"),
    ("CL.s_max", f32, "x x", "expected integers as the result, got f32"),
    ("CompositeConstruct", V4, "x x x", "3 components cannot make vector<4xf32>"),
    ("CompositeConstruct", f32, "x", "expected a composite as the result, got f32"),
    ("LogicalNot", i1, "i", "expected i1 as operand 1, got i32"),
    ("Undef", VectorType(f32, [9]), "", "a vector of SPIR-V has 2, 3, 4, 8, 16 components"),
    ("Undef", PointerType(VectorType(f32, [5]), "Function"), "", "vector<5xf32>"),
    ("FAdd", None, "x x", "a result is missing"),
    ("Nop", f32, "", "expected 0 results, got 1"),
]


def with_one(name: str, type: Attribute | None, operands: str) -> ModuleOp:
    """A kernel with one instruction."""
    kernel = Kernel(*VALUES.values())
    values = dict(zip(VALUES, kernel.parameters, strict=True))
    kernel.add(name, type, *(values[operand] for operand in operands.split()))
    return kernel.finish()


@pytest.mark.parametrize(("name", "type", "operands"), RIGHT)
def test_right_types(name: str, type: Attribute | None, operands: str) -> None:
    module = with_one(name, type, operands)
    validate(module)
    assert problems_of(encode(module)) == ""


@pytest.mark.parametrize(("name", "type", "operands", "message"), WRONG)
def test_wrong_types(name: str, type: Attribute | None, operands: str, message: str) -> None:
    error = errors_of(with_one(name, type, operands))
    assert error.startswith(f"error: 'spirv.{name}': ")
    assert message in error


def test_signs_of_integers_do_not_matter() -> None:
    text = """
        OpCapability Shader
        OpCapability Linkage
        OpMemoryModel Logical GLSL450
        %int = OpTypeInt 32 1
        %uint = OpTypeInt 32 0
        %bool = OpTypeBool
        %a = OpConstant %int -5
        %b = OpConstant %uint 5
        %ft = OpTypeFunction %bool
        %f = OpFunction %bool None %ft
        %l = OpLabel
        %c = OpIAdd %int %a %b
        %d = OpIEqual %bool %c %b
        OpReturnValue %d
        OpFunctionEnd
        """
    validate(decode(assembled(text)))


# --- composites and pointers ---

STRUCTURE = StructType([i32, ArrayType(V4, 3)])


def test_parts_of_composites() -> None:
    kernel = Kernel(V4, f32)
    vector, scalar = kernel.parameters
    inserted = kernel.value("CompositeInsert", V4, scalar, vector, 3)
    kernel.value("CompositeExtract", f32, inserted, 3)
    whole = kernel.value("Undef", STRUCTURE)
    kernel.value("CompositeExtract", f32, whole, 1, 2, 0)
    module = kernel.finish()
    validate(module)
    assert problems_of(encode(module)) == ""


@pytest.mark.parametrize(
    ("name", "type", "indices", "message"),
    [
        ("CompositeExtract", f32, (4,), "vector<4xf32> has 4 components, but the index is 4"),
        ("CompositeExtract", i32, (0,), "expected f32 as the result, got i32"),
        ("CompositeExtract", f32, (0, 0), "nothing can be selected in f32"),
    ],
)
def test_parts_that_are_not_there(
    name: str, type: Attribute, indices: tuple[int, ...], message: str
) -> None:
    kernel = Kernel(V4)
    kernel.add(name, type, kernel.parameters[0], *indices)
    assert message in errors_of(kernel.finish())


def access(result: Attribute, *indices: int) -> ModuleOp:
    """A kernel that computes the address of a part of a structure."""
    kernel = Kernel(PointerType(STRUCTURE, "CrossWorkgroup"))
    numbers = [kernel.constant(i32, index) for index in indices]
    kernel.add("InBoundsAccessChain", result, kernel.parameters[0], *numbers)
    return kernel.finish()


def test_addresses() -> None:
    module = access(PointerType(f32, "CrossWorkgroup"), 1, 2, 3)
    validate(module)
    assert problems_of(encode(module)) == ""


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (access(PointerType(V4, "CrossWorkgroup"), 0), "expected i32 as what the result points to"),
        (access(PointerType(i32, "CrossWorkgroup"), 2), "is selected by a constant, got 2"),
        (access(PointerType(i32, "Workgroup"), 0), "points to another storage class than"),
        (access(i32, 0), "expected a pointer as the result, got i32"),
    ],
)
def test_wrong_addresses(module: ModuleOp, message: str) -> None:
    assert message in errors_of(module)


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
    validate(multiply())
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
    validate(module)
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


def cooperate(rows: int = 16, use: str = "MatrixBKHR", scope: str = "Subgroup") -> ModuleOp:
    """A kernel with a product of cooperative matrices, of which B may be wrong."""
    a = CooperativeMatrixType(f16, "Subgroup", 8, 16, "MatrixAKHR")
    b = CooperativeMatrixType(f16, scope, rows, 32, use)
    c = CooperativeMatrixType(f32, "Subgroup", 8, 32, "MatrixAccumulatorKHR")
    kernel = Kernel()
    zero, one = kernel.constant(f16, 0.0), kernel.constant(f32, 0.0)
    left = kernel.value("CompositeConstruct", a, zero)
    right = kernel.value("CompositeConstruct", b, zero)
    sum = kernel.value("CompositeConstruct", c, one)
    kernel.add("CooperativeMatrixMulAddKHR", c, left, right, sum)
    return kernel.finish()


def test_cooperative_matrices() -> None:
    validate(cooperate())
    assert problems_of(encode(cooperate())) == ""


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (cooperate(rows=8), "a product of "),
        (cooperate(use="MatrixAKHR"), "B is used as MatrixBKHR"),
        (cooperate(scope="Workgroup"), "the scope of B is not that of the result"),
    ],
)
def test_wrong_cooperative_matrices(module: ModuleOp, message: str) -> None:
    assert message in errors_of(module)


def test_cooperative_matrices_in_memory() -> None:
    kernel = Kernel(PointerType(StructType([f32]), "CrossWorkgroup"), f32)
    place, scalar = kernel.parameters
    layout = kernel.constant(i32, 0)
    matrix = CooperativeMatrixType(f32, "Subgroup", 8, 8, "MatrixAccumulatorKHR")
    kernel.add("CooperativeMatrixLoadKHR", matrix, place, layout)
    kernel.add("CooperativeMatrixStoreKHR", None, place, scalar, layout)
    error = errors_of(kernel.finish())
    assert "expected numbers as what Pointer points to" in error
    assert "expected a cooperative matrix as Object, got f32" in error


# --- where values are defined ---


def test_a_value_of_another_branch() -> None:
    kernel = Kernel(i1, f32)
    condition, x = kernel.parameters
    then, end = Block(), Block()
    kernel.function.body.add_block([then, end])
    kernel.add("BranchConditional", None, condition, then, end)
    kernel.block = then
    doubled = kernel.value("FAdd", f32, x, x)
    kernel.add("Branch", None, end)
    kernel.block = end
    kernel.add("FAdd", f32, x, doubled)
    module = kernel.finish()
    assert "operand 2 of 'spirv.FAdd' is used where it is not defined" in errors_of(module)
    assert problems_of(encode(module)) != ""


def test_a_value_before_its_definition() -> None:
    kernel = Kernel(f32)
    first = operation("FAdd", f32, kernel.parameters[0], kernel.parameters[0])
    kernel.add("FAdd", f32, first.result, first.result)
    kernel.block.add_op(first)
    error = errors_of(kernel.finish())
    assert "operand 1 of 'spirv.FAdd' is used before its definition" in error
    assert "operand 2 of 'spirv.FAdd' is used before its definition" in error


def test_a_value_of_another_function() -> None:
    kernel = Kernel(f32)
    made = kernel.value("FAdd", f32, kernel.parameters[0], kernel.parameters[0])
    module = kernel.finish()
    other = FuncOp("g", FunctionType.from_lists([], [f32]))
    other.entry_block.add_op(operation("ReturnValue", None, made))
    module.block.add_op(other)
    assert "operand 1 of 'spirv.ReturnValue' is used where it is not" in errors_of(module)


def test_a_loop_whose_blocks_stand_in_any_order() -> None:
    kernel = Kernel(i64)
    (bound,) = kernel.parameters
    zero = kernel.constant(i64, 0)
    end, body, header = Block(), Block(), Block(arg_types=[i64])
    kernel.function.body.add_block([end, body, header])
    kernel.add("Branch", None, (header, zero))
    kernel.block = header
    condition = kernel.value("SLessThan", i1, header.args[0], bound)
    kernel.add("BranchConditional", None, condition, body, end)
    kernel.block = body
    following = kernel.value("IAdd", i64, header.args[0], bound)
    kernel.add("Branch", None, (header, following))
    kernel.block = end
    kernel.add("IAdd", i64, header.args[0], bound)
    module = kernel.finish()
    validate(module)
    assert problems_of(encode(module)) == ""


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


def test_versions() -> None:
    kernel = Kernel(f32, version=(1, 2))
    kernel.add("GroupNonUniformElect", i1, kernel.constant(i32, 3))
    error = errors_of(kernel.finish())
    assert "GroupNonUniformElect needs SPIR-V 1.3, but the module's version is 1.2" in error


def test_every_error_is_told() -> None:
    kernel = Kernel(f32, i32)
    x, i = kernel.parameters
    kernel.add("FAdd", f32, x, i)
    kernel.add("IAdd", i32, x, i)
    assert errors_of(kernel.finish()).count("error: ") == 2
