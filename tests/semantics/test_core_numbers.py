"""Directed rounding and the flushing of subnormal numbers: meaning, translation, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.dialects.core.core_text import verified
from tests.transforms.distribute.kernels import arguments_of, function_of, printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.semantics.sanitizer import sanitize
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.cleanup import clean_up
from xtile.translate.route import Options, translate

COUNT = 64

OPERATIONS = {
    "arith.addf": "arith.addf %x, %y",
    "arith.subf": "arith.subf %x, %y",
    "arith.mulf": "arith.mulf %x, %y",
    "arith.divf": "arith.divf %x, %y",
    "math.fma": "math.fma %x, %y, %z",
    "math.sqrt": "math.sqrt %x",
}
DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
TINY = 2.0**-130
"""A subnormal number of f32."""

DIRECTIONS = ("downward", "toward_zero", "upward")


def kernel(name: str, type: str, attributes: str) -> str:
    memref, vector = f"memref<{COUNT}x{type}>", f"vector<{COUNT}x{type}>"
    loads = "\n".join(
        f"%{v} = vector.load %p{v}[%c0] : {memref}, {vector}" for v in ("x", "y", "z")
    )
    return tile_kernel(
        f"%px: {memref}, %py: {memref}, %pz: {memref}, %o: {memref}",
        f"""%c0 = arith.constant 0 : index
        {loads}
        %r = {OPERATIONS[name]} {{{attributes}}} : {vector}
        vector.store %r, %o[%c0] : {memref}, {vector}""",
    )


def inputs(name: str, type: str, rng: np.random.Generator) -> list[Any]:
    numbers = rng.uniform(0.5, 2, (3, COUNT)) * rng.choice([-1.0, 1.0], (3, COUNT))
    if type != "f16":
        numbers *= 2.0 ** rng.integers(-8, 8, (3, COUNT))
    if name == "math.sqrt":
        numbers = np.abs(numbers)
    return [*numbers.astype(DTYPES[type]), np.full(COUNT, np.nan, DTYPES[type])]


def exact(name: str, x: Fraction, y: Fraction, z: Fraction) -> Fraction:
    """The result without rounding; for a root its square."""
    return {
        "arith.addf": lambda: x + y,
        "arith.subf": lambda: x - y,
        "arith.mulf": lambda: x * y,
        "arith.divf": lambda: x / y,
        "math.fma": lambda: x * y + z,
        "math.sqrt": lambda: x,
    }[name]()


def is_right(name: str, made: Any, wanted: Fraction, direction: str) -> bool:
    """Whether a number is the nearest one to an exact result in a direction."""
    down = direction == "downward" or (direction == "toward_zero" and made > 0)
    beyond = np.nextafter(made, made.dtype.type(np.inf if down else -np.inf))
    sides = [Fraction(float(each)) for each in (made, beyond)]
    if name == "math.sqrt":
        sides = [side * side for side in sides]
    near, far = sides
    return near <= wanted < far if down else far < wanted <= near


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_directed(name: str, type: str, direction: str, rng: np.random.Generator) -> None:
    text = kernel(name, type, f'core.rounding = "{direction}"')
    arguments = inputs(name, type, rng)
    run(read(text), *arguments)
    operands = [[Fraction(float(n)) for n in each] for each in arguments[:3]]
    for made, x, y, z in zip(arguments[3], *operands, strict=True):
        assert is_right(name, made, exact(name, x, y, z), direction)
    translated = [*arguments[:3], np.full(COUNT, np.nan, DTYPES[type])]
    run_entry(text, lowered(text), *translated)
    np.testing.assert_array_equal(translated[3], arguments[3])


def test_flushed() -> None:
    text = kernel("arith.mulf", "f32", "core.flush_to_zero")
    tiny = np.float32(2.0**-130)
    x, y, z, o = inputs("arith.mulf", "f32", np.random.default_rng())
    x[:4], y[:4] = [tiny, -tiny, 2.0**-100, 1], [2.0**100, 1, 2.0**-40, 2.0**-126]
    run(read(text), x, y, z, o)
    assert o[:4].tolist() == [0, 0, 0, 2.0**-126]
    assert np.signbit(o[1])
    made = np.full_like(o, np.nan)
    run_entry(text, lowered(text), x, y, z, made)
    np.testing.assert_array_equal(made, o)


@pytest.mark.parametrize(
    ("line", "given", "wanted"),
    [
        ("arith.maximumf %x, %y", (-TINY, -1.0), -0.0),
        ("arith.maxnumf %x, %y", (TINY, -1.0), 0.0),
        ("arith.minimumf %x, %y", (TINY, 1.0), 0.0),
        ("arith.minnumf %x, %y", (-TINY, 1.0), -0.0),
        ("math.exp2 %x", (-130.0, 0.0), 0.0),
        ("math.rsqrt %x", (TINY, 0.0), np.inf),
    ],
)
def test_what_else_is_flushed(line: str, given: tuple[float, float], wanted: float) -> None:
    text = tile_kernel(
        "%x: f32, %y: f32, %o: memref<1xf32>",
        f"""%c0 = arith.constant 0 : index
        %r = {line} {{core.flush_to_zero}} : f32
        memref.store %r, %o[%c0] : memref<1xf32>""",
    )
    numbers = [np.float32(number) for number in given]
    made = np.full(1, np.nan, np.float32)
    run(read(text), *numbers, made)
    assert made[0] == wanted
    assert np.signbit(made[0]) == np.signbit(wanted)
    module = lowered(text)
    assert "flush_to_zero" in printed(module)
    again = np.full(1, np.nan, np.float32)
    run_entry(text, module, *numbers, again)
    assert again.tobytes() == made.tobytes()


@pytest.mark.parametrize("name", ["maxnumf", "minnumf"])
def test_zeros_have_an_order(name: str) -> None:
    text = tile_kernel(
        "%x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>",
        f"""%c0 = arith.constant 0 : index
        %a = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
        %b = vector.load %y[%c0] : memref<4xf32>, vector<4xf32>
        %r = arith.{name} %a, %b : vector<4xf32>
        vector.store %r, %o[%c0] : memref<4xf32>, vector<4xf32>""",
    )
    x = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    y = np.array([-0.0, 0.0, -0.0, np.nan], np.float32)
    made = np.full(4, np.nan, np.float32)
    run(read(text), x, y, made)
    is_minimum = name == "minnumf"
    assert np.signbit(made).tolist() == [is_minimum, is_minimum, True, False]
    assert made.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(("mode", "wanted"), [("", 4.0), ("toward_zero", 2.0)])
def test_scales_are_rounded_up_or_toward_zero(mode: str, wanted: float) -> None:
    text = tile_kernel(
        "%x: f32, %o: memref<1xf32>",
        f"""%c0 = arith.constant 0 : index
        %s = arith.truncf %x {mode} {{core.saturate}} : f32 to f8E8M0FNU
        %r = arith.extf %s : f8E8M0FNU to f32
        memref.store %r, %o[%c0] : memref<1xf32>""",
    )
    made, again = (np.full(1, np.nan, np.float32) for _ in range(2))
    run(read(text), np.float32(3), made)
    run_entry(text, lowered(text), np.float32(3), again)
    assert made.tolist() == again.tolist() == [wanted]


def test_in_cuda_tile_ir() -> None:
    words = {"downward": "negative_inf", "toward_zero": "zero", "upward": "positive_inf"}
    for direction, word in words.items():
        for name in OPERATIONS:
            module = lowered(kernel(name, "f32", f'core.rounding = "{direction}"'))
            assert f"rounding<{word}>" in printed(module)
    for name in OPERATIONS:
        attributes = 'core.flush_to_zero, core.rounding = "upward"'
        module = lowered(kernel(name, "f32", attributes))
        assert "flush_to_zero" in printed(module)
        assemble_for_all(module, ["sm_90"])


def test_cleaning_up_neither_folds_nor_forgets() -> None:
    text = tile_kernel(
        "%m: memref<1xf32>",
        """%c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %tiny = arith.constant 1.0e-30 : f32
    %near = arith.addf %one, %tiny : f32
    %up = arith.addf %one, %tiny {core.rounding = "upward"} : f32
    %r = arith.subf %up, %near : f32
    memref.store %r, %m[%c0] : memref<1xf32>""",
    )
    made: list[Any] = []
    for module in (read(text), clean_up(read(text))):
        out = np.full(1, np.nan, np.float32)
        run(module, out)
        made.append(out[0])
    assert made == [2.0**-23, 2.0**-23]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "%r = arith.negf %x {core.flush_to_zero} : f32",
            "arith.negf has no core.flush_to_zero; only arith.addf, arith.divf, arith.maximumf,",
        ),
        (
            '%r = arith.addf %x, %x {core.rounding = "up"} : f32',
            'core.rounding must be one of "downward", "toward_zero", "upward"',
        ),
        (
            "%r = arith.addf %y, %y {core.flush_to_zero} : vector<8xf64>",
            "core.flush_to_zero is a unit attribute of operations on f32",
        ),
    ],
)
def test_what_may_be_said(line: str, message: str) -> None:
    _, (error,) = verified("%x: f32, %y: vector<8xf64>", line)
    assert message in error


SUBGROUP = (
    'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32, '
    "known_block_size = array<i32: 16, 1, 1>"
)


@pytest.mark.parametrize("shape", ["f32", "vector<8x16xf32>"])
@pytest.mark.parametrize(
    ("attributes", "route", "chip"),
    [
        (SUBGROUP, "core-to-xegpu", "pvc"),
        (SUBGROUP, "core-to-lane", "cpu"),
        (SUBGROUP, "core-to-spirv", "cpu"),
        ("", "lane-to-spirv", "pvc"),
        ('core.level = "block"', "core-to-subgroup", "pvc"),
        ('core.level = "block"', "core-to-tile", "sm_90"),
    ],
)
def test_nobody_forgets_it(attributes: str, route: str, chip: str, shape: str) -> None:
    is_number = shape == "f32"
    access = "memref.load %m[%c0, %c0] : memref<8x16xf32>"
    store = "memref.store %r, %m[%c0, %c0] : memref<8x16xf32>"
    if not is_number:
        bounds = "{in_bounds = [true, true]}"
        access = f"vector.transfer_read %m[%c0, %c0], %zero {bounds} : memref<8x16xf32>, {shape}"
        store = f"vector.transfer_write %r, %m[%c0, %c0] {bounds} : {shape}, memref<8x16xf32>"
    body = f"""%c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = {access}
    %r = arith.addf %x, %x {{core.rounding = "upward"}} : {shape}
    {store}"""
    if '"block"' in attributes:
        body = f"core.parallel {{\n{body}\n}}"
    text = (
        "gpu.module @m {\ngpu.func @k(%m: memref<8x16xf32>) kernel attributes "
        f"{{{attributes}}} {{\n{body}\ngpu.return\n}}\n}}"
    )
    with pytest.raises(DiagnosticError) as caught:
        translate(read(text), route, Options(chip))
    (diagnostic,) = caught.value.diagnostics
    assert "arith.addf with core.rounding cannot be translated to" in diagnostic.message
    assert diagnostic.span is not None
    assert "arith.addf" in text[diagnostic.span.start : diagnostic.span.end]


OVERFLOWS = [
    ("addi", "nsw", 2**31 - 1, 1, "2147483648 does not fit into i32"),
    ("addi", "nuw", -1, 1, "4294967296 does not fit into i32"),
    ("addi", "nuw", 2**31 - 1, 1, ""),
    ("subi", "nuw", 1, 2, "-1 does not fit into i32"),
    ("muli", "nsw, nuw", 2**16, 2**16, "4294967296 does not fit into i32"),
    ("shli", "nsw", 1, 31, "2147483648 does not fit into i32"),
    ("muli", "nsw", -(2**15), 2**15, ""),
]


@pytest.mark.parametrize(("name", "flags", "a", "b", "message"), OVERFLOWS)
def test_the_sanitizer_finds_overflow(name: str, flags: str, a: int, b: int, message: str) -> None:
    text = tile_kernel(
        "%x: memref<4xi32>, %y: memref<4xi32>, %o: memref<4xi32>",
        f"""%c0 = arith.constant 0 : index
        %v = vector.load %x[%c0] : memref<4xi32>, vector<4xi32>
        %w = vector.load %y[%c0] : memref<4xi32>, vector<4xi32>
        %r = arith.{name} %v, %w overflow<{flags}> : vector<4xi32>
        vector.store %r, %o[%c0] : memref<4xi32>, vector<4xi32>""",
    )
    arrays = [np.array([0, 0, n, 0], np.int64).astype(np.int32) for n in (a, b, 0)]
    reports = sanitize(function_of(read(text)), arguments_of(arrays), (1, 1, 1))
    assert len(reports) == bool(message)
    for report in reports:
        assert f"is promised, but {message}, in element [2]" in report.message
