"""Prints operations as MLIR does, in the custom and in the generic form.

Source: LLVM 22, `mlir/lib/IR/AsmPrinter.cpp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from xtile.text.extensions import form_of
from xtile.text.mlir_attribute_printer import AttributePrinter
from xtile.text.value_names import name_values

DEFAULT_DIALECTS = {
    "builtin.module": "builtin",
    "cuda_tile.entry": "cuda_tile",
    "cuda_tile.for": "cuda_tile",
    "cuda_tile.if": "cuda_tile",
    "cuda_tile.loop": "cuda_tile",
    "cuda_tile.module": "cuda_tile",
    "cuda_tile.reduce": "cuda_tile",
    "cuda_tile.scan": "cuda_tile",
    "func.func": "func",
}
"""The dialect whose operations are printed without its name in the regions of an operation."""

_NAME_OF_UNREGISTERED = "op_name__"
"""Where xDSL keeps the name of an operation that it does not know."""


class Function(Protocol):
    """What `func.func` and its kin have."""

    sym_name: StringAttr
    sym_visibility: StringAttr | None
    function_type: FunctionType
    arg_attrs: ArrayAttr[DictionaryAttr] | None
    res_attrs: ArrayAttr[DictionaryAttr] | None
    attributes: dict[str, Attribute]
    body: Region


@dataclass(eq=False, repr=False)
class MlirPrinter(AttributePrinter):
    """xDSL's printer with MLIR's text of operations, regions and values.

    Custom forms are those of the operations' own `print` methods.
    """

    known_names: Mapping[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """Names of values that are not their name hints."""

    _names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str], init=False)
    _default_dialects: list[str] = field(default_factory=lambda: ["builtin"], init=False)

    def print_top_level(self, operation: Operation) -> tuple[str, str]:
        """Returns an operation as text, and the definitions of aliases that follow it.

        Both end with a line end unless they are empty.
        """
        self._names = name_values(operation, self.known_names, self.print_generic_format)
        text = self._captured(lambda: self.print_op(operation))
        before, text, after = self.with_aliases(text)
        return f"{before}{text}\n", after

    @override
    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._names.get(value)
        if name is None:
            # It is defined nowhere in what is printed, which only a broken module has.
            name = self._names[value] = f"outside{len(self._names)}"
        self.print_string(f"%{name}")
        return name

    @override
    def print_op(self, op: Operation) -> None:
        if self.print_debuginfo:
            self.visit_location(op.location, may_defer=True)
        is_isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        if is_isolated:
            self.enter_scope()
        self._print_results(op)
        if isinstance(op, UnregisteredOp) or self._is_generic(op):
            self._print_generic(op)
        else:
            self.print_string(self._short_name(self._name_of(op)))
            self._print_custom(op)
        if self.print_debuginfo:
            self.print_location(op.location, has_alias=True)
        if is_isolated:
            self.exit_scope()

    @override
    def print_operation_type(self, op: Operation) -> None:
        # The location comes behind all of an operation.
        self.print_function_type(op.operand_types, op.result_types)

    @override
    def print_op_with_default_format(self, op: Operation) -> None:
        # MLIR looks for aliases in the regions first, then in the types and the attributes.
        regions = self._captured(lambda: self.print_regions(op.regions))
        types = self._captured(lambda: self.print_function_type(op.operand_types, op.result_types))
        attributes = {
            name: value for name, value in op.attributes.items() if name != _NAME_OF_UNREGISTERED
        }
        texts = {
            entry[0]: self._captured(partial(self._print_attr_string, entry))
            for entry in sorted({**op.properties, **attributes}.items())
        }
        self.print_operands(op.operands)
        if op.successors:
            with self.in_square_brackets():
                self.print_list(op.successors, self.print_block_name)
        if op.properties:
            self.print_string(f" <{_braced(texts, op.properties)}>")
        self._write(regions)
        if attributes:
            self.print_string(f" {_braced(texts, attributes)}")
        self.print_string(f" : {types}")

    @override
    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        parent = region.parent
        dialect = "" if parent is None else DEFAULT_DIALECTS.get(parent.name, "")
        self._default_dialects.append(dialect)
        super().print_region(
            region, print_entry_block_args, print_empty_block, print_block_terminators
        )
        self._default_dialects.pop()

    @override
    def print_block(
        self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True
    ) -> None:
        if print_block_args:
            self._print_label(block)
        super().print_block(block, False, print_block_terminator)

    @override
    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        self.print_ssa_value(arg)
        if print_type:
            self.print_string(": ")
            self.print_attribute(arg.type)
            self.print_argument_location(arg)

    def print_argument_location(self, argument: BlockArgument) -> None:
        """Prints ` loc(...)` after an argument where locations are printed."""
        if self.print_debuginfo:
            self.visit_location(argument.location, may_defer=False)
            self.print_location(argument.location, has_alias=False)

    def print_function_argument(self, argument: BlockArgument, attributes: Attribute) -> None:
        """Prints `%a: type {attributes} loc(...)`."""
        self.print_ssa_value(argument)
        self.print_string(": ")
        self.print_type_with_attributes(argument.type, attributes)
        self.print_argument_location(argument)

    def print_type_with_attributes(self, type: Attribute, attributes: Attribute) -> None:
        """Prints `type {attributes}`."""
        self.print_attribute(type)
        if isinstance(attributes, DictionaryAttr):
            self.print_op_attributes(attributes.data)

    def _print_custom(self, op: Operation) -> None:
        if isinstance(op, FuncOp):
            self.print_function(op)
            return
        custom_form = form_of(type(op)).print
        assert custom_form is not None, "an operation without one is printed in the generic form"
        custom_form(op, self)

    def _print_generic(self, op: Operation) -> None:
        name = op.op_name.data if isinstance(op, UnregisteredOp) else self._name_of(op)
        self.print_string_literal(name)
        self.print_op_with_default_format(op)

    def _is_generic(self, op: Operation) -> bool:
        if self.print_generic_format:
            return True
        form = form_of(type(op))
        return form.print is None or form.is_ambiguous(op)

    def _name_of(self, op: Operation) -> str:
        """What the text calls an operation."""
        return op.name

    def _short_name(self, name: str) -> str:
        """The name of an operation without the dialect that holds where it stands."""
        short = name.removeprefix(f"{self._default_dialects[-1]}.")
        return name if "." in short else short

    def print_function(self, function: Function) -> None:
        """Prints a function behind its name, as `func.func` and its kin in other dialects are."""
        if function.sym_visibility is not None:
            self.print_string(f" {function.sym_visibility.data}")
        self.print_string(" ")
        self.print_symbol_name(function.sym_name.data)
        self._print_inputs(function)
        self._print_outputs(function.function_type, function.res_attrs)
        self.print_op_attributes(function.attributes, print_keyword=True)
        if function.body.blocks:
            self.print_string(" ")
            self.print_region(function.body, print_entry_block_args=False, print_empty_block=False)

    def _print_inputs(self, function: Function) -> None:
        types = function.function_type.inputs.data
        attributes = _dictionaries(function.arg_attrs, len(types))
        with self.in_parens():
            if function.body.blocks:
                pairs = zip(function.body.blocks[0].args, attributes, strict=True)
                self.print_list(pairs, lambda pair: self.print_function_argument(*pair))
            else:
                pairs = zip(types, attributes, strict=True)
                self.print_list(pairs, lambda pair: self.print_type_with_attributes(*pair))

    def _print_outputs(
        self, function_type: FunctionType, result_attributes: ArrayAttr[DictionaryAttr] | None
    ) -> None:
        types = function_type.outputs.data
        if not types:
            return
        attributes = _dictionaries(result_attributes, len(types))
        is_bare = len(types) == 1 and not attributes[0].data
        self.print_string(" -> ")
        if is_bare and not isinstance(types[0], FunctionType):
            self.print_attribute(types[0])
            return
        with self.in_parens():
            pairs = zip(types, attributes, strict=True)
            self.print_list(pairs, lambda pair: self.print_type_with_attributes(*pair))

    @override
    def _print_results(self, op: Operation) -> None:
        if not op.results:
            return
        sizes: Counter[str] = Counter()
        for result in op.results:
            sizes[self._names[result].partition("#")[0]] += 1
        names = (f"%{name}:{size}" if size > 1 else f"%{name}" for name, size in sizes.items())
        self.print_string(", ".join(names) + " = ")

    def _print_label(self, block: Block) -> None:
        self._print_new_line()
        if block not in self._blocks:
            self._populate_block_name(block)
        self.print_block_name(block)
        if block.args:
            with self.in_parens():
                self.print_list(block.args, self.print_block_argument)
        self.print_string(f":{self._predecessors(block)}")

    def _predecessors(self, block: Block) -> str:
        """The comment after a label that says which blocks branch to it."""
        region = block.parent
        blocks = [] if region is None else list(region.blocks)
        indices = sorted(
            blocks.index(predecessor)
            for predecessor in block.predecessors()
            if predecessor in blocks
        )
        names = [f"^{self._get_block_name(blocks[index])}" for index in indices]
        if not names:
            is_entry = not blocks or blocks[0] is block
            return "" if is_entry else "  // no predecessors"
        head = "pred: " if len(names) == 1 else f"{len(names)} preds: "
        return f"  // {head}{', '.join(names)}"

    def _write(self, text: str) -> None:
        """Writes text whose lines are indented already."""
        self.print_string(text, indent=0)


def _braced(texts: Mapping[str, str], names: Mapping[str, Attribute]) -> str:
    return "{" + ", ".join(texts[name] for name in sorted(names)) + "}"


def _dictionaries(
    attributes: ArrayAttr[DictionaryAttr] | None, count: int
) -> Sequence[DictionaryAttr]:
    return [DictionaryAttr({})] * count if attributes is None else attributes.data
