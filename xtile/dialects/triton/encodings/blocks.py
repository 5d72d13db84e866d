"""How the blocks of a cluster share a tensor: `CGALayout`, and `CTAsPerCGA` and so on before 3.6.

Source: Triton 3.9, `CGAEncodingAttr.td`; Triton 3.5, `CTALayoutAttr`;
`lib/Dialect/TritonGPU/IR/Dialect.cpp`, `CGAEncodingAttr::fromSplitParams`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from math import prod

from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.encodings.encoding import (
    Bases,
    EncodingAttr,
    Given,
    Key,
    Numbers,
    is_power_of_two,
    verify_bases,
    verify_order,
    verify_permutation,
    verify_ranks,
)
from xtile.dialects.triton.versions import V3_5, V3_6

BLOCK_KEYS = (
    Key("CTAsPerCGA", "ctas_per_cga", until=V3_5),
    Key("CTASplitNum", "cta_split_num", until=V3_5),
    Key("CTAOrder", "cta_order", until=V3_5),
    Key("CGALayout", "cga_layout", since=V3_6),
)
"""The keys of layouts of tensors that several blocks share."""


class SharedByBlocks(EncodingAttr, ABC):
    """What stands behind the keys of blocks; None where there is one block."""

    @property
    def cga_layout(self) -> Bases | None:
        """The image of each bit of a block's number."""
        return self.block_bases or None

    @property
    def ctas_per_cga(self) -> Numbers | None:
        """How many blocks there are along each dimension."""
        return _split(self.block_bases, self.rank)[0] if self.block_bases else None

    @property
    def cta_split_num(self) -> Numbers | None:
        """Into how many parts blocks split each dimension."""
        return _split(self.block_bases, self.rank)[1] if self.block_bases else None

    @property
    def cta_order(self) -> Numbers | None:
        """The dimensions, the one along which blocks are numbered first before the others."""
        return _split(self.block_bases, self.rank)[2] if self.block_bases else None


def read_blocks(given: Given, rank: int) -> Bases:
    """The image of each bit of a block's number; there is one block where nothing is said.

    Raises:
        VerifyException: There are no such blocks.
    """
    if "CGALayout" in given:
        return given.bases("CGALayout")
    old = [name for name in ("CTAsPerCGA", "CTASplitNum", "CTAOrder") if name in given]
    if not old:
        return ()
    if len(old) < 3:
        raise VerifyException(
            "CTAsPerCGA, CTASplitNum and CTAOrder are given together or not at all"
        )
    values = {name: given.numbers(name) for name in old}
    verify_ranks({**values, "the layout": range(rank)})
    verify_order(values["CTAOrder"], "CTAOrder")
    return _bases(values["CTAsPerCGA"], values["CTASplitNum"], values["CTAOrder"])


def verify_blocks(images: Bases, rank: int) -> None:
    """Checks where blocks are.

    Raises:
        VerifyException: They are not powers of two in one dimension each.
    """
    named: Mapping[str, Bases] = {"CGALayout": images}
    verify_bases(named, rank)
    verify_permutation(named)


def _bases(counts: Numbers, splits: Numbers, order: Numbers) -> Bases:
    """The images of the bits of a block's number (`fromSplitParams`)."""
    images: list[Numbers] = []
    for dimension in order:
        count, split = counts[dimension], splits[dimension]
        if not is_power_of_two(count) or not is_power_of_two(split) or count % split:
            raise VerifyException(
                f"CTAsPerCGA has {count} and CTASplitNum {split} for dimension {dimension}; both "
                "are powers of two, and the first is a multiple of the second"
            )
        for bit in range(count.bit_length() - 1):
            step = 1 << bit if 1 << bit < split else 0
            images.append(tuple(step if i == dimension else 0 for i in range(len(order))))
    return tuple(images)


def _split(images: Bases, rank: int) -> tuple[Numbers, Numbers, Numbers]:
    """`CTAsPerCGA`, `CTASplitNum` and `CTAOrder` that mean the same.

    Raises:
        VerifyException: There are none.
    """
    splits = [prod(2 for image in images if image[d]) for d in range(rank)]
    moved = [next((d for d, index in enumerate(image) if index), None) for image in images]
    order = list(dict.fromkeys(d for d in moved if d is not None))
    order += [d for d in range(rank) if d not in order]
    counts = list(splits)
    # Bits whose image is 0 belong to the dimension of the bits before them.
    current = order[0]
    for dimension in moved:
        if dimension is None:
            counts[current] *= 2
        else:
            current = dimension
    if _bases(tuple(counts), tuple(splits), tuple(order)) != images:
        raise VerifyException(
            f"CGALayout = {[list(image) for image in images]} cannot be said with CTAsPerCGA, "
            "CTASplitNum and CTAOrder, as Triton 3.5 and before ask for; those split one dimension "
            "after the other"
        )
    return tuple(counts), tuple(splits), tuple(order)
