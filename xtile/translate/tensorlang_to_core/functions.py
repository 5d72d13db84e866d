"""Functions, and the sizes of their launch.

A function becomes a `gpu.func` with `core.level = "block"`. Its parameters stay in their order; a
group with a dynamic offset is followed by that offset, an `index` in elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from xtile.dialects.core.arguments import (
    NOALIAS_ATTRIBUTE,
)
from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level
from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    KernelSignature,
    Piece,
    Role,
    SourceParameter,
    source_signature,
)
from xtile.dialects.core.source_promises import promised
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.tensorlang.ops import function as ops
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType, MemrefType, type_text
from xtile.dialects.tensorlang.verifier.constants import integer_list, positive_integer
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.text.value_names import copy_name, give_name, unique_names
from xtile.translate.tensorlang_to_core.types import core_type

SUBGROUP_SIZE_ATTRIBUTE = "intel_reqd_sub_group_size"
"""The attribute of a `gpu.func` that says how many work-items a subgroup has."""


@dataclass(frozen=True)
class Group:
    """A translated group.

    Attributes:
        memref: The memref of its memrefs.
        offset: What is added to the address of each entry, in elements.
    """

    memref: SSAValue
    offset: SSAValue | int


def _func(operation: ops.FuncOp, r: Rebuilder) -> None:
    body = Block()
    attributes: list[DictionaryAttr] = []
    for index, parameter in enumerate(operation.parameters):
        given = operation.attributes_of_parameter(index)
        _add_parameter(parameter, body, r)
        attributes.append(DictionaryAttr(_parameter_attributes(parameter, given)))
        attributes += [DictionaryAttr({})] * (len(body.args) - len(attributes))
    with r.in_function(body):
        r.translate_block(operation.body.block)
        r.emit(ReturnOp())
    function = FuncOp(
        operation.sym_name.data,
        (list(body.arg_types), []),
        Region([body]),
        kernel=True,
        known_block_size=_block_size(operation),
    )
    if any(each.data for each in attributes):
        function.arg_attrs = ArrayAttr(attributes)
    function.attributes[LEVEL_ATTRIBUTE] = StringAttr(Level.BLOCK.value)
    function.attributes[SIGNATURE_ATTRIBUTE] = _signature(operation).attribute()
    checks = operation.attributes.get(CHECKS_ATTRIBUTE)
    if checks is not None:
        function.attributes[CHECKS_ATTRIBUTE] = checks
    size = positive_integer(operation.subgroup_size)
    if size is not None:
        function.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(size, i32)
    r.emit(function)


def _add_parameter(parameter: BlockArgument, body: Block, r: Rebuilder) -> None:
    argument = body.insert_arg(core_type(parameter.type), len(body.args))
    copy_name(argument, parameter)
    if not isinstance(parameter.type, GroupType):
        r.define(parameter, argument)
        return
    offset: SSAValue | int = parameter.type.offset
    if offset == DYNAMIC:
        offset = body.insert_arg(INDEX, len(body.args))
        give_name(offset, f"{parameter.name_hint or 'group'}_offset")
    r.define(parameter, Group(argument, offset))


def _signature(operation: ops.FuncOp) -> KernelSignature:
    """What becomes of each parameter; what is called as nothing is called by its place.

    A function that says what it was in its source goes on to say so, with the modes reversed.
    """
    source = source_signature(operation)
    if source is not None:
        return source.split(lambda number, piece: [_reversed(piece)])
    names = unique_names(
        parameter.name_hint or str(index) for index, parameter in enumerate(operation.parameters)
    )
    return KernelSignature(
        "tensorlang",
        tuple(
            SourceParameter(
                name,
                type_text(parameter.type),
                tuple(_pieces(parameter.type)),
                operation.attributes_of_parameter(index),
            )
            for index, (name, parameter) in enumerate(zip(names, operation.parameters, strict=True))
        ),
    )


def _reversed(piece: Piece) -> Piece:
    """What an argument is whose modes are counted from the other end."""
    is_memref = piece.role is Role.MEMREF
    return Piece(Role.MEMREF, tuple(reversed(piece.modes))) if is_memref else piece


def _pieces(type: Attribute) -> Iterator[Piece]:
    """The arguments that a parameter becomes, in which the modes of memrefs are reversed."""
    memref = type.memref_type if isinstance(type, GroupType) else type
    if not isinstance(memref, MemrefType):
        yield Piece(Role.VALUE)
        return
    yield Piece(Role.MEMREF, tuple(reversed(range(memref.order))))
    if isinstance(type, GroupType) and type.offset == DYNAMIC:
        yield Piece(Role.OFFSET)


def _block_size(operation: ops.FuncOp) -> tuple[int, ...] | None:
    size = integer_list(operation.work_group_size)
    return None if size is None else (*size, 1)


def _parameter_attributes(
    parameter: BlockArgument, given: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    type = parameter.type.memref_type if isinstance(parameter.type, GroupType) else parameter.type
    if not isinstance(type, MemrefType):
        return {}
    modes = tuple(reversed(range(type.order)))
    return {**promised(given, modes), NOALIAS_ATTRIBUTE: UnitAttr()}


RULES: Rules = {ops.FuncOp: _func}
