"""Updates neighbouring elements of an output with vectors of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.indices import Index
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import local_buffer
from xtile.transforms.distribute.update import Update
from xtile.transforms.distribute.vectors.values import (
    is_contiguous,
    load_as,
    multiply_add,
    spread,
    store,
)


@dataclass(frozen=True)
class Part:
    """Neighbouring results, in the accumulation type, and where they belong.

    Attributes:
        value: A vector, or a number.
        indices: Where the output has the first element.
        width: How many they are.
    """

    value: SSAValue
    indices: Sequence[Index]
    width: int


def apply(update: Update, parts: Sequence[Part]) -> None:
    """Updates the elements of an output with results."""
    kernel = update.kernel
    if update.is_atomic or not is_contiguous(update.output):
        for part in parts:
            _apply_each(update, part)
        return
    scaled = [_scale(update, part) for part in parts]

    def with_old() -> list[SSAValue]:
        return [_add_old(update, part, value) for part, value in zip(parts, scaled, strict=True)]

    if update.keeps is None:
        assert update.keeps_value is not None
        totals = kernel.choose_all(update.keeps_value, with_old, lambda: scaled)
    else:
        totals = with_old() if update.keeps else scaled
    for part, value in zip(parts, totals, strict=True):
        store(kernel, update.narrow(value), update.output, part.indices, part.width)


def _scale(update: Update, part: Part) -> SSAValue:
    """`alpha result`."""
    if update.alpha is None:
        return part.value
    alpha = spread(update.kernel, update.alpha, part.width)
    return numbers.multiply(update.kernel, alpha, part.value)


def _add_old(update: Update, part: Part, scaled: SSAValue) -> SSAValue:
    """`scaled + beta element`."""
    kernel = update.kernel
    old = load_as(kernel, update.output, part.indices, part.width, update.wide)
    if update.beta is None:
        return numbers.add(kernel, scaled, old)
    return multiply_add(kernel, spread(kernel, update.beta, part.width), old, scaled)


def _apply_each(update: Update, part: Part) -> None:
    """Updates one element after the other."""
    kernel = update.kernel
    if part.width == 1:
        update.apply(part.value, part.indices)
        return
    buffer = shared_buffer(kernel, "vector", update.wide, part.width)
    store(kernel, part.value, buffer, [0], part.width)
    *outer, last = part.indices
    with kernel.loop(0, part.width, name="element") as loop:
        element = kernel.load(buffer, [loop.index])
        update.apply(element, [*outer, kernel.add(last, loop.index)])


def shared_buffer(kernel: Kernel, purpose: str, element: Attribute, size: int) -> SSAValue:
    """Local memory for at least so many elements, which one operation after the other uses."""
    known = kernel.buffers.get((purpose, element))
    if known is not None and size_of_buffer(known) >= size:
        return known
    key = (purpose, element, size)
    buffer = kernel.shared(key, (), lambda: local_buffer(kernel, element, (size,)))
    kernel.buffers[purpose, element] = buffer
    return buffer


def size_of_buffer(buffer: SSAValue | None) -> int:
    """The elements of a buffer, if there is one."""
    return 0 if buffer is None else cast("AnyMemRef", buffer.type).get_shape()[0]


def after_block(update: Update, block: Index) -> Update:
    """The update with one of several results that are added up, of which the first has number 0."""
    kernel = update.kernel
    if block == 0:
        return update
    is_first, is_later = kernel.compare("eq", block, 0), kernel.compare("ne", block, 0)
    beta = None
    if update.beta is not None:
        one = kernel.constant(1, update.wide)
        beta = kernel.pure(SelectOp, is_first, update.beta, one)
    if update.keeps:
        return replace(update, beta=beta)
    keeps = is_later
    if update.keeps_value is not None:
        keeps = kernel.pure(arith.OrIOp, is_later, update.keeps_value)
    return replace(update, beta=beta, keeps=None, keeps_value=keeps)
