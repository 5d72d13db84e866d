"""Kernels compute the same with the parts of complex numbers as with the numbers themselves."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ComplexType, ModuleOp

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES
from tests.transforms.distribute.kernels import printed, read, run
from xtile.dialects.complex import Complex
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.transforms.split_complex import split_complex
from xtile.transforms.split_complex.rules import RULES

Array = np.ndarray[Any, Any]

_BINARY = ("add", "atan2", "div", "mul", "pow", "sub")
_UNARY = (
    *("conj", "cos", "exp", "expm1", "log", "log1p", "neg", "rsqrt", "sign"),
    *("sin", "sqrt", "tan", "tanh"),
)
_REAL = ("abs", "angle", "im", "re")
_TOLERANCES = {"f32": 4e-6, "f64": 1e-14}
"""Of the modulus."""

_WHOLE = frozenset(
    {"complex.create", "complex.im", "complex.re", "memref.load", "memref.store", "gpu.func"}
)
"""What a kernel may do with complex numbers that are not split, in most tests."""


def _module(parameters: str, body: str, around: str = "", attributes: str = "") -> ModuleOp:
    return read(
        f"gpu.module @m {{\n{around}\ngpu.func @k({parameters}) kernel "
        f'attributes {{core.level = "subgroup"{attributes}}} {{\n{body}\ngpu.return\n}}\n}}\n'
    )


def _split(module: ModuleOp, whole: frozenset[str] = _WHOLE) -> ModuleOp:
    """The module with parts, which is verified, and has nothing else left to split."""
    result, diagnostics = split_complex(module), Diagnostics()
    verify_module(result, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    assert split_complex(result) is result
    for operation in result.walk():
        values = (*operation.operands, *operation.results)
        if any(isinstance(value.type, ComplexType) for value in values):
            assert operation.name in whole
    return result


def _elementwise(operation: str, types: list[str], result: str, *given: Array) -> list[Array]:
    """What a kernel makes of numbers, and what it makes of them when it is split."""
    count = len(given[0])
    loads = [f"%v{i} = memref.load %p{i}[%x] : memref<{count}x{t}>" for i, t in enumerate(types)]
    body = [
        "%x = gpu.global_id x",
        *loads,
        f"%r = {operation.format(*(f'%v{i}' for i in range(len(types))))}",
        f"memref.store %r, %out[%x] : memref<{count}x{result}>",
    ]
    parameters = [f"%p{i}: memref<{count}x{t}>" for i, t in enumerate(types)]
    block = f", known_block_size = array<i32: {count}, 1, 1>"
    module = _module(
        ", ".join([*parameters, f"%out: memref<{count}x{result}>"]),
        "\n".join(body),
        attributes=block,
    )
    results: list[Array] = []
    for each in (module, _split(module)):
        out = np.full(count, 7 if result[0] == "i" else np.nan, DTYPES[result])
        run(each, *given, out)
        results.append(out)
    return results


def _numbers(random: np.random.Generator, part: str, count: int) -> Array:
    parts = random.normal(0.0, 1.5, (2, count)) * 10.0 ** random.uniform(-2, 0.3, count)
    return (parts[0] + 1j * parts[1]).astype(DTYPES[f"complex<{part}>"])


@pytest.mark.parametrize("part", _TOLERANCES)
@pytest.mark.parametrize("name", [*_BINARY, *_UNARY, *_REAL])
def test_functions(name: str, part: str) -> None:
    random, type_ = fresh_generator(), f"complex<{part}>"
    types = [type_] * (2 if name in _BINARY else 1)
    given = [_numbers(random, part, 256) for _ in types]
    operands = ", ".join(f"{{{i}}}" for i in range(len(types)))
    result = part if name in _REAL else type_
    text = f"complex.{name} {operands} : {type_}"
    expected, found = _elementwise(text, types, result, *given)
    # e^(b log a) multiplies the error of the logarithm by its own size.
    factor = 40 if name in ("pow", "tan", "tanh", "atan2") else 1
    limit = factor * _TOLERANCES[part] * np.maximum(np.abs(expected), 1)
    assert (np.abs(expected - found) <= limit).all()


def _special(part: str) -> Array:
    """All pairs of numbers that are not like others."""
    info = np.finfo(DTYPES[part])
    numbers = np.array(
        [0.0, -0.0, 1.0, -2.5, info.max, -info.max, info.tiny, np.inf, -np.inf, np.nan], info.dtype
    )
    pairs = np.array(list(product(numbers, repeat=2)), info.dtype)
    return pairs.view(DTYPES[f"complex<{part}>"])[:, 0]


@pytest.mark.parametrize("part", _TOLERANCES)
@pytest.mark.parametrize("name", ["add", "sub", "eq", "neq", "neg", "conj", "re", "im", "abs"])
def test_special_numbers(name: str, part: str) -> None:
    type_, numbers = f"complex<{part}>", _special(part)
    is_binary = name in ("add", "sub", "eq", "neq")
    given = [numbers] * (1 + is_binary)
    if is_binary:
        given[1] = np.roll(numbers, int(fresh_generator().integers(len(numbers))))
    operands = ", ".join(f"{{{i}}}" for i in range(len(given)))
    result = "i1" if name in ("eq", "neq") else part if name in _REAL else type_
    with np.errstate(all="ignore"):
        expected, found = _elementwise(
            f"complex.{name} {operands} : {type_}", [type_] * len(given), result, *given
        )
    if name == "abs":
        np.testing.assert_allclose(found, expected, rtol=_TOLERANCES[part] / 8)
        return
    np.testing.assert_array_equal(found, expected)
    if result == type_:
        zero = (expected.real == 0) & (expected.imag == 0)
        for parts in ((found.real, expected.real), (found.imag, expected.imag)):
            signs, expected_signs = (np.signbit(each[zero]) for each in parts)
            np.testing.assert_array_equal(signs, expected_signs)


@pytest.mark.parametrize("part", _TOLERANCES)
def test_sizes_and_quotients_of_huge_and_tiny_numbers(part: str) -> None:
    """The squares of the parts would be infinite, or 0."""
    type_, info = f"complex<{part}>", np.finfo(DTYPES[part])
    random = fresh_generator()
    sizes = np.array([info.max / 64, np.sqrt(info.max), np.sqrt(info.tiny), info.tiny * 64])
    scale = np.repeat(sizes, 64).astype(info.dtype)
    parts = random.uniform(-8, 8, (4, 256)).astype(info.dtype) * scale
    a, b = parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]
    unit = info.eps
    _, found = _elementwise(f"complex.abs {{0}} : {type_}", [type_], part, a)
    exact = np.abs(a.astype(np.clongdouble))
    assert (np.abs(found - exact) <= 2 * unit * exact + info.smallest_subnormal).all()
    _, found = _elementwise(f"complex.div {{0}}, {{1}} : {type_}", [type_] * 2, type_, a, b)
    exact = a.astype(np.clongdouble) / b.astype(np.clongdouble)
    assert (np.abs(found - exact) <= 8 * unit * np.abs(exact))[:192].all()


def test_powers_of_integers() -> None:
    random = fresh_generator()
    base = _numbers(random, "f64", 128)
    power = random.integers(-4, 5, 128).astype(np.int32)
    expected, found = _elementwise(
        "complex.powi {0}, {1} : complex<f64>, i32",
        ["complex<f64>", "i32"],
        "complex<f64>",
        base,
        power,
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_powers_of_zero() -> None:
    nan = float("nan")
    base = np.array([0, complex(-0.0, 0.0), 0, complex(0.0, nan)], np.complex64)
    power = np.array([0, 2, 0.5, 1], np.complex64)
    type_ = "complex<f32>"
    with np.errstate(all="ignore"):
        _, found = _elementwise("complex.pow {0}, {1} : " + type_, [type_] * 2, type_, base, power)
    assert found[:3].tolist() == [1, 0, 0]
    assert np.isnan(found[3])


@pytest.mark.parametrize("bits", ["i64", "f64"])
def test_bits(bits: str) -> None:
    random = fresh_generator()
    numbers = random.integers(-(2**62), 2**62, 64)
    given = numbers.view(DTYPES[bits])
    expected, found = _elementwise(
        f"complex.bitcast {{0}} : {bits} to complex<f32>", [bits], "complex<f32>", given
    )
    assert found.view(np.int64).tolist() == expected.view(np.int64).tolist() == numbers.tolist()
    _, back = _elementwise(
        f"complex.bitcast {{0}} : complex<f32> to {bits}", ["complex<f32>"], bits, found
    )
    assert back.view(np.int64).tolist() == numbers.tolist()


def test_every_operation_has_a_rule() -> None:
    names = [operation.name for operation in Complex.operations]
    assert len(names) > 20
    assert [name for name in names if RULES.get(name) is None] == []


# --- control flow ---

_CONSTANTS = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %n = arith.constant 16.0 : f32
    %i = complex.constant [-0.0 : f32, 1.0 : f32] : complex<f32>
    %a = memref.load %m[%c0] : memref<4xcomplex<f32>>
"""

_FLOWS = {
    "for": """
        %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %x) -> (complex<f32>) {
          %v = memref.load %m[%k] : memref<4xcomplex<f32>>
          %t = complex.mul %s, %v : complex<f32>
          scf.yield %t : complex<f32>
        }
    """,
    "if": """
        %re = complex.re %a : complex<f32>
        %yes = arith.cmpf ogt, %re, %n : f32
        %r, %other = scf.if %yes -> (complex<f32>, f32) {
          scf.yield %x, %re : complex<f32>, f32
        } else {
          %t = complex.add %a, %i : complex<f32>
          scf.yield %t, %n : complex<f32>, f32
        }
    """,
    "while": """
        %r, %count = scf.while (%z = %x, %k = %c0)
            : (complex<f32>, index) -> (complex<f32>, index) {
          %size = complex.abs %z : complex<f32>
          %small = arith.cmpf olt, %size, %n : f32
          %early = arith.cmpi ult, %k, %c4 : index
          %goes_on = arith.andi %small, %early : i1
          scf.condition(%goes_on) %z, %k : complex<f32>, index
        } do {
        ^bb0(%z: complex<f32>, %k: index):
          %sq = complex.mul %z, %z : complex<f32>
          %t = complex.add %sq, %x : complex<f32>
          %next = arith.addi %k, %c1 : index
          scf.yield %t, %next : complex<f32>, index
        }
    """,
    "switch": """
        %r = scf.index_switch %c1 -> complex<f32>
        case 1 {
          %t = complex.conj %x : complex<f32>
          scf.yield %t : complex<f32>
        }
        default {
          scf.yield %a : complex<f32>
        }
    """,
    "select": """
        %no = arith.constant false
        %r = arith.select %no, %a, %x : complex<f32>
    """,
    "region": """
        %r = scf.execute_region -> complex<f32> {
          %t = complex.sub %a, %x : complex<f32>
          scf.yield %t : complex<f32>
        }
    """,
}


@pytest.mark.parametrize("name", _FLOWS)
def test_control_flow_carries_parts(name: str) -> None:
    module = _module(
        "%x: complex<f32>, %m: memref<4xcomplex<f32>>",
        f"{_CONSTANTS}{_FLOWS[name]}memref.store %r, %m[%c1] : memref<4xcomplex<f32>>",
    )
    _compare(module, _split(module))


def _compare(module: ModuleOp, split: ModuleOp) -> None:
    random = fresh_generator()
    given, x = _numbers(random, "f32", 4), complex(_numbers(random, "f32", 1)[0])
    results = [given.copy(), given.copy()]
    for each, memory in zip((module, split), results, strict=True):
        run(each, np.complex64(x), memory)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
    assert (results[0] != given).any()


def test_calls_and_branches_take_whole_numbers() -> None:
    around = """
        func.func @square(%z: complex<f32>) -> complex<f32> {
          %s = complex.mul %z, %z : complex<f32>
          cf.br ^after(%s : complex<f32>)
        ^after(%t: complex<f32>):
          %u = complex.neg %t : complex<f32>
          return %u : complex<f32>
        }
    """
    body = f"""{_CONSTANTS}
        %r = func.call @square(%x) : (complex<f32>) -> complex<f32>
        memref.store %r, %m[%c1] : memref<4xcomplex<f32>>
    """
    module = _module("%x: complex<f32>, %m: memref<4xcomplex<f32>>", body, around)
    _compare(module, _split(module, _WHOLE | {"func.call", "func.return", "cf.br"}))


# --- memory ---

_TEXT = """
    %c0 = arith.constant 0 : index
    %c = complex.constant [1.5 : f32, -0.0 : f32] : complex<f32>
    %a = memref.load %m[%c0] : memref<4xcomplex<f32>>
    memref.store %a, %m[%c0] : memref<4xcomplex<f32>>
    %r = complex.sub %a, %c : complex<f32>
    memref.store %r, %m[%c0] : memref<4xcomplex<f32>>
"""


def test_accesses_stay_whole() -> None:
    text = printed(_split(_module("%m: memref<4xcomplex<f32>>", _TEXT)))
    lines = [line.strip() for line in text.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("gpu.func"))
    assert lines[start + 1 : lines.index("gpu.return")] == [
        "%c0 = arith.constant 0 : index",
        "%c_re = arith.constant 1.500000e+00 : f32",
        "%c_im = arith.constant -0.000000e+00 : f32",
        "%a = memref.load %m[%c0] : memref<4xcomplex<f32>>",
        "%a_re = complex.re %a : complex<f32>",
        "%a_im = complex.im %a : complex<f32>",
        "memref.store %a, %m[%c0] : memref<4xcomplex<f32>>",
        "%r_re = arith.subf %a_re, %c_re : f32",
        "%r_im = arith.subf %a_im, %c_im : f32",
        "%0 = complex.create %r_re, %r_im : complex<f32>",
        "memref.store %0, %m[%c0] : memref<4xcomplex<f32>>",
    ]


_UPDATE = """
    %c1 = arith.constant 1 : index
    %old = core.atomic_update {} %x, %m[%c1] checked []
        : complex<f32>, memref<4xcomplex<f32>{}> -> complex<f32>
    %new = memref.load %m[%c1] : memref<4xcomplex<f32>{}>
    %r = complex.sub %new, %old : complex<f32>
    %c0 = arith.constant 0 : index
    memref.store %r, %m[%c0] : memref<4xcomplex<f32>{}>
"""


def _updating(kind: str, layout: str = "") -> ModuleOp:
    body = _UPDATE.format(kind, *[layout] * 3)
    return _module(f"%x: complex<f32>, %m: memref<4xcomplex<f32>{layout}>", body)


@pytest.mark.parametrize("kind", ["addf", "assign"])
def test_atomic_updates_are_of_parts(kind: str) -> None:
    module = _updating(kind)
    split = _split(module, _WHOLE | {"core.complex_part"})
    updates = [op for op in split.walk() if op.name == "core.atomic_update"]
    assert [str(op.results[0].type) for op in updates] == ["f32", "f32"]
    _compare(module, split)


def test_what_no_part_has() -> None:
    with pytest.raises(DiagnosticError, match="complex numbers have no atomic update maxnumf"):
        split_complex(_updating("maxnumf"))
    with pytest.raises(DiagnosticError, match="expected a memref with strides"):
        split_complex(_updating("addf", ", affine_map<(d0) -> (d0 floordiv 2)>"))


# --- where there is nothing to split ---


def test_real_kernels_stay_themselves() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %a = memref.load %m[%c0] : memref<4xcomplex<f32>>
        memref.store %a, %n[%c0] : memref<4xcomplex<f32>>
    """
    module = _module("%m: memref<4xcomplex<f32>>, %n: memref<4xcomplex<f32>>", body)
    assert split_complex(module) is module


def test_functions_of_the_host_stay() -> None:
    host = """
        func.func @h(%z: complex<f32>) -> complex<f32> {
          %s = complex.mul %z, %z : complex<f32>
          return %s : complex<f32>
        }
    """
    kernel = printed(_module("%m: memref<4xcomplex<f32>>", _TEXT))
    inside = kernel.removeprefix("module {").rstrip().removesuffix("}")
    split = _split(read(host + inside), _WHOLE | {"complex.mul", "func.return"})
    assert "complex.mul" in printed(split)
    assert "arith.subf" in printed(split)


@pytest.mark.parametrize("part", ["f16", "bf16"])
def test_narrow_numbers_are_computed_in_f32(part: str) -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %a = memref.load %m[%c0] : memref<4xcomplex<{part}>>
        %r = complex.mul %a, %a : complex<{part}>
        memref.store %r, %m[%c0] : memref<4xcomplex<{part}>>
    """
    text = printed(_split(_module(f"%m: memref<4xcomplex<{part}>>", body)))
    assert text.count("arith.extf") == 4
    assert text.count("arith.mulf") == text.count("arith.mulf %") == 4
    assert text.count("arith.truncf") == 2
