"""Integer arithmetic of arith and index against Python's exact integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, elementwise, kernel, run
from xtile.semantics.errors import ExecutionError

BITS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i24": 24, "i32": 32, "i64": 64, "index": 64}
COUNT = 64


def wrapped(value: int, bits: int) -> int:
    """The value as a number of that width with a sign."""
    value %= 2**bits
    return value - 2**bits if value >= 2 ** (bits - 1) else value


def random_integers(bits: int) -> list[int]:
    """Random numbers with a sign, the extremes among them."""
    rng = fresh_generator()
    least, largest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    special = [wrapped(value, bits) for value in (least, largest, 0, -1, 1)]
    values = [wrapped(int(rng.integers(2**63)), bits) for _ in range(COUNT - len(special))]
    return [*special, *values]


def array_of(values: list[int], type: str) -> Any:
    if type == "i1":
        return np.array([value != 0 for value in values])
    return np.array(values, DTYPES[type])


def numbers_of(array: Any, type: str) -> list[int]:
    return [-int(value) if type == "i1" else int(value) for value in array]


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": max,
    "minsi": min,
    "divsi": quotient,
    "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": lambda a, b: a // b,
    "remsi": lambda a, b: a - quotient(a, b) * b,
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "maxui": max,
    "minui": min,
    "divui": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-a // b),
    "remui": lambda a, b: a % b,
}
DIVISIONS = ("div", "rem")


@pytest.mark.parametrize("type", BITS)
@pytest.mark.parametrize("name", [*SIGNED, *UNSIGNED])
def test_binary(name: str, type: str) -> None:
    bits = BITS[type]
    a, b = random_integers(bits), random_integers(bits)[::-1]
    if any(word in name for word in DIVISIONS):
        b = [value or 1 for value in b]
        b = [wrapped(value, bits) for value in b]
    result = elementwise(
        f"arith.{name} {{0}}, {{1}} : {type}", [array_of(a, type), array_of(b, type)],
        [type, type], type,
    )  # fmt: skip
    modulus = 2**bits
    expected = [
        SIGNED[name](x, y) if name in SIGNED else UNSIGNED[name](x % modulus, y % modulus)
        for x, y in zip(a, b, strict=True)
    ]
    assert numbers_of(result, type) == [wrapped(value, bits) for value in expected]


@pytest.mark.parametrize("type", ["i4", "i8", "i16", "i24", "i32", "i64", "index"])
@pytest.mark.parametrize("name", ["shli", "shrui", "shrsi"])
def test_shifts(name: str, type: str) -> None:
    bits = BITS[type]
    a = random_integers(bits)
    b = [int(value) for value in fresh_generator().integers(0, bits, COUNT)]
    result = elementwise(
        f"arith.{name} {{0}}, {{1}} : {type}", [array_of(a, type), array_of(b, type)],
        [type, type], type,
    )  # fmt: skip
    shift = {
        "shli": lambda x, y: x << y,
        "shrui": lambda x, y: (x % 2**bits) >> y,
        "shrsi": lambda x, y: x >> y,
    }[name]
    assert numbers_of(result, type) == [
        wrapped(shift(x, y), bits) for x, y in zip(a, b, strict=True)
    ]


@pytest.mark.parametrize("type", BITS)
def test_comparisons(type: str) -> None:
    bits = BITS[type]
    a = random_integers(bits)
    b = [x if i % 3 == 0 else y for i, (x, y) in enumerate(zip(a, a[::-1], strict=True))]
    compare: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }
    predicates = ["eq", "ne", *(sign + name for sign in "su" for name in ("lt", "le", "gt", "ge"))]
    for predicate in predicates:
        result = elementwise(
            f"arith.cmpi {predicate}, {{0}}, {{1}} : {type}",
            [array_of(a, type), array_of(b, type)], [type, type], "i1",
        )  # fmt: skip
        modulus = 2**bits
        pairs = [
            (x % modulus, y % modulus) if predicate[0] == "u" else (x, y)
            for x, y in zip(a, b, strict=True)
        ]
        assert result.tolist() == [compare[predicate[-2:]](x, y) for x, y in pairs], predicate


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
@pytest.mark.parametrize("name", ["addui", "mulsi", "mului"])
def test_extended(name: str, type: str) -> None:
    bits = BITS[type]
    a, b = random_integers(bits), random_integers(bits)[::-1]
    count, second = len(a), "i1" if name == "addui" else type
    text = kernel(
        f"%a: memref<{count}x{type}>, %b: memref<{count}x{type}>, %low: memref<{count}x{type}>, "
        f"%high: memref<{count}x{second}>",
        f"""%x = gpu.thread_id x
        %p = memref.load %a[%x] : memref<{count}x{type}>
        %q = memref.load %b[%x] : memref<{count}x{type}>
        %l, %h = arith.{name}_extended %p, %q : {type}{", i1" if name == "addui" else ""}
        memref.store %l, %low[%x] : memref<{count}x{type}>
        memref.store %h, %high[%x] : memref<{count}x{second}>""",
    )
    low, high = np.zeros(count, DTYPES[type]), np.zeros(count, DTYPES[second])
    run(text, array_of(a, type), array_of(b, type), low, high, block=(count, 1, 1))
    for x, y, given_low, given_high in zip(a, b, low, high, strict=True):
        if name != "mulsi":
            x, y = x % 2**bits, y % 2**bits
        exact = x + y if name == "addui" else x * y
        assert int(given_low) == wrapped(exact, bits)
        expected = exact >> bits if name == "addui" else wrapped(exact >> bits, bits)
        assert int(given_high) == expected


@pytest.mark.parametrize(
    ("source", "target"),
    [("i1", "i8"), ("i4", "i32"), ("i8", "i64"), ("i24", "i32"), ("i32", "i64"), ("i1", "i64")],
)
def test_extensions(source: str, target: str) -> None:
    a = random_integers(BITS[source])
    for name in ("extsi", "extui"):
        result = elementwise(
            f"arith.{name} {{0}} : {source} to {target}", [array_of(a, source)], [source], target
        )
        expected = a if name == "extsi" else [value % 2 ** BITS[source] for value in a]
        assert numbers_of(result, target) == expected


@pytest.mark.parametrize(
    ("source", "target"), [("i8", "i1"), ("i32", "i4"), ("i64", "i24"), ("i64", "i32")]
)
def test_trunci(source: str, target: str) -> None:
    a = random_integers(BITS[source])
    result = elementwise(
        f"arith.trunci {{0}} : {source} to {target}", [array_of(a, source)], [source], target
    )
    assert numbers_of(result, target) == [wrapped(value, BITS[target]) for value in a]


def test_index_casts() -> None:
    a = random_integers(64)
    for name in ("index_cast", "index_castui"):
        down = elementwise(
            f"arith.{name} {{0}} : index to i32", [array_of(a, "index")], ["index"], "i32"
        )
        assert down.tolist() == [wrapped(value, 32) for value in a]
        up = elementwise(f"arith.{name} {{0}} : i32 to index", [down], ["i32"], "index")
        expected = down.tolist()
        if name == "index_castui":
            expected = [value % 2**32 for value in expected]
        assert up.tolist() == expected


INDEX = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "divs": quotient,
    "ceildivs": lambda a, b: -(-a // b),
    "floordivs": lambda a, b: a // b,
    "rems": lambda a, b: a - quotient(a, b) * b,
    "maxs": max,
    "mins": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "divu": lambda a, b: a % 2**64 // (b % 2**64),
    "remu": lambda a, b: a % 2**64 % (b % 2**64),
    "maxu": lambda a, b: max(a % 2**64, b % 2**64),
    "minu": lambda a, b: min(a % 2**64, b % 2**64),
}


@pytest.mark.parametrize("name", INDEX)
def test_index(name: str) -> None:
    a, b = random_integers(64), [value or 7 for value in random_integers(64)[::-1]]
    result = elementwise(
        f"index.{name} {{0}}, {{1}}", [np.array(a), np.array(b)], ["index", "index"], "index"
    )
    expected = [wrapped(INDEX[name](x, y), 64) for x, y in zip(a, b, strict=True)]
    assert result.tolist() == expected


def test_index_constants_and_comparisons() -> None:
    out, truth = np.zeros(2, np.int64), np.zeros(2, np.bool_)
    text = kernel(
        "%out: memref<2xindex>, %truth: memref<2xi1>",
        """%c0 = index.constant 0
        %c1 = index.constant 1
        %big = index.constant -3
        %size = index.sizeof
        %t = index.bool.constant true
        %less = index.cmp slt(%big, %c0)
        memref.store %big, %out[%c0] : memref<2xindex>
        memref.store %size, %out[%c1] : memref<2xindex>
        memref.store %t, %truth[%c0] : memref<2xi1>
        memref.store %less, %truth[%c1] : memref<2xi1>""",
    )
    run(text, out, truth)
    assert out.tolist() == [-3, 64]
    assert truth.tolist() == [True, True]


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi"])
def test_division_by_zero(name: str) -> None:
    a = np.array([1, 2, 3, 4], np.int32)
    with pytest.raises(ExecutionError, match="division by zero") as error:
        elementwise(f"arith.{name} {{0}}, {{1}} : i32", [a, a - 3], ["i32", "i32"], "i32")
    assert error.value.operation.name == f"arith.{name}"


def test_division_by_zero_of_inactive_work_items() -> None:
    a = np.array([6, 7, 8, 9], np.int32)
    b = np.array([0, 2, 0, 3], np.int32)
    out = np.full(4, -1, np.int32)
    text = kernel(
        "%a: memref<4xi32>, %b: memref<4xi32>, %out: memref<4xi32>",
        """%x = gpu.thread_id x
        %zero = arith.constant 0 : i32
        %p = memref.load %a[%x] : memref<4xi32>
        %q = memref.load %b[%x] : memref<4xi32>
        %some = arith.cmpi ne, %q, %zero : i32
        scf.if %some {
          %r = arith.divsi %p, %q : i32
          memref.store %r, %out[%x] : memref<4xi32>
        }""",
    )
    run(text, a, b, out, block=(4, 1, 1))
    assert out.tolist() == [-1, 3, -1, 3]


@pytest.mark.parametrize("distance", [32, -1])
def test_a_shift_by_the_width_is_an_error(distance: int) -> None:
    a = np.array([1, 2], np.int32)
    b = np.array([3, distance], np.int32)
    with pytest.raises(ExecutionError, match="the distance must be from 0 to 31"):
        elementwise("arith.shli {0}, {1} : i32", [a, b], ["i32", "i32"], "i32")
