"""Assembly formats that check and infer the types of operands and results once.

xDSL does so for each operation that it reads. But a text has few combinations of types, which its
parser remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedSegments,
    IRDLOperationInvT,
    OpDef,
    OptionalDef,
)
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.parser import Parser, UnresolvedOperand

from xtile.text.known_texts import KnownTypes, SkippingParser


@dataclass(frozen=True)
class AssemblyFormat(FormatProgram):
    """An assembly format of a definition."""

    definition: OpDef

    @classmethod
    def of(cls, definition: OpDef, text: str | None = None) -> AssemblyFormat:
        """Reads a format; the definition's own where no other is given."""
        text = definition.assembly_format if text is None else text
        assert text is not None
        return cls(FormatProgram.from_str(text, definition).stmts, definition)

    @override
    def parse(self, parser: Parser, op_type: type[IRDLOperationInvT]) -> IRDLOperationInvT:
        properties = self._properties
        if properties is None or not isinstance(parser, SkippingParser):
            return super().parse(parser, op_type)
        state = ParsingState(op_type)
        for directive in self.stmts:
            directive.parse(parser, state)
        operands = cast("Sequence[Sequence[UnresolvedOperand]]", state.operands)
        given = (*state.operand_types, *state.result_types)
        key = (op_type, *map(len, operands), *map(_identity, given))
        known = parser.known_types.get(key)
        if known is None:
            operation, known = self._with_new_types(parser, op_type, state)
            parser.known_types[key] = known
            return operation
        for name, default, constraint in properties:
            attribute = state.properties.get(name, default)
            if attribute is not None:
                constraint.verify(attribute, state.context)
        resolve = parser.resolve_operand
        operation = op_type.create(
            operands=list(map(resolve, chain.from_iterable(operands), known.operands)),
            result_types=known.results,
            properties=state.properties,
            attributes=state.attributes,
            location=UNKNOWN_LOC,
        )
        for option, sizes in known.sizes:
            option.container(operation)[option.attribute_name] = sizes
        return operation

    def _with_new_types(
        self, parser: Parser, kind: type[IRDLOperationInvT], state: ParsingState
    ) -> tuple[IRDLOperationInvT, KnownTypes]:
        """Makes the operation that was read, as xDSL does, and says what its types are."""
        self.resolve_constraint_variables(state, self.definition)
        operands = cast("Sequence[Sequence[UnresolvedOperand]]", state.operands)
        operand_types = self.resolve_operand_types(state, self.definition)
        result_types = self.resolve_result_types(state, self.definition)
        values: list[Sequence[SSAValue]] = [
            parser.resolve_operands(*each, parser.pos)
            for each in zip(operands, operand_types, strict=True)
        ]
        operation = kind.build(
            result_types=result_types,
            operands=values,
            attributes=state.attributes,
            properties=state.properties,
            regions=state.regions,
            successors=state.successors,
        )
        given = (*state.operand_types, *state.result_types)
        return operation, KnownTypes(
            [type for types in given if types is not None for type in types],
            list(chain.from_iterable(operand_types)),
            list(chain.from_iterable(result_types)),
            [
                (option, option.container(operation)[option.attribute_name])
                for option in self.definition.options
                if isinstance(option, AttrSizedSegments)
            ],
        )

    @cached_property
    def _properties(self) -> Sequence[tuple[str, Attribute | None, AttrConstraint]] | None:
        """What properties may be, and what they are by default; None if types depend on them.

        It is also None for operations with regions, successors or attributes of their own.
        """
        definition = self.definition
        constraints = [each.constr for each in definition.properties.values()]
        if (
            definition.regions
            or definition.successors
            or definition.attributes
            or any(constraint.variables() for constraint in constraints)
        ):
            return None
        return [
            (name, each.default_value, each.constr)
            for name, each in definition.properties.items()
            if each.default_value is not None or not isinstance(each, OptionalDef)
        ]


def _identity(types: Sequence[Attribute] | None) -> object:
    """What types are known by; nearly every one stands alone."""
    if types is None:
        return None
    return id(types[0]) if len(types) == 1 else tuple(map(id, types))
