"""Layouts of local memory.

Source: Triton 3.4 to 3.9, `TritonGPUAttrDefs.td`, `lib/Dialect/TritonGPU/IR/Dialect.cpp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.encodings.blocks import (
    BLOCK_KEYS,
    SharedByBlocks,
    read_blocks,
    verify_blocks,
)
from xtile.dialects.triton.encodings.encoding import (
    Bases,
    BasesAttr,
    EncodingAttr,
    Given,
    Key,
    Numbers,
    NumbersAttr,
    SharedEncodingAttr,
    bases,
    is_power_of_two,
    numbers,
    parse_keys,
    print_keys,
    read_layout,
    verify_bases,
    verify_order,
    verify_permutation,
    verify_powers_of_two,
    verify_ranks,
)
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.versions import V3_5, V3_6, V3_7, V3_8, Release
from xtile.layouts import triton
from xtile.layouts.linear import LinearLayout
from xtile.text.mlir_attributes import ALIAS_NAMES


@irdl_attr_definition
class SharedMemorySpaceAttr(ParametrizedAttribute):
    """Local memory, as a memory space.

    ```
    #ttg.shared_memory
    ```
    """

    name = "ttg.shared_memory"


@dataclass(frozen=True, init=False)
class PhasedEncodingAttr(SharedByBlocks, SharedEncodingAttr, ABC):
    """Rows after each other, in which groups of elements are exchanged."""

    vec: IntAttr
    per_phase: IntAttr
    max_phase: IntAttr
    order: NumbersAttr
    blocks: BasesAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("vec", "vec"),
        Key("perPhase", "per_phase"),
        Key("maxPhase", "max_phase"),
        Key("order", "order"),
        *BLOCK_KEYS,
    )

    def __init__(
        self,
        vec: int,
        per_phase: int,
        max_phase: int,
        order: Sequence[int],
        blocks: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(
            IntAttr(vec), IntAttr(per_phase), IntAttr(max_phase), numbers(order), bases(blocks)
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        order = given.numbers("order")
        return cls(
            given.number("vec"),
            given.number("perPhase"),
            given.number("maxPhase"),
            order,
            read_blocks(given, len(order)),
        )

    @property
    @override
    def rank(self) -> int:
        return len(self.order.data)

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @abstractmethod
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        """From an offset in elements to the indices."""

    @override
    def verify(self) -> None:
        verify_order(self.order.data)
        sizes = (self.vec.data, self.per_phase.data, self.max_phase.data)
        verify_powers_of_two({"vec, perPhase and maxPhase": sizes})
        verify_blocks(self.blocks.data, self.rank)


@irdl_attr_definition(init=False)
class SwizzledSharedEncodingAttr(PhasedEncodingAttr):
    """Groups of `vec` elements are exchanged by exclusive or with `row / perPhase % maxPhase`.

    ```
    #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
    ```
    """

    name = "ttg.swizzled_shared"

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return triton.swizzled_shared(
            shape, self.vec.data, self.per_phase.data, self.max_phase.data, self.order.data
        )


@irdl_attr_definition(init=False)
class AMDRotatingSharedEncodingAttr(PhasedEncodingAttr):
    """As `swizzled_shared`, but each `maxPhase * perPhase` rows begin with another phase.

    ```
    #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>
    ```
    """

    name = "ttg.amd_rotating_shared"

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return triton.rotating_shared(
            shape, self.vec.data, self.per_phase.data, self.max_phase.data, self.order.data
        )


_BASES_KEYS = (Key("offset", "offset"), Key("block", "block"))
_SHORT_KEYS = (Key("order", "order"), Key("shape", "shape"))
_ORDER_KEYS = (Key("order", "order"), *BLOCK_KEYS)


@irdl_attr_definition
class PaddedSharedEncodingAttr(SharedByBlocks, SharedEncodingAttr):
    """A linear layout, with gaps after every so many elements.

    Until 3.5 it has no shape, so that `offset` is not known before a tensor has the layout; then
    there is an order only.

    ```
    #ttg.padded_shared<[512:+16] {order = [1, 0], shape = [64, 32]}>
    ```
    """

    name = "ttg.padded_shared"
    SINCE: ClassVar[Release] = V3_5

    intervals: NumbersAttr
    paddings: NumbersAttr
    offset: BasesAttr
    """The image of each bit of an offset without gaps, in elements."""

    block: BasesAttr
    given_order: NumbersAttr
    """The dimensions, the fastest first, where `offset` is not known; else empty."""

    def __init__(
        self,
        paddings: Sequence[tuple[int, int]],
        offset: Sequence[Sequence[int]],
        block: Sequence[Sequence[int]] = (),
        order: Sequence[int] = (),
    ) -> None:
        super().__init__(
            numbers([interval for interval, _ in paddings]),
            numbers([padding for _, padding in paddings]),
            bases(offset),
            bases(block),
            numbers(order),
        )

    @classmethod
    def in_order(
        cls, paddings: Sequence[tuple[int, int]], order: Sequence[int], shape: Sequence[int]
    ) -> Self:
        """The layout whose linear part has the elements in order."""
        return cls(paddings, _in_order(order, shape))

    def completed(self, shape: Sequence[int]) -> PaddedSharedEncodingAttr:
        """The layout with what it means for a tensor, where it was given by an order only."""
        if not self.given_order.data:
            return self
        pairs = list(zip(self.intervals.data, self.paddings.data, strict=True))
        splits = self.cta_split_num or (1,) * self.rank
        sizes = [max(1, size // split) for size, split in zip(shape, splits, strict=True)]
        block = [
            tuple(index * size for index, size in zip(image, sizes, strict=True))
            for image in self.block.data
        ]
        return PaddedSharedEncodingAttr(pairs, _in_order(self.given_order.data, sizes), block)

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        raise NotImplementedError("the paddings stand before the keys")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        keys = {key.name for key in (*_BASES_KEYS, *_SHORT_KEYS, *_ORDER_KEYS)}
        with parser.in_angle_brackets():
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_padding(parser)
            )
            given = Given(parse_keys(parser, keys))
        return read_layout(parser, start, lambda: cls._of(pairs, given)).parameters

    @classmethod
    def _of(cls, pairs: Sequence[tuple[int, int]], given: Given) -> Self:
        if "offset" in given or "block" in given:
            return cls(
                pairs, given.bases("offset"), given.bases("block") if "block" in given else ()
            )
        order = given.numbers("order")
        verify_order(order)
        if "shape" not in given:
            return cls(pairs, (), read_blocks(given, len(order)), order)
        shape = given.numbers("shape")
        verify_ranks({"order": order, "shape": shape})
        verify_powers_of_two({"shape": shape})
        return cls.in_order(pairs, order, shape)

    @override
    def print_parameters(self, printer: Printer) -> None:
        pairs = zip(self.intervals.data, self.paddings.data, strict=True)
        with printer.in_angle_brackets():
            with printer.in_square_brackets():
                printer.print_list(
                    pairs, lambda pair: printer.print_string(f"{pair[0]}:+{pair[1]}")
                )
            printer.print_string(" ")
            print_keys(printer, self, self._keys(release_of(printer)))

    def _keys(self, release: Release) -> tuple[Key, ...]:
        if self.given_order.data or release < V3_6:
            return _ORDER_KEYS
        is_short = not self.block.data and _in_order(self.order, self.shape) == self.offset.data
        return _SHORT_KEYS if is_short else _BASES_KEYS

    @override
    def lost_in(self, release: Release) -> str | None:
        is_known = not self.given_order.data
        if release >= V3_6 and not is_known:
            return f"the shape is not known, which Triton {release} needs beside the order"
        if (
            release == V3_5
            and is_known
            and _in_order(self.order, self._shape_of_block) != self.offset.data
        ):
            return "#ttg.padded_shared of Triton 3.5 has the elements in order"
        return super().lost_in(release)

    @property
    def _shape_of_block(self) -> Numbers:
        """The shape of the part of a block."""
        return tuple(
            1 << max(image[dimension].bit_length() for image in self.offset.data)
            for dimension in range(self.rank)
        )

    @property
    @override
    def rank(self) -> int:
        return len(self.given_order.data or self.offset.data[0])

    @property
    @override
    def block_bases(self) -> Bases:
        if self.given_order.data:
            return self.block.data
        return _unscaled(self.block.data)

    @property
    def shape(self) -> Numbers:
        """The shape of tensors that have it."""
        images = (*self.offset.data, *self.block.data)
        return tuple(
            1 << max(image[dimension].bit_length() for image in images)
            for dimension in range(self.rank)
        )

    @property
    def order(self) -> Numbers:
        """The dimensions, the fastest first."""
        if self.given_order.data:
            return self.given_order.data
        moved = (d for image in self.offset.data for d, index in enumerate(image) if index)
        return tuple(dict.fromkeys((*moved, *reversed(range(self.rank)))))

    def layout(self, shape: Sequence[int]) -> triton.PaddedShared:
        """Where elements are."""
        offset = self.completed(shape).offset.data
        pairs = zip(self.intervals.data, self.paddings.data, strict=True)
        return triton.PaddedShared.of(offset, pairs, shape)

    @override
    def verify(self) -> None:
        intervals = self.intervals.data
        verify_powers_of_two({"intervals": intervals, "paddings": self.paddings.data})
        if not intervals or len(set(intervals)) < len(intervals):
            raise VerifyException(
                f"the intervals are {list(intervals)}; there is at least one, each once"
            )
        if self.given_order.data:
            verify_order(self.given_order.data)
            verify_blocks(self.block.data, self.rank)
            return
        if not self.offset.data:
            raise VerifyException("offset has no image; a layout has at least two elements")
        images = {"offset": self.offset.data, "block": self.block.data}
        verify_bases(images, self.rank)
        verify_permutation(images)
        if not all(map(any, self.offset.data)):
            raise VerifyException("offset has an image of 0; each offset holds another element")


def _in_order(order: Sequence[int], shape: Sequence[int]) -> Bases:
    """The images of an offset's bits where elements follow each other in order."""
    return tuple(
        tuple(1 << bit if i == dimension else 0 for i in range(len(shape)))
        for dimension in order
        for bit in range(shape[dimension].bit_length() - 1)
    )


def _unscaled(images: Bases) -> Bases:
    """Images of blocks in elements, in boxes."""
    smallest = [
        min((i[d] for i in images if i[d]), default=1) for d in range(len((*images, ())[0]))
    ]
    return tuple(
        tuple(index // size for index, size in zip(image, smallest, strict=True))
        for image in images
    )


def _parse_padding(parser: AttrParser) -> tuple[int, int]:
    """Reads `512:+16`."""
    interval = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation(":")
    parser.parse_characters("+")
    return interval, parser.parse_integer(allow_boolean=False, allow_negative=False)


@irdl_attr_definition
class SharedLinearEncodingAttr(SharedByBlocks, SharedEncodingAttr):
    """Each bit of an offset, and of a block's number, has an image.

    ```
    #ttg.shared_linear<{offset = [[0, 1], [1, 1]]}, alignment = 16>
    ```
    """

    name = "ttg.shared_linear"
    SINCE: ClassVar[Release] = V3_6

    offset: BasesAttr
    block: BasesAttr
    layout_alignment: IntAttr

    KEYS: ClassVar[tuple[Key, ...]] = (Key("offset", "offset"), Key("block", "given_block"))

    def __init__(
        self,
        offset: Sequence[Sequence[int]],
        block: Sequence[Sequence[int]] = (),
        alignment: int = 16,
    ) -> None:
        super().__init__(bases(offset), bases(block), IntAttr(alignment))

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        return cls(given.bases("offset"), given.bases("block") if "block" in given else ())

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            given = Given(parse_keys(parser, {key.name for key in cls.KEYS}))
            parser.parse_punctuation(",")
            parser.parse_keyword("alignment")
            parser.parse_punctuation("=")
            alignment = parser.parse_integer(allow_boolean=False, allow_negative=False)

        def make() -> EncodingAttr:
            read = cls.of_keys(given)
            return cls(read.offset.data, read.block.data, alignment)

        return read_layout(parser, start, make).parameters

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_keys(printer, self, self.KEYS)
            printer.print_string(f", alignment = {self.layout_alignment.data}")

    @property
    def given_block(self) -> Bases | None:
        """The images of a block's bits where there are several blocks."""
        return self.block.data or None

    @property
    @override
    def alignment(self) -> int:
        return self.layout_alignment.data

    @property
    @override
    def rank(self) -> int:
        return len((*self.offset.data, *self.block.data)[0])

    @property
    @override
    def block_bases(self) -> Bases:
        return _unscaled(self.block.data)

    @property
    def shape(self) -> Numbers:
        """The shape of tensors that have it."""
        images = (*self.offset.data, *self.block.data)
        return tuple(1 << max(image[d].bit_length() for image in images) for d in range(self.rank))

    def layout(self, shape: Sequence[int]) -> LinearLayout:
        """From an offset in elements, and a block, to the indices."""
        sizes = {f"dim{i}": size for i, size in enumerate(shape)}
        return LinearLayout.of({"offset": self.offset.data, "block": self.block.data}, sizes)

    @override
    def verify(self) -> None:
        if not is_power_of_two(self.layout_alignment.data):
            raise VerifyException(
                f"alignment is {self.layout_alignment.data}; it must be a power of two"
            )
        images = {"offset": self.offset.data, "block": self.block.data}
        if not self.offset.data and not self.block.data:
            raise VerifyException(
                "there is no image, so it is not known how many dimensions there are"
            )
        verify_bases(images, self.rank)
        layout = self.layout(self.shape)
        vectors = [image for given in images.values() for image in given if any(image)]
        if not layout.is_surjective or len(vectors) != layout.output_bits:
            raise VerifyException("each index must be the image of one offset, images of 0 aside")


@irdl_attr_definition
class PartitionedSharedEncodingAttr(SharedByBlocks, SharedEncodingAttr):
    """A tensor that is cut along a dimension into pieces, which partitions of memory hold in turn.

    ```
    #ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0,
      partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1,
      0]}>}>
    ```
    """

    name = "ttg.partitioned_shared"
    SINCE: ClassVar[Release] = V3_8

    num_partitions: IntAttr
    num_groups: IntAttr
    partition_dim: IntAttr
    partition_layout: Attribute

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("numPartitions", "num_partitions"),
        Key("numGroups", "num_groups"),
        Key("partitionDim", "partition_dim"),
        Key("partitionLayout", "partition_layout"),
    )

    def __init__(
        self, num_partitions: int, num_groups: int, partition_dim: int, partition_layout: Attribute
    ) -> None:
        super().__init__(
            IntAttr(num_partitions), IntAttr(num_groups), IntAttr(partition_dim), partition_layout
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        return cls(
            given.number("numPartitions"),
            given.number("numGroups"),
            given.number("partitionDim"),
            given.attribute("partitionLayout"),
        )

    @property
    @override
    def rank(self) -> int:
        return cast(SharedEncodingAttr, self.partition_layout).rank

    @property
    @override
    def block_bases(self) -> Bases:
        return cast(SharedEncodingAttr, self.partition_layout).block_bases

    @override
    def verify(self) -> None:
        if not isinstance(self.partition_layout, SharedEncodingAttr):
            raise VerifyException(
                f"partitionLayout is {self.partition_layout}; expected a layout of local memory"
            )
        if self.num_partitions.data < 2 or not is_power_of_two(self.num_partitions.data):
            raise VerifyException(
                f"numPartitions is {self.num_partitions.data}; it is 2, 4 and so on"
            )
        if not is_power_of_two(self.num_groups.data):
            raise VerifyException(f"numGroups is {self.num_groups.data}; it must be a power of two")
        if self.partition_dim.data >= self.rank:
            raise VerifyException(
                f"partitionDim is {self.partition_dim.data}; there are the dimensions 0 to "
                f"{self.rank - 1}"
            )


@irdl_attr_definition
class NVMMASharedEncodingAttr(SharedByBlocks, SharedEncodingAttr):
    """What NVIDIA's asynchronous matrix instructions take from memory.

    ```
    #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
    ```
    """

    name = "ttg.nvmma_shared"

    swizzling_byte_width: IntAttr
    transposed: BoolAttr
    element_bit_width: IntAttr
    fp4_padded: BoolAttr
    blocks: BasesAttr
    rank_number: IntAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("swizzlingByteWidth", "swizzling_byte_width"),
        Key("transposed", "transposed"),
        Key("elementBitWidth", "element_bit_width"),
        Key("fp4Padded", "set_fp4_padded"),
        Key("rank", "unusual_rank", since=V3_7),
        *BLOCK_KEYS,
    )

    def __init__(
        self,
        swizzling_byte_width: int,
        transposed: bool,
        element_bit_width: int,
        *,
        fp4_padded: bool = False,
        blocks: Sequence[Sequence[int]] = (),
        rank: int = 2,
    ) -> None:
        super().__init__(
            IntAttr(swizzling_byte_width),
            BoolAttr.from_bool(transposed),
            IntAttr(element_bit_width),
            BoolAttr.from_bool(fp4_padded),
            bases(blocks),
            IntAttr(rank),
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        images = given.bases("CGALayout") if "CGALayout" in given else ()
        order = given.numbers("CTAOrder") if "CTAOrder" in given else (0, 1)
        rank = given.number("rank", len((*images, order)[0]))
        return cls(
            given.number("swizzlingByteWidth"),
            given.flag("transposed", False),
            given.number("elementBitWidth"),
            fp4_padded=given.flag("fp4Padded", False),
            blocks=read_blocks(given, rank),
            rank=rank,
        )

    @property
    @override
    def rank(self) -> int:
        return self.rank_number.data

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @property
    def set_fp4_padded(self) -> bool | None:
        """`fp4_padded` where it is set."""
        return True if self.fp4_padded.value.data else None

    @property
    def unusual_rank(self) -> int | None:
        """The rank where it is not 2 and blocks do not say it."""
        return None if self.rank == 2 or self.blocks.data else self.rank

    @override
    def verify(self) -> None:
        if self.swizzling_byte_width.data not in (0, 32, 64, 128):
            raise VerifyException(
                f"swizzlingByteWidth is {self.swizzling_byte_width.data}; it is 0, 32, 64 or 128"
            )
        if not self.element_bit_width.data:
            raise VerifyException("elementBitWidth is 0; elements have bits")
        verify_blocks(self.blocks.data, self.rank)


ATTRIBUTES: list[type[Attribute]] = [
    SharedMemorySpaceAttr,
    SwizzledSharedEncodingAttr,
    AMDRotatingSharedEncodingAttr,
    PaddedSharedEncodingAttr,
    SharedLinearEncodingAttr,
    PartitionedSharedEncodingAttr,
    NVMMASharedEncodingAttr,
]
"""Every attribute of this module."""

ALIAS_NAMES[SharedMemorySpaceAttr] = "smem"
ALIAS_NAMES.update(
    dict.fromkeys((kind for kind in ATTRIBUTES if issubclass(kind, SharedEncodingAttr)), "shared")
)
