"""Compiling kernels for NVIDIA's GPUs: what the result is, and the steps to it.

```
tensorlang, core --translate--> CUDA Tile IR --encode--> bytecode --tileiras--> cubin
```
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from xtile.arguments.launch_checks import check_of
from xtile.arguments.signature import Signature
from xtile.backends.cache import Cache
from xtile.backends.machine_code import KernelInterface, MachineCode
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.parameters import check_parameters, is_memref, pointers_to_memrefs
from xtile.dialects.core.launch_checks import PREFERRED_ATTRIBUTE, check_words
from xtile.dialects.core.signature import source_signature
from xtile.targets import NVIDIA
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import attach_source, source_of

if TYPE_CHECKING:
    from xtile.dialects.cuda_tile.ops.memory import AllocaOp

_ENTRY = "cuda_tile.entry"


@dataclass(frozen=True)
class Program:
    """Kernels that the assembler can compile.

    Attributes:
        bytecode: The module of CUDA Tile IR.
        kernels: Its kernels by name.
    """

    bytecode: bytes
    kernels: Mapping[str, KernelInterface]

    def signatures(self, of_source: Mapping[str, Signature]) -> dict[str, Signature]:
        """The signatures of the source's kernels with what the code relies on of overlaps."""
        return {
            name: signature.without_overlaps(self.kernels[name].disjoint)
            for name, signature in of_source.items()
        }


def compile_to_cubin(
    module: ModuleOp,
    chip: str = NVIDIA.default,
    diagnostics: Diagnostics | None = None,
    *,
    cache: Cache | None = None,
    level: int | None = None,
    seconds: float | None = None,
    may_overlap: bool = False,
    exact: bool = False,
    launch_checks: bool = False,
) -> MachineCode:
    """Compiles the kernels of a module to machine code.

    Args:
        module: Kernels of the tensor language, the core form or CUDA Tile IR.
        chip: The architecture, one of NVIDIA's.
        diagnostics: Collects warnings and remarks.
        cache: Holds what was assembled before; None: the user's own.
        level: How much the assembler optimizes, from 0 to 3; None for 3.
        seconds: How long the assembler may take; None for its usual limit.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them.
        exact: Whether products of f32 are fused multiply-adds.
        launch_checks: Whether launches check what the signatures then say.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
        DeviceError: The assembler is missing or fails.
        DiagnosticError: A kernel cannot be compiled for the architecture.
    """
    from xtile.arguments.kernel import signatures_of
    from xtile.backends.nvidia.tools import find_tileiras

    signatures = signatures_of(module, may_overlap=may_overlap)
    check_parameters(signatures.values())
    program = compile_program(
        *(module, chip, diagnostics),
        may_overlap=may_overlap,
        may_wrap=not launch_checks,
        exact=exact,
        divisible=pointers_to_memrefs(signatures.values()) if launch_checks else (),
    )
    source = source_of(module)
    code = build_cubin(
        program.bytecode, chip, cache or Cache(), level=level, seconds=seconds, source=source
    )
    checked = {
        name: signature.with_checks(program.kernels[name].checks)
        for name, signature in program.signatures(signatures).items()
    }
    # What launches check stands in the signatures.
    kernels = {
        name: replace(kernel, checks=(), disjoint=()) for name, kernel in program.kernels.items()
    }
    return MachineCode(code, chip, str(find_tileiras()), checked, kernels)


def compile_program(
    module: ModuleOp,
    chip: str,
    diagnostics: Diagnostics | None = None,
    *,
    may_overlap: bool = False,
    may_wrap: bool = False,
    exact: bool = False,
    divisible: Collection[int] | None = (),
) -> Program:
    """Compiles the kernels of a module to bytecode for the assembler.

    Args:
        module: Kernels of any language.
        chip: The architecture.
        diagnostics: Collects warnings and remarks.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them.
        may_wrap: Whether nobody checks at a launch that offsets of pointers do not wrap around.
        exact: Whether products of f32 are fused multiply-adds.
        divisible: The numbers of parameters that 16 divides in launches: addresses and strides of
            memrefs; None for all of them.

    Raises:
        DiagnosticError: A kernel cannot be compiled for the architecture.
    """
    from xtile.dialects.cuda_tile.bytecode import encode
    from xtile.rewrite.kernels import kernels_of
    from xtile.translate.route import Options, translate_to
    from xtile.translate.tiles.promise_divisors import promise_divisors, promised_divisors

    options = Options(chip, may_overlap=may_overlap, may_wrap=may_wrap, exact=exact)
    divisors: Mapping[str, tuple[int, ...]] = {}
    if (divisible is None or divisible) and _takes_memrefs(module):
        module = translate_to(module, "core", options, diagnostics)
        module = promise_divisors(module, divisible)
        divisors = {each.sym_name.data: promised_divisors(each) for each in kernels_of(module)}
    lowered = _for_assembler(translate_to(module, "cuda_tile", options, diagnostics))
    kernels = {
        _name(operation): _interface(operation, divisors.get(_name(operation), ()))
        for operation in lowered.walk()
        if operation.name == _ENTRY
    }
    # The locations in the text let the assembler name them, and profilers show them.
    return Program(encode(lowered, line_info=True), kernels)


def _takes_memrefs(module: ModuleOp) -> bool:
    from xtile.arguments.kernel import signatures_of

    signatures = signatures_of(module).values()
    return any(is_memref(each) for signature in signatures for each in signature.parameters)


def _interface(entry: Operation, divisors: tuple[int, ...]) -> KernelInterface:
    from xtile.dialects.cuda_tile.ops.memory import AllocaOp

    hints = entry.properties.get("optimization_hints")
    heap = sum(_bytes(operation) for operation in entry.walk() if isinstance(operation, AllocaOp))
    checks = tuple(map(check_of, check_words(entry)))
    preferred = tuple(map(check_of, check_words(entry, PREFERRED_ATTRIBUTE)))
    source = source_signature(entry)
    parameters = enumerate(source.parameters if source is not None else ())
    disjoint = tuple(i for i, parameter in parameters if parameter.is_noalias)
    words = "" if hints is None else str(hints)
    return KernelInterface(words, heap, checks, disjoint, divisors=divisors, preferred=preferred)


def _bytes(allocation: AllocaOp) -> int:
    """Bytes of an allocation, with what aligns it."""
    from xtile.backends.parameters import size_of
    from xtile.dialects.cuda_tile.types import PointerType, TileType

    type = allocation.result.type
    assert isinstance(type, TileType)
    assert isinstance(type.element_type, PointerType)
    count = allocation.num_elem.value.data
    return count * size_of(type.element_type.pointee_type) + allocation.alignment.value.data


def _for_assembler(module: ModuleOp) -> ModuleOp:
    """A module in the form that the assembler compiles rightly."""
    from xtile.transforms.read_once import is_read_again, read_once
    from xtile.transforms.scans_of_one_warp import (
        avoid_scans_of_one_warp,
        has_scans_of_one_warp,
    )

    if not is_read_again(module) and not has_scans_of_one_warp(module):
        return module
    result = module.clone()
    read_once(result)
    avoid_scans_of_one_warp(result)
    if (source := source_of(module)) is not None:
        attach_source(result, source)
    return result


def _name(entry: Operation) -> str:
    name = entry.properties["sym_name"]
    assert isinstance(name, StringAttr)
    return name.data
