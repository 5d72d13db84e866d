"""What lanes hold of the matrices of XeGPU, of dpas, and of AMX.

A tensor's indices are `dim0`, `dim1` and so on.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUAttrs.td` (`LayoutAttr`, `SliceAttr`) and
`XeGPUDialect.cpp` (`computeDistributedCoords`); OpenCL,
cl_intel_subgroup_matrix_multiply_accumulate; Intel, "Architecture Instruction Set Extensions",
chapter "AMX".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from xtile.layouts.layout import Layout, Step
from xtile.layouts.linear import LayoutError

Shape = Sequence[int]

WORD = 32
"""Bits of what dpas and AMX multiply at once along K."""

SYSTOLIC_DEPTH = 8
"""Words of 32 bits in a row of the left matrix of dpas on all devices that have it."""

TILE_ROW = 512
"""Bits of a row of a tile of AMX."""


@dataclass(frozen=True)
class XeGpu:
    """`#xegpu.layout`; what is not given does not share out anything.

    Subgroups, and in each of their blocks instructions, and in each of these lanes, get boxes of
    the tensor in turn, until it is shared out. Where it is smaller than a box for everyone, some
    have the same.

    Attributes:
        sg_layout: The subgroups along each dimension.
        sg_data: The box of a subgroup; where it is left out, the tensor's part.
        inst_data: The box of an instruction.
        lane_layout: The lanes along each dimension.
        lane_data: The box of a lane; where it is left out, the part of the instruction's box.
        order: The dimensions in which subgroups and lanes are numbered, the fastest first.
    """

    sg_layout: Shape = ()
    sg_data: Shape = ()
    inst_data: Shape = ()
    lane_layout: Shape = ()
    lane_data: Shape = ()
    order: Shape = ()

    def layout(self, shape: Shape, sliced: Shape = ()) -> Layout:
        """The layout of a tensor.

        Registers go through the box of a lane, then through the boxes of a lane in an instruction,
        the instructions of a subgroup's block, and the blocks of a subgroup, each time with the
        last dimension fastest.

        Args:
            shape: The shape of the tensor.
            sliced: The dimensions that `#xegpu.slice` leaves out, with nested ones taken together;
                the tensor does not have them.

        Raises:
            LayoutError: The tensor cannot be shared out so.
        """
        rank = len(shape) + len(sliced)
        kept = [d for d in range(rank) if d not in sliced]
        whole = dict(zip(kept, shape, strict=True))
        one = (1,) * rank
        subgroups = _Shared.of(whole, self.sg_layout or one, self.sg_data)
        instructions = _Shared.of(subgroups.box, one, self.inst_data)
        lanes = _Shared.of(instructions.box, self.lane_layout or one, self.lane_data)
        order = self.order or tuple(reversed(range(rank)))
        inputs = {
            "register": [
                *_through(lanes.box, dict.fromkeys(kept, 1)),
                *(step for level in (lanes, instructions, subgroups) for step in level.repeats),
            ],
            "lane": lanes.units(order),
            "subgroup": subgroups.units(order),
        }
        names = {f"dim{d}": f"dim{i}" for i, d in enumerate(kept)}
        renamed = {
            name: [Step(s.size, s.output and names[s.output], s.distance) for s in steps]
            for name, steps in inputs.items()
        }
        return Layout.strided(renamed, {f"dim{i}": size for i, size in enumerate(shape)})


@dataclass(frozen=True)
class _Shared:
    """How boxes of a larger box are shared out.

    Attributes:
        whole: The larger box, by dimension.
        box: The size of a box.
        counts: How many units there are in all dimensions, also those that are left out.
    """

    whole: dict[int, int]
    box: dict[int, int]
    counts: Shape

    @classmethod
    def of(cls, whole: dict[int, int], counts: Shape, data: Shape) -> _Shared:
        """The boxes of `data`, or where it is empty one for each unit.

        Raises:
            LayoutError: They do not divide the larger box.
        """
        box = {d: data[d] if data else size // counts[d] for d, size in whole.items()}
        for d, size in whole.items():
            if not box[d] or size % box[d]:
                raise LayoutError(f"a size of {size} is no multiple of a box of {box[d]}")
            boxes, units = size // box[d], counts[d]
            if boxes % units and units % boxes:
                raise LayoutError(f"{boxes} boxes cannot be dealt to {units} in turn")
        return cls(whole, box, counts)

    @property
    def repeats(self) -> list[Step]:
        """The boxes of one unit, the last dimension fastest."""
        together = {d: extent * self.counts[d] for d, extent in self.box.items()}
        counts = {d: max(1, size // together[d]) for d, size in self.whole.items()}
        return _through(counts, together)

    def units(self, order: Shape) -> list[Step]:
        """The units, numbered in an order; those that there are too many of have the same."""
        steps: list[Step] = []
        for d in order:
            boxes = self.whole[d] // self.box[d] if d in self.whole else 1
            own = min(self.counts[d], boxes)
            steps += [Step(own, f"dim{d}", self.box.get(d, 1))] if own > 1 else []
            steps.append(Step(self.counts[d] // own))
        return steps


def _through(counts: dict[int, int], distances: dict[int, int]) -> list[Step]:
    """Goes through so many positions along each dimension, the last one fastest."""
    return [Step(counts[d], f"dim{d}", distances[d]) for d in reversed(counts)]


# --- dpas ---


def dpas_a(repeat_count: int, systolic_depth: int, execution_size: int, bits: int) -> Layout:
    """The left operand of dpas, M x K: lanes go along a row, with as many neighbours as it takes.

    Of one row of tf32 there are fewer elements than lanes; the lanes behind are ignored, and stand
    here for the same elements.

    Args:
        repeat_count: M.
        systolic_depth: Words of 32 bits in a row.
        execution_size: The lanes of a subgroup.
        bits: Bits of an element.
    """
    depth = systolic_depth * elements_of_a_word(bits)
    if repeat_count == 1 and execution_size % depth == 0:
        lanes = [Step(depth, "dim1"), Step(execution_size // depth)]
        return Layout.strided({"register": [], "lane": lanes}, {"dim0": 1, "dim1": depth})
    return dealt((repeat_count, depth), max(1, depth // execution_size), execution_size)


def dpas_b(systolic_depth: int, execution_size: int, bits: int) -> Layout:
    """The right operand of dpas, K x N: a lane holds a column, in words of neighbours along K.

    Args:
        systolic_depth: Words of 32 bits in a column.
        execution_size: The lanes of a subgroup, and N.
        bits: Bits of an element.
    """
    depth = systolic_depth * elements_of_a_word(bits)
    columns = Step(execution_size, "dim1")
    return Layout.strided(
        {"register": [Step(depth, "dim0")], "lane": [columns]},
        {"dim0": depth, "dim1": execution_size},
    )


def dpas_c(repeat_count: int, execution_size: int) -> Layout:
    """The accumulator and the result of dpas, M x N: a lane holds a column.

    Args:
        repeat_count: M.
        execution_size: The lanes of a subgroup, and N.
    """
    return dealt((repeat_count, execution_size), 1, execution_size)


@lru_cache(maxsize=256)
def dealt(shape: tuple[int, int], neighbours: int, lanes: int) -> Layout:
    """A matrix of which groups of neighbours of a row are dealt to the lanes in turn, row by row.

    So the blocks of `xegpu.load_nd` at lane level are shared out.

    Args:
        shape: Rows and columns.
        neighbours: How many neighbours of a row a lane gets at once.
        lanes: The lanes of a subgroup.

    Raises:
        LayoutError: They cannot be dealt evenly.
    """
    rows, columns = shape
    if columns % neighbours:
        raise LayoutError(f"{columns} columns are no multiple of {neighbours} neighbours")
    groups = columns // neighbours
    along = Step(min(groups, lanes), "dim1", neighbours)
    if max(groups, lanes) % along.size or rows * groups % lanes:
        raise LayoutError(
            f"{rows}x{columns} elements cannot be dealt to {lanes} lanes, {neighbours} at once"
        )
    lane_rows = lanes // along.size
    return Layout.strided(
        {
            "register": [
                Step(neighbours, "dim1"),
                Step(groups // along.size, "dim1", neighbours * along.size),
                Step(rows // lane_rows, "dim0", lane_rows),
            ],
            "lane": [along, Step(lane_rows, "dim0")],
        },
        {"dim0": rows, "dim1": columns},
    )


def neighbours_of_a_row(columns: int, bits: int, lanes: int) -> int:
    """How many neighbours of a row of a block `xegpu.load_nd` deals to a lane at once.

    As many as a row of the left matrix of dpas has for each lane.

    Args:
        columns: The elements of a row.
        bits: Bits of an element.
        lanes: The lanes of a subgroup.
    """
    most = SYSTOLIC_DEPTH * elements_of_a_word(bits) // lanes
    return max(1, min(columns // lanes, most))


def elements_of_a_word(bits: int) -> int:
    """How many elements of a width fill 32 bits; at least 1."""
    return max(1, WORD // bits)


# --- AMX ---


def amx_a(rows: int, depth: int, bits: int) -> Layout:
    """The left operand of AMX, M x K, from the `row` and the `element` of a tile."""
    _check_row(depth * bits)
    return Layout.strided(
        {"element": [Step(depth, "dim1")], "row": [Step(rows, "dim0")]},
        {"dim0": rows, "dim1": depth},
    )


def amx_b(depth: int, columns: int, bits: int) -> Layout:
    """The right operand of AMX, K x N: a row of a tile has words of neighbours along K."""
    pack = elements_of_a_word(bits)
    _check_row(columns * pack * bits)
    if depth % pack:
        raise LayoutError(f"a depth of {depth} is no multiple of the {pack} elements of a word")
    return Layout.strided(
        {
            "element": [Step(pack, "dim0"), Step(columns, "dim1")],
            "row": [Step(depth // pack, "dim0", pack)],
        },
        {"dim0": depth, "dim1": columns},
    )


def amx_c(rows: int, columns: int) -> Layout:
    """The accumulator of AMX, M x N of 32 bits each."""
    return amx_a(rows, columns, WORD)


def _check_row(bits: int) -> None:
    if bits > TILE_ROW:
        raise LayoutError(f"a row of a tile has {TILE_ROW // 8} bytes, not {bits // 8}")


# --- vectors of subgroups ---


@dataclass(frozen=True)
class VectorLayout:
    """How a subgroup's vector is spread over lanes where nothing else is said (docs/core-form.md).

    As many columns as there are lanes, or all where they divide the lanes, are a block of columns.
    Its rows are dealt to the lanes in turn; what a lane has of a block are its entries. What is
    beyond the vector is padding.

    Attributes:
        rows: Rows of the vector.
        columns: Columns of the vector.
        lanes: The lanes of the subgroup.
        narrowed: Columns of a block where these are fewer; they divide the lanes.
    """

    rows: int
    columns: int
    lanes: int
    narrowed: int | None = None

    @cached_property
    def layout(self) -> Layout:
        """The layout, with padding: registers go through the entries of each block in turn."""
        steps = {
            "register": [
                Step(self.entries, "dim0", self.row_step),
                Step(self.blocks, "dim1", self.width),
            ],
            "lane": [Step(self.width, "dim1"), Step(self.row_step, "dim0")],
        }
        shape = {"dim0": self.entries * self.row_step, "dim1": self.blocks * self.width}
        return Layout.strided(steps, shape)

    @cached_property
    def inverse(self) -> Layout:
        """The register and the lane of each element."""
        return self.layout.inverse()

    @cached_property
    def width(self) -> int:
        """Columns of a block."""
        return self.narrowed or (self.columns if self.lanes % self.columns == 0 else self.lanes)

    @cached_property
    def blocks(self) -> int:
        """The number of blocks of columns."""
        return -(-self.columns // self.width)

    @cached_property
    def row_step(self) -> int:
        """Rows between the elements of two entries that follow each other."""
        return self.lanes // self.width

    @cached_property
    def entries(self) -> int:
        """Entries of a lane in one block of columns."""
        return -(-self.rows // self.row_step)

    @property
    def has_padding(self) -> bool:
        """Whether some entries are no element."""
        return self.layout.shape != (self.rows, self.columns)


@lru_cache(maxsize=256)
def vector_layout(rows: int, columns: int, lanes: int, narrowed: int | None = None) -> VectorLayout:
    """The layout of a vector of a subgroup: one object for all vectors of the same shape."""
    return VectorLayout(rows, columns, lanes, narrowed)
