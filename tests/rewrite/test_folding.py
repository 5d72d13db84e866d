"""Constants are folded to what the reference device computes, and only where that is defined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.transforms.cleanup.kernels import cleaned, kernel, read
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.folding import width_of, wrap
from xtile.semantics.arguments import MemrefArgument
from xtile.semantics.engine import launch
from xtile.transforms.cleanup import clean_up

INTEGERS: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}
FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}

BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori"),
    *("shli", "shrsi", "shrui", "maxsi", "minsi", "maxui", "minui"),
)

PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]

_COUNT = 12


def _run(body: Sequence[str], results: Sequence[str], type: str, dtype: Any) -> Any:
    """Stores results with and without cleaning up, and checks that nothing is left to compute."""
    lines = list(body)
    for position, result in enumerate(results):
        lines.append(f"%place{position} = arith.constant {position} : index")
        lines.append(f"memref.store {result}, %R[%place{position}] : memref<{len(results)}x{type}>")
    module = read(kernel("\n".join(lines), f"%R: memref<{len(results)}x{type}>"))
    clean = clean_up(module)
    left = {op.name for op in clean.walk() if op.dialect_name() == "arith"}
    assert left == {"arith.constant"}
    memories: list[Any] = []
    for version in (module, clean):
        memory = np.full(len(results), 99, dtype)
        (function,) = (op for op in version.walk() if isinstance(op, FuncOp))
        launch(function, [MemrefArgument(memory, memory.shape, (1,))], (1, 1, 1))
        memories.append(memory)
    np.testing.assert_array_equal(*memories)
    return memories[1]


def _numbers(random: Random, width: int) -> list[int]:
    """Numbers of a width, and the bounds of its signed numbers among them."""
    low = -(2 ** (width - 1))
    edges = [low, -low - 1, -1, 0, 1, low + 1]
    return [random.choice([random.choice(edges), random.randint(low, -low - 1)]) for _ in "ab"]


def _is_defined(name: str, a: int, b: int, width: int) -> bool:
    if name.startswith("sh"):
        return 0 <= b < width
    is_overflow = name in ("divsi", "remsi") and (a, b) == (-(2 ** (width - 1)), -1)
    return not (name[:3] in ("div", "rem") and b == 0) and not is_overflow


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_integers(name: str, type: str) -> None:
    random = Random(f"{name} {type}")
    width = 64 if type == "index" else int(type[1:])
    body: list[str] = []
    results: list[str] = []
    while len(results) < _COUNT:
        a, b = _numbers(random, width)
        if name.startswith("sh"):
            b = random.randrange(width)
        if not _is_defined(name, a, b, width):
            continue
        n = len(results)
        body.append(f"%a{n} = arith.constant {a} : {type}\n%b{n} = arith.constant {b} : {type}")
        body.append(f"%r{n} = arith.{name} %a{n}, %b{n} : {type}")
        results.append(f"%r{n}")
    _run(body, results, type, INTEGERS[type])


@pytest.mark.parametrize("type", INTEGERS)
def test_comparisons(type: str) -> None:
    random = Random(type)
    width = 64 if type == "index" else int(type[1:])
    body: list[str] = []
    results: list[str] = []
    for predicate in PREDICATES:
        for _ in range(4):
            n = len(results)
            a, b = _numbers(random, width)
            body.append(f"%a{n} = arith.constant {a} : {type}\n%b{n} = arith.constant {b} : {type}")
            body.append(f"%r{n} = arith.cmpi {predicate}, %a{n}, %b{n} : {type}")
            body.append(f"%s{n} = arith.extui %r{n} : i1 to i8")
            results.append(f"%s{n}")
    found = _run(body, results, "i8", np.int8)
    assert set(found.tolist()) == {0, 1}


CASTS = [
    ("extsi", "i8", "i32"),
    ("extui", "i8", "i32"),
    ("extui", "i16", "i64"),
    ("trunci", "i64", "i8"),
    ("index_cast", "index", "i32"),
    ("index_cast", "i16", "index"),
]


@pytest.mark.parametrize(("name", "source", "target"), CASTS)
def test_casts(name: str, source: str, target: str) -> None:
    random = Random(f"{name} {source}")
    width = 64 if source == "index" else int(source[1:])
    body: list[str] = []
    for n in range(_COUNT):
        body.append(f"%a{n} = arith.constant {_numbers(random, width)[0]} : {source}")
        body.append(f"%r{n} = arith.{name} %a{n} : {source} to {target}")
    _run(body, [f"%r{n}" for n in range(_COUNT)], target, INTEGERS[target])


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("name", ["addf", "subf", "mulf"])
def test_floats(name: str, type: str) -> None:
    """Rounded once: the numbers have all digits of their type."""
    random = Random(f"{name} {type}")
    body: list[str] = []
    for n in range(_COUNT):
        for operand in "ab":
            number = FLOATS[type](random.uniform(-8, 8))
            bits = number.view({"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[type])
            body.append(f"%{operand}{n} = arith.constant 0x{int(bits):X} : {type}")
        body.append(f"%r{n} = arith.{name} %a{n}, %b{n} : {type}")
    _run(body, [f"%r{n}" for n in range(_COUNT)], type, FLOATS[type])


PARAMETERS = "%A: memref<8xf32>, %B: memref<8xi8>, %i: index, %n: i8, %x: f32, %c: i1"

LEFT_ALONE = {
    "a division by zero": ("%a = arith.constant 3 : i8", "%b = arith.constant 0 : i8", "divsi"),
    "a remainder by zero": ("%a = arith.constant 3 : i8", "%b = arith.constant 0 : i8", "remui"),
    "a shift by the width": ("%a = arith.constant 3 : i8", "%b = arith.constant 8 : i8", "shli"),
    "a negative shift": ("%a = arith.constant 3 : i8", "%b = arith.constant -1 : i8", "shrsi"),
}
"""Mistakes of a program, which stay visible."""


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name: str) -> None:
    a, b, operation = LEFT_ALONE[name]
    body = [
        a,
        b,
        f"%r = arith.{operation} %a, %b : i8",
        "memref.store %r, %B[%i] : memref<8xi8>",
    ]
    assert cleaned("\n".join(body), PARAMETERS) == body


def test_floats_that_overflow_are_left_alone() -> None:
    body = [
        "%a = arith.constant 6.550400e+04 : f16",
        "%r = arith.addf %a, %a : f16",
        "memref.store %r, %F[%i] : memref<8xf16>",
    ]
    assert cleaned("\n".join(body), "%F: memref<8xf16>, %i: index") == body


def test_bf16_is_left_alone() -> None:
    body = [
        "%a = arith.constant 1.500000e+00 : bf16",
        "%r = arith.addf %a, %a : bf16",
        "memref.store %r, %F[%i] : memref<8xbf16>",
    ]
    assert cleaned("\n".join(body), "%F: memref<8xbf16>, %i: index") == body


IDENTITIES = {
    "addi %n, %zero": "%n",
    "addi %zero, %n": "%n",
    "subi %n, %zero": "%n",
    "muli %n, %one": "%n",
    "muli %one, %n": "%n",
    "muli %n, %zero": "%zero",
    "muli %zero, %n": "%zero",
    "divsi %n, %one": "%n",
    "divui %n, %one": "%n",
    "andi %n, %zero": "%zero",
    "ori %n, %zero": "%n",
    "xori %zero, %n": "%n",
    "shli %n, %zero": "%n",
    "shrsi %n, %zero": "%n",
    "shrui %n, %zero": "%n",
    "select %c, %n, %n": "%n",
    "select %true, %n, %one": "%n",
    "select %false, %one, %n": "%n",
}
"""Operations that one constant decides, and the value that they are."""


@pytest.mark.parametrize("operation", IDENTITIES)
def test_identities(operation: str) -> None:
    body = (
        "%zero = arith.constant 0 : i8\n%one = arith.constant 1 : i8\n"
        "%true = arith.constant true\n%false = arith.constant false\n"
        f"%r = arith.{operation} : i8\nmemref.store %r, %B[%i] : memref<8xi8>"
    )
    value = IDENTITIES[operation]
    expected = ["%zero = arith.constant 0 : i8"] if value == "%zero" else []
    expected.append(f"memref.store {value}, %B[%i] : memref<8xi8>")
    assert cleaned(body, PARAMETERS) == expected


KEPT = ["subi %zero, %n", "divsi %one, %n", "shli %one, %n", "subi %n, %one", "remsi %n, %one"]
"""Operations that a constant does not decide, or that are not folded."""


@pytest.mark.parametrize("operation", KEPT)
def test_no_identities(operation: str) -> None:
    body = (
        "%zero = arith.constant 0 : i8\n%one = arith.constant 1 : i8\n"
        f"%r = arith.{operation} : i8\nmemref.store %r, %B[%i] : memref<8xi8>"
    )
    assert f"%r = arith.{operation} : i8" in cleaned(body, PARAMETERS)


@pytest.mark.parametrize("operation", ["addf %x, %zero", "mulf %x, %one", "subf %x, %zero"])
def test_floats_have_no_identities(operation: str) -> None:
    """-0.0 + 0.0 is 0.0, and a signalling NaN becomes quiet."""
    body = (
        "%zero = arith.constant 0.0 : f32\n%one = arith.constant 1.0 : f32\n"
        f"%r = arith.{operation} : f32\nmemref.store %r, %A[%i] : memref<8xf32>"
    )
    assert f"%r = arith.{operation} : f32" in cleaned(body, PARAMETERS)


def test_vectors_are_left_alone() -> None:
    body = [
        "%a = arith.constant dense<2> : vector<4xi32>",
        "%r = arith.muli %a, %a : vector<4xi32>",
        "vector.store %r, %V[%i] : memref<8xi32>, vector<4xi32>",
    ]
    assert cleaned("\n".join(body), "%V: memref<8xi32>, %i: index") == body


@pytest.mark.parametrize("width", [1, 8, 64])
def test_wrap(width: int) -> None:
    bound = 2 ** (width - 1)
    for number in (-bound, bound - 1, bound, -bound - 1, 3 * bound):
        wrapped = wrap(number, width)
        assert -bound <= wrapped < bound
        assert math.fmod(wrapped - number, 2**width) == 0


def test_widths() -> None:
    from xdsl.dialects.builtin import IndexType, f32, i16

    assert [width_of(type) for type in (IndexType(), i16, f32)] == [64, 16, None]
