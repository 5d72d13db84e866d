"""Kernels: the level they are taken to, the sizes of their launch, and the rest of their code."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    StringAttr,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from xtile.dialects.core.attributes import (
    LEVEL_ATTRIBUTE,
    SUBGROUP_GRID_ATTRIBUTE,
    Level,
    level_of,
)
from xtile.dialects.core.pointers import PointerCastOp, PointerToIntegerOp, PointerType
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    is_address,
    own_signature,
    source_signature,
)
from xtile.dialects.core.source_promises import with_promises_of_source
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.dialects.gpu.functions import WORKGROUP_ATTRIBUTIONS, FuncOp
from xtile.dialects.gpu.modules import ModuleOp
from xtile.dialects.gpu.subgroup_sizes import (
    DEFAULT_SUBGROUP_SIZE,
    SUBGROUP_SIZE_ATTRIBUTE,
    SUBGROUP_SIZE_ATTRIBUTES,
    VECTOR_COMPUTE,
    given_subgroup_size,
)
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.dialects.xegpu.levels import LEVEL, level_of_kernel
from xtile.dialects.xegpu.operation import is_for_workgroup, layouts_of, shape_of
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.blocks import join_blocks
from xtile.rewrite.kernels import launched_block_sizes
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.text.value_names import copy_name
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.translate.xegpu_to_core import matrices
from xtile.translate.xegpu_to_core.control import has_descriptors
from xtile.translate.xegpu_to_core.raising import Raising

XEGPU = "xegpu"
"""What signatures call the language."""


def _module(operation: ModuleOp, raising: Raising) -> None:
    region = raising.translate_into(operation.body, Block())
    result = raising.emit(ModuleOp(operation.sym_name.data, region))
    result.attributes |= operation.attributes


def _function(operation: FuncOp, raising: Raising) -> None:
    """A kernel of XeGPU whose vectors belong to a subgroup or a work-group; others are kept."""
    level = level_to_take(operation)
    if level is None:
        raising.keep(operation)
        return
    join_blocks(operation)
    _check_blocks(operation, raising)
    _check(operation, raising, level)
    if raising.tells_reasons:
        told: set[LayoutAttr] = set()
        for each in walk(operation):
            _remark_unused(each, raising, told)
    raising.level = level
    raising.subgroup_size = given_subgroup_size(operation) or DEFAULT_SUBGROUP_SIZE
    block_size = _block_size(operation)
    raising.subgroups = (
        None if block_size is None else -(-prod(block_size) // raising.subgroup_size)
    )
    raising.unpacked = {}
    old, count = operation.body.block, len(operation.function_type.inputs)
    types = _parameter_types(operation)
    block = Block(arg_types=types)
    with raising.in_function(block):
        for was, becomes in zip(old.args[:count], block.args, strict=True):
            copy_name(becomes, was)
            raising.define(was, _parameter(raising, becomes))
        for buffer in old.args[count:]:
            raising.define(buffer, matrices.local_memory(buffer, raising))
        raising.translate_block(old)
    result = FuncOp(operation.sym_name.data, (types, []), Region([block]))
    # An address that is a pointer again has no use, and would hide that all others are casts.
    remove_dead_code(result)
    _name_elements(block)
    type_ = FunctionType.from_lists([argument.type for argument in block.args], [])
    result.properties |= {**operation.properties, "function_type": type_}
    result.attributes |= {
        name: attribute for name, attribute in operation.attributes.items() if name not in _OF_XEGPU
    }
    result.attributes[LEVEL_ATTRIBUTE] = StringAttr(level.value)
    signature = own_signature(operation, XEGPU, count)
    result.attributes.setdefault(SIGNATURE_ATTRIBUTE, signature.attribute())
    if raising.is_of_tiles:
        block_size = (1, 1, 1)
        grid = _grid(operation)
        if grid is not None:
            result.attributes[SUBGROUP_GRID_ATTRIBUTE] = DenseArrayBase.from_list(i64, grid)
    else:
        result.attributes[SUBGROUP_SIZE_ATTRIBUTE] = IntegerAttr(raising.subgroup_size, i32)
    if block_size is not None:
        result.known_block_size = DenseArrayBase.from_list(i32, block_size)
    raising.emit(with_promises_of_source(result))


def _grid(function: FuncOp) -> tuple[int, int] | None:
    """The subgroups that share rows and columns of the largest product, or else block of memory."""
    found: list[tuple[bool, int, tuple[int, int]]] = []
    for operation in walk(function):
        if isinstance(operation, DpasOp):
            spread = [(True, operation.result.type, operation.layout_cd)]
        else:
            types = [operand.type for operand in operation.operands]
            spread = [(False, t, t.layout) for t in types if isinstance(t, TensorDescType)]
        for is_product, type_, layout in spread:
            grid = _grid_of(layout) if isinstance(layout, LayoutAttr) else None
            if grid is not None:
                found.append((is_product, prod(shape_of(type_)), grid))
    return max(found)[2] if found else None


def _grid_of(layout: LayoutAttr) -> tuple[int, int] | None:
    """The subgroups along the last two dimensions, if they are all and powers of two."""
    if not layout.is_for_workgroup:
        return None
    *outer, rows, columns = (1, 1, *layout.effective_sg_layout)
    is_power = all(count & (count - 1) == 0 for count in (rows, columns))
    return (rows, columns) if is_power and prod(outer) == 1 else None


def _parameter_types(function: FuncOp) -> list[Attribute]:
    """The types of a kernel's parameters; what were pointers in its source are some again."""
    types = list(function.function_type.inputs)
    signature = source_signature(function)
    if signature is None:
        return types
    pieces = [piece for each in signature.parameters for piece in each.becomes]
    return [
        PointerType.to(i8) if is_address(piece, type_) else type_
        for piece, type_ in zip(pieces, types, strict=True)
    ]


def _parameter(raising: Raising, value: SSAValue) -> SSAValue:
    """What a parameter is in the kernel: a pointer is its address."""
    if not isinstance(value.type, PointerType):
        return value
    address = PointerToIntegerOp.build(operands=[value], result_types=[i64])
    return raising.emit(address).results[0]


def _name_elements(block: Block) -> None:
    """Gives pointers, which XeGPU has as integers, the type of the elements that are accessed."""
    for argument in block.args:
        users = [use.operation for use in argument.uses]
        casts = [each for each in users if isinstance(each, PointerCastOp)]
        types = {each.result.type for each in casts}
        if len(types) != 1 or len(casts) < len(users):
            continue
        typed = Rewriter.replace_value_with_new_type(argument, types.pop())
        for cast in casts:
            Rewriter.replace_op(cast, [], [typed])


def _check(function: FuncOp, raising: Raising, level: Level) -> None:
    """Checks that what a kernel says of its level and what its operations say are one.

    Raises:
        DiagnosticError: A layout spreads a vector over subgroups, but a work-item is a subgroup, or
            the kernel is said to be one of subgroups.
    """
    named = LEVEL in function.attributes and level is Level.SUBGROUP
    if not named and VECTOR_COMPUTE not in function.attributes:
        return
    for operation in walk(function):
        if operation.dialect_name() == XEGPU and is_for_workgroup(operation):
            says = f"{LEVEL} says" if named else f"{VECTOR_COMPUTE} says"
            raise raising.error(
                f"{spelling_of(operation)} has a layout with sg_layout, so that its vector belongs "
                f"to the work-group, but {says} that the vectors of this kernel belong to "
                "subgroups; take one of the two away",
                operation,
            )


def _check_blocks(function: FuncOp, raising: Raising) -> None:
    """Checks that each region has one block.

    Raises:
        DiagnosticError: Control flow branches between blocks.
    """
    for operation in (function, *walk(function)):
        for region in operation.regions:
            block = region.blocks.first
            if block is not None and block.next_block is not None:
                raise raising.error(
                    "branches between blocks have no counterpart in the core form; use scf.if or "
                    "scf.while",
                    block.last_op,
                )


_OF_XEGPU = (*SUBGROUP_SIZE_ATTRIBUTES, LEVEL, VECTOR_COMPUTE, WORKGROUP_ATTRIBUTIONS)
"""Attributes of a kernel that the core form says otherwise."""


def level_to_take(function: FuncOp) -> Level | None:
    """The level that a kernel is taken to; None if it is not one of XeGPU beyond lanes."""
    if level_of(function) is not None:
        return None
    operations = [each for each in walk(function) if each.dialect_name() == XEGPU]
    if not operations and not {LEVEL, VECTOR_COMPUTE} & function.attributes.keys():
        return None
    return _LEVELS[level_of_kernel(function, operations)[0]]


_LEVELS: dict[str, Level | None] = {
    "work-group": Level.TILE,
    "subgroup": Level.SUBGROUP,
    "lane": None,
}
"""The level of the core form for each of XeGPU; what is a lane's is there already."""


def _block_size(function: FuncOp) -> tuple[int, ...] | None:
    """The work-items of a work-group: what the kernel says, or all its launches in the module."""
    if function.known_block_size is not None:
        return tuple(function.known_block_size.get_values())
    sizes = launched_block_sizes(function)
    return sizes.pop() if len(sizes) == 1 else None


# --- everything else ---


def copy_without_layouts(operation: Operation, raising: Raising) -> None:
    """Emits an operation of another dialect again, without what XeGPU says of its vectors.

    Raises:
        DiagnosticError: It is for work-items, which tiles do not have, or takes descriptors.
    """
    name = spelling_of(operation)
    if operation.dialect_name() == XEGPU:
        raise raising.error(f"{name} cannot be translated to the core form")
    if has_descriptors([*operation.operands, *operation.results]):
        raise raising.error(
            f"{name} has a descriptor, which is no value of the core form; scf.for, scf.if and "
            "scf.while may hand descriptors on"
        )
    if raising.is_of_tiles and operation.name in _OF_EACH:
        if operation.name in OF_WORK_ITEMS and not any(each.uses for each in operation.results):
            return
        raise raising.error(
            f"{name} tells work-items apart, but with sg_layout the whole work-group executes the "
            "kernel once; use gpu.block_id, or write the kernel for subgroups"
        )
    raising.replace(
        operation,
        type(operation).create(
            operands=raising.values(operation.operands),
            result_types=operation.result_types,
            properties=operation.properties.copy(),
            attributes={
                name: attribute
                for name, attribute in operation.attributes.items()
                if not isinstance(attribute, DistributeLayoutAttr)
            },
            regions=raising.regions(operation),
        ),
    )


_OF_EACH = OF_WORK_ITEMS | {"memref.atomic_rmw", "memref.generic_atomic_rmw", "gpu.printf"}
"""Operations that each work-item of a work-group does, or by which they differ."""

# --- layouts that are not followed ---


_AS_CHIPS_HAVE_IT = "lanes hold what the chip's blocks and products give them"

_REASONS: dict[str, tuple[Callable[[LayoutAttr], bool], str]] = {
    "inst_data": (
        lambda layout: not layout.effective_inst_data,
        "vectors are cut into the largest instructions of the chip",
    ),
    "lane_layout": (
        lambda layout: all(count == 1 for count in layout.effective_lane_layout[:-1]),
        _AS_CHIPS_HAVE_IT,
    ),
    "lane_data": (
        lambda layout: sum(count != 1 for count in layout.effective_lane_data) <= 1,
        _AS_CHIPS_HAVE_IT,
    ),
    "order": (
        lambda layout: layout.effective_order == tuple(reversed(range(layout.rank))),
        "subgroups and lanes are numbered row by row",
    ),
}
"""For each parameter when it says what is done anyway, and else what is done instead."""


def _remark_unused(operation: Operation, raising: Raising, told: set[LayoutAttr]) -> None:
    """Tells which parameters of an operation's layouts are not followed, once for each layout."""
    for each in layouts_of(operation):
        layout = each.layout if isinstance(each, SliceAttr) else each
        if not isinstance(layout, LayoutAttr) or layout in told:
            continue
        told.add(layout)
        for name, (is_followed, instead) in _REASONS.items():
            if not is_followed(layout):
                raising.remark(f"{name} of {layout} is not followed: {instead}", operation)


RULES: dict[str, Rule] = {FuncOp.name: _function, ModuleOp.name: _module}
