"""Cuts a dimension into segments, each of which is gone through in steps of the same vectors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from xdsl.ir import SSAValue

from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.shares import nested
from xtile.transforms.distribute.vectors.values import is_contiguous, load, store, width_of


@dataclass(frozen=True)
class Segment:
    """The numbers from `start` to `stop`, in steps that are cut into vectors.

    Attributes:
        start: The first number.
        stop: The number after the last one; where it is not known whether the segment is a
            multiple of a step long, the last step may go beyond it.
        widths: The widths of the vectors of one step, one after the other.
    """

    start: Index
    stop: Index
    widths: tuple[int, ...]

    @property
    def step(self) -> int:
        """The length of a step."""
        return sum(self.widths)

    def positions(self) -> list[tuple[int, int]]:
        """Where each vector of a step begins, and its width."""
        return [(sum(self.widths[:i]), width) for i, width in enumerate(self.widths)]

    @contextmanager
    def steps(self, kernel: Kernel, name: str) -> Generator[Index]:
        """Runs its body for each step, with the number that the step begins with."""
        with kernel.loop(self.start, self.stop, self.step, name=name) as loop:
            yield loop.index


def segments_of(kernel: Kernel, size: Index, width: int, count: int = 1) -> list[Segment]:
    """Segments that cover a size.

    Args:
        kernel: The kernel that is being built.
        size: The size.
        width: The width of a full vector, a power of two.
        count: The most full vectors in a step; a known size is cut into about equal steps.
    """
    if not isinstance(size, int):
        return _of_unknown(kernel, size, width, count)
    widths = _widths(size, width)
    steps = -(-len(widths) // count)
    if steps == 0:
        return []
    longest = -(-len(widths) // steps)
    full = size // (longest * width) * longest
    whole, rest = widths[:longest], tuple(widths[full:])
    end = full * width
    segments = [Segment(0, end, tuple(whole))] if full else []
    return [*segments, Segment(end, size, rest)] if rest else segments


def _widths(size: int, width: int) -> list[int]:
    """As few vectors as possible that are `size` long in all; widths are powers of two."""
    widths = [width] * (size // width)
    rest = size % width
    while rest:
        widths.append(1 << (rest.bit_length() - 1))
        rest -= widths[-1]
    return widths


def _of_unknown(kernel: Kernel, size: Index, width: int, count: int) -> list[Segment]:
    """Segments of long steps, of full vectors and of single numbers; any of them may be empty."""
    result: list[Segment] = []
    start: Index = 0
    kinds = dict.fromkeys(((width,) * count, (width,), (1,)))
    for widths in kinds:
        stop = kernel.subtract(size, kernel.remainder(size, sum(widths)))
        result.append(Segment(start, stop, widths))
        start = stop
    return result


def for_each_vector(
    kernel: Kernel,
    shape: Sequence[Index],
    width: int,
    body: Callable[[list[Index], int], None],
) -> None:
    """Runs the body for each vector of an array, with its first element's indices and its width.

    Vectors lie along the last dimension.
    """
    if not shape:
        body([], 1)
        return
    *outer, last = shape

    def inside(prefix: list[Index]) -> None:
        for segment in segments_of(kernel, last, width):
            with segment.steps(kernel, "column") as column:
                for position, width_of_position in segment.positions():
                    body([*prefix, kernel.add(column, position)], width_of_position)

    nested(kernel, outer, inside, name="row")


def copy_memref(kernel: Kernel, source: SSAValue, target: SSAValue) -> None:
    """Copies a memref of a known size."""
    is_wide = is_contiguous(source) and is_contiguous(target)
    width = width_of(kernel, element_type(source)) if is_wide else 1

    def body(indices: list[Index], width: int) -> None:
        store(kernel, load(kernel, source, indices, width), target, indices, width)

    for_each_vector(kernel, cast("AnyMemRef", source.type).get_shape(), width, body)
