"""The directives that `SYNTAX` strings name: pieces of text with a structure of their own.

Each class reads one construct of the reference's grammar and prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Region, SSAValue

from xtile.dialects.tensorlang.assembly import (
    Definition,
    Directive,
    Input,
    Output,
    Parts,
    split_dictionary,
    write_dictionary,
    write_list,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_list_attribute
from xtile.dialects.tensorlang.ops.collective import ForeachOp, ForeachTileOp, ParallelOp
from xtile.dialects.tensorlang.ops.control import ForOp, IfOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixApplyOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.ops.memory import ExpandOp, SubviewOp
from xtile.dialects.tensorlang.types import DYNAMIC, I32, component_type

_FUNCTION_ATTRIBUTES = ("subgroup_size", "work_group_size")


class MixedList:
    """Integers and values in one list, as expand and subview keep them."""

    def __init__(self) -> None:
        self.constants: list[int] = []
        self.values: list[SSAValue] = []

    def add(self, item: int | SSAValue) -> None:
        """Appends an integer, or a value with DYNAMIC in its place."""
        if isinstance(item, int):
            self.constants.append(item)
        else:
            self.constants.append(DYNAMIC)
            self.values.append(item)


def mixed_items(constants: DenseArrayBase[I64], values: Sequence[SSAValue]) -> list[int | SSAValue]:
    """The items of a list that MixedList took apart."""
    remaining = iter(values)
    items: list[int | SSAValue] = []
    for constant in constants.get_values():
        value = next(remaining, None) if constant == DYNAMIC else None
        items.append(constant if value is None else value)
    return items


def _write_item(output: Output, item: int | SSAValue) -> None:
    if isinstance(item, int):
        output.write(str(item))
    else:
        output.operand(item)


class ExpandShapeDirective:
    """`2 x %n x 4`: the new modes of expand ("Expand")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        shape = MixedList()
        shape.add(source.index_or_operand("an expand shape entry"))
        while source.optional_punctuation("x"):
            shape.add(source.index_or_operand("an expand shape entry"))
        parts.operands.extend(shape.values)
        parts.properties["static_expand_shape"] = integer_list_attribute(shape.constants)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, ExpandOp)
        items = mixed_items(operation.static_expand_shape, operation.expand_shape)
        output.write(" ")
        for i, item in enumerate(items):
            output.write(" x " if i else "")
            _write_item(output, item)


class SlicesDirective:
    """`4:8,%i:%n,%j`: an offset, and a size where it is not 0, for each mode ("Subview")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        offsets, sizes = MixedList(), MixedList()
        if not source.next_is("]"):
            self._read_slice(source, offsets, sizes)
            while source.optional_punctuation(","):
                self._read_slice(source, offsets, sizes)
        parts.segments.append(1)
        parts.add_operands(offsets.values)
        parts.add_operands(sizes.values)
        parts.properties["static_offsets"] = integer_list_attribute(offsets.constants)
        parts.properties["static_sizes"] = integer_list_attribute(sizes.constants)

    def _read_slice(self, source: Input, offsets: MixedList, sizes: MixedList) -> None:
        offsets.add(source.index_or_operand("an offset"))
        sizes.add(source.index_or_operand("a size") if source.optional_punctuation(":") else 0)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, SubviewOp)
        offsets = mixed_items(operation.static_offsets, operation.offsets)
        sizes = mixed_items(operation.static_sizes, operation.sizes)
        for i, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            output.write("," if i else "")
            _write_item(output, offset)
            if not isinstance(size, int) or size != 0:
                output.write(":")
                _write_item(output, size)


class ConstantDirective:
    """`true`, `-1`, `0x1.8p3` or `[1.0, -inf]` ("Constants")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        parts.properties["value"] = source.constant()

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        output.write(" ")
        output.constant(operation.properties["value"])


class RegionDirective:
    """A region without arguments."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        parts.regions.append(source.region())

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, ParallelOp)
        output.region(operation.body)


@dataclass(frozen=True, slots=True)
class _Bounds:
    variables: list[Definition]
    from_: list[SSAValue]
    to: list[SSAValue]


def _read_definitions(source: Input) -> list[Definition]:
    source.punctuation("(")
    definitions = [source.definition()]
    while source.optional_punctuation(","):
        definitions.append(source.definition())
    source.punctuation(")")
    return definitions


def _read_operands(source: Input) -> list[SSAValue]:
    source.punctuation("(")
    values = source.index_operands(")")
    source.punctuation(")")
    return values


def _read_bounds(source: Input) -> _Bounds:
    variables = _read_definitions(source)
    source.punctuation("=")
    from_ = _read_operands(source)
    source.punctuation(",")
    return _Bounds(variables, from_, _read_operands(source))


def _arguments(
    names: list[Definition], bounds: Sequence[SSAValue]
) -> list[tuple[Definition, Attribute]]:
    """Names with the types of their bounds; the verifier reports lists of unequal length."""
    last = bounds[-1].type if bounds else I32
    types = [bound.type for bound in bounds] + [last] * (len(names) - len(bounds))
    return list(zip(names, types, strict=False))


def _write_names(output: Output, values: Sequence[SSAValue]) -> None:
    output.write("(")
    write_list(output, values)
    output.write(")")


def _write_bounds(output: Output, operation: ForeachOp | ForeachTileOp) -> None:
    output.write(" ")
    count = len(operation.from_)
    _write_names(output, operation.body.block.args[:count])
    output.write("=")
    _write_names(output, operation.from_)
    output.write(",")
    _write_names(output, operation.to)


class ForeachDirective:
    """`(%i,%j)=(%a,%b),(%c,%d) {...}` ("Foreach")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        bounds = _read_bounds(source)
        parts.add_operands(bounds.from_)
        parts.add_operands(bounds.to)
        parts.regions.append(source.region(_arguments(bounds.variables, bounds.from_)))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, ForeachOp)
        _write_bounds(output, operation)
        output.region(operation.body)


class ForeachTileDirective:
    """`(%i)=(%a),(%b) as (%n)<=(32) {...}` ("Foreach tile")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        bounds = _read_bounds(source)
        source.punctuation("as")
        sizes = _read_definitions(source)
        source.punctuation("<=")
        parts.properties["tile_shape"] = integer_list_attribute(_read_integers(source))
        parts.add_operands(bounds.from_)
        parts.add_operands(bounds.to)
        arguments = _arguments(bounds.variables, bounds.from_) + _arguments(sizes, bounds.from_)
        parts.regions.append(source.region(arguments))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, ForeachTileOp)
        _write_bounds(output, operation)
        output.write(" as ")
        _write_names(output, operation.body.block.args[len(operation.from_) :])
        shape = ",".join(str(size) for size in operation.tile_shape.get_values())
        output.write(f"<=({shape})")
        output.region(operation.body)


def _read_integers(source: Input) -> list[int]:
    source.punctuation("(")
    integers = [source.integer("tile size")]
    while source.optional_punctuation(","):
        integers.append(source.integer("tile size"))
    source.punctuation(")")
    return integers


def _read_types(source: Input) -> list[Attribute]:
    source.punctuation("(")
    types: list[Attribute] = []
    if not source.optional_punctuation(")"):
        types.append(source.type())
        while source.optional_punctuation(","):
            types.append(source.type())
        source.punctuation(")")
    return types


def _write_types(output: Output, values: Sequence[SSAValue]) -> None:
    output.write(" -> (")
    for i, value in enumerate(values):
        output.write("," if i else "")
        output.type(value.type)
    output.write(")")


def finish_loop(source: Input, parts: Parts, variable: Definition, type: Attribute) -> None:
    """Reads what follows the bounds of a for loop: `init(...) -> (...) {...} attributes{...}`."""
    carried = _read_carried(source, parts)
    parts.regions.append(source.region([(variable, type), *carried]))
    if source.optional_punctuation("attributes"):
        split_dictionary(source.dictionary(), ["unroll"], parts)


def _read_carried(source: Input, parts: Parts) -> list[tuple[Definition, Attribute]]:
    """Reads `init(%x=%y) -> (f32)` if it is there."""
    names: list[Definition] = []
    values: list[SSAValue] = []
    if source.optional_punctuation("init"):
        source.punctuation("(")
        while True:
            names.append(source.definition())
            source.punctuation("=")
            values.append(source.operand())
            if not source.optional_punctuation(","):
                break
        source.punctuation(")")
        source.punctuation("->")
        parts.result_types = _read_types(source)
    parts.add_operands(values)
    # The verifier reports a type list of another length.
    missing = [value.type for value in values[len(parts.result_types) :]]
    return list(zip(names, parts.result_types + missing, strict=False))


class ForDirective:
    """`%i=%a,%b,%c init(%x=%y) -> (f32) {...} attributes{unroll=true}` ("For")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        variable = source.definition()
        source.punctuation("=")
        from_ = source.operand()
        source.punctuation(",")
        to = source.operand()
        step = [source.operand()] if source.optional_punctuation(",") else []
        for values in ([from_], [to], step):
            parts.add_operands(values)
        finish_loop(source, parts, variable, from_.type)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, ForOp)
        arguments = operation.body.block.args
        output.write(" ")
        output.operand(arguments[0])
        output.write("=")
        bounds = [operation.from_, operation.to]
        write_list(output, bounds + ([operation.step] if operation.step else []))
        if operation.init:
            output.write(" init(")
            for i, (name, value) in enumerate(zip(arguments[1:], operation.init, strict=False)):
                output.write("," if i else "")
                output.operand(name)
                output.write("=")
                output.operand(value)
            output.write(")")
            _write_types(output, operation.results)
        output.region(operation.body)
        write_dictionary(output, operation, ["unroll"], " attributes ")


def finish_if(source: Input, parts: Parts) -> None:
    """Reads what follows the condition of an if: `-> (...) {...} else {...}`."""
    if source.optional_punctuation("->"):
        parts.result_types = _read_types(source)
    parts.regions.append(source.region())
    parts.regions.append(source.region() if source.optional_punctuation("else") else Region())


class IfDirective:
    """`%c -> (f32) {...} else {...}` ("If")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        parts.operands.append(source.operand())
        finish_if(source, parts)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, IfOp)
        output.write(" ")
        output.operand(operation.condition)
        if operation.results:
            _write_types(output, operation.results)
        output.region(operation.then)
        if operation.otherwise.blocks:
            output.write(" else")
            output.region(operation.otherwise)


class ApplyDirective:
    """`(%i,%j,%v)=%m -> coopmatrix<...> {...}` ("Cooperative matrix apply")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        source.punctuation("(")
        row = source.definition()
        source.punctuation(",")
        column = source.definition()
        source.punctuation(",")
        component = source.definition()
        source.punctuation(")")
        source.punctuation("=")
        parts.operands.append(source.operand())
        source.punctuation("->")
        type = source.type()
        parts.result_types.append(type)
        arguments = [(row, I32), (column, I32), (component, component_type(type))]
        parts.regions.append(source.region(arguments))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, CooperativeMatrixApplyOp)
        output.write(" ")
        _write_names(output, operation.body.block.args)
        output.write("=")
        output.operand(operation.matrix)
        output.write(" -> ")
        output.type(operation.result.type)
        output.region(operation.body)


def read_signature(source: Input, parts: Parts) -> list[tuple[Definition, Attribute]]:
    """Reads a function's name and parameters: `@f(%A: memref<f32> {alignment=64})`."""
    parts.properties["sym_name"] = StringAttr(source.symbol())
    arguments: list[tuple[Definition, Attribute]] = []
    dictionaries: list[DictionaryAttr] = []
    source.punctuation("(")
    if not source.optional_punctuation(")"):
        while True:
            name = source.definition()
            source.punctuation(":")
            arguments.append((name, source.parameter_type()))
            dictionaries.append(DictionaryAttr(source.parameter_dictionary()))
            if not source.optional_punctuation(","):
                break
        source.punctuation(")")
    if any(dictionary.data for dictionary in dictionaries):
        parts.properties["parameter_attributes"] = ArrayAttr(dictionaries)
    return arguments


def read_function_attributes(source: Input, parts: Parts) -> None:
    """Reads `attributes{...}` if it is there."""
    if source.optional_punctuation("attributes"):
        split_dictionary(source.dictionary(), _FUNCTION_ATTRIBUTES, parts)


class FunctionDirective:
    """`@f(%A: memref<f32> {alignment=64}) attributes {subgroup_size=16} {...}` ("Functions")."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads it."""
        arguments = read_signature(source, parts)
        read_function_attributes(source, parts)
        parts.regions.append(source.region(arguments))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints it."""
        assert isinstance(operation, FuncOp)
        output.write(" ")
        output.symbol(operation.sym_name.data)
        output.write("(")
        for i, parameter in enumerate(operation.parameters):
            output.write(", " if i else "")
            output.operand(parameter)
            output.write(": ")
            output.type(parameter.type)
            output.dictionary(operation.attributes_of_parameter(i), " ")
        output.write(")")
        write_dictionary(output, operation, _FUNCTION_ATTRIBUTES, " attributes ")
        output.region(operation.body)


CUSTOM: dict[str, Directive] = {
    "expand_shape": ExpandShapeDirective(),
    "slices": SlicesDirective(),
    "constant": ConstantDirective(),
    "region": RegionDirective(),
    "foreach": ForeachDirective(),
    "foreach_tile": ForeachTileDirective(),
    "for": ForDirective(),
    "if": IfDirective(),
    "apply": ApplyDirective(),
    "func": FunctionDirective(),
}
"""The directives by the name that `SYNTAX` uses."""
