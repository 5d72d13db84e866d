"""Random kernels of XeGPU whose vectors belong to a subgroup or to a work-group."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ROWS, COLUMNS = 37, 53
"""The shape of the memory that blocks are loaded from."""

_SIZES = (8, 16, 32)
_UNARY = ("math.absf", "arith.negf", "math.floor")
_BINARY = ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minnumf")
_KINDS = ("maximumf", "minimumf", "maxnumf")


def arguments(generator: np.random.Generator) -> list[Any]:
    """What each kernel is launched with; the last array, which it writes, has no numbers."""
    inputs = [generator.standard_normal(ROWS * COLUMNS).astype(np.float32) for _ in range(2)]
    output = np.full((ROWS, COLUMNS), np.nan, np.float32)
    return [inputs[0].reshape(ROWS, COLUMNS), inputs[1], output]


@dataclass
class XeGPUKernel:
    """A kernel that is being written.

    Attributes:
        rng: Draws everything.
        is_of_work_group: Whether the blocks have a layout with sg_layout.
    """

    rng: random.Random
    is_of_work_group: bool = False
    _lines: list[str] = field(default_factory=list[str])
    _values: list[tuple[str, tuple[int, int]]] = field(
        default_factory=list[tuple[str, tuple[int, int]]]
    )
    _count: int = 0

    def text(self, attributes: str) -> str:
        """A kernel that loads blocks of %x, computes with them, and stores them to %y."""
        steps = (self._load, self._compute, self._transpose, self._reduce, self._points)
        self._load()
        for _ in range(self.rng.randrange(3, 9)):
            self.rng.choice(steps)()
        self._store()
        body = "\n".join(self._lines)
        layout = "#l = #xegpu.layout<sg_layout = [2, 2]>\n" if self.is_of_work_group else ""
        memory = f"memref<{ROWS}x{COLUMNS}xf32>"
        return f"""{layout}gpu.module @m {{
          gpu.func @k(%x: {memory}, %line: memref<{ROWS * COLUMNS}xf32>, %y: {memory}) kernel
              attributes {{{attributes}}} {{
            {body}
            gpu.return
          }}
        }}"""

    def _emit(self, operation: str) -> str:
        self._count += 1
        self._lines.append(f"%v{self._count} = {operation}")
        return f"%v{self._count}"

    def _have(self, value: str, shape: tuple[int, int]) -> None:
        self._values.append((value, shape))

    def _block(self, shape: tuple[int, int], memory: str) -> tuple[str, str]:
        layout = ", #l" if self.is_of_work_group else ""
        type = f"!xegpu.tensor_desc<{shape[0]}x{shape[1]}xf32{layout}>"
        row, column = self.rng.randrange(-4, ROWS), self.rng.randrange(-4, COLUMNS)
        numbers = [self._emit(f"arith.constant {number} : index") for number in (row, column)]
        at = ", ".join(numbers)
        source = f"memref<{ROWS}x{COLUMNS}xf32>"
        if self.rng.random() < 0.5:
            return self._emit(f"xegpu.create_nd_tdesc {memory}[{at}] : {source} -> {type}"), type
        whole = self._emit(f"xegpu.create_nd_tdesc {memory} : {source} -> {type}")
        return self._emit(f"xegpu.update_nd_offset {whole}, [{at}] : {type}"), type

    def _load(self) -> None:
        shape = self.rng.choice(_SIZES), self.rng.choice(_SIZES)
        block, type = self._block(shape, "%x")
        is_transposed = self.rng.random() < 0.3
        mark = " <{transpose = array<i64: 1, 0>}>" if is_transposed else ""
        shape = (shape[1], shape[0]) if is_transposed else shape
        vector = _vector(shape)
        self._have(self._emit(f"xegpu.load_nd {block}{mark} : {type} -> {vector}"), shape)

    def _compute(self) -> None:
        value, shape = self.rng.choice(self._values)
        others = [name for name, own in self._values if own == shape]
        if self.rng.random() < 0.3:
            operation = f"{self.rng.choice(_UNARY)} {value} : {_vector(shape)}"
        else:
            other = self.rng.choice(others)
            operation = f"{self.rng.choice(_BINARY)} {value}, {other} : {_vector(shape)}"
        self._have(self._emit(operation), shape)

    def _transpose(self) -> None:
        value, shape = self.rng.choice(self._values)
        types = f"{_vector(shape)} to {_vector((shape[1], shape[0]))}"
        self._have(self._emit(f"vector.transpose {value}, [1, 0] : {types}"), (shape[1], shape[0]))

    def _reduce(self) -> None:
        """The largest or smallest of each row or column, repeated."""
        value, shape = self.rng.choice(self._values)
        axis, kind = self.rng.randrange(2), self.rng.choice(_KINDS)
        count = shape[1 - axis]
        line = f"vector<{count}xf32>"
        start = self._emit(f"arith.constant dense<0.5> : {line}")
        types = f"{_vector(shape)} to {line}"
        reduced = self._emit(
            f"vector.multi_reduction <{kind}>, {value}, {start} [{axis}] : {types}"
        )
        narrow = (1, count) if axis == 0 else (count, 1)
        cast = self._emit(f"vector.shape_cast {reduced} : {line} to {_vector(narrow)}")
        types = f"{_vector(narrow)} to {_vector(shape)}"
        self._have(self._emit(f"vector.broadcast {cast} : {types}"), shape)

    def _points(self) -> None:
        """Elements of memory at regular places, of which a mask leaves some out."""
        rows = self.rng.choice(_SIZES)
        chunk = self.rng.choice((2, 4, 8))
        places = f"vector<{rows}xindex>"
        step = self._emit(f"vector.step : {places}")
        stride = self._emit(f"arith.constant dense<{self.rng.randrange(1, 50)}> : {places}")
        at = self._emit(f"arith.muli {step}, {stride} : {places}")
        limit = self._emit(f"arith.constant {self.rng.randrange(rows + 1)} : index")
        mask = self._emit(f"vector.create_mask {limit} : vector<{rows}xi1>")
        layout = ", layout = #l" if self.is_of_work_group else ""
        self._have(
            self._emit(
                f"xegpu.load %line[{at}], {mask} <{{chunk_size = {chunk} : i64{layout}}}> : "
                f"memref<{ROWS * COLUMNS}xf32>, {places}, vector<{rows}xi1> "
                f"-> {_vector((rows, chunk))}"
            ),
            (rows, chunk),
        )

    def _store(self) -> None:
        value, shape = self._values[-1]
        block, type = self._block(shape, "%y")
        self._lines.append(f"xegpu.store_nd {value}, {block} : {_vector(shape)}, {type}")


def _vector(shape: tuple[int, int]) -> str:
    return f"vector<{shape[0]}x{shape[1]}xf32>"
