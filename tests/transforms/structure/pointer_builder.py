"""Writes kernels of CUDA Tile IR that access memory through tiles of pointers, as Triton's do."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

Number: TypeAlias = "Tile | int | float"


@dataclass(frozen=True)
class Tile:
    """A tile of a kernel that is being written; operators write what computes with it."""

    kernel: Kernel
    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        """Its type as text."""
        return _type(self.shape, self.element)

    def __getitem__(self, index: tuple[slice | None, ...]) -> Tile:
        """As in numpy: `:` keeps a dimension, `None` makes one of size 1."""
        sizes = iter(self.shape)
        return self.kernel.reshape(self, [1 if each is None else next(sizes) for each in index])

    def __add__(self, other: Number) -> Tile:
        return self.kernel.binary("add", self, other)

    def __radd__(self, other: Number) -> Tile:
        return self.kernel.binary("add", other, self)

    def __sub__(self, other: Number) -> Tile:
        return self.kernel.binary("sub", self, other)

    def __rsub__(self, other: Number) -> Tile:
        return self.kernel.binary("sub", other, self)

    def __mul__(self, other: Number) -> Tile:
        return self.kernel.binary("mul", self, other)

    def __rmul__(self, other: Number) -> Tile:
        return self.kernel.binary("mul", other, self)

    def __truediv__(self, other: Number) -> Tile:
        return self.kernel.binary("div", self, other)

    def __floordiv__(self, other: Number) -> Tile:
        return self.kernel.binary("div", self, other, " signed")

    def __mod__(self, other: Number) -> Tile:
        return self.kernel.binary("rem", self, other, " signed")

    def __and__(self, other: Tile) -> Tile:
        return self.kernel.binary("and", self, other)

    def __lt__(self, other: Number) -> Tile:
        return self.kernel.compare("less_than", self, other)

    def __le__(self, other: Number) -> Tile:
        return self.kernel.compare("less_than_or_equal", self, other)

    def __ge__(self, other: Number) -> Tile:
        return self.kernel.compare("greater_than_or_equal", self, other)

    def __gt__(self, other: Number) -> Tile:
        return self.kernel.compare("greater_than", self, other)


@dataclass
class Kernel:
    """A kernel that is being written.

    Attributes:
        lines: Its operations.
        parameters: Its parameters as text.
    """

    lines: list[str] = field(default_factory=list[str])
    parameters: list[str] = field(default_factory=list[str])
    _count: int = 0

    def text(self) -> str:
        """The module."""
        body = "\n".join(f"    {line}" for line in (*self.lines, "return"))
        parameters = ", ".join(self.parameters)
        return f"cuda_tile.module @m {{\n  entry @k({parameters}) {{\n{body}\n  }}\n}}\n"

    # --- parameters and numbers ---

    def pointers(self, names: str, element: str = "f32") -> list[Tile]:
        """Parameters that are pointers."""
        return [self._parameter(name, f"ptr<{element}>") for name in names.split()]

    def integers(self, names: str, element: str = "i32") -> list[Tile]:
        """Parameters that are integers."""
        return [self._parameter(name, element) for name in names.split()]

    def _parameter(self, name: str, element: str) -> Tile:
        self.parameters.append(f"%{name}: tile<{element}>")
        return Tile(self, f"%{name}", (), element)

    def block(self, axis: int = 0) -> Tile:
        """The index of the block."""
        names = [self._name() for _ in range(3)]
        self.lines.append(f"{', '.join(names)} = get_tile_block_id : tile<i32>")
        return Tile(self, names[axis], (), "i32")

    def constant(self, number: float, shape: Sequence[int] = (), element: str = "i32") -> Tile:
        """A tile of equal numbers."""
        text = f"{number:e}" if element.startswith("f") else str(int(number))
        text = "0xFF800000" if number == -float("inf") else text
        return self._emit(f"constant <{element}: {text}>", shape, element)

    def arange(self, size: int) -> Tile:
        """0, 1, 2, .."""
        return self._emit("iota", (size,), "i32")

    # --- shapes ---

    def reshape(self, tile: Tile, shape: Sequence[int]) -> Tile:
        """The same elements in another shape."""
        if tuple(shape) == tile.shape:
            return tile
        to = _type(shape, tile.element)
        return self._emit(f"reshape {tile.name} : {tile.type} -> {to}", shape, tile.element, "")

    def broadcast(self, tile: Tile, shape: Sequence[int]) -> Tile:
        """A tile repeated along dimensions of size 1, and along new ones in front."""
        tile = self.reshape(tile, (*(1 for _ in range(len(shape) - len(tile.shape))), *tile.shape))
        if tile.shape == tuple(shape):
            return tile
        to = _type(shape, tile.element)
        return self._emit(f"broadcast {tile.name} : {tile.type} -> {to}", shape, tile.element, "")

    def transpose(self, tile: Tile) -> Tile:
        """A matrix with its dimensions exchanged."""
        shape = tile.shape[::-1]
        to = _type(shape, tile.element)
        text = f"permute {tile.name} [1, 0] : {tile.type} -> {to}"
        return self._emit(text, shape, tile.element, "")

    def _both(self, a: Number, b: Number) -> tuple[Tile, Tile]:
        """Two operands in one shape."""
        given = a if isinstance(a, Tile) else b
        assert isinstance(given, Tile)
        one, two = (
            each if isinstance(each, Tile) else self.constant(each, (), given.element)
            for each in (a, b)
        )
        return self._in_one_shape(one, two)

    def _in_one_shape(self, one: Tile, two: Tile) -> tuple[Tile, Tile]:
        rank = max(len(one.shape), len(two.shape))
        shapes = [(*[1] * (rank - len(each.shape)), *each.shape) for each in (one, two)]
        shape = [max(x, y) for x, y in zip(*shapes, strict=True)]
        return self.broadcast(one, shape), self.broadcast(two, shape)

    # --- arithmetic ---

    def binary(self, operation: str, a: Number, b: Number, flags: str = "") -> Tile:
        """An elementwise operation; what is added to pointers is an offset."""
        one, two = self._both(a, b) if not self._is_pointer(a) else self._with_offsets(a, b)
        if self._is_pointer(one):
            text = f"offset {one.name}, {two.name} : {one.type}, {two.type} -> {one.type}"
            return self._emit(text, one.shape, one.element, "")
        suffix = "f" if one.element.startswith("f") else "i"
        text = f"{operation}{suffix} {one.name}, {two.name}{flags}"
        return self._emit(text, one.shape, one.element)

    @staticmethod
    def _is_pointer(tile: Number) -> bool:
        return isinstance(tile, Tile) and tile.element.startswith("ptr")

    def _with_offsets(self, pointers: Number, offsets: Number) -> tuple[Tile, Tile]:
        assert isinstance(pointers, Tile)
        given = offsets if isinstance(offsets, Tile) else self.constant(offsets)
        return self._in_one_shape(pointers, given)

    def compare(self, predicate: str, a: Number, b: Number) -> Tile:
        """A comparison of numbers with signs."""
        one, two = self._both(a, b)
        to = _type(one.shape, "i1")
        kind, rest = ("f", "") if one.element.startswith("f") else ("i", ", signed")
        order = " ordered" if kind == "f" else ""
        text = f"cmp{kind} {predicate}{order} {one.name}, {two.name}{rest} : {one.type} -> {to}"
        return self._emit(text, one.shape, "i1", "")

    def select(self, condition: Tile, a: Tile, b: Number) -> Tile:
        """Elements of one of two tiles."""
        one, two = self._both(a, b)
        if condition.shape:
            condition = self.broadcast(condition, one.shape)
        text = f"select {condition.name}, {one.name}, {two.name} : {condition.type}, {one.type}"
        return self._emit(text, one.shape, one.element, "")

    def unary(self, operation: str, tile: Tile) -> Tile:
        """An elementwise operation such as `exp`."""
        return self._emit(f"{operation} {tile.name}", tile.shape, tile.element)

    def cast(self, operation: str, tile: Tile, element: str) -> Tile:
        """A conversion such as `itof`."""
        signed = " signed" if operation in ("itof", "exti", "ftoi") else ""
        to = _type(tile.shape, element)
        text = f"{operation} {tile.name}{signed} : {tile.type} -> {to}"
        return self._emit(text, tile.shape, element, "")

    def dot(self, a: Tile, b: Tile, c: Tile) -> Tile:
        """A product of matrices, and a sum."""
        text = f"mmaf {a.name}, {b.name}, {c.name} : {a.type}, {b.type}, {c.type}"
        return self._emit(text, c.shape, c.element, "")

    def reduce(self, operation: str, tile: Tile, axis: int = 0) -> Tile:
        """A sum (`addf`) or the largest (`maxf`) along a dimension."""
        shape = (*tile.shape[:axis], *tile.shape[axis + 1 :])
        identity = "0.0" if operation == "addf" else "0xFF800000"
        one = f"tile<{tile.element}>"
        text = (
            f"reduce {tile.name} dim={axis} identities=[{identity} : {tile.element}] : "
            f"{tile.type} -> {_type(shape, tile.element)} {self._region(operation, one)}"
        )
        return self._emit(text, shape, tile.element, "")

    def cumulate(self, tile: Tile) -> Tile:
        """Sums along dimension 0 up to each element."""
        one = f"tile<{tile.element}>"
        text = (
            f"scan {tile.name} dim=0 reverse=false identities=[0.0 : {tile.element}] : "
            f"{tile.type} -> {tile.type} {self._region('addf', one)}"
        )
        return self._emit(text, tile.shape, tile.element, "")

    def _region(self, operation: str, one: str) -> str:
        x, y, z = (self._name() for _ in range(3))
        return (
            f"({x}: {one}, {y}: {one}) {{ {z} = {operation} {x}, {y} : {one} yield {z} : {one} }}"
        )

    # --- memory ---

    def load(self, pointers: Tile, mask: Tile | None = None, other: float | None = None) -> Tile:
        """What pointers point to; where the mask is false, another number."""
        element = pointers.element.removeprefix("ptr<").removesuffix(">")
        to = _type(pointers.shape, element)
        given, types = [pointers.name], [pointers.type]
        if mask is not None:
            mask = self.broadcast(mask, pointers.shape)
            given.append(mask.name)
            types.append(mask.type)
        if other is not None:
            padding = self.constant(other, pointers.shape, element)
            given.append(padding.name)
            types.append(padding.type)
        value, token = self._name(), self._name()
        text = f"load_ptr_tko weak {', '.join(given)} : {', '.join(types)} -> {to}, token"
        self.lines.append(f"{value}, {token} = {text}")
        return Tile(self, value, pointers.shape, element)

    def store(self, pointers: Tile, value: Tile, mask: Tile | None = None) -> None:
        """Writes what pointers point to, where the mask is true."""
        value = self.broadcast(value, pointers.shape)
        given, types = [pointers.name, value.name], [pointers.type, value.type]
        if mask is not None:
            mask = self.broadcast(mask, pointers.shape)
            given.append(mask.name)
            types.append(mask.type)
        text = f"store_ptr_tko weak {', '.join(given)} : {', '.join(types)} -> token"
        self.lines.append(f"{self._name()} = {text}")

    def add_atomically(self, pointers: Tile, value: Tile, mask: Tile | None = None) -> None:
        """Adds to what pointers point to."""
        value = self.broadcast(value, pointers.shape)
        mode = "addf" if value.element.startswith("f") else "add"
        masked = "" if mask is None else f", {mask.name}"
        types = f"{pointers.type}, {value.type}" + ("" if mask is None else f", {mask.type}")
        self.lines.append(
            f"{self._name()}, {self._name()} = atomic_rmw_tko relaxed device {pointers.name}, "
            f"{mode}, {value.name}{masked} : {types} -> {value.type}, token"
        )

    # --- loops ---

    @contextmanager
    def loop(
        self, start: Number, stop: Number, step: Number, carried: Sequence[Tile]
    ) -> Generator[Loop]:
        """A loop; `carry` says what the next iteration gets, and `results` is what is left."""
        bounds = [
            each if isinstance(each, Tile) else self.constant(each) for each in (start, stop, step)
        ]
        variable = self._name()
        inner = [Tile(self, self._name(), each.shape, each.element) for each in carried]
        outer = [Tile(self, self._name(), each.shape, each.element) for each in carried]
        types = ", ".join(each.type for each in carried)
        values = ", ".join(
            f"{own.name} = {first.name}" for own, first in zip(inner, carried, strict=True)
        )
        a, b, c = (each.name for each in bounds)
        left = f"{', '.join(each.name for each in outer)} = " if outer else ""
        head = f"{left}for {variable} in ({a} to {b}, step {c}) : tile<i32>"
        if outer:
            head += f" iter_values({values}) -> ({types})"
        self.lines.append(f"{head} {{")
        loop = Loop(Tile(self, variable, (), "i32"), inner, outer)
        yield loop
        names = ", ".join(each.name for each in loop.handed_on)
        self.lines.append(f"continue {names} : {types}" if names else "continue")
        self.lines.append("}")

    # --- names ---

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _emit(self, text: str, shape: Sequence[int], element: str, type: str | None = None) -> Tile:
        name = self._name()
        suffix = f" : {_type(shape, element)}" if type is None else ""
        self.lines.append(f"{name} = {text}{suffix}")
        return Tile(self, name, tuple(shape), element)


@dataclass
class Loop:
    """A loop that is being written.

    Attributes:
        variable: Its variable.
        carried: What the previous iteration has handed on.
        results: What the last one hands on.
        handed_on: What an iteration hands on.
    """

    variable: Tile
    carried: list[Tile]
    results: list[Tile]
    handed_on: Sequence[Tile] = ()

    def carry(self, *values: Tile) -> None:
        """Says what the next iteration gets."""
        self.handed_on = values


Writer: TypeAlias = Callable[[Kernel], None]


def _type(shape: Sequence[int], element: str) -> str:
    return f"tile<{'x'.join(map(str, (*shape, element)))}>"
