"""Tensors of pointers become one pointer and a tensor of offsets, through loops too.

Every access then reads `tt.addptr (tt.splat %base), %offsets`, where what is the same for all
elements is in `%base`, so that loops move a number and no tensor. Nothing has a layout yet.

As everywhere in Triton, index computations are taken not to wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.triton.amdg.offsets import MOST_BYTES
from xtile.dialects.triton.operation import element_of, width_of, with_element
from xtile.dialects.triton.tt.ops import AddPtrOp, FuncOp, SplatOp
from xtile.dialects.triton.tt.types import PointerType
from xtile.rewrite.rebuilder import Rebuilder, RuleTable, again, copy
from xtile.text.source import source_of
from xtile.text.value_names import copy_name
from xtile.translate.triton_to_amdg.blocked import bytes_of
from xtile.translate.triton_to_amdg.bounds import Bounds, small_arguments


class Parts(NamedTuple):
    """An integer tensor as a sum.

    Attributes:
        uniform: The number that is added to all elements; None for nothing.
        varying: What is left of each; None for nothing.
    """

    uniform: SSAValue | None
    varying: SSAValue | None


@dataclass(frozen=True)
class Pointers:
    """A tensor of pointers.

    Attributes:
        base: The pointer that all of them begin with.
        uniform: What is added to all, in elements; None for nothing.
        offsets: What is added to each; None for nothing.
        type: The type of the tensor.
    """

    base: SSAValue
    uniform: SSAValue | None
    offsets: SSAValue | None
    type: Attribute


def split_pointers(module: ModuleOp) -> ModuleOp:
    """A module in which tensors of pointers are a pointer with offsets wherever that is known."""
    return _Splitting(module).module(module)


class _Splitting(Rebuilder):
    """Rebuilds functions with pointers taken apart."""

    def __init__(self, module: ModuleOp) -> None:
        super().__init__(_RULES, "Triton", source_of(module))
        self.bounds = Bounds()
        self.small: set[SSAValue] = set()
        """The arguments whose memory is promised to end within 2 GB."""

    @override
    def value(self, old: SSAValue) -> SSAValue:
        found: Any = self.meaning(old)
        return self._joined(found) if isinstance(found, Pointers) else found

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(value) for value in old]

    def pointers(self, old: SSAValue) -> Pointers | None:
        """The parts of a tensor of pointers; None where it was never taken apart."""
        found = self.meaning(old)
        return found if isinstance(found, Pointers) else None

    def pure(self, kind: Callable[..., Operation], *operands: SSAValue | Attribute) -> SSAValue:
        """The result of an operation without effects, as far out as its operands allow."""
        values = [each for each in operands if isinstance(each, SSAValue)]
        return self.shared((kind, *operands), values, lambda: self.emit(kind(*operands)).results[0])

    def _joined(self, pointers: Pointers) -> SSAValue:
        """A tensor of pointers of its parts, in the way in which its access can be a buffer's."""
        base, uniform, offsets = pointers.base, pointers.uniform, pointers.offsets
        if uniform is not None and offsets is not None and self._must_be_added(pointers):
            splat = self.pure(SplatOp, uniform, with_element(offsets.type, uniform.type))
            offsets = self.sum(splat, offsets, is_small=True)
        elif uniform is not None:
            base = self.pure(AddPtrOp, base, uniform)
        splat = self.pure(SplatOp, base, pointers.type)
        return splat if offsets is None else self.pure(AddPtrOp, splat, offsets)

    def _must_be_added(self, pointers: Pointers) -> bool:
        """Whether only the whole offset is known to be one of the memory that the base begins.

        What is promised is that whole offsets lie within 2 GB. Parts of them do if neither is
        negative, or if what there is for each element is small enough by itself.
        """
        assert pointers.uniform is not None
        assert pointers.offsets is not None
        if pointers.base not in self.small:
            return False
        if all(map(self.bounds.is_not_negative, (pointers.uniform, pointers.offsets))):
            return False
        return not is_in_reach(pointers.offsets, pointers.type, self.bounds)

    # --- numbers ---

    def sum(self, a: SSAValue | None, b: SSAValue | None, *, is_small: bool) -> SSAValue | None:
        """The sum of two offsets, in 32 bits where that is exact and in 64 elsewhere.

        Args:
            a: A number or a tensor; None for nothing.
            b: Another one.
            is_small: Whether it is promised that the sum has 32 bits.
        """
        if a is None or b is None:
            return b if a is None else a
        low, high = (sum(ends) for ends in zip(self.bounds.of(a), self.bounds.of(b), strict=True))
        is_narrow = is_small or -(2**31) <= low <= high < 2**31
        element = i32 if is_narrow else i64
        return self.pure(arith.AddiOp, self.cast(a, element), self.cast(b, element))

    def cast(self, value: SSAValue, element: IntegerType) -> SSAValue:
        """A signed number, or a tensor of them, with so many bits."""
        before, after = width_of(element_of(value.type)) or 0, element.width.data
        if before == after:
            return value
        kind = arith.ExtSIOp if before < after else arith.TruncIOp
        return self.pure(kind, value, with_element(value.type, element))

    def parts(self, old: SSAValue) -> Parts:
        """What all elements of an integer tensor have in common, and the rest."""
        owner = old.owner
        rule = None if isinstance(owner, Block) else _PARTS.get(owner.name)
        found = None if rule is None else rule(owner, self)
        return found or Parts(None, self.value(old))


def is_in_reach(offsets: SSAValue, pointers: Attribute, bounds: Bounds) -> bool:
    """Whether offsets in elements are certainly those of a buffer."""
    pointee = element_of(pointers)
    assert isinstance(pointee, PointerType)
    low, high = bounds.of(offsets)
    return low >= 0 and (high + 1) * bytes_of(pointee) <= MOST_BYTES


# --- sums ---


def _of_splat(operation: Any, splitting: _Splitting) -> Parts:
    return Parts(splitting.value(operation.operands[0]), None)


def _of_constant(operation: Operation, splitting: _Splitting) -> Parts | None:
    value = operation.properties["value"]
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return None
    element: Any = element_of(operation.results[0].type)
    number = IntegerAttr(int(value.get_values()[0]), element)
    return Parts(splitting.pure(arith.ConstantOp, number), None)


def _of_sum(operation: Operation, splitting: _Splitting) -> Parts:
    a, b = map(splitting.parts, operation.operands)

    def added(x: SSAValue | None, y: SSAValue | None) -> SSAValue | None:
        if x is None or y is None:
            return y if x is None else x
        return splitting.pure(arith.AddiOp, x, y)

    return Parts(added(a.uniform, b.uniform), added(a.varying, b.varying))


def _of_product(operation: Operation, splitting: _Splitting) -> Parts | None:
    a, b = map(splitting.parts, operation.operands)
    if a.varying is None:
        a, b = b, a
    if b.varying is not None or b.uniform is None:
        return None
    factor = b.uniform

    def scaled(x: SSAValue | None) -> SSAValue | None:
        if x is None:
            return None
        is_tensor = isinstance(x.type, TensorType)
        by = splitting.pure(SplatOp, factor, x.type) if is_tensor else factor
        return splitting.pure(arith.MuliOp, x, by)

    return Parts(scaled(a.uniform), scaled(a.varying))


def _of_extension(operation: Operation, splitting: _Splitting) -> Parts:
    result: Any = element_of(operation.results[0].type)
    found = splitting.parts(operation.operands[0])
    return Parts(*(None if each is None else splitting.cast(each, result) for each in found))


def _of_other_shape(operation: Operation, splitting: _Splitting) -> Parts:
    uniform, varying = splitting.parts(operation.operands[0])
    if varying is None:
        return Parts(uniform, None)
    return Parts(uniform, _in_other_shape(operation, varying, splitting))


def _in_other_shape(operation: Operation, value: SSAValue, splitting: _Splitting) -> SSAValue:
    """What a broadcast and its like makes of another tensor of the shape of its operand."""
    type_ = with_element(operation.results[0].type, element_of(value.type))

    def make() -> SSAValue:
        made = again(operation, [value], [type_])
        return splitting.emit(made).results[0]

    return splitting.shared((operation, value), [value], make)


_PARTS: dict[str, Callable[[Any, _Splitting], Parts | None]] = {
    "arith.addi": _of_sum,
    "arith.constant": _of_constant,
    "arith.extsi": _of_extension,
    "arith.muli": _of_product,
    "tt.broadcast": _of_other_shape,
    "tt.expand_dims": _of_other_shape,
    "tt.splat": _of_splat,
}
"""How sums are taken apart, by the operation that makes them."""


# --- operations ---


def _function(function: FuncOp, splitting: _Splitting) -> None:
    regions: list[Region] = []
    if len(function.body.blocks) == 1:
        old = function.body.block
        block = splitting.new_block(old, [argument.type for argument in old.args])
        small = small_arguments(function)
        splitting.small = {
            new for new, argument in zip(block.args, old.args, strict=True) if argument in small
        }
        for argument, before in zip(block.args, old.args, strict=True):
            copy_name(argument, before)
        with splitting.in_function(block):
            splitting.translate_block(old)
        regions.append(Region(block))
    else:
        # Blocks that jump to each other keep their pointers as they are.
        splitting.emit(function.clone())
        return
    made = again(function, regions=regions)
    splitting.emit(made)


def _splat(operation: Any, splitting: _Splitting) -> None:
    result = operation.results[0]
    if not isinstance(element_of(result.type), PointerType):
        copy(operation, splitting)
        return
    base, uniform = _scalar(operation.operands[0], splitting)
    splitting.define(result, Pointers(base, uniform, None, result.type))


def _scalar(old: SSAValue, splitting: _Splitting) -> tuple[SSAValue, SSAValue | None]:
    """The argument that a pointer begins with, and what is added to that."""
    owner = old.owner
    if not isinstance(owner, AddPtrOp):
        return splitting.value(old), None
    base, uniform = _scalar(owner.ptr, splitting)
    added = splitting.value(owner.offset)
    return base, splitting.sum(uniform, added, is_small=False)


def _addptr(operation: AddPtrOp, splitting: _Splitting) -> None:
    pointers = splitting.pointers(operation.ptr)
    if pointers is None:
        copy(operation, splitting)
        return
    uniform, varying = splitting.parts(operation.offset)
    is_small = pointers.base in splitting.small
    new = replace(
        pointers,
        uniform=splitting.sum(pointers.uniform, uniform, is_small=is_small),
        offsets=splitting.sum(pointers.offsets, varying, is_small=is_small),
    )
    splitting.define(operation.result, new)


def _reshaped(operation: Any, splitting: _Splitting) -> None:
    pointers = splitting.pointers(operation.operands[0])
    if pointers is None:
        copy(operation, splitting)
        return
    offsets = pointers.offsets
    new = None if offsets is None else _in_other_shape(operation, offsets, splitting)
    splitting.define(
        operation.results[0], replace(pointers, offsets=new, type=operation.results[0].type)
    )


def _for(loop: scf.ForOp, splitting: _Splitting) -> None:
    """A loop: of pointers that all move by the same number, that number is carried."""
    variable, *carried = loop.body.block.args
    last = loop.body.block.last_op
    assert last is not None
    moved = {
        index: pointers
        for index, (argument, first) in enumerate(zip(carried, loop.iter_args, strict=True))
        if (pointers := splitting.pointers(first)) is not None
        and _moves_as_one(last.operands[index], argument)
    }
    firsts = [
        _uniform(moved[index], splitting) if index in moved else splitting.value(first)
        for index, first in enumerate(loop.iter_args)
    ]
    block = Block(arg_types=[variable.type, *(first.type for first in firsts)])
    splitting.define(variable, block.args[0])
    for index, (old, new) in enumerate(zip(carried, block.args[1:], strict=True)):
        copy_name(new, old)
        is_moved = index in moved
        splitting.define(old, replace(moved[index], uniform=new) if is_moved else new)
    with splitting.at_end_of(block):
        for operation in loop.body.block.ops:
            if operation is not last:
                splitting.translate(operation)
        yielded = [
            _carried(index in moved, old, splitting) for index, old in enumerate(last.operands)
        ]
        splitting.emit(scf.YieldOp(*yielded))
    made = splitting.emit(
        again(
            loop,
            [*splitting.values((loop.lb, loop.ub, loop.step)), *firsts],
            [first.type for first in firsts],
            regions=[Region(block)],
        )
    )
    for index, (old, new) in enumerate(zip(loop.results, made.results, strict=True)):
        splitting.define(old, replace(moved[index], uniform=new) if index in moved else new)


def _uniform(pointers: Pointers, splitting: _Splitting) -> SSAValue:
    """What is added to all pointers, with as many bits in each iteration of a loop."""
    element = i32 if pointers.base in splitting.small else i64
    if pointers.uniform is not None:
        return splitting.cast(pointers.uniform, element)
    return splitting.pure(arith.ConstantOp, IntegerAttr(0, element))


def _carried(is_moved: bool, old: SSAValue, splitting: _Splitting) -> SSAValue:
    if not is_moved:
        return splitting.value(old)
    pointers = splitting.pointers(old)
    assert pointers is not None
    return _uniform(pointers, splitting)


def _moves_as_one(value: SSAValue, argument: SSAValue) -> bool:
    """Whether a tensor of pointers is another one with the same number added to all."""
    while value is not argument:
        owner = value.owner
        if not isinstance(owner, AddPtrOp) or not _is_uniform(owner.offset):
            return False
        value = owner.ptr
    return True


def _is_uniform(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        return False
    if owner.name in ("arith.addi", "arith.extsi", "arith.muli", "tt.broadcast", "tt.expand_dims"):
        return all(map(_is_uniform, owner.operands))
    return owner.name == "tt.splat" or (
        owner.name == "arith.constant"
        and isinstance(owner.properties["value"], DenseIntOrFPElementsAttr)
        and owner.properties["value"].is_splat()
    )


_RULES = RuleTable(
    {
        "scf.for": _for,
        "tt.addptr": _addptr,
        "tt.broadcast": _reshaped,
        "tt.expand_dims": _reshaped,
        "tt.func": _function,
        "tt.splat": _splat,
    },
    otherwise=copy,
    keeps_rounding=True,
)
