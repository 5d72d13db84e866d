"""What becomes of each operation of Triton: the same one, with layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FunctionType, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.triton.encodings.distributed import SliceEncodingAttr
from xtile.dialects.triton.operation import element_of, shape_of, with_element
from xtile.dialects.triton.tt.ops import DotOp, FpToFpOp, FuncOp
from xtile.dialects.triton.tt.ops.products import DotScaledOp
from xtile.rewrite.rebuilder import RuleTable, again
from xtile.text.value_names import copy_name
from xtile.translate.triton_to_amdg.buffers import as_buffer
from xtile.translate.triton_to_amdg.choice import Layout, is_elementwise
from xtile.translate.triton_to_amdg.lowering import Lowering, layout_of, retyped, with_layout
from xtile.translate.triton_to_amdg.shapes import RULES as SHAPES
from xtile.translate.triton_to_amdg.shapes import axis_of

# --- functions and control flow ---


def _function(function: FuncOp, lowering: Lowering) -> None:
    """A function; tensors that it is given or returns have the default layout."""
    with lowering.choosing(function):
        given = function.function_type
        type_ = FunctionType.from_lists(
            list(map(lowering.default, given.inputs)), list(map(lowering.default, given.outputs))
        )
        made = again(
            function,
            properties={"function_type": type_},
            regions=[_blocks(function.body, lowering)],
        )
    lowering.emit(made)


def _blocks(old: Region, lowering: Lowering) -> Region:
    """The blocks of a function, whose arguments have the layouts that they were given."""
    blocks = [(block, _block(block, lowering)) for block in old.blocks]
    for before, after in blocks:
        with lowering.in_function(after):
            lowering.translate_block(before)
    return Region([after for _, after in blocks])


def _block(old: Block, lowering: Lowering) -> Block:
    types = [with_layout(each.type, lowering.choice.of(each)) for each in old.args]
    block = lowering.new_block(old, types)
    lowering.blocks[old] = block
    for argument, before in zip(block.args, old.args, strict=True):
        copy_name(argument, before)
    return block


def _region(old: Region, lowering: Lowering) -> Region:
    if old.blocks.first is None:
        return Region()
    return lowering.translate_into(old, _block(old.block, lowering))


def _as_default(operation: Operation, lowering: Lowering) -> None:
    """What calls and returns give to others has the default layout."""
    operands = [
        lowering.in_layout(value, layout_of(lowering.default(value.type)))
        for value in operation.operands
    ]
    made = again(
        operation, operands, [lowering.default(result.type) for result in operation.results]
    )
    _define(operation, made, lowering)


def _structured(operation: Operation, lowering: Lowering) -> None:
    """A loop or a branch: what it carries has one layout all the time."""
    operands = _in_order(operation.operands, _carriers(operation), lowering)
    regions = [_region(region, lowering) for region in operation.regions]
    made = again(
        operation,
        operands,
        [with_layout(each.type, lowering.choice.of(each)) for each in _held(operation)],
        regions=regions,
    )
    lowering.replace(operation, made)


def _held(operation: Operation) -> Sequence[SSAValue]:
    """What has the layouts of the results of a loop or a branch: what a loop carries last."""
    if isinstance(operation, scf.ForOp):
        return operation.body.block.args[1:]
    if isinstance(operation, scf.WhileOp):
        return operation.after_region.block.args
    return operation.results


def _carriers(operation: Operation) -> Sequence[SSAValue | None]:
    """What each operand of a loop or of the end of a region becomes; None for its own numbers."""
    if isinstance(operation, scf.ForOp):
        return [None] * 3 + list(operation.body.block.args[1:])
    if isinstance(operation, scf.WhileOp):
        return list(operation.before_region.block.args)
    holder = operation.parent_op()
    if isinstance(operation, scf.ConditionOp):
        assert isinstance(holder, scf.WhileOp)
        return [None, *holder.after_region.block.args]
    if isinstance(operation, scf.YieldOp):
        if isinstance(holder, scf.ForOp):
            return list(holder.body.block.args[1:])
        if isinstance(holder, scf.WhileOp):
            return list(holder.before_region.block.args)
        assert holder is not None
        return list(holder.results)
    return [None] * len(operation.operands)


def _in_order(
    values: Sequence[SSAValue], carriers: Sequence[SSAValue | None], lowering: Lowering
) -> list[SSAValue]:
    return [
        lowering.in_layout(value, None if carrier is None else lowering.choice.of(carrier))
        for value, carrier in zip(values, carriers, strict=True)
    ]


def _branch(operation: Operation, lowering: Lowering) -> None:
    """A jump, whose operands become arguments of blocks."""
    targets = [argument for block in operation.successors for argument in block.args]
    own = len(operation.operands) - len(targets)
    operands = _in_order(operation.operands, [*[None] * own, *targets], lowering)
    lowering.emit(
        again(
            operation,
            operands,
            successors=[lowering.blocks[block] for block in operation.successors],
        )
    )


# --- memory ---


def _access(operation: Operation, lowering: Lowering) -> None:
    layout = lowering.choice.accesses.get(operation)
    buffer = None if layout is None else as_buffer(operation, layout, lowering)
    if buffer is not None:
        lowering.replace(operation, buffer)
        return
    operands = lowering.all_in(operation.operands, layout)
    lowering.replace(operation, retyped(operation, operands, layout))


# --- tensors ---


def _with_other_shape(operation: Operation, lowering: Lowering) -> None:
    """A rule of `shapes` says which layouts there are."""
    layouts = SHAPES[operation.name](operation, lowering.choice)
    operands = [
        lowering.in_layout(value, layout)
        for value, layout in zip(operation.operands, layouts.operands, strict=True)
    ]
    made = type(operation).create(
        operands=operands,
        result_types=[with_layout(each.type, layouts.result) for each in operation.results],
        properties={
            name: value
            for name, value in operation.properties.items()
            # The order of elements is the layouts', and Triton's own choice was another one.
            if name not in ("allow_reorder", "efficient_layout")
        },
        attributes=operation.attributes.copy(),
        regions=lowering.regions(operation),
    )
    _define(operation, made, lowering)


def _elementwise(operation: Operation, lowering: Lowering) -> None:
    layout = _result_layout(operation, lowering)
    operands = lowering.all_in(operation.operands, layout)
    made = retyped(operation, operands, layout)
    for region in operation.regions:
        made.add_region(lowering.region(region))
    lowering.replace(operation, made)


def _result_layout(operation: Operation, lowering: Lowering) -> Layout | None:
    tensors = [value for value in operation.results if shape_of(value.type)]
    return lowering.choice.of(tensors[0]) if tensors else None


def _expand_dims(operation: Operation, lowering: Lowering) -> None:
    layout = _result_layout(operation, lowering)
    assert layout is not None
    operand = lowering.in_layout(
        operation.operands[0], SliceEncodingAttr(axis_of(operation), layout)
    )
    lowering.replace(operation, retyped(operation, [operand], layout))


def _dot(operation: DotOp, lowering: Lowering) -> None:
    """A product in the layouts, types and precision of its unit."""
    product = lowering.choice.products[operation]
    # Narrow elements are moved before they are made wider.
    factors = [
        _cast(
            lowering.converted(lowering.in_layout(value, None), product.operand(index)),
            factor,
            lowering,
        )
        for index, (value, factor) in enumerate(
            zip((operation.a, operation.b), product.factors, strict=True)
        )
    ]
    sums = _cast(lowering.in_layout(operation.c, product.layout), product.sums, lowering)
    made: DotOp | DotScaledOp
    if product.elements is None:
        made = DotOp(factors[0], factors[1], sums, input_precision=product.precision)
    else:
        left, right = product.elements
        made = DotScaledOp(factors[0], None, factors[1], None, sums, lhs=left, rhs=right)
    result = _cast(lowering.emit(made).d, element_of(operation.d.type), lowering)
    lowering.define(operation.d, result)


def _dot_scaled(operation: DotScaledOp, lowering: Lowering) -> None:
    """A product with scales in the layouts of its unit."""
    product = lowering.choice.products[operation]
    assert product.scales is not None
    factors = [
        lowering.converted(lowering.in_layout(value, None), product.operand(index))
        for index, value in enumerate((operation.a, operation.b))
    ]
    sums = _cast(lowering.in_layout(operation.c, product.layout), product.sums, lowering)
    scales = [
        None if value is None else lowering.in_layout(value, layout)
        for value, layout in zip(
            (operation.a_scale, operation.b_scale), product.scales, strict=True
        )
    ]
    left, right = operation.elements
    is_fast = operation.fastMath.value.data != 0
    made = lowering.emit(
        DotScaledOp(
            factors[0],
            scales[0],
            factors[1],
            scales[1],
            sums,
            lhs=left,
            rhs=right,
            fast_math=is_fast,
        )
    )
    lowering.define(operation.d, _cast(made.d, element_of(operation.d.type), lowering))


def _cast(value: SSAValue, element: Attribute, lowering: Lowering) -> SSAValue:
    """A tensor with other elements, which are as exact as these or rounded once."""
    before = element_of(value.type)
    if before == element:
        return value
    type_: Any = with_element(value.type, element)
    bits: Any = before
    if isinstance(element, IntegerType):
        return lowering.emit(arith.ExtSIOp(value, type_)).result
    if str(before).startswith("f8"):
        return lowering.emit(FpToFpOp(value, type_)).result
    kind = arith.ExtFOp if bits.bitwidth < getattr(element, "bitwidth", 0) else arith.TruncFOp
    return lowering.emit(kind(value, type_)).result


def _define(operation: Operation, made: Operation, lowering: Lowering) -> None:
    """Emits an operation whose results may have other layouts than was chosen for them."""
    lowering.emit(made)
    for old, new in zip(operation.results, made.results, strict=True):
        lowering.define(old, lowering.converted(new, lowering.choice.of(old)))


# --- the rest ---


def _any(operation: Operation, lowering: Lowering) -> None:
    """Operations of numbers, and those that take tensors in any layout."""
    if is_elementwise(operation):
        _elementwise(operation, lowering)
        return
    if any(shape_of(result.type) for result in operation.results):
        name = operation.name
        raise lowering.error(
            f"{name} has no layout here; take it through the core form, which has loads and "
            f"stores instead: -p triton-to-core,core-cleanup,tile-to-triton,triton-to-amdg"
        )
    made = retyped(operation, lowering.all_in(operation.operands, None), None)
    for region in operation.regions:
        made.add_region(lowering.region(region))
    lowering.replace(operation, made)


_REFUSED = (
    "tt.advance",
    "tt.descriptor_gather",
    "tt.descriptor_load",
    "tt.descriptor_reduce",
    "tt.descriptor_scatter",
    "tt.descriptor_store",
    "tt.make_tensor_descriptor",
    "tt.make_tensor_ptr",
)
"""What the core form turns into accesses through pointers."""


def _refuse_block(operation: Operation, lowering: Lowering) -> None:
    raise lowering.error(
        f"{operation.name} is of blocks of tensors, which the core form makes accesses through "
        "pointers of: run triton-to-core, then core-cleanup, then tile-to-triton first"
    )


RULES = RuleTable(
    {
        **dict.fromkeys(SHAPES, _with_other_shape),
        **dict.fromkeys(
            ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas"),
            _access,
        ),
        **dict.fromkeys(("scf.for", "scf.while", "scf.if"), _structured),
        **dict.fromkeys(("scf.yield", "scf.condition"), _structured),
        **dict.fromkeys(("cf.br", "cf.cond_br"), _branch),
        **dict.fromkeys(("tt.call", "tt.return"), _as_default),
        **dict.fromkeys(("tt.splat", "tt.make_range", "tt.broadcast"), _elementwise),
        **dict.fromkeys(_REFUSED, _refuse_block),
        "tt.dot": _dot,
        "tt.dot_scaled": _dot_scaled,
        "tt.expand_dims": _expand_dims,
        "tt.func": _function,
    },
    otherwise=_any,
    keeps_rounding=True,
)
"""The rule of each operation."""
