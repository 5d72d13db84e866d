"""Compiles functions of Triton's dialects, which may branch between blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from typing_extensions import override
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.semantics.compiler import Body, Compiler, Step
from xtile.semantics.configuration import Configuration
from xtile.semantics.errors import ExecutionError
from xtile.semantics.state import State
from xtile.semantics.triton.promises import promising
from xtile.semantics.unspecified import FollowingCompiler, copy, reach
from xtile.semantics.upstream.unspecified import FollowingUpstream

_TRITON = ("amdg", "tt", "ttg")


class BranchingCompiler(Compiler):
    """Compiles regions of several blocks: a program has one condition, so it goes one way."""

    @override
    def region(self, region: Region) -> Body:
        if len(region.blocks) <= 1:
            return super().region(region)
        around = region.parent
        assert around is not None
        blocks = [self.block(block) for block in region.blocks]
        yields = next(
            (self.slots(end.operands) for end in map(_end, region.blocks) if not end.successors),
            (),
        )
        exits = [_Exit(block, region, self, yields) for block in region.blocks]

        def step(state: State) -> None:
            number = 0
            while number >= 0:
                blocks[number].run(state)
                number = exits[number].take(state)

        return Body([around], [step], yields)


def _end(block: Block) -> Operation:
    """The operation that says where control goes.

    Raises:
        ValueError: There is none.
    """
    if block.last_op is None:
        raise ValueError("a block needs an operation at its end that says where control goes")
    return block.last_op


class _Exit:
    """Where control goes from a block.

    Args:
        block: The block.
        region: The region that it is in.
        compiler: Compiles it.
        yields: Where what the region yields is put.
    """

    def __init__(
        self, block: Block, region: Region, compiler: Compiler, yields: tuple[int, ...]
    ) -> None:
        self._end = _end(block)
        self._condition: int | None = None
        self._ways: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
        given: Any = self._end
        match self._end.name:
            case "cf.br":
                passed: list[Sequence[SSAValue]] = [given.arguments]
            case "cf.cond_br":
                self._condition = compiler.slot(given.cond)
                passed = [given.then_arguments, given.else_arguments]
            case _ if not self._end.successors:
                self._ways.append((-1, compiler.slots(self._end.operands), yields))
                passed = []
            case name:
                raise ExecutionError(self._end, f"{name} cannot be executed")
        for target, values in zip(self._end.successors, passed, strict=True):
            number = region.blocks.index(target)
            self._ways.append((number, compiler.slots(values), compiler.slots(target.args)))

    def take(self, state: State) -> int:
        """Passes values on; returns the number of the next block, or -1 at the end."""
        way = self._ways[0]
        if self._condition is not None:
            reach(state, self._end, self._condition, "the condition")
            way = self._ways[0 if state.values[self._condition] else 1]
        number, sources, targets = way
        copy(state, sources, targets)
        return number


class _Following(BranchingCompiler, FollowingUpstream):
    sinks: ClassVar[Mapping[str, str]] = {
        **FollowingUpstream.sinks,
        "amdg.async_tdm_copy_global_to_local": "an index or a condition",
        "amdg.async_tdm_copy_local_to_global": "an index",
        "amdg.update_tensor_descriptor": "an offset, a bound or the condition of the descriptor",
        "tt.advance": "an offset of the pointer",
        "tt.assert": "the assertion",
        "tt.atomic_poll": "what is waited for",
        "tt.make_tensor_descriptor": "a pointer, size or stride of the descriptor",
        "tt.make_tensor_ptr": "a pointer, size, stride or offset of the pointer",
        "tt.print": "what is printed",
        "ttg.memdesc_index": "an index",
    }
    follow_themselves: ClassVar[frozenset[str]] = FollowingUpstream.follow_themselves | {
        "amdg.async_tdm_fused_copy_global_to_local",
        "amdg.async_tdm_gather",
        "amdg.async_tdm_scatter",
        "amdg.buffer_atomic_cas",
        "amdg.buffer_atomic_rmw",
        "amdg.buffer_load",
        "amdg.buffer_load_to_local",
        "amdg.buffer_store",
        "amdg.masked_load",
        "amdg.masked_store",
        "tt.atomic_cas",
        "tt.atomic_load",
        "tt.atomic_rmw",
        "tt.atomic_store",
        "tt.call",
        "tt.descriptor_gather",
        "tt.descriptor_load",
        "tt.descriptor_reduce",
        "tt.descriptor_scatter",
        "tt.descriptor_store",
        "tt.load",
        "tt.store",
        "ttg.async_copy_global_to_local",
        "ttg.warp_specialize",
    }

    @override
    def following(self, operation: Operation, step: Step) -> Step:
        step = promising(operation, self, step)
        if operation.dialect_name() in _TRITON:
            return FollowingCompiler.following(self, operation, step)
        return super().following(operation, step)


def compiler_for(configuration: Configuration, is_observed: bool) -> Compiler:
    """What compiles a function."""
    kind = _Following if is_observed else BranchingCompiler
    return cast("Compiler", kind(configuration, is_observed))
