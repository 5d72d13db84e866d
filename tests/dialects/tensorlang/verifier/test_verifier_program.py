"""The verifier as a whole: order, locations, damaged input, and modules that are not `.ir` text."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.dialects.tensorlang.ops.arithmetic import AddOp, ConstantOp
from xtile.dialects.tensorlang.ops.collective import AxpbyOp, ParallelOp
from xtile.dialects.tensorlang.ops.control import IfOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.types import (
    BOOL,
    C32,
    F32,
    F64,
    I32,
    INDEX,
    CoopmatrixType,
    GroupType,
    MemrefType,
    VoidType,
)
from xtile.dialects.tensorlang.verifier import operation_problems, verify
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

MISTAKES = """\
func @f(%a: bool, %v: void, %A: memref<f32x8> {alignment=3}) attributes{subgroup_size=0} {
    %i = constant 1 : index
    %x = load %A[%i,%i] : f32
    if %x {
    }
    %y = if %a -> (f32) {
        %j = add %i, %x : index
        yield (%j)
    }
    parallel {
        %id = subgroup_local_id : i32
        barrier
        axpby %x, %A, %x, %A
        %c = less_than %id, %id : f32
        foreach (%k)=(%i),(%i,%i) {
            %l = alloca : memref<f32x4>
        }
        %n = subgroup_broadcast %x, %id : f64
    }
    %id = subgroup_local_id : i32
}
func @f() {
}
"""

MESSAGES = [
    "1.1-88: subgroup_size must be a positive integer",
    "1.19-20: a parameter cannot be void",
    "1.29-30: alignment 3 must be a positive multiple of 4",
    "3.10-29: 2 indices given",
    "4.8-9: operand condition must be a bool",
    "6.10-23: an if that returns values needs an else",
    "7.22-23: the operands are index and f32",
    "8.16-17: the yielded value is index",
    "13.9-28: axpby is a collective instruction",
    "14.14-37: the result must be a bool",
    "15.9-33: 1 lower bound but 2 upper bounds",
    "15.9-33: foreach is a collective instruction",
    "16.18-39: alloca returns local memory",
    "16.18-39: alloca is a collective instruction",
    "18.14-45: subgroup_broadcast returns f32 here",
    "18.37-39: the index differs between the work-items of a subgroup",
    "20.11-33: subgroup_local_id is an SPMD instruction",
    "22.1-9: @f is already defined",
]


def _verified(text: str) -> Diagnostics:
    source, diagnostics = Source("kernel.ir", text), Diagnostics()
    verify(read(source, diagnostics, "v0.4"), diagnostics)
    return diagnostics


def _lines(diagnostics: Diagnostics) -> list[str]:
    rendered = [error.render().splitlines()[0] for error in diagnostics.errors]
    return [line.removeprefix("kernel.ir:").replace(" error:", "", 1) for line in rendered]


def _module_problems(module: ModuleOp) -> list[str]:
    diagnostics = Diagnostics()
    verify(module, diagnostics)
    return [error.message for error in diagnostics.errors]


def _function(*operations: Operation) -> ModuleOp:
    body = Region(Block(operations))
    return ModuleOp([FuncOp.create(properties={"sym_name": StringAttr("f")}, regions=[body])])


def test_all_errors_in_source_order() -> None:
    lines = _lines(_verified(MISTAKES))
    cut = [line[: len(start)] for line, start in zip(lines, MESSAGES, strict=False)]
    assert cut == MESSAGES
    assert len(lines) == len(MESSAGES)


def test_errors_beyond_the_limit_are_the_last_ones() -> None:
    source, diagnostics = Source("kernel.ir", MISTAKES), Diagnostics(limit=5)
    verify(read(source, diagnostics, "v0.4"), diagnostics)
    assert [line[:4] for line in _lines(diagnostics)] == ["1.1-", "1.19", "1.29", "3.10", "4.8-"]


def test_notes_show_the_first_definition() -> None:
    [error] = _verified("func @f() {\n}\nfunc @f() {\n}\n").errors
    assert "kernel.ir:1.1-9: note: it is first defined here" in error.render()


def test_a_damaged_instruction_is_reported_once() -> None:
    lines = _lines(
        _verified("func @f(%a: i32) {\n    %b = add %a, : i32\n    %c = mul %a, %b : i32\n}\n")
    )
    assert len(lines) == 1
    assert lines[0].startswith("2.")


POISON = """\
func @f(%x: f32, %i: i32, %j: index, %A: memref<f32x8>, %B: memref<f32x4x4>, %C: memref<f32x8x8>) {
    %u = load %B[%lost1] : f32
    %v = load %B[%lost2,%i] : f32
    %w = load %B[%j,%lost3] : f64
    store %x, %B[%lost4]
    store %lost5, %A[%j,%j]
    %s = subview %B[%lost6:2] : memref<f32x2>
    %e = add %lost7, %A : f32
    gemm %lost8, %A, %B, %x, %C
    gemm %x, %B, %B, %lost9, %C
    for %k=%j,%i init(%l=%lost10) -> (f32) {
    }
    %n = mul %lost11, %u : f64
}
"""

POISON_MESSAGES = [
    "1 index given, but memref<f32x4x4> has order 2; write one index for each mode",
    "operand 2 of indices must be an index, but its type is i32",
    "the element type is f32, so load cannot return f64",
    "1 index given, but memref<f32x4x4> has order 2; write one index for each mode",
    "2 indices given, but memref<f32x8> has order 1; write one index for each mode",
    "1 slice given, but memref<f32x4x4> has order 2; write one slice for each mode",
    "operand b must be a bool, a number or a coopmatrix, but its type is memref<f32x8>",
    "A has order 1 but must be a matrix (order 2)",
    "C has 8 rows but A has 4; they must be equal",
    "C has 8 columns but B has 4; they must be equal",
    "the region of this for must end with a yield of 1 value",
    "'to' is i32 but 'from' is index; they must have one type",
]


def test_what_does_not_depend_on_a_damaged_operand_is_checked() -> None:
    messages = [error.message for error in _verified(POISON).errors]
    assert [message for message in messages if "is not defined here" not in message] == (
        POISON_MESSAGES
    )
    assert len(messages) == len(POISON_MESSAGES) + 11


def test_a_lost_yield_is_not_missing() -> None:
    text = """\
func @f(%a: i32, %c: i32) {
    %d = equal %a, %c : bool
    %b = if %d -> (i32) {
        yield (%a
    } else {
        yield (%a)
    }
}
"""
    lines = _lines(_verified(text))
    assert all("yield of" not in line for line in lines)
    assert lines


# Modules that are not text


def test_operations_verify_themselves() -> None:
    constant = ConstantOp.create(properties={"value": IntegerAttr(1, i64)}, result_types=[I32])
    add = AddOp.create(operands=[constant.result] * 2, result_types=[F32])
    with pytest.raises(VerifyException, match="add returns i32 here, not f32"):
        add.verify()


def test_functions_verify_how_their_operations_interact() -> None:
    inner = ParallelOp.create(regions=[Region(Block())])
    module = _function(ParallelOp.create(regions=[Region(Block([inner]))]))
    with pytest.raises(VerifyException, match="parallel is a collective instruction"):
        module.verify()


def test_an_operation_without_text_is_named_by_its_location() -> None:
    add = AddOp.create(result_types=[F32])
    add.location = FileLineColLoc(StringAttr("a.py"), IntAttr(3), IntAttr(7))
    assert _module_problems(_function(add)) == ["a.py:3.7: add takes 2 operands but has none"]


def test_an_operation_without_a_location_is_named_by_its_function() -> None:
    memref = Block(arg_types=[MemrefType.get(F32, (4,))]).args[0]
    axpby = AxpbyOp.create(operands=[memref] * 4)
    [alpha, beta] = _module_problems(_function(axpby))
    wanted = "must be a number, but its type is memref<f32x4>"
    assert alpha == f"in @f, axpby: operand alpha {wanted}"
    assert beta == f"in @f, axpby: operand beta {wanted}"


def test_what_stands_in_no_named_function_is_named_as_well_as_possible() -> None:
    module = _function(AddOp.create(result_types=[F32]))
    [function] = module.ops
    del function.properties["sym_name"]
    assert _module_problems(module) == [
        "in a function without a name: func needs a sym_name",
        "in a function without a name, add: add takes 2 operands but has none",
    ]
    [message] = _module_problems(ModuleOp([ParallelOp.create(regions=[Region(Block())])]))
    assert message == "parallel: parallel must stand in a function"


def test_notes_without_a_location_name_their_operation() -> None:
    inner = ParallelOp.create(regions=[Region(Block())])
    diagnostics = Diagnostics()
    verify(_function(ParallelOp.create(regions=[Region(Block([inner]))])), diagnostics)
    [error] = diagnostics.errors
    assert [note.message for note in error.notes] == [
        "in @f, parallel: the SPMD region is opened here"
    ]


def test_operations_of_other_dialects_verify_themselves() -> None:
    constant = ConstantOp.create(properties={"value": IntegerAttr(1, i64)}, result_types=[I32])
    foreign = AddiOp.create(operands=[constant.result] * 2, result_types=[F64])
    [message] = _module_problems(_function(constant, foreign))
    assert message.startswith("in @f: 'arith.addi': ")


# Damage

_TYPES: list[Attribute] = [
    BOOL,
    I32,
    INDEX,
    F32,
    C32,
    VoidType(),
    StringAttr("not a type"),
    MemrefType.get(F32),
    MemrefType.get(C32, (4, 4)),
    GroupType.get(MemrefType.get(F32, (4,))),
    CoopmatrixType.get(F32, 16, 16, MatrixUse.A),
    CoopmatrixType.get(I32, 3, 5, MatrixUse.ACC),
]

_ATTRIBUTES: list[Attribute] = [
    UnitAttr(),
    IntegerAttr(-1, i64),
    IntegerAttr(0, i32),
    DenseArrayBase.from_list(i64, [1, -(2**63)]),
    DenseArrayBase.from_list(i32, [1, 1, 1, 1]),
    ArrayAttr([]),
    StringAttr("x-y"),
]


def _damaged(cls: type[TensorLangOperation], choose: random.Random) -> TensorLangOperation:
    """An operation with any operands, results, properties and regions."""
    names = [*cls.get_irdl_definition().properties, "unknown"]
    return cls.create(
        operands=Block(arg_types=choose.choices(_TYPES, k=choose.randrange(6))).args,
        result_types=choose.choices(_TYPES, k=choose.choice([0, 1, 1, 2])),
        properties={name: choose.choice(_ATTRIBUTES) for name in names if choose.random() < 0.6},
        regions=[
            Region(
                [Block(arg_types=choose.choices(_TYPES, k=choose.randrange(4)))][
                    : choose.randrange(2)
                ]
            )
            for _ in range(choose.choice([0, 1, 1, 2]))
        ],
    )


@pytest.mark.parametrize("cls", OPERATIONS, ids=lambda cls: cls.mnemonic())
def test_a_damaged_operation_gives_errors_only(cls: type[TensorLangOperation]) -> None:
    choose = random.Random(cls.name)
    for _ in range(40):
        operation = _damaged(cls, choose)
        list(operation_problems(operation))
        assert _module_problems(_function(ParallelOp.create(regions=[Region(Block([operation]))])))


@pytest.mark.parametrize("cls", OPERATIONS, ids=lambda cls: cls.mnemonic())
def test_an_empty_operation_gives_errors_only(cls: type[TensorLangOperation]) -> None:
    operation = cls.create()
    if cls.mnemonic() not in ("barrier", "yield"):
        assert list(operation_problems(operation))
    _module_problems(ModuleOp([operation]))


def test_none_for_a_property_gives_errors_only() -> None:
    for cls in OPERATIONS:
        operation = cls.create()
        for name in cls.get_irdl_definition().properties:
            operation.properties[name] = None  # pyright: ignore[reportArgumentType]
        list(operation_problems(operation))


def test_swapped_operands_give_errors_only() -> None:
    """Kernels whose operands and result types were exchanged at random."""
    alternative = re.compile(r"«([^|»]*)\|([^»]*)»")
    choose = random.Random(1)
    for path in sorted(Path(__file__).with_name("restrictions").glob("*.txt")):
        for row in path.read_text(encoding="utf-8").split("== ")[1:]:
            text = alternative.sub(r"\2", row.partition("\n")[2].rpartition("! ")[0])
            module = read(Source("kernel.ir", text), Diagnostics(), "v0.4")
            operations = list(module.walk())
            values = [
                value
                for operation in operations
                for value in (*operation.results, *_arguments(operation))
            ]
            for operation in operations:
                for i in range(len(operation.operands)):
                    if choose.random() < 0.3:
                        operation.operands[i] = choose.choice(values)
            _module_problems(module)


def _arguments(operation: Operation) -> list[object]:
    return [a for region in operation.regions for block in region.blocks for a in block.args]


@pytest.mark.slow
def test_deep_nesting() -> None:
    condition = ConstantOp.create(properties={"value": IntegerAttr(1, 1)}, result_types=[BOOL])
    block = inner = Block()
    for _ in range(5000):
        operation = IfOp.create(operands=[condition.result], regions=[Region(block), Region()])
        block = Block([operation])
    inner.add_op(ParallelOp.create(regions=[Region(Block())]))
    module = _function(condition, *[op.detach() or op for op in list(block.ops)])
    assert _module_problems(module) == []
