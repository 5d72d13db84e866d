"""Checks that the layouts in a function are for the blocks, warps, lanes and chip of its module.

Source: Triton 3.9, `lib/Dialect/TritonGPU/IR/Dialect.cpp`, `verifyTensorLayout`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation

from xtile.dialects.triton.encodings.distributed import SliceEncodingAttr
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr, SharedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import (
    AMDWmmaEncodingAttr,
    DotOperandEncodingAttr,
)
from xtile.dialects.triton.matrix_instructions import (
    chip_of,
    problem_of_product,
    wmma_version,
)
from xtile.dialects.triton.module_attributes import BLOCKS, LANES, WARPS, number
from xtile.dialects.triton.operation import encoding_of, shape_of
from xtile.dialects.triton.tt.ops.products import DotOp
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.verification import VerifyExceptionAt
from xtile.targets.target import Target


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
        chip_of(module),
    )
    _verify_regions(function, around, {})


@dataclass(frozen=True)
class Around:
    """What the layouts of operations are for.

    Attributes:
        blocks: The blocks of a cluster.
        warps: The warps of a block; 0 where nothing says it.
        lanes: The lanes of a warp.
        chip: The chip of AMD; None for others.
    """

    blocks: int
    warps: int
    lanes: int
    chip: Target | None

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
        return self._blocks(encoding) or self._unit(encoding)

    def _unit(self, encoding: Attribute) -> str | None:
        """Why the chip's matrix unit does not have a layout."""
        while isinstance(encoding, SliceEncodingAttr | DotOperandEncodingAttr):
            encoding = encoding.parent
        if self.chip is None or not isinstance(encoding, AMDWmmaEncodingAttr):
            return None
        version = wmma_version(self.chip)
        if version is None or encoding.version.data == version:
            return None
        return (
            f"the layout {encoding} is for version {encoding.version.data} of WMMA, but "
            f"{self.chip.name} has version {version}"
        )

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
                if isinstance(each, DotOp) and inner.chip is not None:
                    problem = problem_of_product(each, inner.chip)
                    if problem is not None:
                        raise VerifyExceptionAt(problem, each)
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
    return replace(around, warps=int(warps[index])) if index < len(warps) else around
