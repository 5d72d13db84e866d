"""Checks that the layouts in a function are for the blocks, warps and lanes of its module.

Source: Triton 3.9, `lib/Dialect/TritonGPU/IR/Dialect.cpp`, `verifyTensorLayout`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation

from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr, SharedEncodingAttr
from xtile.dialects.triton.module_attributes import BLOCKS, LANES, WARPS, number
from xtile.dialects.triton.operation import encoding_of, shape_of
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.verification import VerifyExceptionAt


def verify_layouts(function: Operation) -> None:
    """Checks the layouts of all values of a function.

    Raises:
        VerifyExceptionAt: One is for something else; it names the first such operation.
    """
    module = function.parent_op()
    around = Around(
        number(module, BLOCKS, 1),
        number(function, WARPS, 0) or number(module, WARPS, 0),
        number(module, LANES, 32),
    )
    _verify_regions(function, around, {})


@dataclass(frozen=True)
class Around:
    """What the layouts of operations are for.

    Attributes:
        blocks: The blocks of a cluster.
        warps: The warps of a block; 0 where nothing says it.
        lanes: The lanes of a warp.
    """

    blocks: int
    warps: int
    lanes: int

    def problem(self, type_: Attribute) -> str | None:
        """Why values of a type do not fit; None where they do."""
        if isinstance(type_, MemDescType):
            encoding = type_.encoding
            return self._blocks(encoding) if isinstance(encoding, SharedEncodingAttr) else None
        encoding = encoding_of(type_)
        if isinstance(encoding, SharedEncodingAttr):
            return f"the value is {type_}; its layout is one of local memory, not of registers"
        if not isinstance(encoding, DistributedEncodingAttr):
            return None
        rank = len(shape_of(type_))
        if encoding.rank != rank:
            return f"the value is {type_}; its layout is one of tensors of rank {encoding.rank}"
        if self.warps == 0:
            return (
                f"the value is {type_}; how many warps its layout is for must be said by the "
                f'module, as in "{WARPS}" = 4 : i32'
            )
        for name, given, expected in (
            (f"{LANES} is", encoding.lanes, self.lanes),
            ("the warps here are", encoding.warps, self.warps),
        ):
            if given != expected:
                return f"the value is {type_}; its layout is for {given}, but {name} {expected}"
        return self._blocks(encoding)

    def _blocks(self, encoding: DistributedEncodingAttr | SharedEncodingAttr) -> str | None:
        given = 1 << len(encoding.block_bases)
        if given != self.blocks:
            return f"the layout {encoding} is for {given} blocks, but {BLOCKS} is {self.blocks}"
        return None


def _verify_regions(operation: Operation, around: Around, known: dict[int, Attribute]) -> None:
    """Checks the operations in an operation.

    Args:
        operation: What they are in.
        around: What their layouts are for.
        known: The types that fit, by their identity: few types are those of many values.
    """
    for index, region in enumerate(operation.regions):
        inner = _of_partition(operation, index, around)
        seen = known if inner is around else {}
        for block in region.blocks:
            for each in block.ops:
                for value in (*each.operands, *each.results):
                    type_ = value.type
                    if id(type_) in seen:
                        continue
                    problem = inner.problem(type_)
                    if problem is not None:
                        raise VerifyExceptionAt(problem, each)
                    seen[id(type_)] = type_
                if each.regions:
                    _verify_regions(each, inner, seen)


def _of_partition(operation: Operation, index: int, around: Around) -> Around:
    """What the layouts in a region are for: partitions have warps of their own."""
    holder = operation.parent_op()
    if operation.name != "ttg.warp_specialize.partitions" or holder is None:
        return around
    counts = holder.properties.get("partitionNumWarps")
    if not isinstance(counts, DenseArrayBase):
        return around
    warps = list(counts.get_values())
    return Around(around.blocks, int(warps[index]), around.lanes) if index < len(warps) else around
