"""Has tileiras reduce where one warp would scan.

tileiras (13.5, sm_90) makes wrong code of many scans by blocks of one warp: what the first lanes of
a row add up to is missing behind them, or an address is wrong. docs/nvidia.md has the smallest
program. Blocks of more warps are right, and so are reductions by one.

Blocks that allocate memory have one warp. There a scan becomes reductions: an element is what those
up to it combine to, all others being the identity. Eight elements are one step; more are blocks of
eight, each combined with all before it. Of several tiles that are scanned together, one warp makes
wrong numbers so, too: they are refused. Where nothing is allocated, a hint for one warp goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr
from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate, Signedness
from xtile.dialects.cuda_tile.ops.control_flow import YieldOp
from xtile.dialects.cuda_tile.ops.core import (
    BroadcastOp,
    ConstantOp,
    IotaOp,
    PermuteOp,
    ReshapeOp,
    SelectOp,
)
from xtile.dialects.cuda_tile.ops.integer import CmpIOp
from xtile.dialects.cuda_tile.ops.memory import AllocaOp
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp, ScanOp
from xtile.dialects.cuda_tile.types import TileType, tile_type
from xtile.dialects.walk import walk
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import source_of, span_of

_STEP = 8
"""The most elements whose combinations are computed from all pairs of them."""

_WARPS = "num_worker_warps_per_cta"


def avoid_scans_of_one_warp(module: Operation) -> bool:
    """Changes kernels of CUDA Tile IR whose scans one warp would do.

    Args:
        module: What holds the kernels; it is changed.

    Returns:
        Whether there were any.

    Raises:
        DiagnosticError: A kernel that allocates memory scans several tiles together.
    """
    found = list(_scanned_by_one_warp(module))
    for entry, scans in found:
        if any(isinstance(each, AllocaOp) for each in walk(entry)):
            for scan in scans:
                if len(scan.operands) > 1:
                    raise _refusal(scan)
                _Reductions(scan).replace()
        else:
            _leave_to_compiler(entry)
    return bool(found)


def has_scans_of_one_warp(module: Operation) -> bool:
    """Whether a module of CUDA Tile IR has kernels whose scans one warp would do."""
    return any(True for _ in _scanned_by_one_warp(module))


def _scanned_by_one_warp(module: Operation) -> Iterator[tuple[EntryOp, Sequence[ScanOp]]]:
    for entry in walk(module):
        if isinstance(entry, EntryOp) and any(warps == 1 for warps in _warps(entry)):
            scans = [each for each in walk(entry) if isinstance(each, ScanOp)]
            if scans:
                yield entry, scans


def _chips(entry: EntryOp) -> dict[str, DictionaryAttr]:
    """The hints of an entry by chip."""
    hints = entry.optimization_hints
    return {} if hints is None else cast("dict[str, DictionaryAttr]", dict(hints.value.data))


def _warps(entry: EntryOp) -> Iterator[int]:
    for own in _chips(entry).values():
        warps = own.data.get(_WARPS)
        if isinstance(warps, IntegerAttr):
            yield warps.value.data


def _leave_to_compiler(entry: EntryOp) -> None:
    """Leaves the number of warps out of an entry's hints."""
    left = {
        chip: DictionaryAttr({key: each for key, each in own.data.items() if key != _WARPS})
        for chip, own in _chips(entry).items()
    }
    entry.optimization_hints = OptimizationHintsAttr(DictionaryAttr(left))


def _refusal(scan: ScanOp) -> DiagnosticError:
    message = (
        "a kernel that allocates memory has one warp, which tileiras compiles to wrong numbers "
        "where several tiles are scanned together; scan them one by one, or use no local memory"
    )
    source = source_of(scan)
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, span_of(scan, source))])


class _Reductions:
    """Replaces a scan.

    Tiles have two dimensions here, of which the last one is that of the scan.
    """

    def __init__(self, scan: ScanOp) -> None:
        self._scan = scan
        self._made: list[Operation] = []

    def _emit(self, operation: Operation) -> SSAValue:
        operation.location = self._scan.location
        self._made.append(operation)
        return operation.results[0]

    def replace(self) -> None:
        """Puts reductions in the place of the scan."""
        scan, axis = self._scan, self._scan.dim.value.data
        shape = tile_type(scan.operands[0]).get_shape()
        order = [*(each for each in range(len(shape)) if each != axis), axis]
        inverse = [order.index(each) for each in range(len(shape))]
        turned = [shape[each] for each in order]
        rows = (prod(turned[:-1]), turned[-1])
        tiles = [self._shaped(self._permuted(each, order), rows) for each in scan.operands]
        results = [
            self._permuted(self._shaped(each, turned), inverse)
            for each in self._scanned(tiles, is_strict=False)
        ]
        block = scan.parent
        assert block is not None
        block.insert_ops_before(self._made, scan)
        for old, new in zip(scan.results, results, strict=True):
            old.replace_all_uses_with(new)
        scan.detach()
        scan.erase()

    def _scanned(self, tiles: Sequence[SSAValue], *, is_strict: bool) -> list[SSAValue]:
        """What the elements before each one of its row combine to, with it unless strict."""
        rows, count = tile_type(tiles[0]).get_shape()
        if count <= _STEP:
            return self._of_pairs(tiles, is_strict=is_strict)
        blocks = count // _STEP
        parts = [self._shaped(each, (rows * blocks, _STEP)) for each in tiles]
        own = self._of_pairs(parts, is_strict=is_strict)
        sums = [self._shaped(each, (rows, blocks)) for each in self._reduced(parts)]
        before = self._scanned(sums, is_strict=True)
        column = (rows * blocks, 1)
        spread = [
            self._spread(self._shaped(each, column), (rows * blocks, _STEP)) for each in before
        ]
        both = self._combined(spread, own)
        return [self._shaped(each, (rows, count)) for each in both]

    def _combined(self, first: Sequence[SSAValue], second: Sequence[SSAValue]) -> list[SSAValue]:
        """Combines the elements of tiles as the scan does, those in the same place."""
        block = self._scan.regions[0].block
        shape = tile_type(first[0]).get_shape()
        pairs = [each for pair in zip(first, second, strict=True) for each in pair]
        becomes: dict[SSAValue, SSAValue] = dict(zip(block.args, pairs, strict=True))
        for operation in block.ops:
            operands = [
                becomes[each] if each in becomes else self._spread_number(each, shape)
                for each in operation.operands
            ]
            if isinstance(operation, YieldOp):
                return operands
            types = [tile_type(each) for each in operation.results]
            made = type(operation).create(
                operands=operands,
                result_types=[TileType(shape, each.element_type) for each in types],
                properties=operation.properties.copy(),
                attributes=operation.attributes.copy(),
            )
            if isinstance(operation, ConstantOp):
                numbers = cast("list[float]", list(operation.value.get_values()))
                made = ConstantOp.of(made.results[0].type, numbers)
            self._emit(made)
            becomes |= zip(operation.results, made.results, strict=True)
        raise AssertionError("the block of a scan ends with what it yields")

    def _spread_number(self, number: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A number from outside of the scan, for each element."""
        return self._spread(self._shaped(number, (1,) * len(shape)), shape)

    def _of_pairs(self, tiles: Sequence[SSAValue], *, is_strict: bool) -> list[SSAValue]:
        """The same by reductions of all pairs of elements of a row, masked."""
        rows, count = tile_type(tiles[0]).get_shape()
        cube, square = (rows, count, count), (count, count)
        line = self._emit(IotaOp(TileType((count,), i32)))
        element = self._spread(self._shaped(line, (count, 1)), square)
        other = self._spread(self._shaped(line, (1, count)), square)
        first, second = (element, other) if self._scan.reverse.value.data else (other, element)
        predicate = ComparisonPredicate.LESS_THAN
        if not is_strict:
            predicate = ComparisonPredicate.LESS_THAN_OR_EQUAL
        counts = self._emit(CmpIOp(predicate, first, second, signedness=Signedness.SIGNED))
        mask = self._spread(self._shaped(counts, (1, *square)), cube)
        masked: list[SSAValue] = []
        for tile, identity in zip(tiles, self._scan.identities.data, strict=True):
            all_pairs = self._spread(self._shaped(tile, (rows, 1, count)), cube)
            number = cast("Any", identity).value.data
            nothing = self._emit(ConstantOp.of(all_pairs.type, [number]))
            masked.append(self._emit(SelectOp(mask, all_pairs, nothing)))
        return self._reduced(masked)

    def _reduced(self, tiles: Sequence[SSAValue]) -> list[SSAValue]:
        """Combines along the last dimension as the scan does."""
        scan, last = self._scan, tile_type(tiles[0]).rank - 1
        operation = ReduceOp(tiles, last, scan.identities.data, scan.regions[0].clone())
        self._emit(operation)
        return list(operation.results)

    def _shaped(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        is_same = tuple(tile_type(tile).get_shape()) == tuple(shape)
        return tile if is_same else self._emit(ReshapeOp(tile, shape))

    def _spread(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        is_same = tuple(tile_type(tile).get_shape()) == tuple(shape)
        return tile if is_same else self._emit(BroadcastOp(tile, shape))

    def _permuted(self, tile: SSAValue, order: Sequence[int]) -> SSAValue:
        is_same = list(order) == list(range(len(order)))
        return tile if is_same else self._emit(PermuteOp(tile, order))
