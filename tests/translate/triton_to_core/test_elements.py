"""Inline assembly computes the same as it is, as operations of the core form, and on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import kernel
from tests.translate.triton_to_core.ways import computed
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

COUNT = 16

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Assembly:
    """Inline assembly.

    Attributes:
        text: The instructions.
        operands: Of "f" (f32), "i" (i32) and "b" (i8), which kernels have of each.
        result: The type of its result.
        wanted: What it computes of one or two operands.
        pack: How many elements it computes at once.
        constraints: Which registers are shared.
    """

    text: str
    operands: str
    result: str
    wanted: Callable[[Any, Any], Any]
    pack: int = 1
    constraints: str = ""


def _larger(n: Array, m: Array) -> Array:
    return np.maximum(n.view(np.uint32), m.view(np.uint32)).view(np.int32)


def _fused(x: Array, y: Array) -> Array:
    return (x.astype(np.float64) * y + x).astype(np.float32)


def _wide(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, _: function(x.astype(np.float64))


def _shifted(distance: Array, _: None) -> Array:
    near = np.minimum(distance.view(np.uint32), 31)
    return np.where(near == distance.view(np.uint32), np.int32(-3) >> near.astype(np.int32), -1)


def _halves(pairs: Array) -> Array:
    return pairs.view(ml_dtypes.bfloat16)


def _half_sums(a: Array, b: Array) -> Array:
    return (_halves(a) + _halves(b)).view(np.int32)


def _pair(low: Array, high: Array) -> Array:
    halves = [each.astype(np.float16).view(np.uint16).astype(np.uint32) for each in (low, high)]
    return (halves[0] | halves[1] << 16).view(np.int32)


def _saturated(x: Array, _: None) -> Array:
    return np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.int8)


ASSEMBLIES: Mapping[str, Assembly] = {
    "shift by a literal": Assembly("shl.b32 $0, $1, 3;", "i", "i32", lambda n, _: n << 3),
    "shift past the width": Assembly(
        "shr.s32 $0, -3, $1;", "i", "i32", _shifted, constraints="=r,r"
    ),
    "AMD's shift counts the lowest bits": Assembly(
        "v_lshlrev_b32 $0, 35, $1", "i", "i32", lambda n, _: n << 3
    ),
    "reversed operands": Assembly("v_ashrrev_i32 $0, 4, $1", "i", "i32", lambda n, _: n >> 4),
    "unsigned": Assembly("max.u32 $0, $1, $2;", "ij", "i32", _larger),
    "several": Assembly(
        "{ .reg .b32 t; mul.lo.s32 t, $1, $2; mad.lo.s32 $0, t, 3, $1; } // twice",
        "ij",
        "i32",
        lambda n, m: n * m * 3 + n,
    ),
    "bits": Assembly(
        "popc.b32 $0, $1; clz.b32 t, $1; xor.b32 $0, $0, t; not.b32 $0, $0;",
        "i",
        "i32",
        lambda n, _: (
            ~(
                np.bitwise_count(n.view(np.uint32)).astype(np.int32)
                ^ np.array([32 - int(each).bit_length() for each in n.view(np.uint32)], np.int32)
            )
        ),
    ),
    "truth table": Assembly(
        "lop3.b32 $0, $1, 0x0f0f0f0f, $2, 0xea;", "ij", "i32", lambda n, m: n & 0x0F0F0F0F | m
    ),
    "comparison": Assembly(
        "setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p;", "ij", "i32", np.minimum
    ),
    "comparison with NaN": Assembly(
        "setp.geu.f32 p, $1, $2; selp.f32 $0, $1, 0f3F800000, p;",
        "fg",
        "f32",
        lambda x, y: np.where(~(x < y), x, np.float32(1)),
    ),
    "fused": Assembly("fma.rn.f32 $0, $1, $2, $1;", "fg", "f32", _fused),
    "exp2": Assembly("ex2.approx.ftz.f32 $0, $1;", "f", "f32", _wide(np.exp2)),
    "AMD's cosine counts turns": Assembly(
        "v_cos_f32 $0, $1", "f", "f32", _wide(lambda x: np.cos(2 * np.pi * x))
    ),
    "AMD's literals are bits": Assembly(
        "v_mul_f32 $0, 0x40400000, $1\nv_rcp_f32 $0, $0", "f", "f32", _wide(lambda x: 1 / (3 * x))
    ),
    "negated": Assembly(
        "neg.f32 $0, $1; abs.f32 t, $0; sub.f32 $0, $0, t;", "f", "f32", lambda x, _: -x - np.abs(x)
    ),
    "rounded to an integer": Assembly(
        "cvt.rni.s32.f32 $0, $1;", "f", "i32", lambda x, _: np.rint(x).astype(np.int32)
    ),
    "rounded to a whole float": Assembly(
        "cvt.rmi.f32.f32 $0, $1;", "f", "f32", lambda x, _: np.floor(x)
    ),
    "sign extended": Assembly(
        "mov.b32 {a, b, c, d}, $1; cvt.s32.s8 $0, b;",
        "i",
        "i32",
        lambda n, _: (n >> 8).astype(np.int8).astype(np.int32),
    ),
    "pairs": Assembly("add.rn.bf16x2 $0, $1, $2;", "hk", "i32", _half_sums),
    "a pair of two": Assembly("cvt.rn.f16x2.f32 $0, $2, $1;", "fg", "i32", _pair),
    "shared register": Assembly(
        "add.s32 $0, $0, $1;", "i", "i32", lambda n, _: n * 2, constraints="=r,0"
    ),
    "four bytes at once": Assembly(
        "shl.b32 $0, $1, 3;",
        "b",
        "i8",
        lambda n, _: (n.view(np.uint32) << np.uint32(3)).view(np.int8),
        pack=4,
    ),
    "four floats of bytes": Assembly(
        "mov.b32 {a, b, c, d}, $4; cvt.rn.f32.s8 $0, a; cvt.rn.f32.s8 $1, b; "
        "cvt.rn.f32.s8 $2, c; cvt.rn.f32.s8 $3, d;",
        "b",
        "f32",
        lambda n, _: n.astype(np.float32),
        pack=4,
    ),
    "bytes of floats": Assembly(
        "cvt.rn.satfinite.e4m3x2.f32 a, $2, $1; cvt.rn.satfinite.e4m3x2.f32 b, $4, $3; "
        "mov.b32 $0, {a, b};",
        "L",
        "i8",
        _saturated,
        pack=4,
    ),
}

_NAMES = {"f": "f32", "g": "f32", "L": "f32", "b": "i8"}


def _operands() -> dict[str, Array]:
    generator = fresh_generator()
    bits = generator.integers(-(2**31), 2**31, (2, COUNT), np.int32)
    halves = generator.standard_normal((2, 2 * COUNT)).astype(ml_dtypes.bfloat16).view(np.int32)
    x = generator.uniform(0.1, 9.0, COUNT).astype(np.float32)
    y = generator.uniform(0.1, 9.0, COUNT).astype(np.float32)
    y[::5] = np.nan
    distances = np.concatenate([np.arange(COUNT - 2), [-1, 33]]).astype(np.int32)
    return {
        "f": x * np.where(np.arange(COUNT) % 2, 1, -1).astype(np.float32),
        "g": y,
        "L": (generator.standard_normal(COUNT) * 400).astype(np.float32),
        "i": np.where(np.arange(COUNT) < 12, bits[0], distances),
        "j": bits[1],
        "h": halves[0],
        "k": halves[1],
        "b": generator.integers(-128, 128, COUNT, np.int8),
    }


def _body() -> str:
    """All of them in one function."""
    numbers = {letter: n for n, letter in enumerate(_operands())}
    lines: list[str] = []
    for n, each in enumerate(ASSEMBLIES.values()):
        values = ", ".join(f"%{numbers[letter]}" for letter in each.operands)
        types = ", ".join(f"tensor<{COUNT}x{_NAMES.get(c, 'i32')}>" for c in each.operands)
        text = each.text.replace("\n", "\\0A")
        lines.append(
            f'%r{n} = tt.elementwise_inline_asm "{text}" {{constraints = "{each.constraints}", '
            f"packed_element = {each.pack} : i32, pure = true}} {values} : {types} -> "
            f"tensor<{COUNT}x{each.result}>"
        )
    return "\n".join(lines)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_assembly_computes_the_same_each_way() -> None:
    given = _operands()
    results = [((COUNT,), each.result) for each in ASSEMBLIES.values()]
    for way, found in computed(_body(), list(given.values()), results):
        for (name, each), array in zip(ASSEMBLIES.items(), found, strict=True):
            first, second = (*(given[letter] for letter in each.operands), None)[:2]
            wanted = each.wanted(first, second)
            np.testing.assert_allclose(
                array, wanted, rtol=2e-6, atol=2e-6, err_msg=f"{name}, {way}"
            )


REFUSED = {
    "dp4a.s32.s32 $0, $1, $1, $1;": "the instruction 'dp4a.s32.s32 $0, $1, $1, $1' is not known",
    "add.sat.s32 $0, $1, $1;": "the instruction 'add.sat.s32 $0, $1, $1' is not known",
    "mul.hi.u32 $0, $1, $1;": "the instruction 'mul.hi.u32 $0, $1, $1' is not known",
    "setp.lt.and.s32 p, $1, 1, q;": "the instruction 'setp.lt.and.s32 p, $1, 1, q' is not known",
    "@p mov.b32 $0, $1;": "the instruction '@p mov.b32 $0, $1' is not known",
    "add.s32 $0, $1, t;": "nothing was written to 't' in the inline assembly",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    line = (
        f'%r0 = tt.elementwise_inline_asm "{text}" {{constraints = "=r,r", packed_element = 1 : '
        f"i32, pure = true}} %0 : tensor<{COUNT}xi32> -> tensor<{COUNT}xi32>"
    )
    module, arrays = kernel(line, [np.zeros(COUNT, np.int32)], [((COUNT,), "i32")])
    ways: list[Callable[[], object]] = [
        lambda: xtile.run(module, arrays),
        lambda: translate(module, "triton-to-core"),
    ]
    for way in ways:
        with pytest.raises(DiagnosticError) as error:
            way()
        (diagnostic,) = error.value.diagnostics
        assert diagnostic.message.startswith(REFUSED[text])
        assert diagnostic.source is not None
        assert diagnostic.span is not None
        assert "tt.elementwise_inline_asm" in diagnostic.source.text[diagnostic.span.start :][:40]
