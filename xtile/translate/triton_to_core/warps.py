"""What programs do with their warps: regions for some of them, barriers and hints.

A program is one here: the regions of its warps follow each other, so that none may wait for a later
one, and barriers between them are nothing.

Source: Triton 3.9, `TritonGPUOps.td`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.triton.ttg.ops import MaskOp, PredicateStageOp, WarpSpecializeOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.local_memory import forget
from xtile.translate.triton_to_core.raising import Raising


def _warp_specialize(operation: WarpSpecializeOp, raising: Raising) -> None:
    partitions = operation.partitions
    assert partitions is not None
    captures = partitions.operands or operation.operands
    given = [raising.meaning(capture) for capture in captures]
    for was, meaning in zip(
        operation.results, _results(operation.defaultRegion.block, raising), strict=True
    ):
        raising.define(was, meaning)
    for region in partitions.regions:
        for argument, meaning in zip(region.block.args, given, strict=True):
            raising.define(argument, meaning)
        _results(region.block, raising)


def _results(block: Block, raising: Raising) -> list[object]:
    """Translates a block where it stands; returns what its last operation hands on has become."""
    last = block.last_op
    assert last is not None
    for operation in block.ops:
        if operation is not last:
            raising.translate(operation)
    return [raising.meaning(value) for value in last.operands]


def _mask(operation: MaskOp, raising: Raising) -> None:
    types = raising.types(operation.results)
    regions: list[Region] = []
    for is_run in (True, False):
        block = Block()
        with raising.at_end_of(block):
            if is_run:
                _results(operation.region.block, raising)
                last = operation.region.block.last_op
                assert last is not None
                values = raising.values(last.operands)
            else:
                values = [raising.poison(type_) for type_ in types]
            raising.emit(scf.YieldOp(*values))
        regions.append(Region(block))
    then, otherwise = regions
    raising.replace(operation, scf.IfOp(raising.value(operation.pred), types, then, otherwise))


def _predicate_stage(operation: PredicateStageOp, raising: Raising) -> None:
    """Whether this iteration, and those of later stages, are below the upper bound."""
    iv, bound, step = raising.values((operation.iv, operation.ub, operation.step))
    later = operation.maxStage.value.data - operation.stage.value.data
    count = raising.constant(later, step.type)
    distance = raising.compute(arith.MuliOp, [step, count], step.type)
    last = raising.compute(arith.SubiOp, [bound, distance], step.type)
    raising.define(operation.result, raising.compare("slt", iv, last))


def _any_number(operation: Operation, raising: Raising) -> None:
    """Which lane or warp this is, which only what concerns some of them asks."""
    result: SSAValue = operation.results[0]
    raising.define(result, raising.constant(0, raising.type(result.type)))


RULES: dict[str, Rule] = {
    "amdg.cond_barrier": forget,
    "amdg.instruction_sched_hint": forget,
    "gpu.barrier": forget,
    "rocdl.s.setprio": forget,
    "rocdl.sched.barrier": forget,
    "rocdl.workitem.id.x": _any_number,
    "ttg.barrier": forget,
    "ttg.mask": _mask,
    "ttg.predicate_stage": _predicate_stage,
    "ttg.warp_id": _any_number,
    "ttg.warp_specialize": _warp_specialize,
}
"""The rule of each operation, by name."""
