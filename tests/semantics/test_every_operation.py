"""Every instruction has a meaning, on every type that the verifier allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS, arithmetic
from xtile.dialects.tensorlang.ops.control import YieldOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import SCALAR_TYPES
from xtile.dialects.tensorlang.verifier.arithmetic import ALLOWED_TYPES, is_allowed
from xtile.semantics.arithmetic import (
    binary_function,
    comparison_function,
    math_function,
    unary_function,
)
from xtile.semantics.instructions.table import HANDLERS

WITHOUT_HANDLER: dict[type[TensorLangOperation], str] = {
    FuncOp: "a launch runs it",
    YieldOp: "the compiler of a block takes it",
}

FUNCTIONS: dict[type[TensorLangOperation], Callable[[type, Attribute], Any]] = {
    arithmetic.BinaryArithmeticOperation: binary_function,
    arithmetic.UnaryArithmeticOperation: lambda cls, _: unary_function(cls),
    arithmetic.ComparisonOperation: comparison_function,
    arithmetic.MathOperation: math_function,
}
"""Where the meaning of each family's instructions is looked up."""


@pytest.mark.parametrize("cls", OPERATIONS, ids=lambda cls: cls.mnemonic())
def test_it_has_a_handler(cls: type[TensorLangOperation]) -> None:
    message = f"write a handler for {cls.mnemonic()} in its family's xtile/semantics/instructions/"
    assert (cls.name in HANDLERS) != (cls in WITHOUT_HANDLER), message


@pytest.mark.parametrize("cls", ALLOWED_TYPES, ids=lambda cls: cls.mnemonic())
def test_it_has_a_function_on_each_allowed_type(cls: type[TensorLangOperation]) -> None:
    [lookup] = [function for base, function in FUNCTIONS.items() if issubclass(cls, base)]
    for name, type in SCALAR_TYPES.items():
        if is_allowed(type, ALLOWED_TYPES[cls]):
            try:
                lookup(cls, type)
            except KeyError:
                pytest.fail(f"write {cls.mnemonic()} on {name} in xtile/semantics/arithmetic.py")
