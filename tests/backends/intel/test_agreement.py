"""The comparison itself: it finds what is wrong, and lets pass what may differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

import xtile
from tests.backends.intel.agreement import (
    ONE_GROUP,
    Agreement,
    Launch,
    check_agreement,
    is_defined,
    memory_of,
)
from tests.backends.intel.random_arguments import (
    Arguments,
    Memory,
    NoArgumentsError,
    any_numbers,
    plain_numbers,
)
from tests.seeds import fresh_generator
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.semantics import engine
from xtile.semantics.arguments import Argument, MemrefArgument
from xtile.semantics.configuration import Size3


def _function(body: str, parameters: str) -> FuncOp:
    text = (
        f"func @f({parameters}) attributes {{subgroup_size=16,work_group_size=[16,1]}} {{{body}}}"
    )
    (function,) = xtile.parse(text, language="tensorlang").body.block.ops
    assert isinstance(function, FuncOp)
    return function


def _elementwise(instruction: str) -> FuncOp:
    body = f"""
        %zero = constant 0 : index
        %n = constant 64 : index
        foreach (%i)=(%zero),(%n) {{
            %x = load %A[%i] : f32
            %y = {instruction} : f32
            store %y, %B[%i]
        }}
    """
    return _function(body, "%A: memref<f32x64>, %B: memref<f32x64>")


def _arguments(function: FuncOp) -> list[Argument]:
    return Arguments(function, fresh_generator(), any_numbers).values


def _changing(function: FuncOp, change: Callable[[list[Memory]], None]) -> Launch:
    """The reference device, with a change of the memory afterwards."""

    def launch(arguments: Sequence[Argument], grid: Size3) -> None:
        engine.launch(function, arguments, grid)
        change(memory_of(arguments))

    return launch


def _move(memory: list[Memory], units: float) -> None:
    memory[1][7] += units * np.spacing(np.abs(memory[1][7]))


def test_what_is_equal_agrees() -> None:
    function = _elementwise("exp %x")
    launch = partial(engine.launch, function)
    assert check_agreement(function, _arguments(function), launch) == Agreement(2 * (64 + 2048))


def test_one_unit_is_too_much_where_a_result_is_exact() -> None:
    function = _elementwise("add %x, %x")
    launch = _changing(function, lambda memory: _move(memory, 1))
    with pytest.raises(AssertionError, match=r"memory 1 differs in 1 of 2112 elements"):
        check_agreement(function, _arguments(function), launch)


def test_functions_may_be_off_by_what_the_table_allows() -> None:
    function = _elementwise("exp %x")
    near = _changing(function, lambda memory: _move(memory, 3))
    agreement = check_agreement(function, _arguments(function), near)
    assert agreement is not None
    assert agreement.tolerated == 1
    far = _changing(function, lambda memory: _move(memory, 40))
    with pytest.raises(AssertionError, match=r"may be off by"):
        check_agreement(function, _arguments(function), far)


def test_inputs_and_memory_behind_them_must_stay() -> None:
    function = _elementwise("exp %x")

    def write_behind(memory: list[Memory]) -> None:
        memory[1][70] = 1.0

    def write_to_input(memory: list[Memory]) -> None:
        memory[0][0] += 1.0

    for change in (write_behind, write_to_input):
        with pytest.raises(AssertionError):
            check_agreement(function, _arguments(function), _changing(function, change))


def test_what_is_not_written_is_nan() -> None:
    function = _elementwise("exp %x")
    arguments = _arguments(function)
    _, output = memory_of(arguments)
    assert np.isnan(output).all()
    with pytest.raises(AssertionError, match="nan"):
        check_agreement(function, arguments, lambda _arguments, _grid: None)


def _sum_of_large_numbers(then: str = "") -> tuple[FuncOp, list[Argument]]:
    """Sums of A and B in C; the first of them overflows in one order and is 3e38 in the other."""
    function = _function(
        f"""
        %one = constant 1.0 : f32
        sum %one, %A, %one, %B
        {then}
        """,
        "%A: memref<f32x2x2>, %B: memref<f32x2>, %C: memref<f32x2>",
    )
    arguments = [
        MemrefArgument(np.array(values, np.float32), shape, strides)
        for values, shape, strides in (
            ((3e38, 1.0, 3e38, 2.0), (2, 2), (1, 2)),
            ((-3e38, 0.5), (2,), (1,)),
            ((0.0, 0.0), (2,), (1,)),
        )
    ]
    return function, [*arguments]


@pytest.mark.parametrize("found", [np.inf, -np.inf, np.nan, 3e38])
def test_a_sum_that_may_overflow_is_not_finite_or_the_sum(found: float) -> None:
    function, arguments = _sum_of_large_numbers()

    def change(memory: list[Memory]) -> None:
        assert memory[1][0] == np.inf
        memory[1][0] = found

    agreement = check_agreement(function, arguments, _changing(function, change))
    assert agreement is not None
    assert agreement.undetermined == 0


@pytest.mark.parametrize(("position", "found"), [(0, 1e38), (0, 0.0), (1, np.nan), (1, np.inf)])
def test_nothing_else_is_a_sum_that_may_overflow(position: int, found: float) -> None:
    function, arguments = _sum_of_large_numbers()

    def change(memory: list[Memory]) -> None:
        memory[1][position] = found

    with pytest.raises(AssertionError, match="memory 1 differs in 1 of 2 elements"):
        check_agreement(function, arguments, _changing(function, change))


def test_what_is_computed_of_a_sum_that_may_overflow_may_be_what_follows() -> None:
    function, arguments = _sum_of_large_numbers("hadamard %one, %B, %B, %one, %C")

    def change(memory: list[Memory], position: int) -> None:
        memory[2][position] = np.nan

    run = _changing(function, lambda memory: change(memory, 0))
    assert check_agreement(function, arguments, run) is not None
    with pytest.raises(AssertionError, match="memory 2 differs in 1 of 2 elements"):
        check_agreement(function, arguments, _changing(function, lambda memory: change(memory, 1)))


def test_errors_grow_through_a_kernel() -> None:
    """exp(x) - exp(x) (1 + 2^-20) is off by much more of itself than exp is."""
    body = """
        %zero = constant 0 : index
        %x = load %A[%zero] : f32
        %e = exp %x : f32
        %f = constant 0x1.00001p0 : f32
        %g = mul %e, %f : f32
        %d = sub %g, %e : f32
        store %d, %B[%zero]
    """
    function = _function(body, "%A: memref<f32x1>, %B: memref<f32x1>")

    def change(memory: list[Memory]) -> None:
        memory[1][0] *= np.float32(1.01)

    arguments = _arguments(function)
    with pytest.raises(AssertionError):
        check_agreement(function, arguments, _changing(function, change))


TICKETS = """
    parallel {
        %lane = subgroup_local_id : i32
        %i = cast %lane : index
        %zero = constant 0 : index
        %one = constant 1 : i32
        %old = atomic_add %one, %A[%zero] : i32
        store %old, %B[%i]
    }
"""


def test_orders_are_not_compared_but_what_they_lead_to() -> None:
    function = _function(TICKETS, "%A: memref<i32x1>, %B: memref<i32x16>")
    arguments = Arguments(function, fresh_generator(), plain_numbers).values

    def reverse(memory: list[Memory]) -> None:
        memory[1][:16] = memory[1][15::-1]

    agreement = check_agreement(function, arguments, _changing(function, reverse))
    assert agreement is not None
    # All of B, with what lies behind it.
    assert agreement.undetermined == 16 + 2048

    def lose(memory: list[Memory]) -> None:
        memory[0][0] -= 1

    with pytest.raises(AssertionError, match="memory 0 differs in 1"):
        check_agreement(function, arguments, _changing(function, lose))


UNDEFINED = {
    "a race": "store %lane, %A[%zero]",
    "two instructions": (
        "%a = atomic_add %lane, %A[%zero] : i32\n%b = atomic_max %lane, %A[%zero] : i32"
    ),
    "stores of different values": "atomic_store %lane, %A[%zero]",
    "an access outside of the memory": "%far = constant 5000 : index\nstore %lane, %A[%far]",
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_has_no_defined_result_is_not_compared(name: str) -> None:
    body = f"""
        parallel {{
            %lane = subgroup_local_id : i32
            %zero = constant 0 : index
            {UNDEFINED[name]}
        }}
    """
    function = _function(body, "%A: memref<i32x16>")
    arguments = Arguments(function, fresh_generator()).values
    assert not is_defined(function, arguments)
    assert check_agreement(function, arguments, partial(engine.launch, function)) is None


def test_a_barrier_makes_an_order() -> None:
    body = """
        parallel {
            %lane = subgroup_local_id : i32
            %zero = constant 0 : index
            %a = atomic_add %lane, %A[%zero] : i32
            barrier.global.local
            %b = atomic_max %lane, %A[%zero] : i32
        }
    """
    function = _function(body, "%A: memref<i32x16>")
    assert is_defined(function, Arguments(function, fresh_generator()).values)


def test_arguments_keep_what_a_function_promises() -> None:
    function = _function(
        "", "%A: memref<f32x?x?,strided<?,?>> {shape_gcd=[4,2], stride_gcd=[1,8]}, %n: i32"
    )
    for _ in range(20):
        memref = Arguments(function, fresh_generator()).values[0]
        assert isinstance(memref, MemrefArgument)
        (m, n), (inner, outer) = memref.shape, memref.strides
        assert (m % 4, n % 2, outer % 8) == (0, 0, 0)
        assert m * inner <= outer


def test_promises_that_nothing_keeps() -> None:
    function = _function("", "%A: memref<f32x?x4,strided<?,1>> {shape_gcd=[4]}")
    with pytest.raises(NoArgumentsError, match="no sizes and strides keep what"):
        Arguments(function, fresh_generator())


def test_one_group() -> None:
    assert ONE_GROUP == (1, 1, 1)
