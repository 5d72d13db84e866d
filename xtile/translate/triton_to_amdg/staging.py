"""Operands of products through local memory: how they are loaded, and how they lie there.

A lane of an operand needs neighbours along K. Where memory has its rows along the other dimension,
each lane loads a small box, transposes it in its registers and writes neighbours along K at once.

Source: Triton 3.9, `third_party/amd`, `InThreadTranspose.cpp`; `LinearLayoutConversions.cpp`
(stores of results); `AsyncUtility.cpp` and `PaddedLayout.cpp` (copies of gfx950);
`lib/Dialect/TritonGPU/IR/Dialect.cpp` (swizzles for MFMA and WMMA).
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.amdg.ops import InThreadTransposeOp
from xtile.dialects.triton.amdg.ops.registers import transposed_in_thread
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr, LinearEncodingAttr
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import (
    AMDMfmaEncodingAttr,
    AMDWmmaEncodingAttr,
    DotOperandEncodingAttr,
    MatrixUnitEncodingAttr,
)
from xtile.dialects.triton.encodings.shared import (
    AMDRotatingSharedEncodingAttr,
    PaddedSharedEncodingAttr,
    SwizzledSharedEncodingAttr,
)
from xtile.dialects.triton.operation import element_of, encoding_of, shape_of
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.layouts.linear import UNITS
from xtile.translate.triton_to_amdg.axis_facts import AxisFacts
from xtile.translate.triton_to_amdg.blocked import Machine, elements_at_once
from xtile.translate.triton_to_amdg.shapes import linear

_BANKS = 32
"""The banks of local memory, of 4 bytes each."""

_LANES_AT_ONCE = 16
"""The lanes that read vectors from local memory at once."""

_NEWEST_TRANSPOSED_MFMA, _NEWEST_TRANSPOSED_WMMA = 3, 2
"""The last versions of chips without loads from local memory that transpose."""

_MOST_BYTES = 16
"""The bytes that a lane reads from local memory at once, at most."""

_LEAST_BYTES = 8
"""The bytes of a row that a lane loads at once, at least, where it loads several rows."""


def inner_dimension(operand: DotOperandEncodingAttr, rank: int) -> int:
    """The dimension of K in an operand."""
    return rank - 1 if operand.op_idx.data == 0 else rank - 2


def layout_of_load(
    operand: DotOperandEncodingAttr, layout: BlockedEncodingAttr, type_: Attribute, machine: Machine
) -> BlockedEncodingAttr:
    """The layout in which an operand is loaded.

    Args:
        operand: The layout of the operand.
        layout: That in which it would be loaded if it were none.
        type_: The type of the tensor.
        machine: The lanes and warps of programs.
    """
    shape = shape_of(type_)
    inner, fast = inner_dimension(operand, len(shape)), layout.order.data[0]
    if len(shape) != 2 or fast == inner or not _is_transposed(operand.parent):
        return layout
    fair = prod(shape) // (machine.lanes * machine.warps)
    held, rows = layout.size_per_thread.data[fast], vector_of(operand, type_)
    # Rows of a box are accessed one by one, and should be long for that.
    least = min(held, max(1, _LEAST_BYTES // _bytes_of(type_)))
    while rows > 1 and fair // rows < least:
        rows //= 2
    if rows == 1:
        return layout
    return machine.blocked(shape, layout.order.data, min(held, fair // rows), rows)


COPYING = frozenset({"gfx950"})
"""The chips that copy 16 bytes for each lane to local memory while they compute."""


def layout_of_copy(
    operand: DotOperandEncodingAttr, layout: BlockedEncodingAttr, type_: Attribute, machine: Machine
) -> LinearEncodingAttr | None:
    """The layout in which an operand is copied to local memory, past the registers.

    All lanes of a warp write what is next to each other there. They go along rows first, and then
    through rows that are far from each other, so that those which are read at once lie in what
    different instructions write, with gaps between it.

    Returns:
        The layout; None where lanes do not have 16 bytes each.
    """
    shape = shape_of(type_)
    fast, slow = layout.order.data[0], layout.order.data[-1]
    held = layout.size_per_thread.data[fast]
    is_mfma = isinstance(operand.parent, AMDMfmaEncodingAttr)
    least = held * machine.lanes * machine.warps
    if len(shape) != 2 or not is_mfma or held * _bytes_of(type_) != _MOST_BYTES:
        return None
    if prod(shape) < least or shape[fast] > held * machine.lanes:
        return None

    def images(dimension: int, first: int, end: int) -> list[tuple[int, ...]]:
        numbers = range(first.bit_length() - 1, end.bit_length() - 1)
        return [tuple(1 << n if d == dimension else 0 for d in (0, 1)) for n in numbers]

    lanes = images(fast, held, shape[fast])
    rows = images(slow, 1, shape[slow])
    far = machine.lanes.bit_length() - 1 - len(lanes)
    near = rows[: len(rows) - far]
    warps = machine.warps.bit_length() - 1
    return LinearEncodingAttr(
        [*images(fast, 1, held), *near[warps:]],
        [*lanes, *reversed(rows[len(rows) - far :])],
        near[:warps],
        [],
    )


def memory_of_copy(
    value: SSAValue, operand: DotOperandEncodingAttr, copies: int = 1
) -> MemDescType:
    """The local memory to which `layout_of_copy` is copied, once or several times."""
    shape, element, layout = shape_of(value.type), element_of(value.type), encoding_of(value.type)
    assert isinstance(layout, LinearEncodingAttr)
    assert isinstance(operand.parent, AMDMfmaEncodingAttr)
    registers, lanes, warps = (layout.layout(shape).images(unit) for unit in UNITS[:3])
    held = _MOST_BYTES // _bytes_of(value.type)
    own = held.bit_length() - 1
    fast = max(range(2), key=lambda d: registers[0][d])
    gap = held
    if fast != inner_dimension(operand, 2):
        gap = operand.parent.instr_shape.data[0]
    interval = held << len(lanes)
    offset = [*registers[:own], *lanes, *warps, *registers[own:]]
    encoding = PaddedSharedEncodingAttr([(interval, gap)], offset)
    sizes = shape if copies == 1 else (copies, *shape)
    return MemDescType(sizes, element, encoding, mutable=True)


def layout_of_store(
    layout: MatrixUnitEncodingAttr, pointer: SSAValue, facts: AxisFacts
) -> DistributedEncodingAttr:
    """The layout in which results of a matrix unit are stored.

    Lanes of gfx950 that are 32 apart exchange registers in one instruction. With half of what each
    of them has of 4 elements in a row, they have 8 of 16 bits, which one access stores.
    """
    shape = shape_of(pointer.type)
    is_exchanged = isinstance(layout, AMDMfmaEncodingAttr) and (
        layout.version.data >= _EXCHANGING
        and layout.instr_shape.data[:2] == (32, 32)
        and bool(layout.is_transposed.value.data)
    )
    if not is_exchanged or elements_at_once(pointer, len(shape) - 1, facts) < _STORED:
        return layout
    images = {unit: list(layout.layout(shape).images(unit)) for unit in UNITS}
    if len(images["register"]) <= _FURTHER:
        return layout
    images["register"][_FURTHER], images["lane"][-1] = (
        images["lane"][-1],
        images["register"][_FURTHER],
    )
    return LinearEncodingAttr(*(images[unit] for unit in UNITS))


_EXCHANGING = 4
"""The first version of MFMA whose chips exchange registers of lanes."""

_STORED = 8
"""The elements in a row that are then stored at once; there are no more of 16 bits."""

_FURTHER = 2
"""The bit of a register's number that leads to the next 4 elements of a row."""


def _is_transposed(parent: Attribute) -> bool:
    """Whether lanes transpose what they load: there is no load from local memory that does."""
    match parent:
        case AMDMfmaEncodingAttr():
            return parent.version.data <= _NEWEST_TRANSPOSED_MFMA
        case AMDWmmaEncodingAttr():
            return parent.version.data <= _NEWEST_TRANSPOSED_WMMA
        case _:
            return False


def vector_of(operand: DotOperandEncodingAttr, type_: Attribute) -> int:
    """The elements along K that a lane reads from local memory at once."""
    return max(1, min(operand.k_width.data, _MOST_BYTES // _bytes_of(type_)))


def _bytes_of(type_: Attribute) -> int:
    return max(1, getattr(element_of(type_), "bitwidth", 8) // 8)


def is_box(layout: Attribute, operand: DotOperandEncodingAttr, rank: int) -> bool:
    """Whether lanes hold boxes that they transpose."""
    if not isinstance(layout, BlockedEncodingAttr) or rank != 2:
        return False
    inner = inner_dimension(operand, rank)
    is_across = layout.order.data[0] != inner and layout.size_per_thread.data[inner] > 1
    return is_across and _is_transposed(operand.parent)


def memory_of(value: SSAValue, operand: DotOperandEncodingAttr) -> MemDescType:
    """The local memory that holds an operand, so that its lanes read without conflicts."""
    shape, element = shape_of(value.type), element_of(value.type)
    layout, rank = encoding_of(value.type), len(shape)
    if isinstance(layout, LinearEncodingAttr):
        return memory_of_copy(value, operand)
    assert isinstance(layout, BlockedEncodingAttr)
    inner = inner_dimension(operand, rank)
    order = list(layout.order.data)
    is_boxed = is_box(layout, operand, rank)
    if is_boxed:
        order = [inner, order[0]]
    if order[0] != inner or not operand.k_width.data:
        return MemDescType(shape, element, SwizzledSharedEncodingAttr(1, 1, 1, order), mutable=True)
    bits, width = getattr(element, "bitwidth", 8), vector_of(operand, value.type)
    rows_at_once = max(1, _BANKS * 32 // bits // shape[inner])
    phases = max(1, min(_LANES_AT_ONCE // rows_at_once, shape[inner] // width))
    kind = AMDRotatingSharedEncodingAttr if is_boxed else SwizzledSharedEncodingAttr
    return MemDescType(shape, element, kind(width, rows_at_once, phases, order), mutable=True)


def to_write(value: SSAValue, operand: DotOperandEncodingAttr) -> Operation | None:
    """What transposes a loaded operand in its lanes; None where it is written as it is."""
    layout, shape = encoding_of(value.type), shape_of(value.type)
    if not isinstance(layout, BlockedEncodingAttr) or not is_box(layout, operand, len(shape)):
        return None
    turned = linear(transposed_in_thread(layout, shape))
    return InThreadTransposeOp(value, TensorType(element_of(value.type), shape, turned))


def bytes_in(memory: MemDescType) -> int:
    """The bytes of local memory, with its gaps."""
    count = prod(memory.get_shape())
    if isinstance(memory.encoding, PaddedSharedEncodingAttr):
        gaps = zip(memory.encoding.intervals.data, memory.encoding.paddings.data, strict=True)
        count += sum(count // interval * gap for interval, gap in gaps)
    return count * getattr(memory.element_type, "bitwidth", 8) // 8
