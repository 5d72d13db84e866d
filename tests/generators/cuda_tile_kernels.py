"""Random kernels of CUDA Tile IR, whose numbers are exact in whatever order they are computed.

Integers wrap around. Floats are integers too, and so small that their sums and products are exact:
each value has a bound, and what would become too large is first replaced by a remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import numpy as np

Array = Any

LIMITS = {"f16": 2**10, "bf16": 2**7, "f32": 2**22, "f64": 2**40}
"""The largest sizes of numbers that are made of each type of floats."""

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}

BLOCKS = 2
ROWS, COLUMNS = 11, 27
"""The sizes of the inputs, and how many tile blocks there are."""

_MOST_ELEMENTS = 256
_SCRATCH = 64


@dataclass(frozen=True)
class Value:
    """A tile: its name, its shape, the type of its elements, and how large floats may be."""

    name: str
    shape: tuple[int, ...]
    element: str
    bound: int = 0

    @property
    def is_float(self) -> bool:
        return self.element in LIMITS

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def type(self) -> str:
        return tile(self.shape, self.element)


def tile(shape: Sequence[int], element: str) -> str:
    """The text of a type."""
    return f"tile<{'x'.join([*map(str, shape), element])}>"


class KernelWriter:
    """Writes one kernel.

    Args:
        seed: Which one.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._lines: list[str] = []
        self._values: list[Value] = []
        self._names = 0
        self._depth = 0
        self._token = ""
        self._outputs: list[int] = []
        self._actions: list[Callable[[], None]] = [
            *[self._binary] * 5,
            *[self._convert] * 3,
            *[self._load] * 2,
            self._atomic,
            self._broadcast,
            self._cat,
            self._choose,
            self._extract,
            self._for,
            self._gather,
            self._if,
            self._iota,
            self._loop,
            self._product,
            self._reduce,
            self._reshape,
            self._scan,
            self._scratch,
            self._shift,
            self._transpose,
            self._unary,
        ]

    # --- the kernel, and what it is launched with ---

    def text(self) -> str:
        """The text of a module with the kernel @k."""
        self._begin()
        for _ in range(self._random.randint(6, 16)):
            self._act()
        tiles = self._tiles()
        self._store(self._digest(self._random.sample(tiles, k=min(6, len(tiles)))))
        for value in self._random.sample(tiles, k=min(3, len(tiles))):
            self._store(value)
        outputs = [f"%o{i}: tile<ptr<i32>>" for i in range(4)]
        parameters = ", ".join(
            [
                *("%x: tile<ptr<i32>>", "%y: tile<ptr<f32>>", "%q: tile<ptr<i32>>"),
                *("%s: tile<ptr<i32>>", *outputs, "%m: tile<i32>", "%n: tile<i32>"),
            ]
        )
        body = "\n".join(self._lines)
        return f"cuda_tile.module @m {{\nentry @k({parameters}) {{\n{body}\nreturn\n}}\n}}\n"

    def arguments(self, generator: np.random.Generator) -> list[Any]:
        """What the kernel is launched with, after `text`; outputs hold what nobody writes."""
        x = generator.integers(-(2**31), 2**31, (ROWS, COLUMNS)).astype(np.int32)
        y = generator.integers(-8, 9, (ROWS, COLUMNS)).astype(np.float32)
        counts = [*self._outputs, *[1] * (4 - len(self._outputs))]
        outputs = [np.full((BLOCKS, count), 123456789, np.int32) for count in counts]
        scratch = np.full((BLOCKS, _SCRATCH), 987654321, np.int32)
        return [x, y, np.zeros(_SCRATCH, np.int32), scratch, *outputs, ROWS, COLUMNS]

    def _begin(self) -> None:
        self._lines += [
            "%bx, %by, %bz = get_tile_block_id : tile<i32>",
            "%t0 = make_token : token",
            "%m1 = assume bounded<0, ?>, %m : tile<i32>",
            "%n1 = assume bounded<0, ?>, %n : tile<i32>",
        ]
        self._token = "%t0"
        for name, element in (("x", "i32"), ("y", "f32")):
            self._lines.append(
                f"%v{name} = make_tensor_view %{name}, shape = [%m1, %n1], strides = [%n1, 1] "
                f": tile<i32> -> tensor_view<?x?x{element}, strides=[?,1]>"
            )
        scratch = f"tensor_view<{BLOCKS}x{_SCRATCH}xi32, strides=[{_SCRATCH},1]>"
        self._lines.append(
            f"%vs = make_tensor_view %s, shape = [{BLOCKS}, {_SCRATCH}], strides = [{_SCRATCH}, 1] "
            f": {scratch}"
        )
        self._values.append(Value("%bx", (), "i32"))
        self._load()
        self._load()

    # --- values ---

    def _name(self) -> str:
        self._names += 1
        return f"%r{self._names}"

    def _add(
        self, text: str, shape: Sequence[int], element: str, bound: int = 0, types: str = ""
    ) -> Value:
        """A new value, which an operation makes."""
        value = Value(self._name(), tuple(shape), element, bound)
        self._lines.append(f"{value.name} = {text} : {types or value.type}")
        self._values.append(value)
        return value

    def _constant(self, number: int, shape: Sequence[int], element: str) -> Value:
        """A tile of equal numbers, which is only chosen where it is asked for."""
        written = f"{number}.0" if element in LIMITS else str(number)
        made = self._add(f"constant <{element}: {written}>", shape, element, abs(number))
        self._values.pop()
        return made

    def _any(self, accepts: Callable[[Value], bool] = lambda value: True) -> Value:
        """One of the values that are accepted, the newer and the larger the likelier."""
        found = [value for value in self._values if accepts(value)]
        large = [value for value in found if value.count > 1]
        if large and self._random.random() < 0.8:
            found = large
        return found[-1 - int(len(found) * self._random.random() ** 2)]

    def _tiles(self) -> list[Value]:
        return [value for value in self._values if value.shape]

    def _number(self) -> Value:
        return self._any(lambda value: value.element != "i1")

    def _act(self) -> None:
        self._random.choice(self._actions)()

    def _shrunk(self, value: Value, bound: int) -> Value:
        """Floats that are no larger than a bound."""
        if not value.is_float or value.bound <= bound:
            return value
        whole = self._add(
            f"ftoi {value.name} signed", value.shape, "i64",
            types=f"{value.type} -> {tile(value.shape, 'i64')}",
        )  # fmt: skip
        divisor = self._constant(bound + 1, value.shape, "i64")
        rest = self._add(f"remi {whole.name}, {divisor.name} signed", value.shape, "i64")
        return self._add(
            f"itof {rest.name} signed", value.shape, value.element, bound,
            types=f"{rest.type} -> {value.type}",
        )  # fmt: skip

    def _as(self, value: Value, element: str) -> Value:
        """The value in another type; floats are taken modulo what the type holds exactly."""
        if value.element == element:
            return value
        source = value.type
        to = f"{source} -> {tile(value.shape, element)}"
        if element in LIMITS and not value.is_float:
            if value.element == "i1":
                return self._add(f"itof {value.name} unsigned", value.shape, element, 1, types=to)
            divisor = self._constant(min(100, LIMITS[element]), value.shape, value.element)
            value = self._add(
                f"remi {value.name}, {divisor.name} signed", value.shape, value.element
            )
            return self._add(f"itof {value.name} signed", value.shape, element, 100, types=to)
        if element in LIMITS:
            value = self._shrunk(value, LIMITS[element])
            return self._add(f"ftof {value.name}", value.shape, element, value.bound, types=to)
        if value.is_float:
            value = self._shrunk(value, 2 ** (WIDTHS[element] - 1) - 1)
            return self._add(f"ftoi {value.name} signed", value.shape, element, types=to)
        if value.element == "i1":
            return self._add(f"exti {value.name} unsigned", value.shape, element, types=to)
        if WIDTHS[element] < WIDTHS[value.element]:
            return self._add(f"trunci {value.name}", value.shape, element, types=to)
        sign = self._random.choice(["signed", "unsigned"])
        return self._add(f"exti {value.name} {sign}", value.shape, element, types=to)

    def _fitted(self, value: Value, shape: Sequence[int]) -> Value:
        """A value of another shape: elements are repeated, or left out."""
        if value.shape == tuple(shape):
            return value
        count, flat = prod(shape), self._reshaped(value, [value.count])
        if flat.count > count:
            zero = self._constant(0, (), "i32")
            flat = self._add(
                f"extract {flat.name}[{zero.name}]", [count], value.element, value.bound,
                types=f"{flat.type} -> {tile([count], value.element)}",
            )  # fmt: skip
        elif flat.count < count:
            line = self._reshaped(flat, [1, flat.count])
            many = [count // flat.count, flat.count]
            flat = self._add(
                f"broadcast {line.name}", many, value.element, value.bound,
                types=f"{line.type} -> {tile(many, value.element)}",
            )  # fmt: skip
        return self._reshaped(flat, shape)

    def _reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        if value.shape == tuple(shape):
            return value
        types = f"{value.type} -> {tile(shape, value.element)}"
        return self._add(f"reshape {value.name}", shape, value.element, value.bound, types=types)

    def _partner(self, value: Value) -> Value:
        """A value of the same type."""
        return self._as(self._fitted(self._number(), value.shape), value.element)

    # --- elementwise ---

    def _binary(self) -> None:
        a = self._number()
        b = self._partner(a)
        if not a.is_float:
            name = self._random.choice(
                ["addi", "subi", "muli", "andi", "ori", "xori", "maxi", "mini", "mulhii"]
            )
            sign = self._random.choice([" signed", " unsigned"]) if name in ("maxi", "mini") else ""
            if name == "mulhii" and a.element in ("i8", "i16"):
                name = "muli"
            self._add(f"{name} {a.name}, {b.name}{sign}", a.shape, a.element)
            return
        name = self._random.choice(["addf", "subf", "mulf", "maxf", "minf"])
        limit = LIMITS[a.element]
        if name == "mulf":
            root = int(limit**0.5)
            a, b = self._shrunk(a, root), self._shrunk(b, root)
            bound = a.bound * b.bound
        elif name in ("addf", "subf"):
            a, b = self._shrunk(a, limit // 2), self._shrunk(b, limit // 2)
            bound = a.bound + b.bound
        else:
            bound = max(a.bound, b.bound)
        self._add(f"{name} {a.name}, {b.name}", a.shape, a.element, bound)

    def _unary(self) -> None:
        value = self._number()
        if value.is_float:
            name = self._random.choice(["absf", "negf", "floor", "ceil"])
        else:
            name = self._random.choice(["absi", "negi"])
        self._add(f"{name} {value.name}", value.shape, value.element, value.bound)

    def _shift(self) -> None:
        value = self._any(lambda value: value.element in WIDTHS)
        width = WIDTHS[value.element]
        choice = self._random.randrange(4)
        if choice < 2:
            distance = self._constant(self._random.randrange(width), value.shape, value.element)
            text = ("shli {}, {}", "shri {}, {} signed")[choice]
        else:
            number = self._random.choice([3, 7, -5, 100])
            distance = self._constant(number, value.shape, value.element)
            text = "remi {}, {} signed"
            if choice == 3:
                mode = self._random.choice(["zero", "negative_inf", "positive_inf"])
                text = f"divi {{}}, {{}} signed rounding<{mode}>"
        text = text.format(value.name, distance.name).replace(" rounding<zero>", "")
        self._add(text, value.shape, value.element)

    def _convert(self) -> None:
        value = self._any()
        others = [each for each in (*LIMITS, *WIDTHS) if each != value.element]
        self._as(value, self._random.choice(others))

    def _compared(self, a: Value, b: Value) -> Value:
        relation = self._random.choice(["less_than", "equal", "greater_than_or_equal", "not_equal"])
        if a.is_float:
            text = f"cmpf {relation} ordered {a.name}, {b.name}"
        else:
            text = f"cmpi {relation} {a.name}, {b.name}, signed"
        return self._add(text, a.shape, "i1", types=f"{a.type} -> {tile(a.shape, 'i1')}")

    def _choose(self) -> None:
        a = self._number()
        b = self._partner(a)
        condition = self._compared(a, b)
        c = self._partner(a)
        self._add(
            f"select {condition.name}, {a.name}, {c.name}", a.shape, a.element,
            max(a.bound, c.bound), types=f"{condition.type}, {a.type}",
        )  # fmt: skip

    # --- shapes ---

    def _shape(self, count: int, rank: int) -> list[int]:
        """Powers of two with a product."""
        sizes = [1] * rank
        while prod(sizes) < count:
            sizes[self._random.randrange(rank)] *= 2
        return sizes

    def _reshape(self) -> None:
        value = self._any()
        self._reshaped(value, self._shape(value.count, self._random.randint(1, 3)))

    def _transpose(self) -> None:
        value = self._any(lambda value: len(value.shape) > 1 or value == self._values[0])
        if len(value.shape) < 2:
            return
        order = list(range(len(value.shape)))
        self._random.shuffle(order)
        shape = [value.shape[i] for i in order]
        types = f"{value.type} -> {tile(shape, value.element)}"
        self._add(f"permute {value.name} {order}", shape, value.element, value.bound, types=types)

    def _broadcast(self) -> None:
        value = self._any()
        if value.count <= _MOST_ELEMENTS // 2:
            position = self._random.randint(0, len(value.shape))
            line = [*value.shape[:position], 1, *value.shape[position:]]
            if len(line) <= 3:
                many = [*value.shape[:position], 2, *value.shape[position:]]
                line_value = self._reshaped(value, line)
                self._add(
                    f"broadcast {line_value.name}", many, value.element, value.bound,
                    types=f"{line_value.type} -> {tile(many, value.element)}",
                )  # fmt: skip

    def _cat(self) -> None:
        a = self._random.choice([value for value in self._tiles() if value.element != "i1"])
        if a.count > _MOST_ELEMENTS // 2:
            return
        b = self._partner(a)
        dim = self._random.randrange(len(a.shape))
        shape = [size * (1 + (i == dim)) for i, size in enumerate(a.shape)]
        self._add(
            f"cat {a.name}, {b.name} dim = {dim}", shape, a.element, max(a.bound, b.bound),
            types=f"{a.type}, {b.type} -> {tile(shape, a.element)}",
        )  # fmt: skip

    def _extract(self) -> None:
        value = self._random.choice(self._tiles())
        shape = [self._random.choice([size, max(1, size // 2)]) for size in value.shape]
        indices: list[str] = []
        for size, part in zip(value.shape, shape, strict=True):
            if size // part == 2 and self._random.random() < 0.5:
                indices.append("%bx")
            else:
                number = self._random.randrange(size // part)
                indices.append(self._constant(number, (), "i32").name)
        self._add(
            f"extract {value.name}[{', '.join(indices)}]", shape, value.element, value.bound,
            types=f"{value.type} -> {tile(shape, value.element)}",
        )  # fmt: skip

    def _iota(self) -> None:
        self._add("iota", [self._random.choice([8, 16, 64])], "i32")

    # --- reductions, scans, products ---

    def _combined(self, value: Value, count: int) -> tuple[Value, str, str, int]:
        """A value, what combines two of its numbers, the number that changes nothing, a bound."""
        if value.is_float:
            name = self._random.choice(["addf", "maxf", "minf"])
            if name == "addf":
                value = self._shrunk(value, LIMITS[value.element] // count)
                return value, name, "0.0", value.bound * count
            size = float(LIMITS[value.element])
            return value, name, str(-size if name == "maxf" else size), value.bound
        width = WIDTHS[value.element]
        name = self._random.choice(["addi", "maxi", "mini", "xori", "andi"])
        largest = 2 ** (width - 1)
        identity = {"maxi": -largest, "mini": largest - 1, "andi": -1}.get(name, 0)
        return value, name, str(identity), 0

    def _reduce(self) -> None:
        value = self._random.choice([each for each in self._tiles() if each.element != "i1"])
        dim = self._random.randrange(len(value.shape))
        value, name, identity, bound = self._combined(value, value.shape[dim])
        shape = [size for i, size in enumerate(value.shape) if i != dim]
        self._collect(value, f"reduce {value.name} dim={dim}", shape, name, identity, bound)

    def _scan(self) -> None:
        value = self._random.choice([each for each in self._tiles() if each.element != "i1"])
        dim = self._random.randrange(len(value.shape))
        value, name, identity, bound = self._combined(value, value.shape[dim])
        reverse = self._random.choice(["true", "false"])
        text = f"scan {value.name} dim={dim} reverse={reverse}"
        self._collect(value, text, value.shape, name, identity, bound)

    def _collect(
        self, value: Value, text: str, shape: Sequence[int], name: str, identity: str, bound: int
    ) -> None:
        element, scalar = value.element, f"tile<{value.element}>"
        sign = " signed" if name in ("maxi", "mini") else ""
        self._add(
            f"{text} identities=[{identity} : {element}]", shape, element, bound,
            types=(
                f"{value.type} -> {tile(shape, element)}\n"
                f"(%a: {scalar}, %b: {scalar}) {{\n"
                f"%c = {name} %a, %b{sign} : {scalar}\nyield %c : {scalar}\n}}"
            ),
        )  # fmt: skip

    def _product(self) -> None:
        m, n, k = (self._random.choice([4, 8, 16]) for _ in range(3))
        batch = [2] if self._random.random() < 0.2 else []
        kinds = [("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64")]
        factor, sums = self._random.choice(kinds)
        left = self._as(self._fitted(self._number(), [*batch, m, k]), factor)
        right = self._as(self._fitted(self._number(), [*batch, k, n]), factor)
        acc = self._as(self._fitted(self._number(), [*batch, m, n]), sums)
        left, right = self._shrunk(left, 100), self._shrunk(right, 100)
        name, sign = "mmaf", ""
        if sums == "i32":
            name, sign = "mmai", f" signed {self._random.choice(['signed', 'unsigned'])}"
        else:
            acc = self._shrunk(acc, 2**20)
        bound = acc.bound + k * left.bound * right.bound
        self._add(
            f"{name} {left.name}, {right.name}, {acc.name}{sign}", [*batch, m, n], sums, bound,
            types=f"{left.type}, {right.type}, {acc.type}",
        )  # fmt: skip

    # --- memory ---

    def _load(self) -> None:
        """A tile of an input, which may reach beyond its end."""
        name, element = self._random.choice([("x", "i32"), ("y", "f32")])
        shape = [self._random.choice([1, 2, 4, 8]), self._random.choice([4, 8, 16, 32])]
        tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
        sizes, dims = [ROWS, COLUMNS], ""
        if self._random.random() < 0.3:
            sizes, dims = [COLUMNS, ROWS], ", dim_map = [1, 0]"
        view = f"partition_view<tile=({shape[0]}x{shape[1]}), padding_value = zero, {tensor}{dims}>"
        indices = [
            self._constant(self._random.randrange(-(-size // part)), (), "i32").name
            for size, part in zip(sizes, shape, strict=True)
        ]
        if -(-sizes[0] // shape[0]) >= BLOCKS and self._random.random() < 0.5:
            indices[0] = "%bx"
        made, result, token = self._name(), self._name(), self._name()
        self._lines += [
            f"{made} = make_partition_view %v{name} : {view}",
            (
                f"{result}, {token} = load_view_tko weak {made}[{', '.join(indices)}] : {view}, "
                f"tile<i32> -> {tile(shape, element)}, token"
            ),
        ]
        self._values.append(Value(result, tuple(shape), element, 8))

    def _pointers(self, name: str, element: str, indices: Value) -> str:
        """Pointers to elements of an argument."""
        ones = [1] * len(indices.shape)
        one, many, moved = self._name(), self._name(), self._name()
        scalar, pointer = f"tile<ptr<{element}>>", f"ptr<{element}>"
        if not indices.shape:
            many = f"%{name}"
        else:
            self._lines += [
                f"{one} = reshape %{name} : {scalar} -> {tile(ones, pointer)}",
                (
                    f"{many} = broadcast {one} : {tile(ones, pointer)} -> "
                    f"{tile(indices.shape, pointer)}"
                ),
            ]
        self._lines.append(
            f"{moved} = offset {many}, {indices.name} : {tile(indices.shape, pointer)}, "
            f"{indices.type} -> {tile(indices.shape, pointer)}"
        )
        return moved

    def _indices(self, value: Value, count: int) -> Value:
        """Indices from 0 to a power of two less 1."""
        value = self._as(value, "i32")
        mask = self._constant(count - 1, value.shape, "i32")
        return self._add(f"andi {value.name}, {mask.name}", value.shape, "i32")

    def _gather(self) -> None:
        """Elements anywhere in an input, under a mask."""
        name, element = self._random.choice([("x", "i32"), ("y", "f32")])
        indices = self._indices(self._number(), 512)
        end = self._constant(ROWS * COLUMNS, indices.shape, "i32")
        inside = self._add(
            f"cmpi less_than {indices.name}, {end.name}, signed", indices.shape, "i1",
            types=f"{indices.type} -> {tile(indices.shape, 'i1')}",
        )  # fmt: skip
        padding = self._constant(self._random.randrange(-5, 5), indices.shape, element)
        pointers = self._pointers(name, element, indices)
        result, token = self._name(), self._name()
        self._lines.append(
            f"{result}, {token} = load_ptr_tko weak {pointers}, {inside.name}, {padding.name} "
            f": {tile(indices.shape, f'ptr<{element}>')}, {inside.type}, {padding.type} "
            f"-> {padding.type}, token"
        )
        self._values.append(Value(result, indices.shape, element, 8))

    def _atomic(self) -> None:
        """Sums in memory, to which all tile blocks add."""
        indices = self._indices(self._number(), _SCRATCH)
        number = self._as(self._fitted(self._number(), indices.shape), "i32")
        pointers = self._pointers("q", "i32", indices)
        old, token = self._name(), self._name()
        self._lines.append(
            f"{old}, {token} = atomic_rmw_tko relaxed device {pointers}, add, {number.name} "
            f": {tile(indices.shape, 'ptr<i32>')}, {number.type} -> {number.type}, token"
        )

    def _scratch(self) -> None:
        """Memory of a tile block that is written and read again."""
        if self._depth:
            return
        value = self._as(self._fitted(self._number(), [1, 16]), "i32")
        index = self._constant(self._random.randrange(4), (), "i32").name
        other = self._constant(self._random.randrange(2), (), "i32").name
        tensor = f"tensor_view<{BLOCKS}x{_SCRATCH}xi32, strides=[{_SCRATCH},1]>"
        views = [f"partition_view<tile=(1x{size}), {tensor}>" for size in (16, 32)]
        narrow, wide, result = self._name(), self._name(), self._name()
        written, read = self._name(), self._name()
        self._lines += [
            f"{narrow} = make_partition_view %vs : {views[0]}",
            f"{wide} = make_partition_view %vs : {views[1]}",
            (
                f"{written} = store_view_tko weak {value.name}, {narrow}[%bx, {index}] "
                f"token = {self._token} : {value.type}, {views[0]}, tile<i32> -> token"
            ),
            (
                f"{result}, {read} = load_view_tko weak {wide}[%bx, {other}] token = {written} "
                f": {views[1]}, tile<i32> -> tile<1x32xi32>, token"
            ),
        ]
        self._token = read
        self._values.append(Value(result, (1, 32), "i32"))

    def _digest(self, values: Sequence[Value]) -> Value:
        """A number that depends on all elements of some tiles."""
        digest = self._constant(0, [1], "i32")
        for value in values:
            flat = self._reshaped(self._as(value, "i32"), [value.count])
            self._collect(flat, f"reduce {flat.name} dim=0", [], "addi", "0", 0)
            number = self._reshaped(self._values[-1], [1])
            factor = self._constant(31, [1], "i32")
            product = self._add(f"muli {digest.name}, {factor.name}", [1], "i32")
            digest = self._add(f"xori {product.name}, {number.name}", [1], "i32")
        return digest

    def _store(self, value: Value) -> None:
        """Writes a value to an output, which is as large or ends before."""
        number, value = len(self._outputs), self._as(value, "i32")
        value = self._reshaped(value, [1, value.count])
        size = max(1, value.count - self._random.choice([0, 0, 1, 3]))
        self._outputs.append(size)
        tensor = f"tensor_view<{BLOCKS}x{size}xi32, strides=[{size},1]>"
        view = f"partition_view<tile=(1x{value.count}), {tensor}>"
        zero = self._constant(0, (), "i32").name
        self._lines += [
            (
                f"%w{number} = make_tensor_view %o{number}, shape = [{BLOCKS}, {size}], "
                f"strides = [{size}, 1] : {tensor}"
            ),
            f"%p{number} = make_partition_view %w{number} : {view}",
            (
                f"%e{number} = store_view_tko weak {value.name}, %p{number}[%bx, {zero}] "
                f": {value.type}, {view}, tile<i32> -> token"
            ),
        ]

    # --- control flow ---

    def _carried(self) -> list[Value]:
        return [self._number() for _ in range(self._random.randint(1, 2))]

    def _body(self, carried: Sequence[Value], end: str) -> None:
        """A region that hands on values of given types."""
        before = list(self._values)
        self._depth += 1
        for _ in range(self._random.randint(1, 4)):
            self._act()
        handed = [self._shrunk(self._partner(value), value.bound) for value in carried]
        names = ", ".join(value.name for value in handed)
        self._lines.append(f"{end} {names} : {', '.join(value.type for value in carried)}")
        self._depth -= 1
        self._values = before

    def _opened(self, carried: Sequence[Value]) -> tuple[list[Value], str]:
        """The values of a loop's iteration, and the text that says what they begin with."""
        inner = [Value(self._name(), each.shape, each.element, each.bound) for each in carried]
        pairs = zip(inner, carried, strict=True)
        return inner, ", ".join(f"{own.name} = {given.name}" for own, given in pairs)

    def _closed(self, carried: Sequence[Value], start: int, before: list[Value], text: str) -> None:
        """Ends a construct: its results are named where it begins."""
        results = [Value(self._name(), each.shape, each.element, each.bound) for each in carried]
        names = ", ".join(value.name for value in results)
        self._lines[start] = f"{names} = {text}"
        self._lines.append("}")
        self._values = [*before, *results]

    def _for(self) -> None:
        if self._depth > 1:
            return
        carried, before = self._carried(), list(self._values)
        bounds = [self._constant(number, (), "i32").name for number in (0, 5, 2)]
        if self._random.random() < 0.5:
            bounds[0] = "%bx"
        inner, given = self._opened(carried)
        variable, start = self._name(), len(self._lines)
        types = ", ".join(value.type for value in carried)
        self._lines.append("")
        self._values += [*inner, Value(variable, (), "i32")]
        self._body(carried, "continue")
        text = (
            f"for {variable} in ({bounds[0]} to {bounds[1]}, step {bounds[2]}) : tile<i32> "
            f"iter_values({given}) -> ({types}) {{"
        )
        self._closed(carried, start, before, text)

    def _if(self) -> None:
        if self._depth > 1:
            return
        carried, before = self._carried(), list(self._values)
        a = self._any(lambda value: not value.shape and value.element == "i32")
        condition = self._compared(a, self._constant(self._random.randrange(3), (), "i32"))
        start = len(self._lines)
        self._lines.append("")
        self._body(carried, "yield")
        self._lines.append("} else {")
        self._body(carried, "yield")
        types = ", ".join(value.type for value in carried)
        self._closed(carried, start, before, f"if {condition.name} -> ({types}) {{")

    def _loop(self) -> None:
        """A loop that a counter ends, before or after the other values of the iteration."""
        if self._depth > 1:
            return
        carried, before = self._carried(), list(self._values)
        zero, one, end = (
            self._constant(number, (), "i32") for number in (0, 1, self._random.randrange(1, 4))
        )
        inner, given = self._opened(carried)
        counter, following, condition = self._name(), self._name(), self._name()
        types = ", ".join(value.type for value in carried)
        start = len(self._lines)
        names = ", ".join(value.name for value in inner)
        self._lines += [
            "",
            (
                f"{condition} = cmpi greater_than_or_equal {counter}, {end.name}, signed "
                ": tile<i32> -> tile<i1>"
            ),
            f"if {condition} {{",
            f"break {names} : {types}",
            "}",
            f"{following} = addi {counter}, {one.name} : tile<i32>",
        ]
        self._values += [*inner, Value(counter, (), "i32")]
        self._body(carried, "continue")
        head, _, tail = self._lines[-1].partition(" : ")
        self._lines[-1] = f"{head}, {following} : {tail}, tile<i32>"
        text = (
            f"loop iter_values({given}, {counter} = {zero.name}) : {types}, tile<i32> -> {types} {{"
        )
        self._closed(carried, start, before, text)
