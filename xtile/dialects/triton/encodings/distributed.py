"""Layouts of values in registers that no matrix unit asks for.

Source: Triton 3.9, `TritonGPUAttrDefs.td`; `lib/Dialect/TritonGPU/IR/Dialect.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
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
    DistributedEncodingAttr,
    Given,
    Key,
    NumbersAttr,
    bases,
    numbers,
    verify_bases,
    verify_order,
    verify_permutation,
    verify_powers_of_two,
    verify_ranks,
)
from xtile.dialects.triton.versions import V3_8, Release
from xtile.layouts import triton
from xtile.layouts.linear import LayoutError, LinearLayout
from xtile.text.mlir_attributes import ALIAS_NAMES


@irdl_attr_definition
class BlockedEncodingAttr(SharedByBlocks, DistributedEncodingAttr):
    """Registers, lanes and subgroups in turn go through boxes of elements.

    ```
    #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1],
      order = [1, 0]}>
    ```
    """

    name = "ttg.blocked"

    size_per_thread: NumbersAttr
    threads_per_warp: NumbersAttr
    warps_per_cta: NumbersAttr
    order: NumbersAttr
    blocks: BasesAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("sizePerThread", "size_per_thread"),
        Key("threadsPerWarp", "threads_per_warp"),
        Key("warpsPerCTA", "warps_per_cta"),
        Key("order", "order"),
        *BLOCK_KEYS,
    )

    def __init__(
        self,
        size_per_thread: Sequence[int],
        threads_per_warp: Sequence[int],
        warps_per_cta: Sequence[int],
        order: Sequence[int],
        blocks: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(
            numbers(size_per_thread),
            numbers(threads_per_warp),
            numbers(warps_per_cta),
            numbers(order),
            bases(blocks),
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        sizes = given.numbers("sizePerThread")
        return cls(
            sizes,
            given.numbers("threadsPerWarp"),
            given.numbers("warpsPerCTA"),
            given.numbers("order"),
            read_blocks(given, len(sizes)),
        )

    @property
    @override
    def rank(self) -> int:
        return len(self.order.data)

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @property
    @override
    def lanes(self) -> int:
        return prod(self.threads_per_warp.data)

    @property
    @override
    def warps(self) -> int:
        return prod(self.warps_per_cta.data)

    @property
    def form(self) -> triton.Blocked:
        """The layout's numbers, as the algebra of layouts takes them."""
        return triton.Blocked(
            self.size_per_thread.data,
            self.threads_per_warp.data,
            self.warps_per_cta.data,
            self.order.data,
            self.blocks.data,
        )

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def verify(self) -> None:
        sizes = {
            "sizePerThread": self.size_per_thread.data,
            "threadsPerWarp": self.threads_per_warp.data,
            "warpsPerCTA": self.warps_per_cta.data,
        }
        verify_ranks({**sizes, "order": self.order.data})
        verify_powers_of_two(sizes)
        verify_order(self.order.data)
        verify_blocks(self.blocks.data, self.rank)


@dataclass(frozen=True, init=False)
class BasesEncodingAttr(DistributedEncodingAttr, ABC):
    """A layout that is given by the image of each bit of a register's, lane's and so on number."""

    register: BasesAttr
    lane: BasesAttr
    warp: BasesAttr
    block: BasesAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("register", "register"),
        Key("lane", "lane"),
        Key("warp", "warp"),
        Key("block", "block"),
    )

    def __init__(
        self,
        register: Sequence[Sequence[int]],
        lane: Sequence[Sequence[int]],
        warp: Sequence[Sequence[int]],
        block: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(bases(register), bases(lane), bases(warp), bases(block))

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        return cls(*(given.bases(key.name) for key in cls.KEYS))

    @property
    def images(self) -> Mapping[str, Bases]:
        """The image of each bit, by what Triton calls the inputs."""
        parts = (self.register, self.lane, self.warp, self.block)
        return {key.name: part.data for key, part in zip(self.KEYS, parts, strict=True)}

    @property
    @override
    def rank(self) -> int:
        return len(next((image for images in self.images.values() for image in images), ()))

    @property
    @override
    def block_bases(self) -> Bases:
        return self.block.data

    @property
    @override
    def lanes(self) -> int:
        return 1 << len(self.lane.data)

    @property
    @override
    def warps(self) -> int:
        return 1 << len(self.warp.data)

    @property
    def form(self) -> triton.Linear:
        """The layout's bases, as the algebra of layouts takes them."""
        return triton.Linear(self.register.data, self.lane.data, self.warp.data, self.block.data)

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def verify(self) -> None:
        if self.rank == 0:
            raise VerifyException(
                "there is no image, so it is not known how many dimensions there are"
            )
        verify_bases(self.images, self.rank)


@irdl_attr_definition(init=False)
class LinearEncodingAttr(BasesEncodingAttr):
    """Each bit of a number is a bit of an index, or nothing.

    ```
    #ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
      warp = [[8, 0]], block = []}>
    ```
    """

    name = "ttg.linear"

    @override
    def verify(self) -> None:
        super().verify()
        verify_permutation(self.images)


@irdl_attr_definition(init=False)
class GenericLinearEncodingAttr(BasesEncodingAttr):
    """Each bit of a number is a bit of an index, or nothing; bits of subgroups are any index.

    ```
    #ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 4]],
      block = [[0, 4]]}>
    ```
    """

    name = "ttg.generic_linear"
    SINCE: ClassVar[Release] = V3_8

    @override
    def verify(self) -> None:
        super().verify()
        for name in ("register", "lane", "block"):
            for image in self.images[name]:
                if sum(map(bool, image)) > 1:
                    raise VerifyException(
                        f"{name} has {list(image)}; only images of warps move in several dimensions"
                    )
        sizes = [
            1 << max(image[d].bit_length() for images in self.images.values() for image in images)
            for d in range(self.rank)
        ]
        if not self.layout(sizes).is_surjective:
            raise VerifyException("some index has no number; every index must be reached")


@irdl_attr_definition
class SliceEncodingAttr(SharedByBlocks, DistributedEncodingAttr):
    """Another layout without a dimension, as after a reduction along it.

    ```
    #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16],
      warpsPerCTA = [4, 1], order = [1, 0]}>}>
    ```
    """

    name = "ttg.slice"

    dim: IntAttr
    parent: Attribute

    KEYS: ClassVar[tuple[Key, ...]] = (Key("dim", "dim"), Key("parent", "parent"))

    def __init__(self, dim: int, parent: Attribute) -> None:
        super().__init__(IntAttr(dim), parent)

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        return cls(given.number("dim"), given.attribute("parent"))

    @property
    def parent_layout(self) -> DistributedEncodingAttr:
        """The layout with the dimension."""
        return _distributed(self.parent)

    @property
    @override
    def rank(self) -> int:
        return self.parent_layout.rank - 1

    @property
    @override
    def block_bases(self) -> Bases:
        dim = self.dim.data
        return tuple((*x[:dim], *x[dim + 1 :]) for x in self.parent_layout.block_bases)

    @property
    @override
    def lanes(self) -> int:
        return self.parent_layout.lanes

    @property
    @override
    def warps(self) -> int:
        return self.parent_layout.warps

    @property
    def form(self) -> triton.Slice:
        """The layout's numbers, as the algebra of layouts takes them."""
        return triton.Slice(self.dim.data, _form(self.parent))

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def verify(self) -> None:
        rank = _distributed(self.parent).rank
        if rank < 2:
            raise VerifyException(
                f"parent has rank {rank}; at least 2 dimensions are needed to leave one out"
            )
        if self.dim.data >= rank:
            raise VerifyException(
                f"dim is {self.dim.data}; parent has the dimensions 0 to {rank - 1}"
            )


def _distributed(layout: Attribute) -> DistributedEncodingAttr:
    """The layout, which must be of registers."""
    if not isinstance(layout, DistributedEncodingAttr):
        raise VerifyException(f"parent is {layout}; expected a layout of values in registers")
    return layout


def _form(layout: Attribute) -> triton.Sliced:
    """A layout as the algebra of layouts takes it."""
    form = getattr(layout, "form", None)
    if form is None:
        raise LayoutError(f"xtile does not know which lane holds what of {layout}")
    return form


ATTRIBUTES: list[type[Attribute]] = [
    BlockedEncodingAttr,
    LinearEncodingAttr,
    GenericLinearEncodingAttr,
    SliceEncodingAttr,
]
"""Every attribute of this module."""

ALIAS_NAMES.update(
    {
        BlockedEncodingAttr: "blocked",
        LinearEncodingAttr: "linear",
        GenericLinearEncodingAttr: "generic_linear",
    }
)
