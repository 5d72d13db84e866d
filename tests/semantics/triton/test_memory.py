"""Loads, stores, atomic accesses, descriptors and pointers to blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import DTYPES, computed
from xtile.launch import SanitizerError
from xtile.text.diagnostics import DiagnosticError

_COUNT = 64


def _kernel(parameters: str, body: str) -> Any:
    text = f"tt.func public @kernel({parameters}) {{\n{body}\ntt.return\n}}\n"
    return xtile.parse(text, language="mlir")


def _pointers(name: str, element: str = "f32", count: int = _COUNT) -> str:
    """%NAMEp: pointers to the first elements of %NAME."""
    type_ = f"tensor<{count}x!tt.ptr<{element}>>"
    return (
        f"%{name}r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>\n"
        f"%{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {type_}\n"
        f"%{name}p = tt.addptr %{name}s, %{name}r : {type_}, tensor<{count}xi32>\n"
    )


def _mask(limit: int) -> str:
    return (
        f"%limit = arith.constant dense<{limit}> : tensor<{_COUNT}xi32>\n"
        f"%mask = arith.cmpi slt, %xr, %limit : tensor<{_COUNT}xi32>\n"
    )


_P = f"tensor<{_COUNT}x!tt.ptr<f32>>"


def test_masked_load_with_other_and_masked_store() -> None:
    x = fresh_generator().standard_normal(40).astype(np.float32)
    out = np.full(_COUNT, np.nan, np.float32)
    body = (
        _pointers("x")
        + _pointers("out")
        + _mask(40)
        + f"%other = arith.constant dense<2.5> : tensor<{_COUNT}xf32>\n"
        + f"%v = tt.load %xp, %mask, %other : {_P}\n"
        + f"tt.store %outp, %v : {_P}\n"
    )
    xtile.run(_kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", body), [x, out], sanitize=True)
    np.testing.assert_array_equal(out, np.concatenate([x, np.full(24, 2.5, np.float32)]))
    short = np.full(40, np.nan, np.float32)
    body = body.replace("tt.store %outp, %v :", "tt.store %outp, %v, %mask :")
    xtile.run(_kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", body), [x, short], sanitize=True)
    np.testing.assert_array_equal(short, x)


def test_scalar_access() -> None:
    x, out = np.array([3.5], np.float32), np.array([np.nan], np.float32)
    body = "%v = tt.load %x : !tt.ptr<f32>\ntt.store %out, %v : !tt.ptr<f32>"
    xtile.run(_kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", body), [x, out])
    assert out[0] == 3.5


def test_negative_offsets_and_pointers_as_integers() -> None:
    x, out = fresh_generator().standard_normal(8).astype(np.float32), np.full(1, np.nan, np.float32)
    body = """
    %seven = arith.constant 7 : i32
    %back = arith.constant -3 : i64
    %end = tt.addptr %x, %seven : !tt.ptr<f32>, i32
    %p = tt.addptr %end, %back : !tt.ptr<f32>, i64
    %i = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    %four = arith.constant 4 : i64
    %j = arith.addi %i, %four : i64
    %q = tt.int_to_ptr %j : i64 -> !tt.ptr<f32>
    %v = tt.load %q : !tt.ptr<f32>
    tt.store %out, %v : !tt.ptr<f32>
    """
    xtile.run(_kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", body), [x, out])
    assert out[0] == x[5]


def test_access_outside() -> None:
    body = _pointers("x") + f"%v = tt.load %xp : {_P}\n"
    x = np.zeros(_COUNT - 1, np.float32)
    with pytest.raises(DiagnosticError, match="lies outside of the memory of %x"):
        xtile.run(_kernel("%x: !tt.ptr<f32>", body), [x])
    with pytest.raises(SanitizerError, match=r"element \[63\] of memory %x is out of bounds"):
        xtile.run(_kernel("%x: !tt.ptr<f32>", body), [x], sanitize=True)


def _unsigned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


def _second(a: Any, b: Any) -> Any:
    return b


_UPDATES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("i32", np.add),
    "fadd": ("f32", np.add),
    "and": ("i32", np.bitwise_and),
    "or": ("i32", np.bitwise_or),
    "xor": ("i32", np.bitwise_xor),
    "max": ("i32", np.maximum),
    "min": ("i32", np.minimum),
    "umax": ("i32", _unsigned(np.maximum)),
    "umin": ("i32", _unsigned(np.minimum)),
    "exch": ("f32", _second),
}


def _random(element: str, count: int) -> Any:
    if element == "f32":
        return fresh_generator().integers(-99, 99, count).astype(np.float32)
    return fresh_generator().integers(-(2**31), 2**31, count, np.int32)


@pytest.mark.parametrize("kind", _UPDATES)
def test_atomic_rmw(kind: str) -> None:
    element, function = _UPDATES[kind]
    x, value = _random(element, _COUNT), _random(element, _COUNT)
    limit = int(fresh_generator().integers(1, _COUNT))
    old = np.full(_COUNT, 77, DTYPES[element])
    pointers, values = f"tensor<{_COUNT}x!tt.ptr<{element}>>", f"tensor<{_COUNT}x{element}>"
    body = (
        _pointers("x", element)
        + _pointers("v", element)
        + _pointers("old", element)
        + _mask(limit)
        + f"%v0 = tt.load %vp : {pointers}\n"
        + f"%o = tt.atomic_rmw {kind}, acq_rel, gpu, %xp, %v0, %mask : "
        + f"({pointers}, {values}, tensor<{_COUNT}xi1>) -> {values}\n"
        + f"tt.store %oldp, %o, %mask : {pointers}\n"
    )
    pointer = f"!tt.ptr<{element}>"
    module = _kernel(f"%x: {pointer}, %v: {pointer}, %old: {pointer}", body)
    changed = x.copy()
    xtile.run(module, [changed, value, old], sanitize=True)
    np.testing.assert_array_equal(changed[:limit], function(x, value)[:limit])
    np.testing.assert_array_equal(changed[limit:], x[limit:])
    np.testing.assert_array_equal(old[:limit], x[:limit])
    assert (old[limit:] == 77).all()


def test_atomic_cas_compares_bits() -> None:
    x = np.array([1.0, -0.0, np.nan, 4.0], np.float32)
    cmp, new = np.array([1.0, 0.0, np.nan, 5.0], np.float32), np.full(4, 9.0, np.float32)
    type_ = "tensor<4x!tt.ptr<f32>>"
    body = (
        _pointers("x", count=4)
        + _pointers("c", count=4)
        + _pointers("n", count=4)
        + f"%c0 = tt.load %cp : {type_}\n%n0 = tt.load %np : {type_}\n"
        + "%o = tt.atomic_cas acq_rel, gpu, %xp, %c0, %n0 : "
        + f"({type_}, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
        + f"tt.store %cp, %o : {type_}\n"
    )
    pointers = ", ".join(f"%{name}: !tt.ptr<f32>" for name in "xcn")
    before = x.copy()
    xtile.run(_kernel(pointers, body), [x, cmp, new])
    np.testing.assert_array_equal(x, [9.0, -0.0, 9.0, 4.0])
    np.testing.assert_array_equal(cmp.view(np.int32), before.view(np.int32))


def test_atomic_load_store_and_poll() -> None:
    x, out = _random("i32", _COUNT), np.full(_COUNT, -1, np.int32)
    seen = np.full(_COUNT, -1, np.int8)
    pointers, values = f"tensor<{_COUNT}x!tt.ptr<i32>>", f"tensor<{_COUNT}xi32>"
    body = (
        _pointers("x", "i32")
        + _pointers("out", "i32")
        + _pointers("seen", "i8")
        + f"%v = tt.atomic_load acquire, gpu, %xp : ({pointers}) -> {values}\n"
        + f"tt.atomic_store release, gpu, %outp, %v : {pointers}\n"
        + f"%s = tt.atomic_poll acquire, gpu, %outp, %v : {pointers}, {values} -> "
        + f"tensor<{_COUNT}xi1>\n"
        + f"%b = arith.extui %s : tensor<{_COUNT}xi1> to tensor<{_COUNT}xi8>\n"
        + f"tt.store %seenp, %b : tensor<{_COUNT}x!tt.ptr<i8>>\n"
    )
    module = _kernel("%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %seen: !tt.ptr<i8>", body)
    xtile.run(module, [x, out, seen], sanitize=True)
    np.testing.assert_array_equal(out, x)
    assert (seen == 1).all()
    waiting = _kernel(
        "%x: !tt.ptr<i32>",
        "%one = arith.constant 1 : i32\n"
        "%s = tt.atomic_poll acquire, gpu, %x, %one : !tt.ptr<i32>, i32 -> i1",
    )
    with pytest.raises(DiagnosticError, match="waits for a value that no program before it"):
        xtile.run(waiting, [np.zeros(1, np.int32)])


_DESCRIPTOR = """
%rows = arith.constant 5 : i32
%columns = arith.constant 20 : i32
%stride = arith.constant 32 : i64
%one = arith.constant 1 : i64
%desc = tt.make_tensor_descriptor %in0, [%rows, %columns], [%stride, %one]
  {{padding = {padding} : i32}} : !tt.ptr<f32>, !tt.tensordesc<{block}xf32>
"""


@pytest.mark.parametrize(("padding", "value"), [(1, 0.0), (2, np.nan)])
def test_descriptor_load(padding: int, value: float) -> None:
    x = fresh_generator().standard_normal((8, 32)).astype(np.float32)
    body = _DESCRIPTOR.format(padding=padding, block="4x16") + (
        "%i = arith.constant 3 : i32\n%j = arith.constant -4 : i32\n"
        "%r0 = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<4x16xf32> -> tensor<4x16xf32>\n"
    )
    body = body
    (found,) = computed(body, [x], [((4, 16), "f32")])
    whole = np.full((4, 16), value, np.float32)
    whole[:2, 4:] = x[3:5, :12]
    np.testing.assert_array_equal(found, whole)


def test_descriptor_store_and_reduce() -> None:
    x, tile = np.zeros((8, 32), np.float32), fresh_generator().standard_normal((4, 16))
    tile = tile.astype(np.float32)
    body = _DESCRIPTOR.format(padding=1, block="4x16") + (
        "%i = arith.constant 3 : i32\n%j = arith.constant 12 : i32\n"
        "tt.descriptor_store %desc[%i, %j], %1 : !tt.tensordesc<4x16xf32>, tensor<4x16xf32>\n"
        "tt.descriptor_reduce add, %desc[%i, %j], %1 : !tt.tensordesc<4x16xf32>, "
        "tensor<4x16xf32>\n"
        "%r0 = tt.load %in0_p : tensor<8x32x!tt.ptr<f32>>"
    )
    (found,) = computed(body, [x, tile], [((8, 32), "f32")])
    expected = np.zeros((8, 32), np.float32)
    expected[3:5, 12:20] = 2 * tile[:2, :8]
    np.testing.assert_array_equal(found, expected)


def test_descriptor_gather_and_scatter() -> None:
    x = fresh_generator().standard_normal((8, 32)).astype(np.float32)
    rows = np.array([4, 0, 2, 7, 1, 3, -1, 4], np.int32)
    body = _DESCRIPTOR.format(padding=1, block="1x16") + (
        "%j = arith.constant 8 : i32\n"
        "%r0 = tt.descriptor_gather %desc[%1, %j] : "
        "(!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32) -> tensor<8x16xf32>\n"
        "tt.descriptor_scatter %desc[%1, %j], %r0 : "
        "!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32, tensor<8x16xf32>"
    )
    (found,) = computed(body, [x, rows], [((8, 16), "f32")])
    expected = np.zeros((8, 16), np.float32)
    inside = (rows >= 0) & (rows < 5)
    expected[inside, :12] = x[rows[inside], 8:20]
    np.testing.assert_array_equal(found, expected)


def test_pointers_to_blocks() -> None:
    x = fresh_generator().standard_normal((6, 20)).astype(np.float32)
    out = np.full((6, 20), np.nan, np.float32)
    block = "!tt.ptr<tensor<4x16xf32>>"
    made = "\n".join(
        f"%{name}b = tt.make_tensor_ptr %{name}, [%m, %n], [%n, %one], [%zero, %zero] "
        f"{{order = array<i32: 1, 0>}} : <tensor<4x16xf32>>"
        for name in ("x", "out")
    )
    moved = "\n".join(
        f"%{name}c = tt.advance %{name}b, [%four, %eight] : <tensor<4x16xf32>>"
        for name in ("x", "out")
    )
    body = f"""
    %m = arith.constant 6 : i64
    %n = arith.constant 20 : i64
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %eight = arith.constant 8 : i32
    {made}
    {moved}
    %v = tt.load %xc {{boundaryCheck = array<i32: 0, 1>, padding = 2 : i32}} : {block}
    tt.store %outc, %v {{boundaryCheck = array<i32: 0, 1>}} : {block}
    """
    module = _kernel("%x: !tt.ptr<f32>, %out: !tt.ptr<f32>", body)
    xtile.run(module, [x, out], sanitize=True)
    expected = np.full((6, 20), np.nan, np.float32)
    expected[4:, 8:] = x[4:, 8:]
    np.testing.assert_array_equal(out, expected)
