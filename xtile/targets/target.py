"""The record of a chip, and what it is made of.

Types of numbers are named as MLIR spells them, so that reading a table of chips loads no dialect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from xtile.targets.spellings import PLAIN, MatrixSpelling

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from xtile.layouts.matrix_units import Operands

Number: TypeAlias = Literal[
    "f64",
    "f32",
    "tf32",
    "f16",
    "bf16",
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3FNUZ",
    "f8E5M2FNUZ",
    "f6E2M3FN",
    "f6E3M2FN",
    "f4E2M1FN",
    "i64",
    "i32",
    "i16",
    "i8",
    "si8",
    "ui8",
    "i4",
]
"""A type of numbers. `tf32` is f32 rounded to ten bits of the fraction."""


class MatrixUnit(NamedTuple):
    """A product D (M x N) := A (M x K) B (K x N) + C that one instruction computes.

    Attributes:
        instruction: What the vendor calls instructions of its kind.
        a: The type of A.
        b: The type of B.
        sums: The type of C and D.
        rows: M.
        columns: N.
        depth: K.
        lanes: The work-items of a subgroup that has the matrices; None if they are one value of a
            subgroup of any size.
        version: Of instructions whose matrices lie otherwise in other generations, which one.
    """

    instruction: Literal["dpas", "AMX", "MFMA", "WMMA"]
    a: Number
    b: Number
    sums: Number
    rows: int
    columns: int
    depth: int
    lanes: int | None
    version: int = 1

    @property
    def layouts(self) -> Operands:
        """What registers and lanes hold of the three matrices."""
        from xtile.layouts.matrix_units import operands

        shape = self.rows, self.columns, self.depth
        return operands(self.instruction, *shape, self.bits, self.version)

    @property
    def bits(self) -> int:
        """The bits of an element of A and B in registers."""
        return 32 if self.a == "tf32" else int(re.findall(r"\d+", self.a)[0])

    @property
    def is_exact(self) -> bool:
        """Whether sums are wider than factors: else each step is rounded."""
        return self.a != self.sums


class BlockShapes(NamedTuple):
    """The shapes of a two-dimensional block access, in elements.

    Attributes:
        widths: The columns of a block.
        heights: The rows of a block.
        counts: How many blocks next to each other one instruction accesses.
    """

    widths: tuple[int, ...]
    heights: tuple[int, ...]
    counts: tuple[int, ...]


class BlockAccess(NamedTuple):
    """Two-dimensional block loads, stores and prefetches, by the size of an element in bytes.

    Attributes:
        subgroup_size: The subgroup size they need.
        load: The rows of the block become the rows of the matrix.
        load_transformed: Consecutive rows are packed in words of 32 bits, as dpas reads B (VNNI).
        load_transposed: The columns of the block become the rows of the matrix.
        store: The matrix becomes the block.
        prefetch: The block is brought into a cache.
        base_alignment: Bytes that the address of the memory is a multiple of.
        pitch_alignment: Bytes that the distance of two rows is a multiple of.
        least_pitch: The least distance of two rows in bytes.
        least_width: The least number of bytes in a row of the memory.
        width_alignment: Bytes that a row of the memory and an offset in it are a multiple of.
        most_extent: The largest width and pitch in bytes, and the largest height in rows.
    """

    subgroup_size: int
    load: Mapping[int, BlockShapes]
    load_transformed: Mapping[int, BlockShapes]
    load_transposed: Mapping[int, BlockShapes]
    store: Mapping[int, BlockShapes]
    prefetch: Mapping[int, BlockShapes]
    base_alignment: int
    pitch_alignment: int
    least_pitch: int
    least_width: int
    width_alignment: int
    most_extent: int


class RowAccess(NamedTuple):
    """Loads and stores of elements that follow each other, as many for each lane of a subgroup.

    Attributes:
        counts: How many each lane can have.
        load_alignment: Bytes that an address in global memory is a multiple of.
        alignment: Bytes that an address in local memory is a multiple of, and that of a store.
    """

    counts: tuple[int, ...]
    load_alignment: int
    alignment: int


class VectorUnit(NamedTuple):
    """The vector registers of a CPU, in which one work-item computes with whole vectors.

    Attributes:
        bytes: Bytes of a register.
        registers: The number of registers.
    """

    bytes: int
    registers: int


class Hints(NamedTuple):
    """How the tile compiler is to compile a kernel; what is None is its own choice.

    Attributes:
        num_worker_warps_per_cta: The warps that compute.
        num_cta_in_cga: The thread blocks that share the tiles of a block.
        occupancy: The blocks that a multiprocessor is to hold at once.
    """

    num_worker_warps_per_cta: int | None = None
    num_cta_in_cga: int | None = None
    occupancy: int | None = None

    @property
    def for_steps(self) -> Hints:
        """The same for blocks that take several steps.

        They need the registers that an occupancy would deny them, which stays where each thread can
        have as many as there are names for.
        """
        blocks = _THREADS_WITH_ALL_REGISTERS // (32 * (self.num_worker_warps_per_cta or OWN_WARPS))
        return self if (self.occupancy or 0) <= blocks else self._replace(occupancy=None)


OWN_WARPS = 4
"""The warps of a kernel without a hint, as `tileiras` 13.5 compiles it."""

_THREADS_WITH_ALL_REGISTERS = 256
"""The threads of which a multiprocessor with 65,536 registers gives each as many as it can name."""


NO_HINTS = Hints()
"""Nothing is said."""


class ProductTile(NamedTuple):
    """The tiles of a product of matrices.

    Attributes:
        rows: Rows of C.
        columns: Columns of C.
        depth: How many products of a row and a column are added up in one step.
        hints: How a kernel with this product is compiled.
    """

    rows: int
    columns: int
    depth: int
    hints: Hints = NO_HINTS


class ChainedProducts(NamedTuple):
    """Products that are factors of others.

    Attributes:
        rows: The least rows of their results.
        elements: The most elements of all results together.
        hints: How a kernel with these products is compiled.
    """

    rows: int
    elements: int
    hints: Hints


@dataclass(frozen=True)
class TilePolicy:
    """How kernels are cut into tiles.

    Attributes:
        products: For each type of factors the tiles of products, the largest one first.
        split_products: The same for types whose matrices are multiplied as parts of another type
            (`transforms/split_products.py`), unless products are to be exact.
        other_products: The same for all other types, which are broadcast, multiplied and added up.
        warp_elements: How many elements of a product's tile each warp must have for the matrix unit
            to multiply; 0 where that does not matter.
        least_side: The least rows and columns of a tile that the matrix unit multiplies.
        one_warp_elements: The most elements of a product's tile in kernels that allocate memory,
            which have one warp; None where they have as many as others.
        updates: The tile of products that are added to what memory has, where work-groups become
            one tile block (`transforms/merge_work_groups/`).
        merged_elements: The most elements of a work-group's product where several of them become
            one tile block.
        blocks: How many thread blocks keep all multiprocessors busy, in two rounds.
        elements: The elements of a tile in a loop that memory limits.
        sum_elements: The same where tiles are added up.
        strided_elements: The same where work-items stride through memory.
        strided_hints: How a kernel without products but with such loops is compiled.
        local_elements: The most elements of local memory that become one tile.
        elementwise_hints: How a kernel without products is compiled.
        large_elements: How many elements make a tile large.
        large_hints: How a kernel without products but with large tiles is compiled.
        whole_elements: How many elements make a tile as large as the registers of a multiprocessor
            allow for.
        whole_hints: How a kernel without products but with such tiles is compiled.
        chained: How kernels are compiled whose products are factors of others, as in attention;
            the first entry that fits counts.
    """

    products: Mapping[Number, tuple[ProductTile, ...]] = field(
        default_factory=dict[Number, tuple[ProductTile, ...]]
    )
    split_products: Mapping[Number, tuple[ProductTile, ...]] = field(
        default_factory=dict[Number, tuple[ProductTile, ...]]
    )
    other_products: tuple[ProductTile, ...] = (ProductTile(32, 32, 16), ProductTile(16, 16, 16))
    warp_elements: int = 0
    least_side: int = 1
    one_warp_elements: int | None = None
    updates: Mapping[Number, ProductTile] = field(default_factory=dict["Number", ProductTile])
    merged_elements: int = 16384
    blocks: int = 256
    elements: int = 1024
    sum_elements: int = 2048
    strided_elements: int = 1024
    strided_hints: Hints = NO_HINTS
    local_elements: int = 16384
    elementwise_hints: Hints = NO_HINTS
    large_elements: int = 16384
    large_hints: Hints = NO_HINTS
    whole_elements: int = 32768
    whole_hints: Hints = NO_HINTS
    chained: tuple[ChainedProducts, ...] = ()

    def products_of(self, factor: Attribute) -> tuple[ProductTile, ...]:
        """The tiles of products of a type, the largest one first."""
        name = cast("Number", str(factor))
        return self.split_products.get(name) or self.products.get(name, self.other_products)

    def updates_of(self, factor: Attribute) -> tuple[ProductTile, ...]:
        """The tiles of products of a type that are added to what memory has."""
        tile = self.updates.get(cast("Number", str(factor)))
        return () if tile is None else (tile,)

    def is_of_matrix_unit(self, factor: Attribute) -> bool:
        """Whether a matrix unit that works on tiles of at least `least_side` multiplies a type."""
        name = cast("Number", str(factor))
        return name in self.split_products or (name in self.products and name not in ("f32", "f64"))

    def product_hints(self, factor: Attribute, area: int, shape: tuple[int, ...] = ()) -> Hints:
        """How a kernel is compiled with a product whose result is a tile of so many elements.

        It is compiled as that of the same tile of the table, or of the largest one that is not
        larger, but with no more warps than the matrix unit has work for.

        Args:
            factor: The type of the factors' elements.
            area: The elements of the result.
            shape: Its rows and columns, if it is one product.
        """
        known = next((t for t in self.products_of(factor) if shape == (t.rows, t.columns)), None)
        known = known or self._fitting(factor, area)
        hints = NO_HINTS if known is None else known.hints
        if not self.warp_elements or not self.is_of_matrix_unit(factor):
            return hints
        most = max(1, area // self.warp_elements)
        warps = hints.num_worker_warps_per_cta or OWN_WARPS
        return hints if warps <= most else hints._replace(num_worker_warps_per_cta=most)

    def product_depth(self, factor: Attribute, area: int) -> int:
        """The depth of a step of a product whose result is a tile of so many elements."""
        return (self._fitting(factor, area) or self.products_of(factor)[-1]).depth

    def _fitting(self, factor: Attribute, area: int) -> ProductTile | None:
        """The largest tile of the table that is not larger."""
        known = self.products_of(factor)
        return next((tile for tile in known if tile.rows * tile.columns <= area), None)

    def chained_hints(self, rows: int, area: int) -> Hints | None:
        """How a kernel is compiled whose products are factors of others; None where none is known.

        Args:
            rows: The rows of the results.
            area: The elements of all results together.
        """
        fitting = (
            each.hints for each in self.chained if each.rows <= rows and area <= each.elements
        )
        return next(fitting, None)


@dataclass(frozen=True)
class Target:
    """A chip that kernels are compiled for.

    Attributes:
        name: What the vendor's compiler calls it.
        description: What it is, in a few words.
        subgroup_sizes: The subgroup sizes of kernels.
        subgroup_size: The one that is chosen where a kernel leaves it open.
        most_work_items: The largest work-group.
        local_memory: Bytes of local memory that a work-group can have.
        registers: The most registers of a subgroup.
        register_size: Bytes of a register, for all lanes together.
        vector_share: A subgroup's part of a tile takes one part in so many of its registers.
        matrix_units: The products of matrices that the chip has.
        block_access: Two-dimensional block accesses; None if there are none.
        row_access: Accesses of rows; None if there are none.
        vector_unit: The vector registers, if a subgroup can be one work-item that computes with
            vectors, as on a CPU; None on GPUs, whose lanes are the vectors' elements.
        missing_types: The types of numbers that kernels cannot compute with.
        matrix_spelling: How SPIR-V writes products and accesses of blocks where nothing is known of
            the driver.
        tiles: How kernels are cut into tiles.
    """

    name: str
    description: str
    subgroup_sizes: tuple[int, ...]
    subgroup_size: int
    most_work_items: int
    local_memory: int
    registers: int
    register_size: int
    vector_share: int = 4
    matrix_units: tuple[MatrixUnit, ...] = ()
    block_access: BlockAccess | None = None
    row_access: RowAccess | None = None
    vector_unit: VectorUnit | None = None
    missing_types: tuple[Number, ...] = ()
    matrix_spelling: MatrixSpelling = PLAIN
    tiles: TilePolicy = field(default_factory=TilePolicy)

    @property
    def exact(self) -> Target:
        """The chip for kernels that multiply no parts of factors."""
        return replace(self, tiles=replace(self.tiles, split_products={}))

    def units(self, *instructions: str) -> tuple[MatrixUnit, ...]:
        """The products of some kinds of instructions."""
        return tuple(unit for unit in self.matrix_units if unit.instruction in instructions)
