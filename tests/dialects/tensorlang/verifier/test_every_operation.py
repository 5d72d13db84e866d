"""Every instruction is in the verifier's tables, and rules that no text breaks are kept too."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region

from xtile.dialects.tensorlang.operation import Execution, TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS, arithmetic
from xtile.dialects.tensorlang.ops.collective import ParallelOp
from xtile.dialects.tensorlang.ops.control import ForOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import AtomicOperation
from xtile.dialects.tensorlang.ops.subgroup import SubgroupOperation
from xtile.dialects.tensorlang.types import F32, INDEX
from xtile.dialects.tensorlang.verifier import operation_problems
from xtile.dialects.tensorlang.verifier.arithmetic import ALLOWED_TYPES
from xtile.dialects.tensorlang.verifier.uniformity import is_followed

ARITHMETIC = (
    arithmetic.BinaryArithmeticOperation,
    arithmetic.UnaryArithmeticOperation,
    arithmetic.ComparisonOperation,
    arithmetic.MathOperation,
)

NOT_FOLLOWED: dict[type[TensorLangOperation], str] = {
    AtomicOperation: "memory may hold anything",
    CooperativeMatrixOperation: "a matrix is the same in a subgroup; its components may be, too",
    SubgroupOperation: "a scan of zeros is the same for all",
}
"""Families of whose results nothing is known, and why."""


def test_every_arithmetic_instruction_has_allowed_types() -> None:
    wanted = {cls for cls in OPERATIONS if issubclass(cls, ARITHMETIC)}
    assert set(ALLOWED_TYPES) == wanted, "complete ALLOWED_TYPES in verifier/arithmetic.py"


@pytest.mark.parametrize("cls", OPERATIONS, ids=lambda cls: cls.mnemonic())
def test_the_uniformity_of_every_result_is_followed(cls: type[TensorLangOperation]) -> None:
    if cls.EXECUTION is Execution.COLLECTIVE or not cls.get_irdl_definition().results:
        return
    assert is_followed(cls) or issubclass(cls, tuple(NOT_FOLLOWED)), (
        f"say in _TRANSFER of verifier/uniformity.py how the result of {cls.mnemonic()} follows "
        "from its operands, or here why nothing is known of it"
    )


# Rules that no text breaks


def _messages(operation: Operation) -> list[str]:
    return [problem.message for problem in operation_problems(operation)]


def test_a_parallel_has_no_arguments() -> None:
    operation = ParallelOp.create(regions=[Region(Block(arg_types=[INDEX, INDEX]))])
    assert _messages(operation) == ["2 arguments named, but there must be none"]


def test_the_arguments_of_a_for_are_those_of_its_bounds_and_results() -> None:
    bounds = Block(arg_types=[INDEX, INDEX]).args
    body = Block(arg_types=[F32])
    operation = ForOp.build(
        operands=[bounds[0], bounds[1], [], []], result_types=[[]], regions=[Region(body)]
    )
    assert _messages(operation) == ["the argument is f32 but must be index"]
    body.insert_arg(INDEX, 0)
    assert _messages(operation) == ["the loop's region has 2 arguments but needs 1"]


def test_the_name_of_a_function_is_an_identifier() -> None:
    properties = {"sym_name": StringAttr("a-b")}
    function = FuncOp.create(properties=properties, regions=[Region(Block())])
    [message] = _messages(function)
    assert message.startswith("the name @a-b is not an identifier: ")
