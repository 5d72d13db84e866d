"""The layout of each tensor of a function.

Accesses to memory and products are anchors: they ask for layouts. Other values take the layout of
what they are computed of, and where that has none, the one that their uses ask for. Numbers that
are cheap to compute again, such as offsets and masks, have no layout of their own: they are
computed in each layout that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.triton.encodings.distributed import (
    BlockedEncodingAttr,
    SliceEncodingAttr,
)
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.encodings.matrix_units import (
    DotOperandEncodingAttr,
    MatrixUnitEncodingAttr,
)
from xtile.dialects.triton.operation import shape_of
from xtile.dialects.triton.tt.ops import LoadOp
from xtile.dialects.triton.tt.ops.products import DotOp, DotScaledOp
from xtile.dialects.walk import walk
from xtile.targets.target import Target
from xtile.translate.triton_to_amdg.axis_facts import AxisFacts
from xtile.translate.triton_to_amdg.blocked import Machine, layouts_of_accesses
from xtile.translate.triton_to_amdg.bounds import Bounds, small_arguments
from xtile.translate.triton_to_amdg.shapes import RULES, axis_of
from xtile.translate.triton_to_amdg.staging import (
    COPYING,
    layout_of_copy,
    layout_of_load,
    layout_of_store,
)
from xtile.translate.triton_to_amdg.units import Product, product_of

Layout = DistributedEncodingAttr

_PASSES = 6
"""How often all values are looked at, at most; any choice is right, later ones are better."""

_LEAVES = frozenset({"arith.constant", "tt.make_range", "tt.splat"})

_OTHER_SHAPES = frozenset({"tt.broadcast", "tt.expand_dims"})

ELEMENTWISE = frozenset(
    {
        "tt.addptr",
        "tt.approx_divf",
        "tt.bitcast",
        "tt.clampf",
        "tt.elementwise_inline_asm",
        "tt.extern_elementwise",
        "tt.fp_to_fp",
        "tt.int_to_ptr",
        "tt.map_elementwise",
        "tt.mulhiui",
        "tt.precise_divf",
        "tt.precise_sqrt",
        "tt.ptr_to_int",
    }
)
"""Operations of `tt` whose operands and results have one layout; those of MLIR all do."""

_NUMBERS = ("arith", "math", "ub")

_CHEAP = frozenset(
    {"arith", "tt.addptr", "tt.bitcast", "tt.int_to_ptr", "tt.mulhiui", "tt.ptr_to_int", "ub"}
)
"""What is computed again rather than moved: dialects and operations."""


def is_elementwise(operation: Operation) -> bool:
    """Whether all tensors of an operation have one layout."""
    return operation.name in ELEMENTWISE or operation.dialect_name() in _NUMBERS


class Choice:
    """The layouts of a function's tensors.

    Args:
        function: The function.
        chip: What it is for.
        machine: The lanes and warps of its programs.

    Attributes:
        machine: The lanes and warps of the programs.
        facts: What is known of neighbours in tensors.
        accesses: The layout of each access through a tensor of pointers.
        products: How each product is computed.
        is_cheap: Whether a value is computed in each layout that is asked for.
    """

    def __init__(self, function: Operation, chip: Target, machine: Machine) -> None:
        self.machine = machine
        self.facts = AxisFacts(function, Bounds())
        self.accesses: dict[Operation, Layout] = {
            **layouts_of_accesses(function, machine, self.facts)
        }
        self._copies = chip.name in COPYING
        dots = [each for each in walk(function) if isinstance(each, DotOp | DotScaledOp)]
        self.products: dict[Operation, Product] = {
            each: product_of(each, chip, machine) for each in dots
        }
        self._load_as_operands(dots)
        self._small = small_arguments(function)
        self._layouts: dict[SSAValue, Layout] = {}
        self._cheap: set[SSAValue] = set()
        operations = list(walk(function))
        if all(len(region.blocks) < 2 for each in operations for region in each.regions):
            self._find_cheap(operations)
        self._choose(operations)
        self._store_as_it_is(operations)

    def is_cheap(self, value: SSAValue) -> bool:
        """Whether a value is computed in each layout that is asked for."""
        return value in self._cheap

    def is_small(self, value: SSAValue) -> bool:
        """Whether a pointer is an argument whose memory is promised to end within 2 GB."""
        return value in self._small

    def of(self, value: SSAValue) -> Layout | None:
        """The layout that a value has; None for what is no tensor."""
        if not shape_of(value.type):
            return None
        found = self._layouts.get(value)
        return self.default(value.type) if found is None else found

    def default(self, type_: Attribute) -> BlockedEncodingAttr:
        """The layout of tensors that nothing decides about."""
        return self.machine.blocked(shape_of(type_))

    def _may_be_copied(self, load: LoadOp, fast: int, held: int) -> bool:
        """Whether all elements of a lane are loaded or none, which are 0 then, in a loop."""
        mask, other = load.mask, load.other
        is_whole = mask is None or self.facts.of(mask)[fast].constancy % held == 0
        is_plain = load.isVolatile is None and load.cache_policy.is_default
        is_in_loop = isinstance(load.parent_op(), scf.ForOp)
        return is_in_loop and is_whole and is_plain and (other is None or is_zero(other))

    def _layout_of_operand(
        self, load: LoadOp, operand: DotOperandEncodingAttr, layout: BlockedEncodingAttr
    ) -> Layout:
        """The layout in which an operand of a product is loaded."""
        type_, fast = load.result.type, layout.order.data[0]
        copied = layout_of_copy(operand, layout, type_, self.machine) if self._copies else None
        if copied is not None and self._may_be_copied(
            load, fast, layout.size_per_thread.data[fast]
        ):
            return copied
        return layout_of_load(operand, layout, type_, self.machine)

    def _load_as_operands(self, dots: list[DotOp | DotScaledOp]) -> None:
        """Loads operands of products in the layouts in which they are written to local memory."""
        for dot in dots:
            for index, value in enumerate((dot.a, dot.b)):
                load, product = value.owner, self.products[dot]
                layout = self.accesses.get(load) if isinstance(load, Operation) else None
                is_alone = len(list(value.uses)) == 1
                if not isinstance(layout, BlockedEncodingAttr) or not is_alone:
                    continue
                if product.width and isinstance(load, LoadOp):
                    operand = product.operand(index)
                    self.accesses[load] = self._layout_of_operand(load, operand, layout)

    # --- what is cheap ---

    def _find_cheap(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            if len(operation.results) != 1 or not shape_of(operation.results[0].type):
                continue
            name = operation.name
            tensors = [value for value in operation.operands if shape_of(value.type)]
            is_cheap = name in _LEAVES or (
                (name in _OTHER_SHAPES or name in _CHEAP or operation.dialect_name() in _CHEAP)
                and all(map(self.is_cheap, tensors))
            )
            if is_cheap:
                self._cheap.add(operation.results[0])

    # --- what values are computed of ---

    def _choose(self, operations: list[Operation]) -> None:
        for _ in range(_PASSES):
            before = dict(self._layouts)
            for operation in operations:
                self._forward(operation)
            for operation in reversed(operations):
                self._backward(operation)
            if self._layouts == before:
                return

    def _known(self, value: SSAValue) -> Layout | None:
        return None if value in self._cheap else self._layouts.get(value)

    def _set(self, values: Iterable[SSAValue], layout: Layout | None) -> None:
        for value in values:
            if layout is not None and shape_of(value.type) and value not in self._cheap:
                self._layouts[value] = layout

    def _forward(self, operation: Operation) -> None:
        """Gives results the layout that their operation or its operands have."""
        rule = RULES.get(operation.name)
        if rule is not None:
            self._set(operation.results, rule(operation, self).result)
        elif isinstance(operation, DotOp | DotScaledOp):
            self._set([operation.d], self.products[operation].layout)
        elif operation in self.accesses:
            self._set(operation.results, self.accesses[operation])
        elif is_elementwise(operation):
            known = [self._known(value) for value in operation.operands]
            self._set(operation.results, best(known))
        elif operation.name == "tt.broadcast":
            self._set(operation.results, self._known(operation.operands[0]))
        elif operation.name == "tt.expand_dims":
            self._set(operation.results, self._expanded(operation))
        elif operation.regions:
            self._join(operation)

    def _expanded(self, operation: Operation) -> Layout | None:
        """The layout of which the operand has a slice."""
        layout = self._known(operation.operands[0])
        if isinstance(layout, SliceEncodingAttr) and layout.dim.data == axis_of(operation):
            return layout.parent_layout
        return None

    def _join(self, operation: Operation) -> None:
        """Gives what a loop carries, and what a branch gives, the layout that it comes with."""
        blocks = [block for region in operation.regions for block in region.blocks]
        if isinstance(operation, scf.ForOp):
            carried, firsts = operation.body.block.args[1:], operation.iter_args
        elif isinstance(operation, scf.WhileOp):
            carried, firsts = operation.before_region.block.args, operation.arguments
            after = operation.after_region.block.args
            last = operation.before_region.block.last_op
            assert last is not None
            for value, argument, result in zip(
                last.operands[1:], after, operation.results, strict=True
            ):
                self._set([argument, result], self._known(value))
        elif isinstance(operation, scf.IfOp):
            carried, firsts = operation.results, operation.results
        else:
            return
        lasts = [block.last_op for block in blocks if isinstance(block.last_op, scf.YieldOp)]
        for index, (value, first) in enumerate(zip(carried, firsts, strict=True)):
            given = [self._known(last.operands[index]) for last in lasts]
            layout = best([*given, self._known(first)])
            self._set([value], layout)
            if isinstance(operation, scf.ForOp):
                self._set([operation.results[index]], self._layouts.get(value))

    def _backward(self, operation: Operation) -> None:
        """Gives results, and arguments of loops, the layout that their uses ask for."""
        values: list[SSAValue] = [*operation.results]
        for region in operation.regions:
            for block in region.blocks:
                values += block.args
        for value in values:
            if shape_of(value.type) and value not in self._layouts:
                wanted = [self.wanted(use.operation, use.index) for use in value.uses]
                self._set([value], best(wanted))

    def wanted(self, user: Operation, index: int) -> Layout | None:
        """The layout that an operation asks for of its operand; None where it takes any."""
        if user in self.accesses:
            return self.accesses[user]
        result = self._layouts.get(user.results[0]) if user.results else None
        match user:
            case DotOp() | DotScaledOp():
                return self.products[user].wanted(index)
            case scf.YieldOp():
                holder = user.parent_op()
                assert holder is not None
                carried = _carried(holder)
                return self._layouts.get(carried[index]) if index < len(carried) else None
            case scf.ForOp():
                arguments = user.body.block.args
                return self._layouts.get(arguments[index - 2]) if index > 2 else None
            case _ if result is None:
                return None
            case _ if user.name == "tt.expand_dims":
                return SliceEncodingAttr(axis_of(user), result)
            case _ if user.name == "tt.broadcast" or is_elementwise(user):
                return result
            case _:
                return None

    # --- what is stored ---

    def _store_as_it_is(self, operations: list[Operation]) -> None:
        """Lets results of products be stored by the lanes that hold them.

        Rows of a result are long enough for that, and pointers and masks are computed anew.
        """
        for operation in operations:
            if operation.name != "tt.store" or operation not in self.accesses:
                continue
            pointer, value, *masks = operation.operands
            layout = self._known(value)
            is_free = all(map(self.is_cheap, (pointer, *masks)))
            if isinstance(layout, MatrixUnitEncodingAttr) and is_free:
                self.accesses[operation] = layout_of_store(layout, pointer, self.facts)


def is_zero(value: SSAValue) -> bool:
    """Whether all bits of a tensor are certainly 0, as those of -0.0 are not."""
    owner = value.owner
    constant: Any = owner.properties.get("value") if isinstance(owner, arith.ConstantOp) else None
    if not isinstance(constant, DenseIntOrFPElementsAttr) or not constant.is_splat():
        return False
    number = constant.get_values()[0]
    return number == 0 and copysign(1, number) > 0


def best(layouts: Iterable[Layout | None]) -> Layout | None:
    """The layout that values with these ones take together: a matrix unit's, or the first one."""
    known = [layout for layout in layouts if layout is not None]
    of_units = [layout for layout in known if _is_of_unit(layout)]
    return next(iter((*of_units, *known)), None)


def _is_of_unit(layout: Attribute) -> bool:
    while isinstance(layout, SliceEncodingAttr | DotOperandEncodingAttr):
        layout = layout.parent
    return isinstance(layout, MatrixUnitEncodingAttr)


def _carried(holder: Operation) -> list[SSAValue]:
    """What operations that end a region give their operands to."""
    if isinstance(holder, scf.ForOp):
        return list(holder.body.block.args[1:])
    if isinstance(holder, scf.WhileOp):
        return list(holder.before_region.block.args)
    return list(holder.results)
