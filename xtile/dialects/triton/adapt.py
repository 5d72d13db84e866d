"""Makes a module one that a release of Triton reads.

Operations that a release calls otherwise are what it has instead; hints that it does not know are
left out with a remark; what it cannot say is an error.

Source: the releases 3.4 to 3.9 of Triton, `TritonGPUOps.td` and `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xtile.dialects.triton.encodings.encoding import EncodingAttr
from xtile.dialects.triton.operation import TritonOperation
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.triton.versions import V3_4, V3_5, V3_6, Release
from xtile.dialects.walk import walk
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.mlir_printer import MlirPrinter
from xtile.text.source import Source, source_of, span_of

_HINTS = frozenset({"amdg.instruction_sched_hint"})
"""Operations that only guide a compiler."""

_OPERAND_INDEX = "OpIdx"
"""The attribute by which 3.4 says which operand of a product something becomes."""


def printer_for(
    module: Operation, release: Release, diagnostics: Diagnostics | None = None
) -> type[MlirPrinter]:
    """Changes a module into what a release reads, in place; returns what prints it.

    Args:
        module: The module.
        release: The release.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: The release cannot say what is in the module.
    """
    found = Diagnostics()
    adapt(module, release, found)
    if found.has_errors:
        raise DiagnosticError(found.sorted())
    if diagnostics is not None:
        for remark in found:
            diagnostics.add(remark)
    return cast("type[MlirPrinter]", partial(TritonPrinter, release=release))


def adapt(module: Operation, release: Release, diagnostics: Diagnostics) -> None:
    """Changes a module into what a release reads, in place.

    Args:
        module: The module.
        release: The release.
        diagnostics: Where remarks go, and errors on what the release cannot say, each once.
    """
    source = source_of(module)
    told: set[str] = set()
    _complete_layouts(module, release)
    for operation in list(walk(module)):
        if release >= V3_5 and _OPERAND_INDEX in operation.attributes:
            operation.attributes.pop(_OPERAND_INDEX)
        if not isinstance(operation, TritonOperation):
            continue
        if operation.name == "ttg.memdesc_subview" and release >= V3_5:
            problem = _without_subview(operation, release)
        elif operation.name in _PARTS and release <= V3_4:
            problem = _as_subview(operation)
        elif operation.name in _HINTS:
            _adapt_hint(operation, release, diagnostics, source)
            continue
        else:
            problem = next(_problems(operation, release), None)
            if operation.name == "ttg.memdesc_index":
                result = operation.results[0]
                entry = _counted(operation.operands[0], result, release)
                Rewriter.replace_value_with_new_type(result, entry)
        if problem is not None and problem not in told:
            told.add(problem)
            _add(diagnostics, Severity.ERROR, problem, operation, source)


def _complete_layouts(module: Operation, release: Release) -> None:
    """Adds what layouts of other releases leave out."""
    from xtile.dialects.triton.depths import complete_depths, name_integers

    if release >= V3_6:
        complete_depths(module)
    elif release == V3_5:
        name_integers(module)


def _adapt_hint(
    operation: TritonOperation, release: Release, diagnostics: Diagnostics, source: Source | None
) -> None:
    """Leaves a hint out, or what it counts, where the release does not know it."""
    problem = None
    if operation.lost_in(release) is not None:
        problem = f"Triton {release} does not know this hint"
    elif release <= V3_4 and len(operation.properties) == 1:
        problem = "that of Triton 3.4 also counts instructions"
    if problem is not None:
        message = f"{operation.name} is left out: {problem}"
        _add(diagnostics, Severity.REMARK, message, operation, source)
        Rewriter.erase_op(operation)
    elif release >= V3_5:
        operation.properties = {"variant": operation.properties["variant"]}


def _add(
    diagnostics: Diagnostics,
    severity: Severity,
    message: str,
    operation: Operation,
    source: Source | None,
) -> None:
    diagnostics.add(Diagnostic(severity, message, source, span_of(operation, source)))


def _problems(operation: TritonOperation, release: Release) -> Iterator[str]:
    """Yields what a release cannot say of an operation."""
    lost = operation.lost_in(release)
    if lost is not None:
        yield lost
    for result in operation.results[operation.results_in(release) :]:
        if list(result.uses):
            yield f"{operation.name} of Triton {release} has no result"
    for value in (*operation.operands, *operation.results):
        for layout in _layouts(value.type):
            lost = layout.lost_in(release)
            if lost is not None:
                yield lost


def _layouts(type_: Attribute) -> Iterator[EncodingAttr]:
    if isinstance(type_, TensorType | MemDescType):
        encoding: Attribute = cast("MemDescType", type_).encoding
        if isinstance(encoding, EncodingAttr):
            yield encoding


# --- parts of local memory ---

_PARTS = frozenset({"ttg.memdesc_index", "ttg.memdesc_subslice"})
"""What 3.5 made of `ttg.memdesc_subview`."""


def _counted(source: SSAValue, result: SSAValue, release: Release) -> MemDescType:
    """The type of an entry of memory, which only in 3.5 says how large all of it is."""
    whole, entry = cast("MemDescType", source.type), cast("MemDescType", result.type)
    return MemDescType(
        entry.get_shape(),
        entry.element_type,
        entry.encoding,
        entry.memory_space,
        mutable=entry.is_mutable,
        alloc_shape=whole.alloc_shape if release == V3_5 else None,
    )


def _without_subview(operation: TritonOperation, release: Release) -> str | None:
    """Puts a counted or a cut part in place of what 3.4 calls a subview.

    Returns:
        Why that cannot be done; None if it was.
    """
    from xtile.dialects.triton.ttg.ops import MemDescIndexOp, MemDescSubsliceOp

    src, *offsets = operation.operands
    result = cast("MemDescType", operation.results[0].type)
    source = cast("MemDescType", src.type)
    numbers = [_constant(offset) for offset in offsets]
    made: Operation
    if len(result.get_shape()) < len(source.get_shape()):
        if any(numbers[1:]) or None in numbers[1:]:
            return "a part of one entry of local memory is cut in two steps from Triton 3.5 on"
        entry = _counted(src, operation.results[0], release)
        made = MemDescIndexOp.build(operands=[src, offsets[0]], result_types=[entry])
    elif None in numbers:
        return "where a part of local memory begins must be known from Triton 3.5 on"
    else:
        known = DenseArrayBase.from_list(i32, [number for number in numbers if number is not None])
        made = MemDescSubsliceOp.build(
            operands=[src], properties={"offsets": known}, result_types=[result]
        )
    _replace(operation, [made])
    return None


def _as_subview(operation: TritonOperation) -> str | None:
    """Puts what 3.4 calls a subview in place of a counted or a cut part."""
    from xtile.dialects.triton.ttg.ops import MemDescSubviewOp

    src = operation.operands[0]
    rank = len(cast("MemDescType", src.type).get_shape())
    given = operation.properties.get("offsets")
    numbers = [0] * rank
    if isinstance(given, DenseArrayBase):
        numbers = [int(each) for each in given.get_values()]
    constants = [arith.ConstantOp(IntegerAttr(number, i32)) for number in numbers]
    offsets: list[SSAValue] = [constant.result for constant in constants]
    if operation.name == "ttg.memdesc_index":
        constants, offsets[0] = constants[1:], operation.operands[1]
    result = operation.results[0].type
    made = MemDescSubviewOp.build(operands=[src, offsets], result_types=[result])
    _replace(operation, [*constants, made])
    return None


def _replace(operation: Operation, made: Sequence[Operation]) -> None:
    for each in made:
        each.location = operation.location
    Rewriter.replace_op(operation, list(made))


def _constant(value: SSAValue) -> int | None:
    """The number that a value is, if it is a constant."""
    owner = value.owner
    attribute = owner.properties.get("value") if isinstance(owner, arith.ConstantOp) else None
    return int(attribute.value.data) if isinstance(attribute, IntegerAttr) else None
