"""Parts of memrefs with fewer dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, i64
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import SSAValue

from xtile.dialects.memref.layouts import Layout, layout_of, with_layout
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index


def slice_at(emitter: Emitter, memory: SSAValue, indices: Sequence[Index | None]) -> SSAValue:
    """The part of memory at some indices, whose other dimensions it keeps; None keeps one."""
    layout = layout_of(memory.type)
    assert layout is not None
    offsets: list[Index] = [0 if index is None else index for index in indices]
    sizes: list[Index] = [
        emitter.size((memory, dimension)) if index is None else 1
        for dimension, index in enumerate(indices)
    ]
    kept = [dimension for dimension, index in enumerate(indices) if index is None]
    start = layout.offset if all(offset == 0 for offset in offsets) else None
    shape = [layout.sizes[dimension] for dimension in kept]
    strides = [layout.strides[dimension] for dimension in kept]
    type_ = with_layout(memory.type, Layout(tuple(shape), tuple(strides), start))
    values = [
        [number for number in each if not isinstance(number, int)] for each in (offsets, sizes)
    ]
    none: list[SSAValue] = []
    return emitter.emit(
        SubviewOp.build(
            operands=[memory, *values, none],
            result_types=[type_],
            properties={
                "static_offsets": _static(offsets),
                "static_sizes": _static(sizes),
                "static_strides": _static([1] * len(sizes)),
            },
        )
    ).results[0]


def _static(numbers: Sequence[Index]) -> DenseArrayBase:
    known = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return DenseArrayBase.from_list(i64, known)
