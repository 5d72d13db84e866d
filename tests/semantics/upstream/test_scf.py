"""Control flow: against one work-item after another in plain Python, divergence included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import final_values, kernel, run
from xtile.semantics.errors import ExecutionError

COUNT = 48

CONSTANTS = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(8))


def computed(body: str, values: Any, *, grid: int = 1) -> list[int]:
    """What a body that makes %r of %v gives for each value; %x is the index of the value."""
    count = len(values)
    text = kernel(
        f"%in: memref<{count}xi64>, %out: memref<{count}xi64>",
        f"""{CONSTANTS}
        %x = gpu.global_id x
        %v = memref.load %in[%x] : memref<{count}xi64>
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        {body}
        memref.store %r, %out[%x] : memref<{count}xi64>""",
    )
    out = np.full(count, -(2**62))
    run(text, np.asarray(values, np.int64), out, grid=(grid, 1, 1), block=(count // grid, 1, 1))
    return out.tolist()


@pytest.fixture
def values() -> list[int]:
    return [int(v) for v in fresh_generator().integers(-9, 10, COUNT)]


def test_if(values: list[int]) -> None:
    body = """%c = arith.cmpi slt, %v, %zero : i64
    %r, %s = scf.if %c -> (i64, i64) {
      %m = arith.subi %zero, %v : i64
      scf.yield %m, %one : i64, i64
    } else {
      %big = arith.cmpi sgt, %v, %one : i64
      %n = scf.if %big -> (i64) { scf.yield %one : i64 } else { scf.yield %v : i64 }
      scf.yield %n, %zero : i64, i64
    }"""
    assert computed(body, values) == [-v if v < 0 else min(v, 1) for v in values]


def test_if_without_else_and_with_uniform_condition(values: list[int]) -> None:
    body = """%slot = memref.alloca() : memref<i64>
    memref.store %v, %slot[] : memref<i64>
    %all = arith.cmpi ult, %c0, %c1 : index
    %none = arith.cmpi ult, %c1, %c0 : index
    %c = arith.cmpi slt, %v, %zero : i64
    scf.if %c { memref.store %one, %slot[] : memref<i64> }
    scf.if %none { memref.store %zero, %slot[] : memref<i64> }
    %old = memref.load %slot[] : memref<i64>
    scf.if %all { %d = arith.addi %old, %old : i64
      memref.store %d, %slot[] : memref<i64> }
    %r = memref.load %slot[] : memref<i64>"""
    assert computed(body, values) == [2 * (1 if v < 0 else v) for v in values]


def test_for_with_bounds_of_each_work_item(values: list[int]) -> None:
    body = """%last = arith.index_cast %v : i64 to index
    %r = scf.for %i = %c0 to %last step %c2 iter_args(%sum = %v) -> (i64) {
      %n = arith.index_cast %i : index to i64
      %next = arith.addi %sum, %n : i64
      scf.yield %next : i64
    }"""
    assert computed(body, values) == [v + sum(range(0, v, 2)) for v in values]


@pytest.mark.parametrize("type", ["i32", "i8"])
def test_for_over_integers_near_the_end_of_the_type(type: str) -> None:
    """The variable never wraps around."""
    bits = int(type[1:])
    last = 2 ** (bits - 1) - 1
    body = f"""%first = arith.constant {last - 5} : {type}
    %last = arith.constant {last} : {type}
    %step = arith.constant 3 : {type}
    %r = scf.for %i = %first to %last step %step iter_args(%n = %v) -> (i64) : {type} {{
      %next = arith.addi %n, %one : i64
      scf.yield %next : i64
    }}"""
    assert computed(body, [5, 6]) == [7, 8]


def test_for_loops_nest_and_swap(values: list[int]) -> None:
    body = """%last = arith.index_cast %v : i64 to index
    %r, %s = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %v, %b = %one) -> (i64, i64) {
      %d = scf.for %j = %i to %last step %c1 iter_args(%e = %b) -> (i64) {
        %f = arith.addi %e, %one : i64
        scf.yield %f : i64
      }
      scf.yield %d, %a : i64, i64
    }"""

    def expected(v: int) -> int:
        a, b = v, 1
        for i in range(5):
            a, b = b + max(0, v - i), a
        return a

    assert computed(body, values) == [expected(v) for v in values]


def test_a_step_of_zero_is_an_error() -> None:
    body = """%last = arith.index_cast %v : i64 to index
    %r = scf.for %i = %c0 to %last step %c0 iter_args(%n = %v) -> (i64) { scf.yield %n : i64 }"""
    assert computed(body, [0, -3]) == [0, -3]
    with pytest.raises(ExecutionError, match="step of a for loop must be at least 1, but is 0"):
        computed(body, [0, 3])


def test_while(values: list[int]) -> None:
    """The Collatz sequence, which takes a different number of steps for each start."""
    body = """%two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    %start = arith.addi %v, %one : i64
    %r, %end = scf.while (%n = %zero, %m = %start) : (i64, i64) -> (i64, i64) {
      %goes_on = arith.cmpi sgt, %m, %one : i64
      scf.condition(%goes_on) %n, %m : i64, i64
    } do {
    ^bb0(%n: i64, %m: i64):
      %bit = arith.andi %m, %one : i64
      %is_odd = arith.cmpi eq, %bit, %one : i64
      %next = scf.if %is_odd -> (i64) {
        %t = arith.muli %m, %three : i64
        %u = arith.addi %t, %one : i64
        scf.yield %u : i64
      } else {
        %h = arith.divsi %m, %two : i64
        scf.yield %h : i64
      }
      %k = arith.addi %n, %one : i64
      scf.yield %k, %next : i64, i64
    }"""

    def steps(start: int) -> int:
        count = 0
        while start > 1:
            start = 3 * start + 1 if start % 2 else start // 2
            count += 1
        return count

    assert computed(body, values) == [steps(v + 1) for v in values]


def test_a_while_that_all_work_items_leave_together(values: list[int]) -> None:
    body = """%r, %i = scf.while (%n = %v, %i = %c0) : (i64, index) -> (i64, index) {
      %goes_on = arith.cmpi ult, %i, %c3 : index
      scf.condition(%goes_on) %n, %i : i64, index
    } do {
    ^bb0(%n: i64, %i: index):
      %m = arith.addi %n, %n : i64
      %j = arith.addi %i, %c1 : index
      scf.yield %m, %j : i64, index
    }"""
    assert computed(body, values) == [8 * v for v in values]


def test_index_switch(values: list[int]) -> None:
    body = """%i = arith.index_cast %v : i64 to index
    %r = scf.index_switch %i -> i64
    case 2 { scf.yield %one : i64 }
    case -5 { %d = arith.addi %v, %v : i64
      scf.yield %d : i64 }
    default { scf.yield %v : i64 }"""
    assert computed(body, values) == [{2: 1, -5: -10}.get(v, v) for v in values]
    uniform = body.replace("switch %i", "switch %c2")
    assert computed(uniform, values) == [1] * COUNT


def test_execute_region(values: list[int]) -> None:
    body = """%r = scf.execute_region -> i64 {
      %d = arith.addi %v, %one : i64
      scf.yield %d : i64
    }"""
    assert computed(body, values) == [v + 1 for v in values]


def test_parallel_with_a_reduction(values: list[int]) -> None:
    body = """%last = arith.index_cast %v : i64 to index
    %r = scf.parallel (%i, %j) = (%c0, %c1) to (%last, %c4) step (%c1, %c2) init (%v) -> i64 {
      %k = arith.muli %i, %j : index
      %n = arith.index_cast %k : index to i64
      scf.reduce(%n : i64) {
      ^bb0(%a: i64, %b: i64):
        %s = arith.addi %a, %b : i64
        scf.reduce.return %s : i64
      }
    }"""
    expected = [v + sum(i * j for i in range(max(v, 0)) for j in (1, 3)) for v in values]
    assert computed(body, values) == expected


def test_memrefs_that_work_items_choose(values: list[int]) -> None:
    """Different memory, and different parts of one memory."""
    body = """%a = memref.alloca() : memref<4xi64>
    %b = memref.alloca() : memref<4xi64>
    memref.store %v, %a[%c1] : memref<4xi64>
    memref.store %one, %a[%c2] : memref<4xi64>
    memref.store %zero, %b[%c1] : memref<4xi64>
    %c = arith.cmpi sgt, %v, %zero : i64
    %big = arith.cmpi sgt, %v, %one : i64
    %chosen = scf.if %c -> (memref<4xi64>) {
      scf.yield %a : memref<4xi64>
    } else { scf.yield %b : memref<4xi64> }
    %a1 = memref.subview %a[1] [1] [1] : memref<4xi64> to memref<1xi64, strided<[1], offset: 1>>
    %a2 = memref.subview %a[2] [1] [1] : memref<4xi64> to memref<1xi64, strided<[1], offset: 2>>
    %t1 = memref.cast %a1 : memref<1xi64, strided<[1], offset: 1>>
        to memref<1xi64, strided<[1], offset: ?>>
    %t2 = memref.cast %a2 : memref<1xi64, strided<[1], offset: 2>>
        to memref<1xi64, strided<[1], offset: ?>>
    %part = arith.select %big, %t1, %t2 : memref<1xi64, strided<[1], offset: ?>>
    %p = memref.load %chosen[%c1] : memref<4xi64>
    %q = memref.load %part[%c0] : memref<1xi64, strided<[1], offset: ?>>
    %h = arith.constant 100 : i64
    %ph = arith.muli %p, %h : i64
    %r = arith.addi %ph, %q : i64"""
    assert computed(body, values) == [
        100 * (v if v > 0 else 0) + (v if v > 1 else 1) for v in values
    ]


def test_vectors_that_work_items_choose() -> None:
    text = kernel(
        "",
        """%lane = gpu.lane_id
        %c2 = arith.constant 2 : index
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = arith.constant dense<[1, 2, 3]> : vector<3xi32>
        %low = arith.cmpi ult, %lane, %c2 : index
        %r = scf.if %low -> (vector<3xi32>) {
          %w = arith.addi %v, %v : vector<3xi32>
          scf.yield %w : vector<3xi32>
        } else { scf.yield %v : vector<3xi32> }
        %s = scf.for %i = %c0 to %lane step %c1 iter_args(%a = %v) -> (vector<3xi32>) {
          %b = arith.addi %a, %v : vector<3xi32>
          scf.yield %b : vector<3xi32>
        }""",
        attributes="subgroup_size = 4 : i32",
    )
    values = final_values(text, (4, 1, 1), "r", "s")
    v = np.array([1, 2, 3])
    assert values["r"].tolist() == [[(2 * v).tolist()] * 2 + [v.tolist()] * 2]
    assert values["s"].tolist() == [[(v * (1 + lane)).tolist() for lane in range(4)]]


def test_errors_of_work_items_that_have_left_do_not_count() -> None:
    body = """%last = arith.index_cast %v : i64 to index
    %r = scf.for %i = %c0 to %last step %c1 iter_args(%a = %v) -> (i64) {
      %n = arith.index_cast %i : index to i64
      %left = arith.subi %v, %n : i64
      %q = arith.divsi %v, %left : i64
      scf.yield %q : i64
    }"""
    assert computed(body, [0, 1, 5]) == [0, 1, 5]


BINARY: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "xori": lambda a, b: a ^ b,
    "minsi": min,
}


class Writer:
    """Writes a random program and keeps what it computes, for one work-item, as a function."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%n{self.count}x"

    def pick(self, known: list[str]) -> str:
        return known[int(self.rng.integers(max(0, len(known) - 6), len(known)))]

    def block(self, known: list[str], depth: int) -> tuple[list[str], list[Any], list[str]]:
        """The text, the operations, and the names that are known at the end."""
        text: list[str] = []
        tree: list[Any] = []
        known = list(known)
        for _ in range(int(self.rng.integers(2, 5))):
            kind = int(self.rng.integers(0, 4 if depth < 3 else 2))
            a, b = self.pick(known), self.pick(known)
            result = self.name()
            if kind < 2:
                operation = list(BINARY)[int(self.rng.integers(len(BINARY)))]
                text.append(f"{result} = arith.{operation} {a}, {b} : i64")
                tree.append(("binary", operation, a, b, result))
            else:
                make = self.choice if kind == 2 else self.loop
                lines, node = make(known, depth, a, b, result)
                text += lines
                tree.append(node)
            known.append(result)
        return text, tree, known

    def choice(
        self, known: list[str], depth: int, a: str, b: str, result: str
    ) -> tuple[list[str], Any]:
        condition = self.name()
        then, then_tree, then_known = self.block(known, depth + 1)
        other, other_tree, other_known = self.block(known, depth + 1)
        lines = [
            f"{condition} = arith.cmpi slt, {a}, {b} : i64",
            f"{result} = scf.if {condition} -> (i64) {{", *then,
            f"scf.yield {then_known[-1]} : i64 }} else {{", *other,
            f"scf.yield {other_known[-1]} : i64 }}",
        ]  # fmt: skip
        branches = ((then_tree, then_known[-1]), (other_tree, other_known[-1]))
        return lines, ("if", a, b, result, branches)

    def loop(
        self, known: list[str], depth: int, a: str, b: str, result: str
    ) -> tuple[list[str], Any]:
        three, last, step, first = (self.name() for _ in range(4))
        variable, carried = self.name(), self.name()
        body, tree, inner = self.block([*known, variable, carried], depth + 1)
        lines = [
            f"{three} = arith.constant 3 : i64",
            f"{first} = arith.constant 0 : i64",
            f"{step} = arith.constant 1 : i64",
            f"{last} = arith.andi {a}, {three} : i64",
            f"{result} = scf.for {variable} = {first} to {last} step {step}",
            f"iter_args({carried} = {b}) -> (i64) : i64 {{", *body,
            f"scf.yield {inner[-1]} : i64 }}",
        ]  # fmt: skip
        return lines, ("for", a, b, variable, carried, result, tree, inner[-1])


def wrap(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def execute(tree: list[Any], env: dict[str, int]) -> None:
    """Runs what a writer wrote for one work-item."""
    for kind, *rest in tree:
        if kind == "binary":
            operation, a, b, result = rest
            env[result] = wrap(BINARY[operation](env[a], env[b]))
        elif kind == "if":
            a, b, result, branches = rest
            branch, last = branches[0] if env[a] < env[b] else branches[1]
            execute(branch, env)
            env[result] = env[last]
        else:
            a, b, variable, carried, result, body, last = rest
            env[carried] = env[b]
            for i in range(env[a] & 3):
                env[variable] = i
                execute(body, env)
                env[carried] = env[last]
            env[result] = env[carried]


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(15))
def test_random_divergent_programs(attempt: int) -> None:
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    writer = Writer(seed)
    text, tree, known = writer.block(["%v", "%one"], 0)
    body = "\n".join([*text, f"%r = arith.addi {known[-1]}, %zero : i64"])
    values = [int(v) for v in np.random.default_rng(seed).integers(-9, 10, COUNT)]
    expected: list[int] = []
    for value in values:
        env = {"%v": value, "%one": 1}
        execute(tree, env)
        expected.append(env[known[-1]])
    assert computed(body, values, grid=2) == expected, f"seed {seed}\n{body}"
