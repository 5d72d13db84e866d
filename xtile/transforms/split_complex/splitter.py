"""Rebuilds kernels with complex numbers that are their two parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from typing_extensions import override
from xdsl.dialects import complex
from xdsl.dialects.builtin import AnyFloat, ComplexType
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.rewrite.complex_arithmetic import Complex, Real
from xtile.rewrite.emitter import Emitter
from xtile.text.value_names import give_name
from xtile.transforms.split_complex import CARRYING

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class _Whole(Complex):
    """A complex number that an operation gives or a function gets, and its parts."""

    value: SSAValue


class Splitter(Emitter):
    """Rebuilds kernels. A complex number becomes a `Complex`, everything else one value."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.blocks: dict[Block, Block] = {}

    @override
    def shared(
        self, key: Hashable, operands: Iterable[SSAValue], make: Callable[[], ResultT]
    ) -> ResultT:
        """What `make` emits here, or has emitted before here or around here.

        Functions may have several blocks, so that nothing moves out of the current one.
        """
        return self.reused(key, make)

    # --- complex numbers ---

    def number(self, old: SSAValue) -> Complex:
        """The parts of a complex number of the source."""
        return cast(Complex, self.meaning(old))

    def join(self, number: Complex) -> SSAValue:
        """A complex number as one value."""
        if isinstance(number, _Whole):
            return number.value
        parts, type_ = (number.real.value, number.imaginary.value), ComplexType(number.part)
        return self.shared(
            ("complex", *parts),
            parts,
            lambda: self.emit(complex.CreateOp(*parts, type_)).complex,
        )

    def from_parts(self, real: SSAValue, imaginary: SSAValue) -> Complex:
        """A complex number by the values of its parts."""
        return Complex(Real(real, self), Real(imaginary, self))

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning = self.meaning(old)
        return self.join(meaning) if isinstance(meaning, Complex) else meaning

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(value) for value in old]

    @override
    def define(self, old: SSAValue, new: Any) -> None:
        if isinstance(old.type, ComplexType) and isinstance(new, SSAValue):
            new = self._apart(cast(SSAValue, new), old.name_hint)
        if isinstance(new, Complex) and old.name_hint is not None:
            for part, suffix in ((new.real, "re"), (new.imaginary, "im")):
                if part.value.name_hint is None:
                    give_name(part.value, f"{old.name_hint}_{suffix}")
        super().define(old, new)

    def _apart(self, whole: SSAValue, name: str | None) -> Complex:
        give_name(whole, name)
        (part,) = {*flat_type(whole.type)}
        real, imaginary = (
            Real(self.emit(kind.build(operands=[whole], result_types=[part])).results[0], self)
            for kind in (complex.ReOp, complex.ImOp)
        )
        return _Whole(real, imaginary, whole)

    # --- values that become two ---

    def flat_types(self, old: Iterable[SSAValue]) -> list[Attribute]:
        """The types of what values become, one after the other."""
        return [each for value in old for each in flat_type(value.type)]

    def flat(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """What values have become, one after the other."""
        result: list[SSAValue] = []
        for value in old:
            meaning = self.meaning(value)
            is_number = isinstance(meaning, Complex)
            result += [meaning.real.value, meaning.imaginary.value] if is_number else [meaning]
        return result

    def define_flat(self, old: Iterable[SSAValue], new: Iterable[SSAValue]) -> None:
        """Records what values have become, from all of it one after the other."""
        remaining = iter(new)
        for value in old:
            first = next(remaining)
            is_number = isinstance(value.type, ComplexType)
            self.define(value, self.from_parts(first, next(remaining)) if is_number else first)

    # --- regions ---

    @override
    def region(self, old: Region) -> Region:
        around = old.parent_op()
        is_carrying = around is not None and around.name in CARRYING
        order = _reachable(old)
        for block in order:
            given = [argument.type for argument in block.args]
            self.blocks[block] = Block(
                arg_types=self.flat_types(block.args) if is_carrying else given
            )
        for block in order:
            with self.at_end_of(self.blocks[block]) as new:
                if is_carrying:
                    self.define_flat(block.args, new.args)
                else:
                    self.define_each(block.args, new.args)
                self.translate_block(block)
        return Region([self.blocks[block] for block in order])

    def define_each(self, old: Iterable[SSAValue], new: Iterable[SSAValue]) -> None:
        """Records what values have become, each of which is one."""
        for was, becomes in zip(old, new, strict=True):
            self.define(was, becomes)


def flat_type(type_: Attribute) -> list[Attribute]:
    """The types of what a value becomes."""
    if isinstance(type_, ComplexType):
        return [cast("ComplexType[AnyFloat]", type_).element_type] * 2
    return [type_]


def _reachable(region: Region) -> Sequence[Block]:
    """The blocks that are ever executed, each after those that give it values."""
    found: dict[Block, None] = {}
    waiting = [] if region.blocks.first is None else [region.blocks.first]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found[block] = None
            last = block.last_op
            waiting += () if last is None else reversed(last.successors)
    return list(found)
