"""Which attributes of a parameter would let its memory be accessed by blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from xtile.dialects.core.arguments import SHAPE_GCD_ATTRIBUTE, STRIDE_GCD_ATTRIBUTE
from xtile.rewrite.facts import Facts
from xtile.text.source import spelling_of
from xtile.translate.core_to_xegpu.lowering import (
    DEFAULT_ALIGNMENT,
    Lowering,
    Measure,
)
from xtile.translate.core_to_xegpu.views import static_strides, type_of


def missing_promise(
    lowering: Lowering, memory: SSAValue, divisor: int, holds: Callable[[Facts, int], bool]
) -> str | None:
    """The least that a parameter's attributes must say, as text in the words of the source.

    Args:
        lowering: The translation.
        memory: The memref; only what is promised of parameters can be told.
        divisor: What each unknown size and stride may be promised to be a multiple of.
        holds: Whether facts, and an alignment of the memory in bytes, are enough.

    Returns:
        The whole attribute dictionary; None if no promise is enough.
    """
    known = lowering.promises_of(memory)
    if known is None:
        return None
    rank = type_of(memory).get_num_dims()
    promised = {
        Measure(attribute, dimension): number
        for attribute in (SHAPE_GCD_ATTRIBUTE, STRIDE_GCD_ATTRIBUTE)
        for dimension, number in enumerate(known.get(attribute, (1,) * rank))
    }
    alignment = lcm(lowering.alignment_of(memory), DEFAULT_ALIGNMENT)

    def is_enough(more: Sequence[Measure]) -> bool:
        divisors = {
            value: lcm(promised[measure], divisor)
            for measure in more
            for value in lowering.measured(memory, measure)
        }
        return holds(lowering.facts.supposing(divisors), alignment)

    needed = _unknown(memory)
    if not is_enough(needed):
        return None
    for measure in list(needed):
        others = [other for other in needed if other != measure]
        if is_enough(others):
            needed = others
    for measure in needed:
        promised[measure] = lcm(promised[measure], divisor)
    return _text(lowering, alignment, promised, rank)


def _unknown(memory: SSAValue) -> list[Measure]:
    """The sizes and strides that the type of a memref does not tell."""
    type_ = type_of(memory)
    sizes, strides = type_.get_shape(), static_strides(type_)
    return [
        *(Measure(SHAPE_GCD_ATTRIBUTE, d) for d, n in enumerate(sizes) if n == DYNAMIC_INDEX),
        *(Measure(STRIDE_GCD_ATTRIBUTE, d) for d, n in enumerate(strides) if n is None),
    ]


def _text(lowering: Lowering, alignment: int, promised: dict[Measure, int], rank: int) -> str:
    lists = {
        attribute: [promised[Measure(attribute, dimension)] for dimension in range(rank)]
        for attribute in (STRIDE_GCD_ATTRIBUTE, SHAPE_GCD_ATTRIBUTE)
    }
    needed = {name: numbers for name, numbers in lists.items() if set(numbers) != {1}}
    function = spelling_of(lowering.old_function())
    if function == "gpu.func":
        arrays = [f"{name} = array<i64: {_list(n)}>" for name, n in needed.items()]
        return f"{{{', '.join([f'core.alignment = {alignment} : i64', *arrays])}}}"
    # The tensor language counts dimensions from the other end.
    lists = {name.removeprefix("core."): n[::-1] for name, n in needed.items()}
    if function == "tensorlang.func":
        arrays = [f"{name} = [{_list(n)}]" for name, n in lists.items()]
        return f"{{{', '.join([f'alignment = {alignment} : i64', *arrays])}}}"
    arrays = [f"{name}=[{_list(n, ',')}]" for name, n in lists.items()]
    return f"{{{', '.join([f'alignment={alignment}', *arrays])}}}"


def _list(numbers: Sequence[int], separator: str = ", ") -> str:
    return separator.join(map(str, numbers))
