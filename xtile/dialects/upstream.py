"""What the operands of upstream's dialects may be, for the modules that complete xDSL's.

Source: MLIR (LLVM 22), `IR/CommonTypeConstraints.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from typing_extensions import TypeVar, override
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.irdl import (
    AttrConstraint,
    IntConstraint,
    IRDLOperation,
    OperandDef,
    PropertyDef,
    ResultDef,
    VerificationContext,
)
from xdsl.irdl.declarative_assembly_format import CustomDirective
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import use_format


@dataclass(frozen=True)
class TypeWhere(AttrConstraint):
    """A type for which something holds; `description` says it in words for messages."""

    description: str
    holds: Callable[[Attribute], bool]

    @override
    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.holds(attr):
            raise VerifyException(f"expected {self.description}, got {attr}")

    @override
    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint:
        return self


def element_type(type: Attribute) -> Attribute:
    """Returns the element type of a vector, tensor or memref; any other type itself."""
    if isinstance(
        type, VectorType | TensorType | UnrankedTensorType | MemRefType | UnrankedMemRefType
    ):
        return cast("VectorType[Attribute]", type).element_type
    return type


_WITH_ELEMENTS = frozenset({VectorType, TensorType, UnrankedTensorType})


def value_type(type: Attribute) -> Attribute:
    """Returns the element type of a vector or tensor; any other type itself."""
    # `isinstance` takes long for attributes.
    if type.__class__ in _WITH_ELEMENTS:
        return cast("VectorType[Attribute]", type).element_type
    return type


def is_signless_integer(type: Attribute) -> bool:
    """Whether this is an integer such as `i32`, neither signed nor unsigned."""
    return isa(type, IntegerType) and type.signedness.data is Signedness.SIGNLESS


def is_float(type: Attribute) -> bool:
    """Whether this is a floating point type."""
    return isa(type, AnyFloat)


def is_index(type: Attribute) -> bool:
    """Whether this is `index`."""
    return isinstance(type, IndexType)


def is_signless_integer_or_float(type: Attribute) -> bool:
    """Whether this is a signless integer or a floating point type."""
    return is_signless_integer(type) or is_float(type)


def is_signless_integer_or_index(type: Attribute) -> bool:
    """Whether this is a signless integer or `index`."""
    return is_signless_integer(type) or is_index(type)


def like(holds: Callable[[Attribute], bool]) -> Callable[[Attribute], bool]:
    """Extends a condition on scalars to vectors and tensors of such scalars."""
    return lambda type: holds(value_type(type))


SIGNLESS_INTEGER_OR_FLOAT = TypeWhere("a signless integer or a float", is_signless_integer_or_float)
SIGNLESS_INTEGER_LIKE = TypeWhere(
    "a signless integer, an index, or a vector or tensor of them",
    like(is_signless_integer_or_index),
)
FLOAT_LIKE = TypeWhere("a float, or a vector or tensor of floats", like(is_float))


OperationT = TypeVar("OperationT", bound=IRDLOperation)


def completes(
    *,
    operands: Mapping[str, AttrConstraint] | None = None,
    results: Mapping[str, AttrConstraint] | None = None,
    properties: Mapping[str, PropertyDef] | None = None,
    traits: Sequence[OpTrait] = (),
    assembly_format: str | None = None,
    custom_directives: Sequence[type[CustomDirective]] = (),
) -> Callable[[type[OperationT]], type[OperationT]]:
    """Completes an operation that the class of xDSL's cannot hold, in a class derived from it.

    xDSL's `irdl_op_definition` refuses classes derived from those it has already defined. A class
    that is not derived would not be an instance of xDSL's, whose passes would leave it alone.

    Args:
        operands: What operands may be, where that differs.
        results: What results may be, where that differs.
        properties: Definitions of properties that xDSL's class lacks, or has differently.
        traits: Traits that xDSL's class lacks.
        assembly_format: The text of the operation; None if the class keeps xDSL's, or has methods
            for it.
        custom_directives: The directives in the format.

    Returns:
        A decorator. The class's own `verify_`, or that of a class of ours that it derives from
        first, replaces what xDSL's checks beyond the definition.
    """

    def complete(cls: type[OperationT]) -> type[OperationT]:
        known = cls.get_irdl_definition()
        names = {name: (name, "property") for name in properties or {}}
        has_text = assembly_format is None and "parse" not in vars(cls)
        format_ = known.assembly_format if has_text else assembly_format
        definition = replace(
            known,
            operands=_constrained(known.operands, operands or {}),
            results=_constrained(known.results, results or {}),
            properties={**known.properties, **(properties or {})},
            traits=OpTraits(lambda: (*known.traits, *traits)),
            accessor_names={**known.accessor_names, **names},
            assembly_format=None,
            custom_directives={
                **known.custom_directives,
                **{directive.__name__: directive for directive in custom_directives},
            },
        )
        verify = _own_verifier(cls)
        for name, value in get_accessors_from_op_def(definition, verify).items():
            setattr(cls, name, value)
        if format_ is not None:
            use_format(cls, format_)
        return cls

    return complete


def _own_verifier(cls: type[IRDLOperation]) -> Callable[..., None] | None:
    """The `verify_` of a class, or of those it derives from before the one of xDSL's."""
    for base in cls.__mro__:
        if "get_irdl_definition" in vars(base):
            return None
        if "verify_" in vars(base):
            return vars(base)["verify_"]
    return None


DefinitionT = TypeVar("DefinitionT", OperandDef, ResultDef)


def _constrained(
    definitions: Sequence[tuple[str, DefinitionT]], constraints: Mapping[str, AttrConstraint]
) -> list[tuple[str, DefinitionT]]:
    """Returns definitions of operands or results with other constraints."""
    return [
        (name, type(known)(constraints[name]) if name in constraints else known)
        for name, known in definitions
    ]


def replaced(
    known: Iterable[type[Operation]], completed: Iterable[type[Operation]]
) -> list[type[Operation]]:
    """Returns operations of a dialect of xDSL's with completed ones in place of their namesakes."""
    by_name = {operation.name: operation for operation in known}
    by_name |= {operation.name: operation for operation in completed}
    return list(by_name.values())
