"""The layouts of Triton's `ttg` dialect, from the numbers that its attributes have.

A tensor's indices are `dim0`, `dim1` and so on; `subgroup` is what Triton calls a warp.

Source: Triton 3.8, `include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td` and
`lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest
from operator import mul

from xtile.layouts import amd
from xtile.layouts.linear import UNITS, LayoutError, LinearLayout

Numbers = Sequence[int]
Bases = Sequence[Sequence[int]]
"""The image of each bit."""


@dataclass(frozen=True)
class Blocked:
    """`#ttg.blocked`: registers, lanes and subgroups in turn go through boxes of elements.

    Attributes:
        size_per_thread: The box of a lane.
        threads_per_warp: The lanes along each dimension.
        warps_per_cta: The subgroups along each dimension.
        order: The dimensions, the fastest first.
        blocks: The image of each bit of a block's number, in the blocks' boxes.
    """

    size_per_thread: Numbers
    threads_per_warp: Numbers
    warps_per_cta: Numbers
    order: Numbers
    blocks: Bases = ()

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor."""
        tile = (
            _spread("register", self.size_per_thread, self.order)
            * _spread("lane", self.threads_per_warp, self.order)
            * _spread("subgroup", self.warps_per_cta, self.order)
        )
        return _placed(tile, shape, self.order, self.blocks)

    def operand(self, operand: int, shape: Numbers, _width: int) -> LinearLayout:
        """The layout of an operand of a product: a lane holds all that it needs along K."""
        inner = _inner_dimension(operand, len(shape))
        sizes = list(self.size_per_thread)
        sizes[inner] = shape[inner]
        tile = (
            _spread("register", sizes, self.order)
            * _spread("lane", self.threads_per_warp, self.order, without=inner)
            * _spread("subgroup", self.warps_per_cta, self.order, without=inner)
        )
        return _placed(tile, shape, self.order, _operand_blocks(self.blocks, inner))


@dataclass(frozen=True)
class Mfma:
    """`#ttg.amd_mfma`: the results of MFMA instructions of CDNA.

    Attributes:
        version: 1 for gfx908, 2 for gfx90a, 3 for gfx942, 4 for gfx950; the layouts are the same.
        warps_per_cta: The subgroups along each dimension.
        instruction: M and N of the instruction: 32x32, 16x16, 64x4 or 4x64.
        is_transposed: Whether operands are exchanged, so that lanes hold parts of rows.
        tiles_per_warp: The instructions of a subgroup along each dimension.
        bits: Bits of an element: 32, or 64.
        blocks: The image of each bit of a block's number.
    """

    version: int
    warps_per_cta: Numbers
    instruction: Numbers
    is_transposed: bool = False
    tiles_per_warp: Numbers | None = None
    bits: int = 32
    blocks: Bases = ()

    def __post_init__(self) -> None:
        if self.version not in (1, 2, 3, 4):
            raise LayoutError(f"there is no version {self.version} of MFMA; there are 1 to 4")
        rows, columns = self.instruction[:2]
        if (rows, columns) not in ((32, 32), (16, 16), (64, 4), (4, 64)):
            raise LayoutError(
                f"#ttg.amd_mfma has no {rows}x{columns}; it has 32x32, 16x16, 64x4 and 4x64"
            )

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor."""
        m, n = _matrix_dimensions(len(shape))
        tiles = self._tiles(len(shape))
        columns = self.instruction[1]
        tile = self._tile(f"dim{m}", f"dim{n}")
        # Instructions follow each other along N, through all of the tensor.
        around = shape[n] // (columns * self.warps_per_cta[n] * tiles[n])
        for input, size, dimension in (
            ("register", tiles[n], n),
            ("subgroup", self.warps_per_cta[n], n),
            ("register", max(1, around), n),
            ("register", tiles[m], m),
            ("subgroup", self.warps_per_cta[m], m),
            *[("subgroup", self.warps_per_cta[0], 0)] * (len(shape) == 3),
        ):
            tile *= LinearLayout.identity(size, input, f"dim{dimension}")
        return _placed(tile, shape, _order(len(shape)), self.blocks)

    def _tile(self, m: str, n: str) -> LinearLayout:
        rows, columns = self.instruction[:2]
        if self.is_transposed:
            m, n, rows, columns = n, m, columns, rows
        tile = amd.mfma_result(rows, columns, bits=self.bits).project("dim0", "dim1")
        return tile.renamed(outputs={"dim0": m, "dim1": n})

    def _tiles(self, rank: int) -> Numbers:
        return self.tiles_per_warp or [1] * rank

    def operand(self, operand: int, shape: Numbers, width: int) -> LinearLayout:
        """The layout of an operand of a product, with `width` elements along K in a row."""
        rank = len(shape)
        inner, outer = _inner_dimension(operand, rank), _inner_dimension(1 - operand, rank)
        k, other = f"dim{inner}", f"dim{outer}"
        extent = self.instruction[operand]
        depth = amd.WAVE // extent * width
        tile = amd.mfma_operand(extent, depth).project("outer", "inner")
        tile = tile.renamed(outputs={"outer": other, "inner": k})
        # The other operand of 4x64 and 64x4 is broadcast, so that one lane needs all of K.
        if self.instruction[operand] == 64 and self.instruction[1 - operand] == 4:
            tile *= LinearLayout.identity(16, "register", k)
            depth *= 16
        tile *= LinearLayout.identity(max(1, shape[inner] // depth), "register", k)
        tile *= LinearLayout.identity(self._tiles(rank)[outer], "register", other)
        tile *= _spread("subgroup", self.warps_per_cta, _order(rank))
        order = [inner, outer, *range(rank - 2)]
        return _placed(tile, shape, order, _operand_blocks(self.blocks, inner))


@dataclass(frozen=True)
class Wmma:
    """`#ttg.amd_wmma`: the results of WMMA instructions of RDNA, in waves of 32 lanes.

    Attributes:
        version: 1 for gfx11, 2 for gfx12, 3 for gfx1250.
        subgroups: The image of each bit of a subgroup's number, in instructions.
        instruction: M, N and K of the instruction.
        is_transposed: Whether operands are exchanged, so that lanes hold parts of rows.
        repeats: The image of each bit of a subgroup's instructions, in instructions.
        blocks: The image of each bit of a block's number.
    """

    version: int
    subgroups: Bases
    instruction: Numbers = (16, 16, 16)
    is_transposed: bool = False
    repeats: Bases = ()
    blocks: Bases = ()

    @classmethod
    def of_warps(cls, version: int, warps_per_cta: Numbers, *, is_transposed: bool = False) -> Wmma:
        """The layout as Triton wrote it before 3.7, with `warpsPerCTA`."""
        warps = _spread("subgroup", warps_per_cta, _order(len(warps_per_cta)))
        return cls(version, warps.images("subgroup"), is_transposed=is_transposed)

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor."""
        m, n = _matrix_dimensions(len(shape))
        names = {"dim0": f"dim{m}", "dim1": f"dim{n}"}
        if self.is_transposed:
            names = {"dim0": f"dim{n}", "dim1": f"dim{m}"}
        tile = amd.wmma_result(self.version, self.instruction[0]).renamed(outputs=names)
        tile *= self._around(len(shape))
        return _placed(tile, shape, _order(len(shape)), self.blocks)

    def _around(self, rank: int, without: int | None = None) -> LinearLayout:
        """How instructions and subgroups are placed."""
        images = {"register": self.repeats, "subgroup": self.subgroups}
        around = _of_bases(images, rank)
        if without is None:
            return around
        around = _flattened_dimension(around, without)
        repeats = [image for image in around.images("register") if any(image)]
        subgroups = around.images("subgroup")
        return LinearLayout.of({"register": repeats, "subgroup": subgroups}, dict(around.outputs))

    def operand(self, operand: int, shape: Numbers, width: int) -> LinearLayout:
        """The layout of an operand of a product, with `width` elements along K in a row."""
        rank = len(shape)
        inner, outer = _inner_dimension(operand, rank), _inner_dimension(1 - operand, rank)
        extent, depth = self.instruction[operand], self.instruction[2]
        tile = amd.wmma_operand(self.version, width, depth, extent)
        tile = tile.renamed(outputs={"outer": f"dim{outer}", "inner": f"dim{inner}"})
        tile *= self._around(rank, without=inner)
        order = [inner, outer, *range(rank - 2)]
        return _placed(tile, shape, order, _operand_blocks(self.blocks, inner))


Parent = Blocked | Mfma | Wmma


@dataclass(frozen=True)
class DotOperand:
    """`#ttg.dot_op`: an operand of a product whose result has the parent's layout.

    Attributes:
        index: 0 for the left operand, 1 for the right one.
        parent: The layout of the result.
        width: `kWidth`, the elements along K that a lane has in a row; 0 for a blocked parent.
    """

    index: int
    parent: Parent
    width: int = 0

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor."""
        return self.parent.operand(self.index, shape, self.width)


@dataclass(frozen=True)
class Slice:
    """`#ttg.slice`: the parent's layout without a dimension, as after a reduction along it.

    Attributes:
        dimension: The dimension that the parent has more.
        parent: The layout with this dimension.
    """

    dimension: int
    parent: Sliced

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor; registers that hold the same as others are left out."""
        whole = [*shape[: self.dimension], 1, *shape[self.dimension :]]
        parent = self.parent.layout(whole)
        kept = [name for i, name in enumerate(parent.output_names) if i != self.dimension]
        sliced = parent.project(*kept)
        sliced = sliced.renamed(outputs={name: f"dim{i}" for i, name in enumerate(kept)})
        images = {name: sliced.images(name) for name in sliced.input_names}
        images["register"] = tuple(image for image in images["register"] if any(image))
        return LinearLayout.of(images, dict(sliced.outputs))


@dataclass(frozen=True)
class Linear:
    """`#ttg.linear`, whose bases are the images of bits.

    Attributes:
        register: The image of each bit of a register's number.
        lane: The image of each bit of a lane's number.
        warp: The image of each bit of a subgroup's number.
        block: The image of each bit of a block's number.
    """

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases

    def layout(self, shape: Numbers) -> LinearLayout:
        """The layout of a tensor; where that is larger, registers repeat it."""
        given = (self.register, self.lane, self.warp, self.block)
        layout = _of_bases(dict(zip(UNITS, given, strict=True)), len(shape))
        sizes = dict(layout.outputs)
        for dimension in self._order(len(shape)):
            name = f"dim{dimension}"
            count = max(1, shape[dimension] // sizes[name])
            layout *= LinearLayout.identity(count, "register", name)
        layout = _cut(layout, {f"dim{i}": size for i, size in enumerate(shape)})
        images = dict(layout.inputs)
        kept = [
            image
            for image, before in zip_longest(images["register"], self.register)
            if any(image) or (before is not None and not any(before))
        ]
        return LinearLayout.of({**images, "register": kept}, dict(layout.outputs))

    def _order(self, rank: int) -> list[int]:
        """The dimensions, in the order in which registers go through them."""
        moved = [d for image in self.register for d, index in enumerate(image) if index]
        return list(dict.fromkeys((*moved, *_order(rank))))


Sliced = Parent | DotOperand | Linear | Slice
"""What `#ttg.slice` leaves a dimension out of."""


# --- local memory ---


def swizzled_shared(
    shape: Numbers, vec: int, per_phase: int, max_phase: int, order: Numbers
) -> LinearLayout:
    """`#ttg.swizzled_shared`: from an `offset` in elements to the indices.

    Rows along the fastest dimension follow each other; the groups of `vec` elements of a row are
    exchanged by exclusive or with the row's phase, which is `row / per_phase % max_phase`.
    """
    names = [f"dim{i}" for i in range(len(shape))]
    fast = order[0]
    images: list[list[int]] = []
    for position, dimension in enumerate(order):
        for bit in range(shape[dimension].bit_length() - 1):
            image = [0] * len(shape)
            image[dimension] = 1 << bit
            if position == 1:
                phase = (1 << bit) // per_phase % max_phase
                image[fast] = vec * phase % shape[fast]
            images.append(image)
    return LinearLayout.of({"offset": images, "block": []}, dict(zip(names, shape, strict=True)))


def rotating_shared(
    shape: Numbers, vec: int, per_phase: int, max_phase: int, order: Numbers
) -> LinearLayout:
    """`#ttg.amd_rotating_shared`: from an `offset` in elements to the indices.

    As `swizzled_shared`, but the phase of a row is combined by exclusive or with the number of its
    group of `per_phase * max_phase` rows, modulo `max_phase`.
    """
    swizzled = swizzled_shared(shape, vec, per_phase, max_phase, order)
    images: list[list[int]] = []
    for given in swizzled.images("offset"):
        image = list(given)
        if len(order) > 1 and image[order[1]]:
            number = image[order[1]] // (per_phase * max_phase) % max_phase
            image[order[0]] ^= vec * number % shape[order[0]]
        images.append(image)
    return LinearLayout.of({"offset": images, "block": []}, dict(swizzled.outputs))


@dataclass(frozen=True)
class PaddedShared:
    """`#ttg.padded_shared`: a linear layout, with gaps after every so many elements.

    Attributes:
        linear: From an `offset` without gaps, in elements, to the indices.
        paddings: After how many elements how many are left out; powers of two.
    """

    linear: LinearLayout
    paddings: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls, offsets: Bases, paddings: Iterable[tuple[int, int]], shape: Numbers
    ) -> PaddedShared:
        """The layout from the image of each bit of an offset."""
        sizes = {f"dim{i}": size for i, size in enumerate(shape)}
        return cls(LinearLayout.of({"offset": offsets, "block": []}, sizes), tuple(paddings))

    def address(self, offset: int) -> int:
        """The element of memory at an offset without gaps."""
        return offset + sum(offset // interval * padding for interval, padding in self.paddings)


# --- parts ---


def _order(rank: int) -> list[int]:
    """The last dimension first."""
    return list(reversed(range(rank)))


def _matrix_dimensions(rank: int) -> tuple[int, int]:
    """Which dimensions are M and N; a batch stands before them."""
    return rank - 2, rank - 1


def _inner_dimension(operand: int, rank: int) -> int:
    """Which dimension of an operand is K."""
    return rank - 1 if operand == 0 else rank - 2


def _spread(input: str, sizes: Numbers, order: Numbers, without: int | None = None) -> LinearLayout:
    """An input that goes through a box; along `without` all hold the same."""
    result = LinearLayout.of({input: []}, {f"dim{i}": 1 for i in range(len(sizes))})
    for dimension in order:
        make = LinearLayout.zeros if dimension == without else LinearLayout.identity
        result *= make(sizes[dimension], input, f"dim{dimension}")
    return result


def _of_bases(images: Mapping[str, Bases], rank: int) -> LinearLayout:
    """The layout with these images, whose outputs are as large as these need."""
    every = [image for given in images.values() for image in given]
    sizes = {
        f"dim{i}": 1 << max((image[i].bit_length() for image in every), default=0)
        for i in range(rank)
    }
    return LinearLayout.of(images, sizes)


def _flattened_dimension(layout: LinearLayout, dimension: int) -> LinearLayout:
    """A layout whose index along a dimension is always 0."""
    images = {
        name: [(*x[:dimension], 0, *x[dimension + 1 :]) for x in given]
        for name, given in layout.inputs
    }
    return LinearLayout.of(images, {**dict(layout.outputs), f"dim{dimension}": 1})


def _operand_blocks(blocks: Bases, inner: int) -> Bases:
    """How blocks are placed on an operand: along K they hold the same."""
    return [[*image[:inner], 0, *image[inner + 1 :]] for image in blocks]


def _placed(tile: LinearLayout, shape: Numbers, order: Numbers, blocks: Bases) -> LinearLayout:
    """A tile, repeated in registers or cut off so that it covers a tensor, and dealt to blocks.

    Args:
        tile: The tile.
        shape: The shape of the tensor.
        order: Along which dimensions it is repeated, the fastest first.
        blocks: The image of each bit of a block's number.
    """
    names = [f"dim{i}" for i in range(len(shape))]
    cga = _cut(_of_bases({"block": blocks}, len(shape)), dict(zip(names, shape, strict=True)))
    rest = {
        name: max(1, size // dict(cga.outputs)[name])
        for name, size in zip(names, shape, strict=True)
    }
    sizes = {**dict.fromkeys(names, 1), **dict(tile.outputs)}
    repeats = [
        LinearLayout.identity(max(1, rest[name] // sizes[name]), "register", name)
        for name in (names[dimension] for dimension in order)
    ]
    whole = _cut(reduce(mul, repeats, tile), rest)
    return (whole * cga).transpose(*names).reordered(*UNITS)


def _cut(layout: LinearLayout, sizes: Mapping[str, int]) -> LinearLayout:
    """A layout that is cut off at smaller sizes: what would be beyond holds the same as others."""
    images = {
        name: [
            tuple(
                index % sizes.get(output, size)
                for index, (output, size) in zip(image, layout.outputs, strict=True)
            )
            for image in given
        ]
        for name, given in layout.inputs
    }
    outputs = {name: min(size, sizes.get(name, size)) for name, size in layout.outputs}
    return LinearLayout.of(images, outputs)
