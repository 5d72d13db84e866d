"""What the rules share: types, constants, and vectors of other shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.cuda_tile.ops.core import ConstantOp
from xtile.dialects.cuda_tile.types import TileType
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.translate.cuda_tile_to_core.types import core_type, is_token


class Raising(TileEmitter):
    """Builds kernels at level "tile"."""

    # --- types and values ---

    def type(self, type_: Attribute) -> Attribute:
        """What a type becomes.

        Raises:
            DiagnosticError: Nothing, at the operation that is being translated.
        """
        try:
            return core_type(type_)
        except ValueError as error:
            raise self.error(str(error)) from None

    def types(self, old: Iterable[SSAValue]) -> list[Attribute]:
        """The types of what values become; tokens become nothing."""
        return [self.type(value.type) for value in old if not is_token(value)]

    def kept(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """What values have become; tokens have become nothing."""
        return [self.value(value) for value in old if not is_token(value)]

    def define_kept(self, old: Iterable[SSAValue], new: Iterable[SSAValue]) -> None:
        """Records what values have become, but for tokens."""
        kept = [value for value in old if not is_token(value)]
        for was, becomes in zip(kept, new, strict=True):
            self.define(was, becomes)

    def opened(self, old: Block, extra: Sequence[Attribute] = ()) -> Block:
        """A block whose arguments are what those of another have become, and some more."""
        types = self.types(old.args)
        block = Block(arg_types=[*types, *extra])
        self.define_kept(old.args, block.args[: len(types)])
        return block

    def optional(self, old: SSAValue | None) -> SSAValue | None:
        """What a value has become, if there is one."""
        return None if old is None else self.value(old)

    def old_module(self) -> Operation:
        """The module of the source that holds the operation that is being translated."""
        around = self.old_function().parent_op()
        assert around is not None
        return around

    # --- indices ---

    def number(self, old: SSAValue, *, is_signed: bool = False) -> Index:
        """An integer of the source as an index; a number if it is a constant.

        Args:
            old: A tile without dimensions.
            is_signed: Whether its highest bit is a sign.
        """
        constant = constant_of(old)
        if constant is not None:
            assert isinstance(old.type, TileType)
            width = getattr(old.type.element_type, "bitwidth", 64)
            return constant if is_signed else constant % (1 << width)
        return self.as_index(self.value(old), is_signed=is_signed)


def constant_of(old: SSAValue) -> int | None:
    """The integer that a tile of the source without dimensions is, if it is a constant."""
    operation = old.owner
    if not isinstance(operation, ConstantOp) or shape_of_tile(old):
        return None
    (number,) = cast("Any", operation.value).get_values()
    return int(number)


def shape_of_tile(old: SSAValue) -> tuple[int, ...]:
    """The shape of a tile of the source."""
    assert isinstance(old.type, TileType)
    return old.type.get_shape()
