"""Atomic updates on OpenCL's CPU device leave in memory what they leave on the reference device."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import (
    Array,
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.text.diagnostics import DiagnosticError

_ITEMS = 128
_PLACES = 5

_INTEGER_KINDS = (
    *("addi", "andi", "assign", "maxs", "maxu", "mins", "minu", "muli", "ori", "xori"),
)
_FLOAT_KINDS = ("addf", "assign", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf")

_SPACES = {"": "", "3": ", 3"}


def _update(kind: str, type: str) -> LaneKernel:
    """Each work-item updates one of a few locations in global memory, then one in local memory."""
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %places = arith.constant {_PLACES} : index
        %x = gpu.global_id x
        %t = gpu.thread_id x
        %i = memref.load %where[%x] : memref<{_ITEMS}xindex>
        %v = memref.load %values[%x] : memref<{_ITEMS}x{type}>
        %first = arith.cmpi ult, %t, %places : index
        scf.if %first {{
          %s = memref.load %start[%t] : memref<{_PLACES}x{type}>
          memref.store %s, %l[%t] : memref<{_PLACES}x{type}, 3>
        }}
        gpu.barrier
        %0 = memref.atomic_rmw {kind} %v, %out[%i] : ({type}, memref<{_PLACES}x{type}>) -> {type}
        %1 = memref.atomic_rmw {kind} %v, %l[%i] : ({type}, memref<{_PLACES}x{type}, 3>) -> {type}
        gpu.barrier
        scf.if %first {{
          %s = memref.load %l[%t] : memref<{_PLACES}x{type}, 3>
          memref.store %s, %local[%t] : memref<{_PLACES}x{type}>
        }}
    """
    parameters = (
        f"%where: memref<{_ITEMS}xindex>, %values: memref<{_ITEMS}x{type}>, "
        f"%start: memref<{_PLACES}x{type}>, %out: memref<{_PLACES}x{type}>, "
        f"%local: memref<{_PLACES}x{type}>"
    )
    attributions = f"workgroup(%l : memref<{_PLACES}x{type}, 3>)"
    return LaneKernel(parameters, body, (_ITEMS, 1, 1), attributions=attributions)


KERNELS = {
    f"{kind}_{type}": _update(kind, type)
    for kind, type in (
        *product(_INTEGER_KINDS, ("i8", "i16", "i32", "i64")),
        *product(_FLOAT_KINDS, ("f16", "bf16", "f32", "f64")),
    )
}


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels({**KERNELS, **OTHERS})


@pytest.mark.parametrize("name", KERNELS)
def test_updates(name: str, kernels: LaneKernels) -> None:
    """Numbers are such that the order of the updates makes no difference."""
    random = np.random.default_rng(fresh_seed())
    kind, type_ = name.split("_")
    dtype = np.dtype(DTYPES[type_])
    where = random.integers(0, _PLACES, _ITEMS)
    values, start = _operands(random, kind, dtype, where)
    results = kernels.on_both(name, where, values, start, start, unwritten(_PLACES, type_))
    for expected, found in results[3:]:
        equal = same(expected, found) | (expected == found)
        assert equal.all(), f"{found} instead of {expected} of {start}"
    assert same(results[3][0], results[4][0]).all()


def _operands(
    random: np.random.Generator, kind: str, dtype: np.dtype[Any], where: Array
) -> tuple[Array, Array]:
    if kind == "assign":
        # All work-items of a location store one number.
        numbers = random.integers(-100, 100, _PLACES).astype(dtype)
        return numbers[where], np.zeros(_PLACES, dtype)
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        both = random.integers(info.min, info.max, _ITEMS + _PLACES, dtype, endpoint=True)
    elif kind == "mulf":
        both = random.choice([-2.0, -1.0, 1.0, 1.0, 1.0, 0.5], _ITEMS + _PLACES).astype(dtype)
    elif kind == "addf":
        # bf16 holds integers up to 256.
        both = random.choice([-1.0, 0.0, 1.0, 2.0], _ITEMS + _PLACES).astype(dtype)
    else:
        both = random.normal(0.0, 10.0, _ITEMS + _PLACES).astype(dtype)
        both[7], both[11], both[-1] = np.nan, -np.inf, np.nan
    return both[:_ITEMS], both[_ITEMS:]


# --- the old number, and updates that a region computes ---

OTHERS = {
    "tickets": LaneKernel(
        f"%out: memref<{_ITEMS}xi32>, %counter: memref<1xi32>",
        f"""
        %c0 = arith.constant 0 : index
        %one = arith.constant 1 : i32
        %n = memref.atomic_rmw addi %one, %counter[%c0] : (i32, memref<1xi32>) -> i32
        %i = arith.index_cast %n : i32 to index
        memref.store %one, %out[%i] : memref<{_ITEMS}xi32>
        """,
        (_ITEMS // 2, 1, 1),
    ),
    "float_tickets": LaneKernel(
        f"%out: memref<{_ITEMS}xf32>, %counter: memref<1xf32>",
        f"""
        %c0 = arith.constant 0 : index
        %one = arith.constant 1.0 : f32
        %n = memref.atomic_rmw addf %one, %counter[%c0] : (f32, memref<1xf32>) -> f32
        %k = arith.fptosi %n : f32 to i32
        %i = arith.index_cast %k : i32 to index
        memref.store %one, %out[%i] : memref<{_ITEMS}xf32>
        """,
        (_ITEMS // 2, 1, 1),
    ),
    "half_tickets": LaneKernel(
        f"%out: memref<{_ITEMS}xf16>, %counter: memref<3xf16>",
        f"""
        %c1 = arith.constant 1 : index
        %one = arith.constant 1.0 : f16
        %n = memref.atomic_rmw addf %one, %counter[%c1] : (f16, memref<3xf16>) -> f16
        %k = arith.fptosi %n : f16 to i32
        %i = arith.index_cast %k : i32 to index
        memref.store %one, %out[%i] : memref<{_ITEMS}xf16>
        """,
        (_ITEMS // 2, 1, 1),
    ),
    **{
        f"generic_{type}": LaneKernel(
            f"%values: memref<{_ITEMS}x{type}>, %out: memref<3x{type}>",
            f"""
            %c1 = arith.constant 1 : index
            %x = gpu.global_id x
            %v = memref.load %values[%x] : memref<{_ITEMS}x{type}>
            %old = memref.generic_atomic_rmw %out[%c1] : memref<3x{type}> {{
            ^bb0(%current: {type}):
              %is = {compare} %v, %current : {type}
              %new = arith.select %is, %v, %current : {type}
              memref.atomic_yield %new : {type}
            }}
            """,
            (_ITEMS // 2, 1, 1),
        )
        for type, compare in (
            ("i8", "arith.cmpi sgt,"),
            ("i16", "arith.cmpi sgt,"),
            ("i32", "arith.cmpi sgt,"),
            ("i64", "arith.cmpi sgt,"),
            ("f16", "arith.cmpf ogt,"),
            ("f32", "arith.cmpf ogt,"),
            ("f64", "arith.cmpf ogt,"),
        )
    },
}


@pytest.mark.parametrize("name", ["tickets", "float_tickets", "half_tickets"])
def test_each_update_gives_another_old_number(name: str, kernels: LaneKernels) -> None:
    type_ = {"tickets": "i32", "float_tickets": "f32", "half_tickets": "f16"}[name]
    counter = np.zeros(3 if name == "half_tickets" else 1, DTYPES[type_])
    results = kernels.on_both(name, unwritten(_ITEMS, type_), counter, grid=(2, 1, 1))
    np.testing.assert_array_equal(results[0][1], np.ones(_ITEMS))
    assert results[1][1].max() == _ITEMS
    np.testing.assert_array_equal(results[1][1], results[1][0])


@pytest.mark.parametrize("name", [name for name in OTHERS if name.startswith("generic")])
def test_updates_by_regions(name: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    type_ = name.removeprefix("generic_")
    values = random.integers(-100, 100, _ITEMS).astype(DTYPES[type_])
    memory = np.array([-5, -128 if type_ == "i8" else -1000, 7]).astype(DTYPES[type_])
    _, (expected, found) = kernels.on_both(name, values, memory, grid=(2, 1, 1))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, [-5, values.max(), 7])


def test_module_is_valid(kernels: LaneKernels) -> None:
    validate(kernels.program.spirv)


# --- what is written ---


def _text(kind: str, type: str, space: str = "") -> str:
    memory = f"memref<4x{type}{', 3' if space else ''}>"
    attributions = f"workgroup(%l : {memory})" if space else ""
    name = "%l" if space else "%m"
    parameters = f"%v: {type}" if space else f"%v: {type}, %m: {memory}"
    body = f"""
        %c0 = arith.constant 0 : index
        %r = memref.atomic_rmw {kind} %v, {name}[%c0] : ({type}, {memory}) -> {type}
    """
    return spirv_text(body, parameters, attributions=attributions)


@pytest.mark.parametrize(
    ("kind", "type", "instruction"),
    [
        ("addi", "i32", "OpAtomicIAdd"),
        ("maxu", "i64", "OpAtomicUMax"),
        ("assign", "f32", "OpAtomicExchange"),
        ("muli", "i32", "OpAtomicCompareExchange"),
        ("addf", "f64", "OpAtomicFAddEXT"),
        ("maxnumf", "f16", "OpAtomicFMaxEXT"),
        ("addf", "f16", "OpAtomicCompareExchange"),
        ("maximumf", "f64", "OpAtomicCompareExchange"),
    ],
)
def test_instructions(kind: str, type: str, instruction: str) -> None:
    assert f" {instruction} " in _text(kind, type)


def test_an_update_of_bits_is_one_of_a_float() -> None:
    """What is a loop for LLVM is one instruction here."""
    body = """
        %c0 = arith.constant 0 : index
        %bits = builtin.unrealized_conversion_cast %m : memref<4xf32> to memref<4xi32>
        %r = memref.generic_atomic_rmw %bits[%c0] : memref<4xi32> {
        ^bb0(%current: i32):
          %a = arith.bitcast %current : i32 to f32
          %b = arith.addf %a, %v : f32
          %c = arith.bitcast %b : f32 to i32
          memref.atomic_yield %c : i32
        }
    """
    text = spirv_text(body, "%v: f32, %m: memref<4xf32>")
    assert "OpAtomicFAddEXT %float %m %uint_1 %uint_520 %v" in text
    assert "OpAtomicCompareExchange" not in text
    twice = spirv_text(body.replace("%a, %v", "%a, %a"), "%v: f32, %m: memref<4xf32>")
    assert "OpAtomicCompareExchange" in twice


def test_scopes_and_orderings() -> None:
    assert "OpAtomicIAdd %uint %m %uint_1 %uint_520 %v" in _text("addi", "i32")
    assert "%uint_2 %uint_264 %v" in _text("addi", "i32", "3")


def test_complex_numbers_are_refused() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %r = memref.generic_atomic_rmw %m[%c0] : memref<4xi4> {
        ^bb0(%current: i4):
          memref.atomic_yield %current : i4
        }
    """
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": LaneKernel("%m: memref<4xi4>", body)}).program
    assert "kernels of OpenCL have no numbers of type i4" in str(caught.value)
