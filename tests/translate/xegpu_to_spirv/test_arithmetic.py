"""Arithmetic on OpenCL's CPU device gives the reference device's numbers, for all operands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from tests.samples import one_of
from tests.seeds import SEED_VARIABLE, fresh_seed
from tests.translate.xegpu_to_spirv.elementwise_kernels import (
    BLOCK,
    COUNT,
    FLOATS,
    INTEGERS,
    LENGTH,
    VECTORS,
    on_numbers,
    on_vectors,
    operands,
)
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.targets.intel import DG2
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import DiagnosticError

_INTEGER_NAMES = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
    *("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"),
)

_FLOAT_NAMES = (
    *("addf", "subf", "mulf", "divf", "remf"),
    *("maxnumf", "minnumf", "maximumf", "minimumf"),
)

_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")

_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)

_INDEX_NAMES = (
    *("add", "sub", "mul", "and", "or", "xor", "maxs", "maxu", "mins", "minu"),
    *("divs", "divu", "rems", "remu", "floordivs", "ceildivs", "ceildivu"),
)

_HAS_ANY_ZERO = frozenset({"maxnumf", "minnumf"})
"""Where the sign of a zero is not specified (docs/semantics.md, 1.6)."""


def _operations() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """The name of each kernel, its operation, the types of the operands and of the result."""
    for name, type in product(_INTEGER_NAMES, INTEGERS):
        yield f"{name}_{type}", f"arith.{name} {{0}}, {{1}} : <<{type}>>", (type, type), type
    for name, type in product(_FLOAT_NAMES, FLOATS):
        yield f"{name}_{type}", f"arith.{name} {{0}}, {{1}} : <<{type}>>", (type, type), type
    for predicate, type in product(_INTEGER_PREDICATES, INTEGERS):
        text = f"arith.cmpi {predicate}, {{0}}, {{1}} : <<{type}>>"
        yield f"cmpi_{predicate}_{type}", text, (type, type), "i1"
    for predicate, type in product(_FLOAT_PREDICATES, FLOATS):
        text = f"arith.cmpf {predicate}, {{0}}, {{1}} : <<{type}>>"
        yield f"cmpf_{predicate}_{type}", text, (type, type), "i1"
    for type in FLOATS:
        yield f"negf_{type}", f"arith.negf {{0}} : <<{type}>>", (type,), type
    for type in (*INTEGERS, *FLOATS):
        text = f"arith.select {{0}}, {{1}}, {{2}} : <<i1>>, <<{type}>>"
        yield f"select_{type}", text, ("i1", type, type), type


def _index_operations() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """The operations of the `index` dialect, which has no vectors."""
    types = ("index", "index")
    for name in _INDEX_NAMES:
        yield f"index_{name}", f"index.{name} {{0}}, {{1}}", types, "index"
    for predicate in _INTEGER_PREDICATES:
        yield f"index_cmp_{predicate}", f"index.cmp {predicate}({{0}}, {{1}})", types, "i1"


_VECTOR_CASES = {
    name: (text, types, result) for name, text, types, result in one_of(2, _operations())
}
_NUMBER_CASES = {
    # One condition that is no vector is another operation.
    name: (text.replace("<<i1>>, ", ""), types, result)
    for name, text, types, result in (*_operations(), *_index_operations())
}


ON_NUMBERS = {name: on_numbers(*rest) for name, rest in _NUMBER_CASES.items()}
ON_VECTORS = {name: on_vectors(*rest) for name, rest in _VECTOR_CASES.items()}


@pytest.fixture(scope="module")
def numbers() -> LaneKernels:
    return LaneKernels(ON_NUMBERS)


@pytest.fixture(scope="module")
def vectors() -> LaneKernels:
    return LaneKernels(ON_VECTORS)


@pytest.mark.parametrize("name", _NUMBER_CASES)
def test_numbers(name: str, numbers: LaneKernels) -> None:
    _, types, result = _NUMBER_CASES[name]
    _check(name, numbers, types, result, COUNT, COUNT // BLOCK[0])


@pytest.mark.parametrize("name", _VECTOR_CASES)
def test_vectors(name: str, vectors: LaneKernels) -> None:
    _, types, result = _VECTOR_CASES[name]
    _check(name, vectors, types, result, VECTORS * LENGTH, VECTORS)


def _check(
    name: str, kernels: LaneKernels, types: tuple[str, ...], result: str, count: int, groups: int
) -> None:
    seed = fresh_seed()
    given = operands(np.random.default_rng(seed), types, count)
    if types[0] == "i1" and ("div" in name or "rem" in name):
        given[1][:] = True
    *_, (expected, found) = kernels.on_both(
        name, *given, unwritten(count, result), grid=(groups, 1, 1)
    )
    wrong = ~same(expected, found)
    if name.partition("_")[0] in _HAS_ANY_ZERO:
        wrong &= expected != found
    locations = np.flatnonzero(wrong)[:5]
    assert not wrong.any(), f"{SEED_VARIABLE}={seed}: " + "; ".join(
        f"{[array[i] for array in given]}: {found[i]} instead of {expected[i]}" for i in locations
    )


def test_modules_are_valid(numbers: LaneKernels, vectors: LaneKernels) -> None:
    validate(numbers.program.spirv)
    validate(vectors.program.spirv)


# --- shifts and products of twice the width ---

_SHIFTS = {
    f"{name}_{type}": on_numbers(f"arith.{name} {{0}}, {{1}} : <<{type}>>", (type, type), type)
    for name, type in product(("shli", "shrsi", "shrui"), INTEGERS)
}

_EXTENDED = {
    f"{name}_{type}": LaneKernel(
        f"%a: memref<{COUNT}x{type}>, %b: memref<{COUNT}x{type}>, %low: memref<{COUNT}x{type}>, "
        f"%high: memref<{COUNT}x{'i1' if name == 'addui' else type}>",
        f"""
        %x = gpu.global_id x
        %0 = memref.load %a[%x] : memref<{COUNT}x{type}>
        %1 = memref.load %b[%x] : memref<{COUNT}x{type}>
        %2, %3 = arith.{name}_extended %0, %1 : {type}{", i1" if name == "addui" else ""}
        memref.store %2, %low[%x] : memref<{COUNT}x{type}>
        memref.store %3, %high[%x] : memref<{COUNT}x{"i1" if name == "addui" else type}>
        """,
        BLOCK,
    )
    for name, type in product(("addui", "mulsi", "mului"), INTEGERS)
    if type != "index"
}


@pytest.fixture(scope="module")
def others() -> LaneKernels:
    return LaneKernels({**_SHIFTS, **_EXTENDED})


@pytest.mark.parametrize("name", _SHIFTS)
def test_shifts_below_the_width(name: str, others: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    type_ = name.partition("_")[2]
    value, amount = operands(random, (type_, type_), COUNT)
    width = 1 if type_ == "i1" else 8 * amount.itemsize
    amount[:] = random.integers(0, width, COUNT)
    *_, (expected, found) = others.on_both(
        name, value, amount, unwritten(COUNT, type_), grid=(COUNT // BLOCK[0], 1, 1)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", _EXTENDED)
def test_both_halves(name: str, others: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    type_ = name.partition("_")[2]
    a, b = operands(random, (type_, type_), COUNT)
    outputs = unwritten(COUNT, type_), unwritten(COUNT, "i1" if "addui" in name else type_)
    results = others.on_both(name, a, b, *outputs, grid=(COUNT // BLOCK[0], 1, 1))
    for expected, found in results[2:]:
        np.testing.assert_array_equal(found, expected)


# --- what is written ---

_PARAMETERS = "%a: i32, %b: i32, %u: index, %out: memref<4xi32>, %far: memref<4xindex>"

_STORE = "memref.store %r, %out[%c0] : memref<4xi32>"


def _text(operation: str) -> str:
    body = f"%c0 = arith.constant 0 : index\n%r = {operation}\n{_STORE}"
    return spirv_text(body, _PARAMETERS)


def test_a_known_divisor_is_not_guarded() -> None:
    constants = "%seven = arith.constant 7 : i32\n"
    guarded = _text("arith.divsi %a, %b : i32")
    plain = spirv_text(
        f"{constants}%c0 = arith.constant 0 : index\n%r = arith.divsi %a, %seven : i32\n{_STORE}",
        _PARAMETERS,
    )
    assert guarded.count("OpSelect") == 2
    assert plain.count("OpSelect") == 0
    assert plain.count("OpSDiv") == 1


def test_a_device_may_lack_numbers() -> None:
    body = "%r = arith.addf %x, %x : f64"
    with pytest.raises(DiagnosticError) as caught:
        spirv_text(body, "%x: f64", for_spirv(DG2))
    assert "dg2 has no numbers of type f64" in str(caught.value)
    assert "%r = arith.addf %x, %x : f64" in str(caught.value)


def test_integers_become_bf16_without_f64() -> None:
    text = spirv_text("%r = arith.sitofp %x : i64 to bf16", "%x: i64", for_spirv(DG2))
    assert "OpTypeFloat 64" not in text


def test_a_choice_between_equal_values_is_none() -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %is = arith.cmpi slt, %a, %b : i32
        %r = arith.select %is, %a, %a : i32
        {_STORE}
    """
    assert "OpSelect" not in spirv_text(body, _PARAMETERS)
