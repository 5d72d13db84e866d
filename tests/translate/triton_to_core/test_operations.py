"""Rarer operations of Triton compute the same as they are, as tiles, and on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import kernel
from tests.translate.triton_to_core.ways import computed
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

Array = np.ndarray[Any, Any]

ROWS, COLUMNS = 10, 12
"""The sizes of the tensor in memory, beyond whose edges blocks reach."""

HELD = 128
"""The elements of the array that the tensor lies in."""


def normal(*shape: int) -> Array:
    return fresh_generator().standard_normal(shape).astype(np.float32)


def refused(body: str, operands: list[Array]) -> str:
    """What is said of operations that cannot be raised; it is said at the last of them."""
    module, _ = kernel(body, operands, [])
    with pytest.raises(DiagnosticError) as error:
        translate(module, "triton-to-core")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    return diagnostic.message


# --- descriptors ---


def _descriptor(type_: str, padding: str = "") -> str:
    """Operations that make %d of the array of the first operand."""
    return f"""
    %rows = arith.constant {ROWS} : i32
    %columns = arith.constant {COLUMNS} : i32
    %stride = arith.constant {COLUMNS} : i64
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %in0, [%rows, %columns], [%stride, %one] {padding}
      : <f32>, <{type_}>
    """


def whole_of(array: Array) -> Array:
    """The tensor in an array."""
    return array[: ROWS * COLUMNS].reshape(ROWS, COLUMNS)


def padded(array: Array, rows: Any, columns: Any, padding: float) -> Array:
    """Elements of an array; those that are outside are the padding."""
    rows, columns = np.asarray(rows)[:, np.newaxis], np.asarray(columns)[np.newaxis]
    inside = (rows >= 0) & (rows < ROWS) & (columns >= 0) & (columns < COLUMNS)
    found = array[np.clip(rows, 0, ROWS - 1), np.clip(columns, 0, COLUMNS - 1)]
    return np.where(inside, found, np.float32(padding))


@pytest.mark.parametrize("padding", [0.0, np.nan])
def test_rows_are_gathered(padding: float) -> None:
    array, rows = normal(HELD), np.array([3, 0, 9, 10, -1, 3, 7, 2], np.int32)
    option = "{padding = 2 : i32}" if np.isnan(padding) else ""
    body = f"""{_descriptor("1x8xf32", option)}
    %column = arith.constant 6 : i32
    %r0 = tt.descriptor_gather %d[%1, %column]
      : (!tt.tensordesc<1x8xf32>, tensor<8xi32>, i32) -> tensor<8x8xf32>
    """
    wanted = padded(whole_of(array), rows, np.arange(6, 14), padding)
    for way, (found,) in computed(body, [array, rows], [((8, 8), "f32")]):
        np.testing.assert_array_equal(found, wanted, way)


def test_padding_is_kept_in_loops_and_functions() -> None:
    """The descriptor is made anew in each iteration, and pads with NaN all the same."""
    array = normal(HELD)
    body = f"""{_descriptor("4x8xf32", "{padding = 2 : i32}")}
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    %step = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<4x8xf32>
    %r0, %last = scf.for %i = %zero to %two step %step iter_args(%sum = %none, %e = %d)
        -> (tensor<4x8xf32>, !tt.tensordesc<4x8xf32>) : i32 {{
      %row = arith.muli %i, %two : i32
      %block = tt.descriptor_load %e[%row, %two]
        : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
      %edge = tt.descriptor_load %e[%rows, %two]
        : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
      %is_nan = arith.cmpf uno, %edge, %edge : tensor<4x8xf32>
      %counted = arith.uitofp %is_nan : tensor<4x8xi1> to tensor<4x8xf32>
      %more = arith.addf %block, %counted : tensor<4x8xf32>
      %next = arith.addf %sum, %more : tensor<4x8xf32>
      scf.yield %next, %e : tensor<4x8xf32>, !tt.tensordesc<4x8xf32>
    }}
    """
    whole = whole_of(array)
    wanted = (whole[0:4, 2:10] + 1) + (whole[2:6, 2:10] + 1)
    for way, (found,) in computed(body, [array], [((4, 8), "f32")]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=way)


def test_rows_are_scattered_and_blocks_are_added() -> None:
    rows = np.array([9, 4, 12, -2], np.int32)
    values, block, array = normal(4, 8), normal(4, 8), normal(HELD)
    body = f"""{_descriptor("1x8xf32")}
    %e = tt.make_tensor_descriptor %in0, [%rows, %columns], [%stride, %one] : <f32>, <4x8xf32>
    %column = arith.constant 6 : i32
    tt.descriptor_scatter %d[%1, %column], %2
      : !tt.tensordesc<1x8xf32>, tensor<4xi32>, i32, tensor<4x8xf32>
    %row = arith.constant 7 : i32
    %start = arith.constant -3 : i32
    tt.descriptor_reduce add, %e[%row, %start], %3
      : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>
    %r0 = tt.descriptor_gather %d[%1, %column]
      : (!tt.tensordesc<1x8xf32>, tensor<4xi32>, i32) -> tensor<4x8xf32>
    """
    wanted = whole_of(array).copy()
    wanted[9, 6:], wanted[4, 6:] = values[0, :6], values[1, :6]
    wanted[7:10, :5] += block[:3, 3:]
    for way in ("reference", "tiles", "opencl"):
        module, arrays = kernel(body, [array, rows, values, block], [((4, 8), "f32")])
        arrays[0] = arrays[0].copy()
        if way == "tiles":
            module = translate(module, "triton-to-core")
        xtile.run(module, arrays, device="opencl" if way == "opencl" else "reference")
        np.testing.assert_allclose(whole_of(arrays[0]), wanted, rtol=1e-6, err_msg=way)


def test_updates_that_count_to_a_bound_are_refused() -> None:
    body = """
    %n = arith.constant 8 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %d = tt.make_tensor_descriptor %in0, [%n], [%one] : <i32>, <8xi32>
    tt.descriptor_reduce inc, %d[%zero], %0 : !tt.tensordesc<8xi32>, tensor<8xi32>
    """
    assert refused(body, [np.zeros(8, np.int32)]) == (
        "the update inc of i32 cannot be translated to the core form; write add, min, max, and, "
        "or, xor"
    )


# --- functions of scalars ---


def _mapped(region: str, pack: int = 1) -> str:
    type_ = "tensor<16xi32>"
    return (
        f'%r0 = "tt.map_elementwise"(%0, %1) <{{pack = {pack} : i32}}> ({{{region}}})'
        f" : ({type_}, {type_}) -> {type_}"
    )


def _whole() -> tuple[Array, Array]:
    n, m = fresh_generator().integers(-50, 50, (2, 16)).astype(np.int32)
    m[::4] = 0
    return n, m


def test_a_function_that_branches() -> None:
    """The quotient is computed only where the divisor is not 0."""
    n, m = _whole()
    body = _mapped("""
    ^bb0(%a: i32, %b: i32):
      %zero = arith.constant 0 : i32
      %is_zero = arith.cmpi eq, %b, %zero : i32
      cf.cond_br %is_zero, ^bb1, ^bb2
    ^bb1:
      %negative = arith.subi %zero, %a : i32
      cf.br ^bb3(%negative : i32)
    ^bb2:
      %quotient = arith.divsi %a, %b : i32
      %is_small = arith.cmpi slt, %quotient, %a : i32
      %result = scf.if %is_small -> i32 {
        %rest = arith.remsi %a, %b : i32
        scf.yield %rest : i32
      } else {
        scf.yield %quotient : i32
      }
      cf.br ^bb3(%result : i32)
    ^bb3(%c: i32):
      %d = arith.addi %c, %c : i32
      tt.map_elementwise.return %d : i32
    """)
    divisor = np.where(m == 0, 1, m)
    quotient = np.trunc(n / divisor).astype(np.int32)
    rest = n - quotient * divisor
    wanted = 2 * np.where(m == 0, -n, np.where(quotient < n, rest, quotient))
    for way, (found,) in computed(body, [n, m], [((16,), "i32")]):
        np.testing.assert_array_equal(found, wanted, way)


def test_a_function_of_pairs() -> None:
    n, m = _whole()
    body = _mapped(
        """
    ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
      %s = arith.addi %a0, %b1 : i32
      %d = arith.subi %a1, %b0 : i32
      tt.map_elementwise.return %s, %d : i32, i32
    """,
        pack=2,
    )
    wanted = np.stack([n[::2] + m[1::2], n[1::2] - m[::2]], axis=1).ravel()
    for way, (found,) in computed(body, [n, m], [((16,), "i32")]):
        np.testing.assert_array_equal(found, wanted, way)


def test_functions_that_loop_or_store_are_refused() -> None:
    n, m = _whole()
    ending = "; a function of elements that becomes the core form has operations of arith and math,"
    loop = _mapped("""
    ^bb0(%a: i32, %b: i32):
      cf.br ^bb1(%a : i32)
    ^bb1(%c: i32):
      %d = arith.addi %c, %b : i32
      %is_small = arith.cmpi slt, %d, %a : i32
      cf.cond_br %is_small, ^bb1(%d : i32), ^bb2
    ^bb2:
      tt.map_elementwise.return %d : i32
    """)
    assert refused(loop, [n, m]).startswith(f"cf.cond_br branches back{ending}")
    store = _mapped("""
    ^bb0(%a: i32, %b: i32):
      tt.store %in0, %a : !tt.ptr<i32>
      tt.map_elementwise.return %b : i32
    """)
    assert refused(store, [n, m]).startswith(f"tt.store is no arithmetic{ending}")


# --- warps ---


def test_regions_of_warps_and_masks() -> None:
    n, m = _whole()
    body = """
    %true = arith.constant true
    %seven = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %one = arith.constant 1 : i32
    %rest = ttg.predicate_stage %two, %seven, %one maxStage 4 stage 0 : i32 -> i1
    %last = ttg.predicate_stage %seven, %seven, %one maxStage 4 stage 3 : i32 -> i1
    %r0 = ttg.warp_specialize(%in1, %1)
    default {
      %sum = arith.addi %0, %1 : tensor<16xi32>
      ttg.warp_yield %sum : tensor<16xi32>
    }
    partition0(%p: !tt.ptr<i32>, %values: tensor<16xi32>) num_warps(4) {
      %nine = arith.constant 9 : i32
      tt.store %p, %nine : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>, tensor<16xi32>) -> tensor<16xi32>
    %first = tt.load %in1 : !tt.ptr<i32>
    %warp = ttg.warp_id
    %all = tt.splat %first : i32 -> tensor<16xi32>
    %r1 = "ttg.mask"(%rest) ({
      ttg.mask.return %all : tensor<16xi32>
    }) : (i1) -> tensor<16xi32>
    %wide = arith.extui %last : i1 to i32
    %r2 = tt.splat %wide : i32 -> tensor<16xi32>
    """
    results = [((16,), "i32")] * 3
    for way, (total, first, last) in computed(body, [n, m.copy()], results):
        np.testing.assert_array_equal(total, n + m, way)
        np.testing.assert_array_equal(first, 9, way)
        np.testing.assert_array_equal(last, 0, way)


# --- memory ---


def test_waiting_for_what_was_written() -> None:
    n, m = _whole()
    body = """
    %done = tt.atomic_poll acquire, gpu, %in0, %expected : !tt.ptr<i32>, i32 -> i1
    %wide = arith.extui %done : i1 to i32
    %r0 = tt.splat %wide : i32 -> tensor<16xi32>
    """
    whole = f"%expected = tt.load %in0 : !tt.ptr<i32>\n{body}"
    for way, (found,) in computed(whole, [n, m], [((16,), "i32")]):
        np.testing.assert_array_equal(found, 1, way)
    timed = body.replace("%expected :", "%n timeout %ns :")
    given = "%n = arith.constant 1 : i32\n%ns = arith.constant 1 : i64\n"
    assert refused(f"{given}{timed}", [n]) == (
        "tt.atomic_poll with a timeout cannot be translated to the core form, which has no clock; "
        "wait without one"
    )


def test_elements_of_local_memory_at_indices() -> None:
    values = fresh_generator().integers(0, 99, (4, 8)).astype(np.int32)
    rows = fresh_generator().permuted(np.tile(np.arange(4, dtype=np.int32)[:, None], 8), axis=0)
    smem, shared = (
        "#ttg.shared_memory",
        ("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"),
    )
    memory = f"!ttg.memdesc<4x8xi32, {shared}, {smem}, mutable>"
    constant = f"!ttg.memdesc<4x8xi32, {shared}, {smem}>"
    tensor = "tensor<4x8xi32>"
    body = f"""
    %m = ttg.local_alloc %0 : ({tensor}) -> {constant}
    %r0 = ttg.local_gather %m[%1] {{axis = 0 : i32}} : {constant}, {tensor} -> {tensor}
    %w = ttg.local_alloc : () -> {memory}
    ttg.local_scatter %w[%1], %0 {{axis = 0 : i32}} : {memory}, {tensor}, {tensor}
    %r1 = ttg.local_gather %w[%1] {{axis = 0 : i32}} : {memory}, {tensor} -> {tensor}
    %r2 = ttg.local_load %w : {memory} -> {tensor}
    """
    scattered = np.empty_like(values)
    np.put_along_axis(scattered, rows, values, 0)
    wanted = (np.take_along_axis(values, rows, 0), values, scattered)
    results = [((4, 8), "i32")] * 3
    for way, found in computed(body, [values, rows], results):
        for number, each in enumerate(wanted):
            np.testing.assert_array_equal(found[number], each, f"{way} {number}")
