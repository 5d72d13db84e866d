"""Finding the function to launch in what a caller calls a kernel."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.arguments.errors import ArgumentError, describe_type
from xtile.arguments.launch_checks import check_of
from xtile.arguments.memory_types import scalar_type_of
from xtile.arguments.signature import Parameter, Signature, choose_entry
from xtile.arguments.writes import written_parameters
from xtile.dialects.core.arguments import is_noalias
from xtile.dialects.core.launch_checks import check_words
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE, source_signature
from xtile.dialects.reading import parse, verify
from xtile.dialects.shared_attributes import INDEX
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import GroupType, MemrefType
from xtile.semantics.language import language_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import clone_with_source, source_of
from xtile.text.value_names import unique_names

if TYPE_CHECKING:
    from xtile.dialects.spirv.module import FuncOp as SpirvFuncOp


def signature_of(function: Operation) -> Signature:
    """The signature of a function; of a kernel that says what it was in its source, that one.

    Raises:
        ArgumentError: The source's parameters are of a language that is not known, or the kernel is
            SPIR-V and does not say what they are.
    """
    parameters, written = source_parameters_of(function), written_parameters(function)
    source, checks = source_signature(function), tuple(map(check_of, check_words(function)))
    if source is not None:
        from xtile.arguments.source_arguments import written_in_source

        written = written_in_source(source, written)
    return Signature(name_of(function), parameters, written, checks)


def source_parameters_of(function: Operation) -> tuple[Parameter, ...]:
    """The parameters of a function; of a kernel that says what it was in its source, those.

    Raises:
        ArgumentError: As for `signature_of`.
    """
    source = source_signature(function)
    if source is None:
        return tuple(parameters_of(function))
    from xtile.arguments.source_arguments import parameters_in_source

    relies_on = list(map(is_noalias, _values_of(function)))
    return tuple(parameters_in_source(name_of(function), source, relies_on=relies_on))


def find_function(
    kernel: object, entry: str | None, diagnostics: Diagnostics | None = None
) -> Operation:
    """Returns the function named `entry`, or the only function of a path, a text or a module.

    Warnings about a text go to `diagnostics`, without which they are Python warnings.

    Raises:
        ArgumentError: It is none of these, there is no such function, or several and no `entry`.
        DiagnosticError: The text cannot be read, or the kernel breaks the language's rules.
    """
    if isinstance(kernel, ModuleOp):
        verify(kernel)
        return choose_function(kernel, entry)
    if not isinstance(kernel, str | os.PathLike):
        raise ArgumentError(
            f"expected a kernel as a path, a text or a module, given {describe_type(kernel)}"
        )
    path_or_text = cast("str | os.PathLike[str]", kernel)
    return choose_function(parse(path_or_text, diagnostics=diagnostics), entry)


_KERNEL = "gpu.kernel"
"""The attribute of a `gpu.func` that is there to be launched."""

_SPIRV = "spirv.func"
"""A function that is a kernel where an entry point names it."""


def name_of(function: Operation) -> str:
    """The name of a function, and of a kernel that by which a device knows it."""
    if function.name == _SPIRV:
        return _entry_point_of(function) or cast("SpirvFuncOp", function).sym_name
    name = function.get_attr_or_prop("sym_name")
    assert isinstance(name, StringAttr)
    return name.data


def choose_function(module: ModuleOp, entry: str | None) -> Operation:
    """Returns the function that `choose_entry` chooses.

    Raises:
        ArgumentError: There is no such function, or several and no `entry`.
    """
    kernels, hosts = kernels_of(module), hosts_of(module)
    return (kernels | hosts)[choose_entry(list(kernels), list(hosts), entry)]


def kernels_of(module: ModuleOp) -> dict[str, Operation]:
    """The kernels of a module, by the names that `entry` takes.

    That is a kernel's own name or, where another function has that, too, `module::kernel`.
    """
    functions = list(_functions_in(module))
    kernels = [op for op in functions if not is_host_function(op)]
    uses = Counter(map(name_of, functions))
    return {_path_of(op) if uses[name_of(op)] > 1 else name_of(op): op for op in kernels}


def signatures_of(module: ModuleOp, *, may_overlap: bool = False) -> dict[str, Signature]:
    """The signatures of a module's kernels by their own names, which a device knows them by.

    Args:
        module: The kernels.
        may_overlap: Whether they are compiled for arguments that overlap.

    Raises:
        ArgumentError: Two kernels have one name.
    """
    return {
        name: _compiled(function) if may_overlap else signature_of(function)
        for name, function in _known_by_name(module).items()
    }


def _compiled(function: Operation) -> Signature:
    """The signature of a kernel that is compiled for arguments that overlap."""
    source, signature = source_signature(function), signature_of(function)
    # What a translation has left out is not there again.
    is_fixed = source is not None and any(each.is_noalias for each in source.parameters)
    return signature if is_fixed else signature.with_overlaps()


def _known_by_name(module: ModuleOp) -> dict[str, Operation]:
    """The kernels of a module by their own names.

    Raises:
        ArgumentError: Two kernels have one name.
    """
    functions: dict[str, Operation] = {}
    for path, function in kernels_of(module).items():
        name = name_of(function)
        if name in functions:
            raise ArgumentError(
                f"two kernels have the name '{name}', by which a device knows them; rename '{path}'"
            )
        functions[name] = function
    return functions


def hosts_of(module: ModuleOp) -> dict[str, Operation]:
    """The functions of the host of a module, by name."""
    return {name_of(op): op for op in _functions_in(module) if is_host_function(op)}


def _functions_in(module: Operation) -> Iterator[Operation]:
    """The kernels and functions of the host of a module, and of the modules in it."""
    for region in module.regions:
        for block in region.blocks:
            for operation in block.ops:
                if is_host_function(operation) or _is_kernel(operation):
                    yield operation
                elif operation.regions:
                    yield from _functions_in(operation)


def kernels_only(module: ModuleOp, entry: str | None) -> ModuleOp:
    """A module without functions of the host, and without other kernels if one is named.

    Raises:
        ArgumentError: There is no kernel, or none of the name, or two kernels have one name.
    """
    kernels, hosts = list(_known_by_name(module)), hosts_of(module)
    if not kernels:
        raise ArgumentError("there is no kernel to compile")
    kept = kernels if entry is None else [choose_entry(kernels, [], entry)]
    if len(kept) == len(kernels) + len(hosts):
        return module
    copy = clone_with_source(module)
    others = [function for function in kernels_of(copy).values() if name_of(function) not in kept]
    for function in (*others, *hosts_of(copy).values()):
        if function.name == _SPIRV:
            from xtile.dialects.spirv.entry_points import erase_kernel

            erase_kernel(cast("SpirvFuncOp", function))
            continue
        function.detach()
        function.erase(safe_erase=False)
    return copy


def _path_of(function: Operation) -> str:
    """The names of a function and of the modules around it, from the outermost one on."""
    around = function.parent_op()
    if around is None or around.get_attr_or_prop("sym_name") is None:
        return name_of(function)
    return f"{_path_of(around)}::{name_of(function)}"


def _is_kernel(operation: Operation) -> bool:
    if isinstance(operation, FuncOp):
        return True
    if operation.name == "cuda_tile.entry":
        return True
    if operation.name == "tt.func":
        return _is_triton_kernel(operation)
    if operation.name == _SPIRV:
        return _entry_point_of(operation) is not None
    return operation.name == "gpu.func" and _KERNEL in operation.attributes


def _entry_point_of(function: Operation) -> str | None:
    """The name of the entry point that a function of SPIR-V is, if it is one."""
    from xtile.dialects.spirv.entry_points import entry_point_of

    return entry_point_of(cast("SpirvFuncOp", function))


def _is_triton_kernel(function: Operation) -> bool:
    """Whether a function of Triton is public and not called by others."""
    visibility = function.get_attr_or_prop("sym_visibility")
    if visibility not in (None, StringAttr("public")) or not function.regions[0].blocks:
        return False
    module = function.get_toplevel_object()
    name = SymbolRefAttr(name_of(function))
    return not any(
        operation.name == "tt.call" and operation.get_attr_or_prop("callee") == name
        for operation in (module.walk() if isinstance(module, Operation) else ())
    )


def is_host_function(operation: Operation) -> bool:
    """Whether an operation is a function of the host with a body.

    Those in a `gpu.module` are none: its kernels call them.
    """
    if operation.name != "func.func" or not operation.regions[0].blocks:
        return False
    around = operation.parent_op()
    return around is None or around.name != "gpu.module"


def parameters_of(function: Operation) -> list[Parameter]:
    """The parameters of a function in signature order; a nameless one is named by its place.

    Raises:
        ArgumentError: It is SPIR-V, whose arguments are pointers without a size.
    """
    if function.name == _SPIRV:
        raise ArgumentError(
            f"@{name_of(function)} is SPIR-V without {SIGNATURE_ATTRIBUTE}, which does not say "
            "what its arguments are; run the kernel's source, and give its SPIR-V as the binary "
            "(binary= in Python, --binary of `xtile run`)"
        )
    values = _values_of(function)
    return [
        Parameter(
            name,
            value.type,
            _promises(function, index),
            may_be_address=scalar_type_of(value.type) in (i64, INDEX)
            and not isinstance(function, FuncOp),
            is_noalias=_is_noalias(function, value),
        )
        for index, (name, value) in enumerate(zip(_names(function, values), values, strict=True))
    ]


def _values_of(function: Operation) -> Sequence[SSAValue]:
    """The values that stand for a function's arguments."""
    if function.name == _SPIRV:
        return cast("SpirvFuncOp", function).parameters
    return language_of(function).parameters(function)


def _is_noalias(function: Operation, value: SSAValue) -> bool:
    """Whether a parameter overlaps no other one where either is written.

    For the tensor language it is so by rule (docs/semantics.md, 2.6).
    """
    if isinstance(function, FuncOp):
        return isinstance(value.type, MemrefType | GroupType)
    return is_noalias(value)


def _names(function: Operation, values: Sequence[SSAValue]) -> list[str]:
    """What the text calls parameters; no two of them alike, as no text can have them."""
    module = function.get_toplevel_object()
    source = source_of(module) if isinstance(module, ModuleOp) else None
    written = {} if source is None else source.names
    return unique_names(
        value.name_hint or written.get(value) or str(index) for index, value in enumerate(values)
    )


def _promises(function: Operation, index: int) -> dict[str, Attribute]:
    """What a function's attributes promise of an argument."""
    return function.attributes_of_parameter(index) if isinstance(function, FuncOp) else {}
