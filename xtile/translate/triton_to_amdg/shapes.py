"""Operations whose results have other layouts than their operands.

Each rule says which layouts an operation asks for of its operands, and which its results have then,
as Triton's verifier derives them.

Source: Triton 3.9, `lib/Dialect/TritonGPU/IR/Dialect.cpp` (`infer...OpEncoding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.encodings.distributed import (
    BlockedEncodingAttr,
    LinearEncodingAttr,
    SliceEncodingAttr,
)
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.operation import shape_of
from xtile.layouts.linear import UNITS, LinearLayout

Layout = DistributedEncodingAttr


class Known(Protocol):
    """What rules ask for."""

    def of(self, value: SSAValue) -> Layout | None:
        """The layout that a tensor has."""
        ...

    def default(self, type_: Attribute) -> BlockedEncodingAttr:
        """The layout of tensors that nothing decides about."""
        ...


@dataclass(frozen=True)
class Layouts:
    """The layouts of an operation's values.

    Attributes:
        operands: What is asked for of each operand.
        result: What the results have; None where these are scalars.
    """

    operands: Sequence[Layout]
    result: Layout | None


def axis_of(operation: Operation) -> int:
    """The dimension that an operation names."""
    axis: Any = operation.properties["axis"]
    return axis.value.data


def _source(operation: Operation, known: Known, index: int = 0) -> Layout:
    """The layout that an operand has."""
    value = operation.operands[index]
    return known.of(value) or known.default(value.type)


def _algebra(operation: Operation, layout: Layout) -> LinearLayout:
    """A layout of the first operand, in the algebra of layouts."""
    return layout.layout(shape_of(operation.operands[0].type))


def linear(layout: LinearLayout) -> LinearEncodingAttr:
    """A layout as the images of its bits."""
    return LinearEncodingAttr(*(layout.images(unit) for unit in UNITS))


def _named(sizes: Iterable[int]) -> dict[str, int]:
    return {f"dim{i}": size for i, size in enumerate(sizes)}


def _reduce(operation: Operation, known: Known) -> Layouts:
    layout = _source(operation, known)
    is_scalar = layout.rank == 1
    result = None if is_scalar else SliceEncodingAttr(axis_of(operation), layout)
    return Layouts([layout] * len(operation.operands), result)


def _scan(operation: Operation, known: Known) -> Layouts:
    """Scans are computed in blocked layouts, whose lanes are in the order of the elements."""
    given = _source(operation, known)
    layout = given if isinstance(given, BlockedEncodingAttr) else None
    layout = layout or known.default(operation.operands[0].type)
    return Layouts([layout] * len(operation.operands), layout)


def _reshape(operation: Operation, known: Known) -> Layouts:
    layout = _source(operation, known)
    sizes = _named(shape_of(operation.results[0].type))
    return Layouts([layout], linear(_algebra(operation, layout).reshape(sizes)))


def _trans(operation: Operation, known: Known) -> Layouts:
    layout = _source(operation, known)
    order: Any = operation.properties["order"]
    permutation = [int(each) for each in order.get_values()]
    if isinstance(layout, BlockedEncodingAttr):
        sizes = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta)
        moved = [[each.data[d] for d in permutation] for each in sizes]
        fast = [permutation.index(d) for d in layout.order.data]
        return Layouts([layout], BlockedEncodingAttr(moved[0], moved[1], moved[2], fast))
    names = [f"dim{d}" for d in permutation]
    turned = _algebra(operation, layout).transpose(*names)
    new = {name: f"dim{i}" for i, name in enumerate(names)}
    return Layouts([layout], linear(turned.renamed(outputs=new)))


def _join(operation: Operation, known: Known) -> Layouts:
    """The two operands are in neighbouring registers."""
    layout = _source(operation, known)
    rank = layout.rank
    pairs = LinearLayout.identity(2, "register", f"dim{rank}")
    joined = pairs * _algebra(operation, layout)
    return Layouts([layout, layout], linear(joined.transpose(*_named(range(rank + 1)))))


def _split(operation: Operation, known: Known) -> Layouts:
    """Both halves must be in the registers of one lane, next to each other."""
    *shape, _ = shape_of(operation.operands[0].type)
    half = known.default(operation.results[0].type)
    rank = len(shape)
    whole = BlockedEncodingAttr(
        [*half.size_per_thread.data, 2],
        [*half.threads_per_warp.data, 1],
        [*half.warps_per_cta.data, 1],
        [rank, *half.order.data],
    )
    return Layouts([whole], half)


def _cat(operation: Operation, known: Known) -> Layouts:
    """The registers of the second operand follow those of the first."""
    layout = _source(operation, known)
    tensor = _algebra(operation, layout)
    images = {unit: list(tensor.images(unit)) for unit in UNITS}
    images["register"].append((shape_of(operation.operands[0].type)[0],))
    both = LinearEncodingAttr(*(images[unit] for unit in UNITS))
    return Layouts([layout, layout], both)


def _gather(operation: Operation, known: Known) -> Layouts:
    indices = _source(operation, known, 1)
    return Layouts([known.default(operation.operands[0].type), indices], indices)


def _histogram(operation: Operation, known: Known) -> Layouts:
    source = known.default(operation.operands[0].type)
    return Layouts([source] * len(operation.operands), known.default(operation.results[0].type))


RULES: dict[str, Callable[[Operation, Known], Layouts]] = {
    "tt.cat": _cat,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
    "tt.join": _join,
    "tt.reduce": _reduce,
    "tt.reshape": _reshape,
    "tt.scan": _scan,
    "tt.split": _split,
    "tt.trans": _trans,
}
"""The rule of each operation, by name."""
