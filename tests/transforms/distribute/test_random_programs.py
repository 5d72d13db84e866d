"""Random collective programs: distribution keeps their meaning and orders all work-items."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import (
    arguments_of,
    distributed,
    function_of,
    kernel,
    read,
    run,
)
from xtile.semantics.sanitizer import Kind, sanitize

SIZE = 6
MATRIX = f"memref<{SIZE}x{SIZE}xi32>"
LOCAL_MATRIX = f"memref<{SIZE}x{SIZE}xi32, #gpu.address_space<workgroup>>"
DYNAMIC_MATRIX = "memref<?x?xi32>"
VECTOR = f"memref<{SIZE}xi32>"
LOCAL_VECTOR = f"memref<{SIZE}xi32, #gpu.address_space<workgroup>>"

MATRICES = {"%a": MATRIX, "%b": DYNAMIC_MATRIX, "%l": LOCAL_MATRIX, "%m": LOCAL_MATRIX}
VECTORS = {"%v": VECTOR, "%w": LOCAL_VECTOR}
TYPES = MATRICES | VECTORS

PARAMETERS = (
    f"%a: {MATRIX}, %b: {DYNAMIC_MATRIX}, %v: {VECTOR}, %x: i32, %n: index, %yes: i1, %no: i1"
)

BEGIN = f"""
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%l = memref.alloca() : {LOCAL_MATRIX}
%m = memref.alloca() : {LOCAL_MATRIX}
%w = memref.alloca() : {LOCAL_VECTOR}
core.axpby %one, %a, %zero, %l : i32, {MATRIX}, i32, {LOCAL_MATRIX}
core.axpby transpose_a %one, %a, %zero, %m : i32, {MATRIX}, i32, {LOCAL_MATRIX}
core.axpby %one, %v, %zero, %w : i32, {VECTOR}, i32, {LOCAL_VECTOR}
"""

ALIASES = ("%a", "%b")
"""Two arguments that may be one array."""

PROGRAMS = 20


class Writer:
    """Writes the operations of one program."""

    def __init__(self, seed: int, is_aliased: bool) -> None:
        self.random = Random(seed)
        self.is_aliased = is_aliased
        self.names = 0

    def program(self) -> str:
        return BEGIN + self.block(self.random.randint(2, 6), 2)

    def block(self, count: int, depth: int) -> str:
        return "\n".join(self.operation(depth) for _ in range(count))

    def operation(self, depth: int) -> str:
        makers = [
            self.axpby,
            self.hadamard,
            self.ger,
            self.product,
            self.sum,
            self.gemv,
            self.cumsum,
            self.store,
            self.atomic,
            self.parallel,
        ]
        if depth:
            makers += [self.loop, self.choice] * 2
        maker = self.random.choice(makers)
        return maker(depth) if maker in (self.loop, self.choice) else maker()

    def name(self) -> str:
        self.names += 1
        return f"%n{self.names}"

    def matrix(self, *other_than: str) -> str:
        return self.random.choice([name for name in MATRICES if name not in other_than])

    def vector(self, *other_than: str) -> str:
        return self.random.choice([name for name in VECTORS if name not in other_than])

    def update(self, name: str, flags: str, *memrefs: str) -> str:
        beta = self.random.choice(["%zero", "%one", "%x"])
        if beta != "%x" and self.random.random() < 0.3:
            flags = f"atomic {flags}"
        *inputs, output = memrefs
        if self.is_aliased and output in ALIASES:
            # Inputs that overlap the output, but are no part of it in the text, have no meaning.
            inputs = ["%l" if memref in ALIASES else memref for memref in inputs]
        operands = ", ".join(["%x", *inputs, beta, output])
        types = ["i32", *(TYPES[memref] for memref in inputs), "i32", TYPES[output]]
        return f"core.{name} {flags} {operands} : {', '.join(types)}"

    def flag(self, name: str) -> str:
        return self.random.choice(["", name])

    def axpby(self) -> str:
        output = self.matrix()
        flags = self.flag("transpose_a")
        return self.update("axpby", flags, self.matrix("%b" if output == "%b" else ""), output)

    def hadamard(self) -> str:
        return self.update("hadamard", "", self.matrix(), self.matrix(), self.matrix())

    def ger(self) -> str:
        return self.update("ger", "", self.vector(), self.vector(), self.matrix())

    def product(self) -> str:
        flags = f"{self.flag('transpose_a')} {self.flag('transpose_b')}"
        output = self.matrix()
        inputs = [self.matrix("%b" if output == "%b" else "") for _ in range(2)]
        return self.update("gemm", flags, *inputs, output)

    def sum(self) -> str:
        return self.update("sum", self.flag("transpose_a"), self.matrix(), self.vector())

    def gemv(self) -> str:
        flags = self.flag("transpose_a")
        return self.update("gemv", flags, self.matrix(), self.vector(), self.vector())

    def cumsum(self) -> str:
        dimension = self.random.choice("01")
        text = self.update("cumsum", "", self.matrix(), self.matrix())
        words = text.split()
        position = 2 if words[1] == "atomic" else 1
        return " ".join([*words[:position], dimension, *words[position:]])

    def store(self) -> str:
        source, target, value = self.vector(), self.vector(), self.name()
        positions = [self.random.choice(["%c0", "%c1"]) for _ in range(2)]
        return (
            f"{value} = memref.load {source}[{positions[0]}] : {TYPES[source]}\n"
            f"memref.store {value}, {target}[{positions[1]}] : {TYPES[target]}"
        )

    def atomic(self) -> str:
        memory, old = self.vector(), self.name()
        text = f"{old} = memref.atomic_rmw addi %x, {memory}[%c1] : (i32, {TYPES[memory]}) -> i32"
        if self.random.random() < 0.5:
            target = self.vector()
            text += f"\nmemref.store {old}, {target}[%c0] : {TYPES[target]}"
        return text

    def parallel(self) -> str:
        """Each of some work-items of the second subgroup moves an element of its own."""
        source, target = self.vector(), self.vector()
        id, lane, size, yes, value, is_second = (self.name() for _ in range(6))
        wait = self.random.choice(["", "gpu.barrier"])
        return f"""core.parallel {{
        {wait}
        {id} = gpu.thread_id x
        {size} = arith.constant 16 : index
        {lane} = arith.subi {id}, {size} : index
        {is_second} = arith.constant {SIZE} : index
        {yes} = arith.cmpi ult, {lane}, {is_second} : index
        scf.if {yes} {{
        {value} = memref.load {source}[{lane}] : {TYPES[source]}
        memref.store {value}, {target}[{lane}] : {TYPES[target]}
        }}
        {wait}
        }}"""

    def loop(self, depth: int) -> str:
        body = self.block(self.random.randint(1, 3), depth - 1)
        return f"scf.for {self.name()} = %c0 to %n step %c1 {{\n{body}\n}}"

    def choice(self, depth: int) -> str:
        condition = self.random.choice(["%yes", "%no"])
        first, second = (self.block(self.random.randint(1, 2), depth - 1) for _ in range(2))
        return f"scf.if {condition} {{\n{first}\n}} else {{\n{second}\n}}"


def is_aliased(seed: int) -> bool:
    return seed % 3 == 0


def arguments(seed: int) -> list[Any]:
    """Arrays and numbers; where matrices are aliased, the two are one array."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-3, 4, (SIZE, SIZE)).astype(np.int32)
    b = a if is_aliased(seed) else rng.integers(-3, 4, (SIZE, SIZE)).astype(np.int32)
    v = rng.integers(-3, 4, SIZE).astype(np.int32)
    return [a, b, v, np.int32(2), np.int64(seed % 4), True, False]


@pytest.mark.parametrize("chip", ["pvc", "cpu"])
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int, chip: str) -> None:
    text = kernel(PARAMETERS, Writer(seed, is_aliased(seed)).program())
    module = distributed(text, chip)
    expected, found = arguments(seed), arguments(seed)
    run(read(text), *expected)
    run(module, *found)
    for a, b in zip(expected[:3], found[:3], strict=True):
        assert np.array_equal(a, b), text
    reports = sanitize(function_of(module), arguments_of(arguments(seed)), (1, 1, 1))
    conflicts = [report for report in reports if report.kind is not Kind.UNINITIALIZED]
    assert not conflicts, "\n".join(report.diagnostic().render() for report in conflicts) + text
