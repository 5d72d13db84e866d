"""Modules and kernels: signatures, the sizes of the launch, and promises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.arguments import (
    promises_of,
)
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    KernelSignature,
    Piece,
    Role,
    own_signature,
    source_signature,
)
from xtile.dialects.core.source_promises import PROMISES
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.tensorlang.ops.arithmetic import LessThanOp
from xtile.dialects.tensorlang.ops.collective import ParallelOp
from xtile.dialects.tensorlang.ops.function import FuncOp as TensorlangFuncOp
from xtile.dialects.tensorlang.types import (
    DYNAMIC,
    SIZE_IN_BYTES,
    GroupType,
    MemrefType,
    type_text,
)
from xtile.dialects.walk import walk
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import copy_name
from xtile.translate.core_to_tensorlang import RULES as RULES_OF_LEVEL
from xtile.translate.core_to_tensorlang.gpu import fits, linear_work_item
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.memory import Group, Memory, Pointer, Root, whole
from xtile.translate.core_to_tensorlang.types import (
    group_type,
    is_group,
    is_memref,
    memory_type,
    memref_of,
    memref_type,
    scalar_type,
    strided,
)
from xtile.translate.core_to_tensorlang.views import allocate

_DEFAULT_SUBGROUP_SIZE = 16
"""The work-items of a subgroup where a kernel does not say, which GPUs and the language have."""


def _module(operation: ModuleOp, r: Lowering) -> None:
    r.translate_block(operation.body.block)


def _function(function: FuncOp, r: Lowering) -> None:
    if not function.is_kernel:
        raise r.error(f"@{function.sym_name.data} is never launched: write 'kernel'")
    level = level_of(function)
    r.level = Level.LANE if level is None else level
    with r.using(RULES_OF_LEVEL[r.level]):
        _translate(function, r)


def _translate(function: FuncOp, r: Lowering) -> None:
    _read_sizes(function, r)
    body = Block()
    with r.in_function(body):
        r.outside = body
        for argument in function.arguments:
            _add_parameter(argument, body, r)
        if r.level in (Level.BLOCK, Level.TILE):
            _local_memory(function, r)
            r.translate_block(function.body.block)
        else:
            inside = Block()
            with r.in_spmd(inside):
                _local_memory(function, r)
                _by_those_that_count(function, r)
            r.emit(ParallelOp(Region([inside])))
    r.emit(_made(function, body, r))


def _by_those_that_count(function: FuncOp, r: Lowering) -> None:
    """What each work-item does, without those that only fill the last subgroup."""
    if not r.surplus:
        r.translate_block(function.body.block)
        return
    assert r.block_size is not None
    count = r.index(math.prod(r.block_size))
    is_one = r.pure(LessThanOp, linear_work_item(r), count)

    def work() -> Values:
        r.translate_block(function.body.block)
        return ()

    r.if_(is_one, work)


def _local_memory(function: FuncOp, r: Lowering) -> None:
    """What the kernel gets as memory of the work-group, or of each work-item."""
    for buffer in (*function.workgroup_buffers, *function.private_buffers):
        r.define(buffer, allocate(r, memref_of(buffer.type), None, buffer.name_hint))


# --- sizes of the launch ---


def _read_sizes(function: FuncOp, r: Lowering) -> None:
    size = function.attributes.get(SUBGROUP_SIZE_ATTRIBUTE)
    given = function.known_block_size
    r.subgroup_size = cast("IntegerAttr[Any]", size).value.data if size is not None else None
    r.block_size, r.surplus = None, 0
    if r.level is Level.TILE:
        r.subgroup_size = None
        return
    if given is not None:
        x, y, z = (int(number) for number in cast(Any, given).get_values())
        r.block_size = (x, y, z)
    if r.level is Level.BLOCK:
        return
    r.subgroup_size = r.subgroup_size or _DEFAULT_SUBGROUP_SIZE
    if r.block_size is None:
        r.remark(
            "the kernel has no known_block_size, so that the function has the work-group that its "
            "compiler chooses",
            function,
        )
        return
    count = math.prod(r.block_size)
    r.surplus = -count % r.subgroup_size
    if r.surplus and any(_needs_all(each) for each in walk(function)):
        raise r.error(
            "a work-group of the tensor language consists of whole subgroups; "
            f"{count} work-items are none of {r.subgroup_size}"
        )


def _needs_all(operation: Operation) -> bool:
    """Whether work-items do an operation together."""
    return operation.name in ("gpu.barrier", "gpu.shuffle") or "subgroup" in operation.name


def _work_group_size(r: Lowering) -> tuple[int, int] | None:
    block = r.block_size
    if block is None:
        return None
    fits_as_it_is = fits(block, r.subgroup_size) and not r.surplus
    return block[:2] if fits_as_it_is else (math.prod(block) + r.surplus, 1)


# --- parameters ---


def _add_parameter(old: BlockArgument, body: Block, r: Lowering) -> None:
    try:
        new = body.insert_arg(_parameter_type(old.type), len(body.args))
    except ValueError as error:
        raise r.error(f"parameter %{old.name_hint or old.index}: {error}") from None
    copy_name(new, old)
    r.define(old, _meaning(old, new))


def _parameter_type(type_: Attribute) -> Attribute:
    pointer = pointer_of(type_)
    if pointer is not None:
        return strided(memory_type(pointer.pointee_type), [DYNAMIC], [1])
    if is_group(type_):
        return group_type(memref_of(type_))
    if is_memref(type_):
        return memref_type(memref_of(type_))
    return scalar_type(type_)


def _meaning(old: BlockArgument, new: SSAValue) -> SSAValue | Memory | Group | Pointer:
    pointer = pointer_of(old.type)
    if pointer is not None:
        return Pointer(Root(new, pointer.pointee_type), 0)
    if is_group(old.type):
        entry = memref_of(memref_of(old.type).element_type)
        return Group(new, entry.element_type, layout_of(entry).sizes)
    if is_memref(old.type):
        type_, layout = memref_of(old.type), layout_of(memref_of(old.type))
        memory = whole(
            new, type_.element_type, layout.sizes, is_packed=type_.layout.name == "builtin.none"
        )
        return memory if layout.offset in (0, None) else _moved(memory, layout.offset)
    return new


def _moved(memory: Memory, offset: int) -> Memory:
    raise ValueError(
        f"a parameter of the tensor language begins at its first element, and not {offset} behind"
    )


# --- the function ---


def _made(function: FuncOp, body: Block, r: Lowering) -> TensorlangFuncOp:
    source = source_signature(function)
    signature = source or own_signature(function, "core", len(function.arguments))
    signature = signature.relying_on(function)
    pieces = [piece for each in signature.parameters for piece in each.becomes]
    turned = [_turned(*pair) for pair in zip(pieces, body.args, strict=True)]
    signature = signature.split(lambda number, piece: [turned[number]])
    is_same = _is_the_source(signature, body)
    promises = [_promises(function, index, argument, r) for index, argument in enumerate(body.args)]
    made = TensorlangFuncOp(
        _name(function.sym_name.data),
        body=Region([body]),
        subgroup_size=r.subgroup_size,
        work_group_size=_work_group_size(r),
    )
    if any(promises):
        made.parameter_attributes = ArrayAttr(DictionaryAttr(dict(each)) for each in promises)
    if not is_same:
        made.attributes[SIGNATURE_ATTRIBUTE] = signature.attribute()
    checks = function.attributes.get(CHECKS_ATTRIBUTE)
    if checks is not None:
        made.attributes[CHECKS_ATTRIBUTE] = _written(checks)
    return made


def _name(name: str) -> str:
    """A name as the text has it: a letter, then letters, digits and underscores."""
    bare = re.sub(r"[^A-Za-z0-9_]", "_", name).lstrip("_")
    return bare if bare[:1].isalpha() else f"kernel_{bare}"


def _written(checks: Attribute) -> Attribute:
    """Launch checks in numbers that the text has, which end at -2^63 + 1."""
    if isa(checks, ArrayAttr[Attribute]):
        return ArrayAttr(map(_written, checks.data))
    if isa(checks, IntegerAttr) and checks.value.data == -(1 << 63):
        return IntegerAttr(1 - (1 << 63), i64)
    return checks


def _turned(piece: Piece, argument: BlockArgument) -> Piece:
    """What an argument is, whose modes are counted from the other end."""
    if piece.role is Role.MEMREF:
        return Piece(Role.MEMREF, tuple(reversed(piece.modes)))
    if piece.role is Role.POINTER and isinstance(argument.type, MemrefType):
        return Piece(Role.ELEMENTS)
    return piece


def _is_the_source(signature: KernelSignature, body: Block) -> bool:
    """Whether the function has the parameters of its source, which then needs no words."""
    if signature.language != "tensorlang":
        return False
    arguments = iter(body.args)
    for parameter in signature.parameters:
        own = [next(arguments) for _ in parameter.becomes]
        type_: Attribute = own[0].type
        modes = type_.memref_type if isinstance(type_, GroupType) else type_
        order = range(modes.order) if isinstance(modes, MemrefType) else ()
        if len(own) != 1 or parameter.type != type_text(type_):
            return False
        if parameter.becomes[0].modes != tuple(order):
            return False
    return True


_PROMISES = {of_core: name for name, of_core in PROMISES.items()}
"""What the tensor language calls what core promises."""


def _promises(
    function: FuncOp, index: int, argument: BlockArgument, r: Lowering
) -> Mapping[str, Attribute]:
    """What is promised of a parameter, with divisors for the contiguous mode first."""
    own: Attribute = argument.type
    type_ = own.memref_type if isinstance(own, GroupType) else own
    if not isinstance(type_, MemrefType):
        return {}
    promised: dict[str, Attribute] = {}
    for name, attribute in promises_of(function, index).items():
        if name not in _PROMISES:
            continue
        if isa(attribute, IntegerAttr):
            if attribute.value.data % SIZE_IN_BYTES[type_.element_type] == 0:
                promised[_PROMISES[name]] = attribute
        elif isa(attribute, DenseArrayBase):
            divisors = [int(each) for each in cast(Any, attribute).get_values()][::-1]
            while divisors and divisors[-1] == 1:
                divisors.pop()
            if divisors:
                numbers = [IntegerAttr(each, i64) for each in divisors]
                promised[_PROMISES[name]] = ArrayAttr(numbers)
    return promised


def _return(operation: Operation, r: Lowering) -> None:
    """A function of the tensor language ends with its region."""


def _global(operation: Operation, r: Lowering) -> None:
    """A variable of a module is refused where it is used."""


def _called(operation: Operation, r: Lowering) -> None:
    """A function that kernels call is refused where it is called."""


def _call(operation: Operation, r: Lowering) -> None:
    raise r.error("the tensor language has no calls; write what the function does here")


RULES: dict[str, Rule] = {
    "func.call": _call,
    "func.func": _called,
    "gpu.func": _function,
    "gpu.module": _module,
    "gpu.return": _return,
    "memref.global": _global,
}
"""The rule of each operation, by name."""
