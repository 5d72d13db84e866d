"""Random kernels of Triton without layouts: tensors of every shape, and operations between them.

They load from and store to memory by tensors of pointers with masks, in loops and branches too.
Every access lies inside of its memory, and no two write the same element, so that what a kernel
computes is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import numpy as np

PROGRAMS = 2
"""The size of the grid."""

SIZE = 4096
"""The elements of each input."""

_SHAPES = (
    *((32,), (64,), (128,), (256,), (1024,)),
    *((4, 64), (16, 16), (16, 64), (32, 8), (32, 32), (64, 16), (1, 128), (64, 1)),
    *((2, 8, 16), (4, 4, 8), (2, 16, 16)),
)

_MOST = 1024
"""The elements of the largest tensor."""


@dataclass(frozen=True)
class Value:
    """A tensor: its name, its shape and the type of its elements."""

    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return tensor(self.shape, self.element)


def tensor(shape: Sequence[int], element: str) -> str:
    """The text of a type."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


class TritonWriter:
    """Writes one kernel.

    Args:
        seed: Which one.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._lines: list[str] = []
        self._values: list[Value] = []
        self._names = 0
        self._outputs = 0
        self._depth = 0
        self._actions: list[Callable[[], None]] = [
            *[self._binary] * 4,
            *[self._load] * 3,
            *[self._convert] * 2,
            *[self._reduce] * 2,
            *[self._dot] * 2,
            *[self._transpose] * 2,
            *[self._reshape] * 2,
            self._atomic,
            self._branch,
            self._cat,
            self._gather,
            self._histogram,
            self._join,
            self._loop,
            self._loop_of_products,
            self._scan,
            self._select,
            self._spread,
            self._split,
        ]
        self._load()
        for _ in range(self._random.randint(4, 12)):
            self._random.choice(self._actions)()
        for value in self._values[-3:]:
            self._store(value)

    def text(self) -> str:
        """The kernel."""
        promises = "{tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}"
        some = self._random.choice([promises, "{tt.divisibility = 16 : i32}", ""])
        inputs = f"%x: !tt.ptr<f32> {some}, %h: !tt.ptr<f16> {some}, %i: !tt.ptr<i32> {some}"
        outputs = f"%y: !tt.ptr<f32> {promises}, %z: !tt.ptr<i32> {some}"
        body = "\n".join(self._lines)
        return (
            f"tt.func public @kernel({inputs}, {outputs}, %n: i32 {{tt.divisibility = 16 : i32}}) "
            f"{{\n%pid = tt.get_program_id x : i32\n{body}\ntt.return\n}}\n"
        )

    def arguments(self, numbers: np.random.Generator) -> list[Any]:
        """Fresh inputs, and outputs in which nothing is a number yet."""
        return [
            numbers.integers(-8, 8, SIZE).astype(np.float32),
            numbers.integers(-8, 8, SIZE).astype(np.float16),
            numbers.integers(-100, 100, SIZE, np.int32),
            np.full(max(1, self._outputs) * PROGRAMS * _MOST, np.nan, np.float32),
            np.zeros(_MOST, np.int32),
            SIZE,
        ]

    # --- text ---

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _emit(self, text: str, shape: Sequence[int], element: str) -> Value:
        """The value that an operation without its type gives; `TYPE` in it is that of the value."""
        value = Value(self._name(), tuple(shape), element)
        self._lines.append(f"{value.name} = {text.replace('TYPE', value.type)}")
        return value

    def _made(self, text: str, shape: Sequence[int], element: str) -> Value:
        value = self._emit(text, shape, element)
        self._values.append(value)
        return value

    def _splat(self, number: float, shape: Sequence[int], element: str) -> Value:
        text = str(number) if element.startswith("i") else f"{float(number):e}"
        return self._emit(f"arith.constant dense<{text}> : TYPE", shape, element)

    def _scalar(self, text: str) -> str:
        name = self._name()
        self._lines.append(f"{name} = {text}")
        return name

    def _any(self, *elements: str, rank: int | None = None) -> Value | None:
        fitting = [
            each
            for each in self._values
            if (not elements or each.element in elements)
            and (rank is None or len(each.shape) == rank)
        ]
        return self._random.choice(fitting) if fitting else None

    def _as(self, value: Value, element: str) -> Value:
        if value.element == element:
            return value
        shape, before = value.shape, value.element
        kinds = {
            ("f32", "f16"): "arith.truncf",
            ("f16", "f32"): "arith.extf",
            ("i32", "f32"): "arith.sitofp",
            ("f32", "i32"): "arith.fptosi",
            ("i32", "i64"): "arith.extsi",
        }
        if (before, element) not in kinds:
            return self._as(self._as(value, "f32"), element)
        if kinds[before, element] == "arith.fptosi":
            value = self._bounded(value)
        operation = kinds[before, element]
        return self._emit(f"{operation} {value.name} : {value.type} to TYPE", shape, element)

    def _bounded(self, value: Value) -> Value:
        """Floats that integers hold; NaN becomes one of them."""
        for operation, limit in (("minnumf", 1000.0), ("maxnumf", -1000.0)):
            bound = self._splat(limit, value.shape, value.element)
            text = f"arith.{operation} {value.name}, {bound.name} : TYPE"
            value = self._emit(text, value.shape, value.element)
        return value

    # --- positions in memory ---

    def _line(self, size: int, axis: int, shape: Sequence[int]) -> Value:
        """Numbers from 0 on along a dimension, with the shape of a tensor."""
        line = self._emit(
            f"tt.make_range {{end = {size} : i32, start = 0 : i32}} : TYPE", (size,), "i32"
        )
        for dimension in range(len(shape)):
            if dimension == axis:
                continue
            new = [*line.shape[:dimension], 1, *line.shape[dimension:]]
            text = f"tt.expand_dims {line.name} {{axis = {dimension} : i32}} : {line.type} -> TYPE"
            line = self._emit(text, new, "i32")
        if line.shape == tuple(shape):
            return line
        return self._emit(f"tt.broadcast {line.name} : {line.type} -> TYPE", shape, "i32")

    def _positions(self, shape: Sequence[int]) -> Value:
        """The number of each element, in an order of the dimensions."""
        order = list(range(len(shape)))
        self._random.shuffle(order)
        total, stride = None, 1
        for axis in order:
            line = self._line(shape[axis], axis, shape)
            factor = self._splat(stride, shape, "i32")
            part = self._emit(f"arith.muli {line.name}, {factor.name} : TYPE", shape, "i32")
            if total is not None:
                part = self._emit(f"arith.addi {total.name}, {part.name} : TYPE", shape, "i32")
            total, stride = part, stride * shape[axis]
        assert total is not None
        return total

    def _moved(self, positions: Value, number: str) -> Value:
        shape = positions.shape
        splat = self._emit(f"tt.splat {number} : i32 -> TYPE", shape, "i32")
        return self._emit(f"arith.addi {positions.name}, {splat.name} : TYPE", shape, "i32")

    def _pointers(self, base: str, element: str, offsets: Value) -> Value:
        pointer = f"!tt.ptr<{element}>"
        bases = self._emit(f"tt.splat {base} : {pointer} -> TYPE", offsets.shape, pointer)
        text = f"tt.addptr {bases.name}, {offsets.name} : {bases.type}, {offsets.type}"
        return self._emit(text, offsets.shape, pointer)

    def _mask(self, offsets: Value) -> Value:
        limit = self._random.choice([0, prod(offsets.shape) // 2, 17, 1000, SIZE])
        bound = self._splat(limit, offsets.shape, "i32")
        text = f"arith.cmpi slt, {offsets.name}, {bound.name} : {bound.type}"
        return self._emit(text, offsets.shape, "i1")

    # --- memory ---

    def _load(self) -> None:
        base, element = self._random.choice([("%x", "f32"), ("%h", "f16"), ("%i", "i32")])
        shape = self._random.choice(_SHAPES)
        offsets = self._positions(shape)
        if self._random.random() < 0.5:
            step = self._scalar(f"arith.constant {self._random.choice([1, 16, 1024])} : i32")
            offsets = self._moved(offsets, self._scalar(f"arith.muli %pid, {step} : i32"))
        if self._random.random() < 0.3:
            offsets = self._wrapped(offsets)
        elif self._random.random() < 0.3:
            offsets = self._as(offsets, "i64")
        pointers = self._pointers(base, element, offsets)
        text = f"tt.load {pointers.name}"
        if self._random.random() < 0.6 and offsets.element == "i32":
            mask = self._mask(offsets)
            other = self._splat(self._random.choice([0, 3]), shape, element)
            text += f", {mask.name}, {other.name}"
        self._made(f"{text} : {pointers.type}", shape, element)

    def _wrapped(self, offsets: Value) -> Value:
        """Offsets modulo or divided by a number."""
        operation = self._random.choice(["remsi", "divsi"])
        divisor = self._splat(self._random.choice([2, 7, 16, 64]), offsets.shape, "i32")
        text = f"arith.{operation} {offsets.name}, {divisor.name} : TYPE"
        return self._emit(text, offsets.shape, "i32")

    def _store(self, value: Value) -> None:
        value = self._as(value, "f32")
        first = self._outputs * PROGRAMS * _MOST
        self._outputs += 1
        size = self._scalar(f"arith.constant {_MOST} : i32")
        start = self._scalar(f"arith.constant {first} : i32")
        mine = self._scalar(f"arith.muli %pid, {size} : i32")
        offsets = self._positions(value.shape)
        positions = self._moved(offsets, self._scalar(f"arith.addi {mine}, {start} : i32"))
        pointers = self._pointers("%y", "f32", positions)
        text = f"tt.store {pointers.name}, {value.name}"
        if self._random.random() < 0.4:
            text += f", {self._mask(offsets).name}"
        self._lines.append(f"{text} : {pointers.type}")

    def _atomic(self) -> None:
        value = self._any("i32")
        if value is None or self._depth:
            return
        offsets = self._positions(value.shape)
        pointers, mask = self._pointers("%z", "i32", offsets), self._mask(offsets)
        types = f"({pointers.type}, {value.type}, {mask.type})"
        kind = self._random.choice(["add", "max", "and"])
        operands = f"{pointers.name}, {value.name}, {mask.name}"
        text = f"tt.atomic_rmw {kind}, acq_rel, gpu, {operands} : {types} -> TYPE"
        # What was there depends on which program came first.
        self._emit(text, value.shape, "i32")

    # --- numbers ---

    def _binary(self) -> None:
        a = self._any()
        assert a is not None
        others = [
            each for each in self._values if (each.shape, each.element) == (a.shape, a.element)
        ]
        b = self._random.choice(others)
        names = (
            ("addi", "muli", "maxsi", "xori") if a.element == "i32" else ("addf", "mulf", "maxnumf")
        )
        operation = self._random.choice(names)
        self._made(f"arith.{operation} {a.name}, {b.name} : TYPE", a.shape, a.element)

    def _convert(self) -> None:
        value = self._any()
        assert value is not None
        self._values.append(self._as(value, self._random.choice(["f32", "f16", "i32"])))

    def _select(self) -> None:
        value = self._any()
        assert value is not None
        condition = self._mask(self._positions(value.shape))
        other = self._splat(5, value.shape, value.element)
        text = f"arith.select {condition.name}, {value.name}, {other.name} : {condition.type}, TYPE"
        self._made(text, value.shape, value.element)

    # --- shapes ---

    def _spread(self) -> None:
        value = self._any()
        if value is None or len(value.shape) > 2:
            return
        axis, size = self._random.randrange(len(value.shape) + 1), self._random.choice([2, 4])
        if prod(value.shape) * size > _MOST:
            return
        shape = [*value.shape[:axis], 1, *value.shape[axis:]]
        text = f"tt.expand_dims {value.name} {{axis = {axis} : i32}} : {value.type} -> TYPE"
        single = self._emit(text, shape, value.element)
        shape[axis] = size
        self._made(f"tt.broadcast {single.name} : {single.type} -> TYPE", shape, value.element)

    def _transpose(self) -> None:
        value = self._any()
        if value is None or len(value.shape) < 2:
            return
        order = list(range(len(value.shape)))
        self._random.shuffle(order)
        shape = [value.shape[axis] for axis in order]
        numbers = ", ".join(map(str, order))
        text = f"tt.trans {value.name} {{order = array<i32: {numbers}>}} : {value.type} -> TYPE"
        self._made(text, shape, value.element)

    def _reshape(self) -> None:
        value = self._any()
        assert value is not None
        fitting = [shape for shape in _SHAPES if prod(shape) == prod(value.shape)]
        if fitting:
            text = f"tt.reshape {value.name} : {value.type} -> TYPE"
            self._made(text, self._random.choice(fitting), value.element)

    def _join(self) -> None:
        value = self._any()
        if value is None or len(value.shape) > 2 or prod(value.shape) * 2 > _MOST:
            return
        same = [each for each in self._values if each.type == value.type]
        other = self._random.choice(same)
        text = f"tt.join {value.name}, {other.name} : {value.type} -> TYPE"
        self._made(text, (*value.shape, 2), value.element)

    def _split(self) -> None:
        value = self._any()
        if value is None or value.shape[-1] != 2 or len(value.shape) < 2:
            return
        half = value.shape[:-1]
        a, b = (Value(self._name(), half, value.element) for _ in range(2))
        text = f"tt.split {value.name} : {value.type} -> {a.type}"
        self._lines.append(f"{a.name}, {b.name} = {text}")
        self._values += [a, b]

    def _cat(self) -> None:
        value = self._any(rank=1)
        if value is None or value.shape[0] * 2 > _MOST:
            return
        text = f"tt.cat {value.name}, {value.name} : {value.type} -> TYPE"
        whole = self._emit(text, (value.shape[0] * 2,), value.element)
        # The order of its elements is nobody's promise, but that of a sum of them is none either.
        self._values.append(self._reduced(self._as(whole, "f32"), 0, "addf"))

    def _gather(self) -> None:
        value, indices = self._any(), self._any("i32")
        if value is None or indices is None or len(value.shape) != len(indices.shape):
            return
        axis = self._random.randrange(len(value.shape))
        if any(
            a != b
            for d, (a, b) in enumerate(zip(value.shape, indices.shape, strict=True))
            if d != axis
        ):
            return
        low = self._splat(value.shape[axis] - 1, indices.shape, "i32")
        inside = self._emit(f"arith.andi {indices.name}, {low.name} : TYPE", indices.shape, "i32")
        text = f"tt.gather {value.name}[{inside.name}] {{axis = {axis} : i32}} : "
        text += f"({value.type}, {inside.type}) -> TYPE"
        self._made(text, indices.shape, value.element)

    def _histogram(self) -> None:
        value = self._any("i32", rank=1)
        if value is None:
            return
        low = self._splat(31, value.shape, "i32")
        inside = self._emit(f"arith.andi {value.name}, {low.name} : TYPE", value.shape, "i32")
        self._made(f"tt.histogram {inside.name} : {inside.type} -> TYPE", (32,), "i32")

    # --- reductions ---

    def _reduced(self, value: Value, axis: int, operation: str) -> Value:
        """A reduction; to a scalar it is spread again."""
        element, shape = value.element, [*value.shape[:axis], *value.shape[axis + 1 :]]
        name = self._name()
        made = tensor(shape, element) if shape else element
        self._lines += [
            f'{name} = "tt.reduce"({value.name}) <{{axis = {axis} : i32}}> ({{',
            f"^bb0(%a{name[1:]}: {element}, %b{name[1:]}: {element}):",
            f"%c{name[1:]} = arith.{operation} %a{name[1:]}, %b{name[1:]} : {element}",
            f"tt.reduce.return %c{name[1:]} : {element}",
            f"}}) : ({value.type}) -> {made}",
        ]
        if shape:
            return Value(name, tuple(shape), element)
        return self._emit(f"tt.splat {name} : {element} -> TYPE", (32,), element)

    def _reduce(self) -> None:
        value = self._any()
        assert value is not None
        axis = self._random.randrange(len(value.shape))
        operation = self._random.choice(
            ["addi", "maxsi"] if value.element == "i32" else ["addf", "maxnumf"]
        )
        self._values.append(self._reduced(value, axis, operation))

    def _scan(self) -> None:
        value = self._any("i32", "f32")
        if value is None:
            return
        axis, name = self._random.randrange(len(value.shape)), self._name()
        operation, element = "addi" if value.element == "i32" else "maxnumf", value.element
        reverse = self._random.choice(["true", "false"])
        self._lines += [
            f'{name} = "tt.scan"({value.name}) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{',
            f"^bb0(%a{name[1:]}: {element}, %b{name[1:]}: {element}):",
            f"%c{name[1:]} = arith.{operation} %a{name[1:]}, %b{name[1:]} : {element}",
            f"tt.scan.return %c{name[1:]} : {element}",
            f"}}) : ({value.type}) -> {value.type}",
        ]
        self._values.append(Value(name, value.shape, element))

    # --- products ---

    def _factor(self, shape: tuple[int, int]) -> Value:
        """A matrix of f16, loaded or computed."""
        fitting = [each for each in self._values if each.shape == shape]
        if fitting and self._random.random() < 0.7:
            return self._as(self._random.choice(fitting), "f16")
        pointers = self._pointers("%h", "f16", self._positions(shape))
        return self._emit(f"tt.load {pointers.name} : {pointers.type}", shape, "f16")

    def _dot(self) -> None:
        m, n, k = (self._random.choice([16, 32]) for _ in range(3))
        a, b, c = self._factor((m, k)), self._factor((k, n)), self._splat(1, (m, n), "f32")
        types = f"{a.type} * {b.type} -> TYPE"
        self._made(f"tt.dot {a.name}, {b.name}, {c.name} : {types}", (m, n), "f32")

    # --- control ---

    def _inside(self) -> list[str]:
        """The lines of a region, whose values are its own."""
        outer, values = self._lines, list(self._values)
        self._lines, self._depth = [], self._depth + 1
        for _ in range(self._random.randint(1, 3)):
            self._random.choice(self._actions)()
        inner, self._lines, self._depth = self._lines, outer, self._depth - 1
        self._region_values, self._values = self._values, values
        return inner

    def _given(self, like: Value) -> Value | None:
        """The last value of the region of a type."""
        return next((v for v in reversed(self._region_values) if v.type == like.type), None)

    def _branch(self) -> None:
        value = self._any()
        if value is None or self._depth > 1:
            return
        zero = self._scalar("arith.constant 0 : i32")
        condition = self._scalar(f"arith.cmpi eq, %pid, {zero} : i32")
        result, lines = Value(self._name(), value.shape, value.element), self._inside()
        given = self._given(value) or value
        self._lines += [
            f"{result.name} = scf.if {condition} -> ({value.type}) {{",
            *lines,
            f"scf.yield {given.name} : {value.type}",
            "} else {",
            f"scf.yield {value.name} : {value.type}",
            "}",
        ]
        self._values.append(result)

    def _loop(self) -> None:
        value = self._any()
        if value is None or self._depth > 1:
            return
        low, high, step = (self._scalar(f"arith.constant {n} : i32") for n in (0, 3, 1))
        result = Value(self._name(), value.shape, value.element)
        carried = Value(self._name(), value.shape, value.element)
        self._values.append(carried)
        lines = self._inside()
        self._values.remove(carried)
        given = self._given(value) or carried
        self._lines += [
            (
                f"{result.name} = scf.for %k{result.name[1:]} = {low} to {high} step {step} "
                f"iter_args({carried.name} = {value.name}) -> ({value.type}) : i32 {{"
            ),
            *lines,
            f"scf.yield {given.name} : {value.type}",
            "}",
        ]
        self._values.append(result)

    def _loop_of_products(self) -> None:
        """Sums of products of matrices that pointers lead to, which move in each turn."""
        if self._depth:
            return
        m, n, k, turns = 32, 32, self._random.choice([16, 32]), self._random.randint(0, 3)
        total = self._splat(0, (m, n), "f32")
        a = self._pointers("%h", "f16", self._positions((m, k)))
        b = self._pointers("%h", "f16", self._positions((k, n)))
        step_a, step_b = self._splat(k, (m, k), "i32"), self._splat(16 * k, (k, n), "i32")
        low, high, step = (self._scalar(f"arith.constant {x} : i32") for x in (0, turns, 1))
        result, ends = Value(self._name(), (m, n), "f32"), (self._name(), self._name())
        s, p, q, x, y, t, u, v = (self._name() for _ in range(8))
        types = f"{total.type}, {a.type}, {b.type}"
        f16s = tensor((m, k), "f16"), tensor((k, n), "f16")
        self._lines += [
            (
                f"{result.name}, {ends[0]}, {ends[1]} = scf.for %k{s[1:]} = {low} to {high} "
                f"step {step} iter_args({s} = {total.name}, {p} = {a.name}, {q} = {b.name}) "
                f"-> ({types}) : i32 {{"
            ),
            f"{x} = tt.load {p} : {a.type}",
            f"{y} = tt.load {q} : {b.type}",
            f"{t} = tt.dot {x}, {y}, {s} : {f16s[0]} * {f16s[1]} -> {total.type}",
            f"{u} = tt.addptr {p}, {step_a.name} : {a.type}, {step_a.type}",
            f"{v} = tt.addptr {q}, {step_b.name} : {b.type}, {step_b.type}",
            f"scf.yield {t}, {u}, {v} : {types}",
            "}",
        ]
        self._values.append(result)
