"""Random code at the points of a space computes the same on tiles."""

from __future__ import annotations

from random import Random

import pytest

from tests.backends.intel.random_arguments import plain_numbers
from tests.transforms.tile_linalg.from_source import Shape, check

PROGRAMS = 30

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "index")
COMPLEX = ("c32", "c64")
TYPES = (*FLOATS, *INTEGERS, *COMPLEX)

SHAPE: Shape = (12, 9)
"""Of every memref; indices are cut to it."""


class Writer:
    """Writes one function with a loop over the points of a space.

    Values are only computed from numbers that are finite, and points store to elements of their
    own, so that the result is defined.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = 0
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {type: [] for type in (*TYPES, "bool")}

    def text(self) -> str:
        parameters = [f"%{kind}_{t}: memref<{t}x?x?>" for t in TYPES for kind in ("x", "y")]
        parameters += [f"%s_{type}: {type}" for type in TYPES]
        self.lines += ["%zero = constant 0 : index", "%one = constant 1 : index"]
        self.lines += ["%rows = size %x_f32[0] : index", "%columns = size %x_f32[1] : index"]
        self.lines += ["%five = constant 5 : index"]
        for type in TYPES:
            self.values[type].append(f"%s_{type}")
        upper = self.random.choice(["(%rows,%columns)", "(%rows,%five)", "(%five,%columns)"])
        lower = self.random.choice(["(%zero,%zero)", "(%one,%zero)"])
        self.lines.append(f"foreach (%i,%j)={lower},{upper} {{")
        self.values["index"] += ["%i", "%j"]
        self.block(self.random.randint(4, 14), 2)
        self.lines += ["}", "}"]
        return "\n".join([f"func @k({', '.join(parameters)}) {{", *self.lines])

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def emit(self, text: str, type: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text} : {type}")
        self.values[type].append(name)
        return name

    def value(self, type: str) -> str:
        if not self.values[type] or self.random.random() < 0.2:
            if type == "bool":
                return self.compare()
            return self.load(type)
        return self.random.choice(self.values[type][-4:])

    def block(self, count: int, depth: int) -> None:
        before = {type: list(values) for type, values in self.values.items()}
        for _ in range(count):
            makers = [self.arithmetic] * 4 + [self.cast, self.compare, self.store, self.load]
            makers += [self.function]
            if depth:
                makers += [lambda: self.branch(depth), lambda: self.loop(depth)] * 2
            self.random.choice(makers)()
        self.store()
        self.values = before

    def load(self, type: str | None = None) -> str:
        type = type or self.random.choice(TYPES)
        at = self.random.choice(["%i,%j", "%zero,%j", "%i,%zero", self.positions()])
        return self.emit(f"load %x_{type}[{at}]", type)

    def positions(self) -> str:
        """Two indices that are inside of each memref."""
        return ",".join(self.position(limit) for limit in ("%rows", "%columns"))

    def position(self, limit: str) -> str:
        index = self.random.choice(["%i", "%j", self.random.choice(self.values["index"])])
        last = self.emit(f"sub {limit}, %one", "index")
        if self.random.random() < 0.5:
            index = self.emit(f"{self.random.choice(['add', 'sub'])} {index}, %one", "index")
        raised = self.emit(f"max {index}, %zero", "index")
        return self.emit(f"min {raised}, {last}", "index")

    def store(self) -> None:
        type = self.random.choice(TYPES)
        self.lines.append(f"store {self.value(type)}, %y_{type}[%i,%j]")

    def arithmetic(self) -> None:
        type = self.random.choice(TYPES)
        names = ["add", "sub", "mul"]
        if type not in COMPLEX:
            names += ["max", "min"]
        if type in INTEGERS:
            names += ["and", "or", "xor", "shl", "shr"]
        a, b = self.value(type), self.value(type)
        if type in INTEGERS and self.random.random() < 0.2:
            self.divide(type, a, b)
            return
        if type in FLOATS and self.random.random() < 0.2:
            names = ["div"]
        self.emit(f"{self.random.choice(names)} {a}, {b}", type)

    def divide(self, type: str, a: str, b: str) -> None:
        """A division that only points do whose divisor is not 0."""
        zero = self.name()
        self.lines.append(f"{zero} = constant 0 : {type}")
        condition = self.emit(f"not_equal {b}, {zero}", "bool")
        result, inner = self.name(), self.name()
        self.lines += [
            f"{result} = if {condition} -> ({type}) {{",
            f"{inner} = {self.random.choice(['div', 'rem'])} {a}, {b} : {type}",
            f"yield ({inner})",
            "} else {",
            f"yield ({a})",
            "}",
        ]
        self.values[type].append(result)

    def function(self) -> None:
        type = self.random.choice((*FLOATS, *COMPLEX))
        if type in COMPLEX:
            part = {"c32": "f32", "c64": "f64"}[type]
            name = self.random.choice(["abs", "re", "im", "conj", "neg"])
            self.emit(f"{name} {self.value(type)}", type if name in ("conj", "neg") else part)
        else:
            name = self.random.choice(["abs", "neg", "cos", "sin"])
            self.emit(f"{name} {self.value(type)}", type)

    def cast(self) -> None:
        source = self.random.choice((*FLOATS, *INTEGERS))
        target = self.random.choice(FLOATS if source in FLOATS else (*FLOATS, *INTEGERS))
        self.emit(f"cast {self.value(source)}", target)

    def compare(self) -> str:
        type = self.random.choice((*FLOATS, *INTEGERS))
        name = self.random.choice(["equal", "not_equal", "less_than", "greater_than_equal"])
        return self.emit(f"{name} {self.value(type)}, {self.value(type)}", "bool")

    def branch(self, depth: int) -> None:
        type, condition = self.random.choice(TYPES), self.value("bool")
        other, result = self.value(type), self.name()
        self.lines.append(f"{result} = if {condition} -> ({type}) {{")
        self.side(type, depth)
        self.lines.append("} else {")
        if self.random.random() < 0.5:
            self.lines.append(f"yield ({other})")
        else:
            self.side(type, depth)
        self.lines.append("}")
        self.values[type].append(result)

    def side(self, type: str, depth: int) -> None:
        before = {type: list(values) for type, values in self.values.items()}
        self.block(self.random.randint(1, 3), depth - 1)
        self.lines.append(f"yield ({self.value(type)})")
        self.values = before

    def loop(self, depth: int) -> None:
        """A loop of few turns, as many at each point or not."""
        type, start = self.random.choice(TYPES), self.random.choice(["%zero", "%one"])
        stop = self.random.choice(["%five", "%i", "%j"])
        first, result, carried, variable = self.value(type), *(self.name() for _ in range(3))
        before = {type: list(values) for type, values in self.values.items()}
        self.lines.append(
            f"{result} = for {variable}={start},{stop},%one init({carried}={first}) -> ({type}) {{"
        )
        self.values["index"].append(variable)
        self.values[type].append(carried)
        self.block(self.random.randint(1, 3), depth - 1)
        self.lines += [f"yield ({self.value(type)})", "}"]
        self.values = before
        self.values[type].append(result)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int) -> None:
    text = Writer(seed).text()
    shapes = {"k": [SHAPE] * (2 * len(TYPES))}
    check(text, seed, numbers=plain_numbers, shapes=shapes)
