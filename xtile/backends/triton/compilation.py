"""Compiling kernels with Triton: what the result is, and the steps to it.

```
tensorlang, core, CUDA Tile IR, XeGPU --translate--> tt --+--AMD--> layouts --+
Triton's own tt ------------------------------------------+                   |
Triton's own ttg, for the same chip ------------------------------------------+--> text
Triton's own ttg, for another chip --raise--> core --translate--> tt

text --Triton--> hsaco, cubin
```

The layouts are those of `triton-to-amdg` where `layouts.py` says so, and Triton's own elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i32,
)
from xdsl.ir import Attribute

from xtile.arguments.calling_convention import DIVISIBLE_BY
from xtile.arguments.errors import DeviceError
from xtile.arguments.signature import Signature
from xtile.backends.cache import Cache
from xtile.backends.machine_code import (
    CUBIN,
    HSACO,
    NO_PROMISES,
    CodeFormat,
    KernelInterface,
    MachineCode,
    Promises,
    Scratch,
)
from xtile.backends.parameters import check_parameters, pointers_to_memrefs
from xtile.backends.triton.build_process import Built, Request
from xtile.backends.triton.builds import build
from xtile.backends.triton.installed import find_triton
from xtile.backends.triton.layouts import (
    AMDG,
    Options,
    remark_of_failure,
    text_for,
    text_with_layouts,
)
from xtile.dialects.triton.module_attributes import TARGET, own_chip
from xtile.targets import AMD, chip_name, find_target, vendor_of
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, source_of, span_of

if TYPE_CHECKING:
    from xtile.dialects.triton.tt.ops.functions import FuncOp


@dataclass(frozen=True)
class Program:
    """A kernel that Triton can compile.

    Attributes:
        text: The module.
        extension: What it is written in, "ttir" or "ttgir".
        kernel: The name of its kernel.
        options: What Triton's compiler is told beside it.
        interface: What a launch must know of the kernel, as far as the text tells it.
        parameters: How many the kernel has.
        without_layouts: The module in "ttir", for a Triton that fails on the text with the layouts
            of xtile; None where there is no such text.
    """

    text: str
    extension: str
    kernel: str
    options: Mapping[str, Any]
    interface: KernelInterface
    parameters: int
    without_layouts: str | None = None

    def signatures(self, of_source: Mapping[str, Signature]) -> dict[str, Signature]:
        """The signatures of the source's kernels with what the code relies on of overlaps."""
        return {name: self._relying(signature) for name, signature in of_source.items()}

    def _relying(self, signature: Signature) -> Signature:
        memory = [
            number
            for number in self.interface.disjoint
            for parameter in [signature.parameters[number]]
            if parameter.is_memory or parameter.may_be_address
        ]
        return signature.without_overlaps(memory)


def compile_with_triton(
    module: ModuleOp,
    chip: str | None = None,
    diagnostics: Diagnostics | None = None,
    *,
    options: Options | None = None,
    cache: Cache | None = None,
    seconds: float | None = None,
    launch_checks: bool = False,
) -> MachineCode:
    """Compiles the kernel of a module to machine code.

    Args:
        module: A kernel of any language.
        chip: The architecture, one of AMD's or NVIDIA's; None for that which a kernel of `ttg` was
            made for, and else AMD's default.
        diagnostics: Collects warnings and remarks.
        options: What Triton's compiler is told.
        cache: Holds what was compiled before; None: the user's own.
        seconds: How long Triton may take; None for its usual limit.
        launch_checks: Whether launches check what the code then relies on: that memory is aligned
            and ends below 2 GB.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
        DeviceError: Triton is missing or fails.
        DiagnosticError: The kernel cannot be compiled for the architecture, or there are several.
    """
    from xtile.arguments.kernel import signatures_of

    chip = chip_of(module, chip)
    signatures = signatures_of(module)
    check_parameters(signatures.values())
    promises = NO_PROMISES
    if launch_checks:
        memory = pointers_to_memrefs(signatures.values())
        promises = Promises(memory, memory)
    program = compile_program(module, chip, diagnostics, options=options, promises=promises)
    built = build_program(program, chip, cache or Cache(), seconds, source_of(module), diagnostics)
    return machine_code(program, built, chip, program.signatures(signatures))


def chip_of(module: ModuleOp, chip: str | None = None) -> str:
    """The chip that a module is compiled for: one that is named, its own, or AMD's default."""
    return chip or own_chip(module) or AMD.default


def compile_program(
    module: ModuleOp,
    chip: str,
    diagnostics: Diagnostics | None = None,
    *,
    options: Options | None = None,
    promises: Promises = NO_PROMISES,
) -> Program:
    """The text of a module's kernel, for the Triton of this environment.

    Args:
        module: A kernel of any language.
        chip: The architecture.
        diagnostics: Collects warnings and remarks.
        options: What Triton's compiler is told.
        promises: What launches find of parameters, where the kernel was not written for Triton.

    Raises:
        DeviceError: There is no Triton.
        DiagnosticError: The kernel cannot be compiled for the architecture, or there are several.
    """
    lowered = translated(module, chip, diagnostics)
    kernel = _only_kernel(lowered)
    is_own = lowered is module
    if not is_own:
        _promise(kernel, promises)
    told = {
        **_options_of(module),
        # Each operation is rounded as it is written, which is Triton's own choice from 3.9 on.
        "enable_fp_fusion": False,
        **(options or Options()).words(),
    }
    texts = _texts(lowered, chip, told, options or Options(), diagnostics)
    return Program(
        *texts[0],
        kernel.sym_name.data,
        told,
        _interface(kernel, promises, is_own=is_own),
        len(kernel.function_type.inputs),
        texts[1][0] if len(texts) > 1 else None,
    )


def _texts(
    module: ModuleOp,
    chip: str,
    told: Mapping[str, Any],
    options: Options,
    diagnostics: Diagnostics | None,
) -> list[tuple[str, str]]:
    """The texts that Triton can be given, the first one first, each with what it is written in."""
    release = find_triton().release
    if TARGET in module.attributes:
        return [(text_for(module, release, diagnostics), "ttgir")]
    texts: list[tuple[str, str]] = []
    text = text_with_layouts(module, chip, release, told, options, diagnostics)
    if text is not None:
        texts.append((text, "ttgir"))
    if options.through != AMDG:
        texts.append((text_for(module, release, diagnostics), "ttir"))
    return texts


def translated(
    module: ModuleOp, chip: str, diagnostics: Diagnostics | None = None, watcher: Any = None
) -> ModuleOp:
    """A module in Triton's languages, without layouts or with those of a chip.

    Raises:
        DiagnosticError: Something in it cannot be translated.
    """
    from xtile.translate.route import Options as RouteOptions
    from xtile.translate.route import translate, translate_to

    target = find_target(chip)
    options = RouteOptions(target.name)
    if _lacks_descriptors(module, target.name):
        module = translate(module, "triton-to-core", options, diagnostics, watcher)
    elif own_chip(module) == target.name:
        return module
    return translate_to(module, "triton", options, diagnostics, watcher)


def _lacks_descriptors(module: ModuleOp, chip: str) -> bool:
    """Whether a kernel has tensor descriptors, and the chip no hardware for them.

    Triton itself replaces them by pointers, but in a stage before the text that it reads.
    """
    if chip in _WITH_DESCRIPTORS:
        return False
    return any(each.name.startswith(_DESCRIPTORS) for each in module.walk())


_DESCRIPTORS = ("tt.descriptor_", "tt.make_tensor_descriptor")

_WITH_DESCRIPTORS = ("gfx1250", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121")
"""The chips that copy blocks of tensors by descriptors. Source: Triton 3.9, `supports_tdm` and
`CUDABackend.make_ttir`."""


def _only_kernel(module: ModuleOp) -> FuncOp:
    """The kernel of a module.

    Raises:
        DiagnosticError: There are several.
    """
    from xtile.dialects.triton.tt.ops.functions import FuncOp

    functions = [each for each in module.body.ops if isinstance(each, FuncOp)]
    kernels = [each for each in functions if _is_public(each)]
    if len(kernels) != 1:
        names = ", ".join(f"@{each.sym_name.data}" for each in kernels) or "none"
        source, at = source_of(module), kernels[1] if len(kernels) > 1 else None
        message = (
            f"Triton compiles one kernel of a module, and here are {names}; name one of them with "
            "--entry (entry=...)"
            if kernels
            else "there is no kernel, which is a tt.func that is public"
        )
        span = None if at is None else span_of(at, source)
        raise DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)])
    return kernels[0]


def _is_public(function: FuncOp) -> bool:
    return function.sym_visibility is None or function.sym_visibility.data == "public"


_TOLD = ("num_warps", "num_ctas", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
"""What a launch told Triton's compiler, of what stands beside a kernel that it has compiled."""


def _options_of(module: ModuleOp) -> dict[str, int]:
    """The options of the launch that a kernel comes from, if it says so."""
    from xtile.dialects.triton_dumps import ATTRIBUTE

    kept = module.attributes.get(ATTRIBUTE)
    if not isinstance(kept, DictionaryAttr):
        return {}
    return {
        name: cast("IntegerAttr[IntegerType]", value).value.data
        for name, value in kept.data.items()
        if name in _TOLD and isinstance(value, IntegerAttr)
    }


def _promise(kernel: FuncOp, promises: Promises) -> None:
    """Tells Triton what launches find of a kernel's parameters."""
    count = len(kernel.function_type.inputs)
    given = [DictionaryAttr({})] * count if kernel.arg_attrs is None else kernel.arg_attrs.data
    found: list[DictionaryAttr] = []
    for number, attributes in enumerate(given):
        known: dict[str, Attribute] = dict(attributes.data)
        if number in promises.divisible:
            known[_DIVISOR] = IntegerAttr(DIVISIBLE_BY, i32)
        if number in promises.in_reach:
            known[_RANGE] = IntegerAttr(_REACH_BITS, i32)
        found.append(DictionaryAttr(known))
    kernel.arg_attrs = ArrayAttr(found)


_DIVISOR, _RANGE = "tt.divisibility", "tt.pointer_range"


def _interface(kernel: FuncOp, promises: Promises, *, is_own: bool) -> KernelInterface:
    """What a launch must know of a kernel, as far as its text tells it.

    Args:
        kernel: The kernel.
        promises: What it relies on that a launch finds.
        is_own: Whether it was written for Triton, where arguments may overlap as they do there.
    """
    from xtile.dialects.core.signature import source_signature

    count = len(kernel.function_type.inputs)
    attributes = [] if kernel.arg_attrs is None else [each.data for each in kernel.arg_attrs]
    divisors = [_number(each, _DIVISOR, 1) for each in attributes] or [1] * count
    ranges = [_number(each, _RANGE, 64) for each in attributes]
    source = source_signature(kernel)
    disjoint = range(count if source is None else len(source.parameters))
    return KernelInterface(
        disjoint=() if is_own else tuple(disjoint),
        divisors=tuple(divisors),
        # Where the text of another language says it, the types of the parameters do.
        in_reach=tuple(
            number
            for number, bits in enumerate(ranges)
            if bits == _REACH_BITS and (is_own or number in promises.in_reach)
        ),
    )


_REACH_BITS = 32
"""The bits of offsets that reach memory below 2 GB."""


def _number(attributes: Mapping[str, Attribute], name: str, otherwise: int) -> int:
    given = attributes.get(name)
    if not isinstance(given, IntegerAttr):
        return otherwise
    return cast("IntegerAttr[IntegerType]", given).value.data


# --- machine code ---


def build_program(
    program: Program,
    chip: str,
    cache: Cache,
    seconds: float | None,
    source: Source | None,
    diagnostics: Diagnostics | None = None,
) -> Built:
    """What Triton makes of a program, or what the cache has of it.

    Args:
        program: The program.
        chip: The architecture.
        cache: Holds what was built, and failures.
        seconds: How long Triton may take; None for its usual limit.
        source: The text of the kernel, in which errors have their locations.
        diagnostics: Collects a remark where Triton fails on the layouts of xtile.

    Raises:
        DeviceError: Triton is missing or fails; the message has what it said.
        DiagnosticError: What it refuses has a location in the text.
    """
    triton = find_triton()
    request = _request(program, chip)
    try:
        return build(request, triton, cache, seconds=seconds, source=source)
    except (DeviceError, DiagnosticError) as error:
        text = program.without_layouts
        if text is None:
            raise
        remark_of_failure(error, source, diagnostics)
    request = replace(request, text=text, extension="ttir")
    return build(request, triton, cache, seconds=seconds, source=source)


def _request(program: Program, chip: str) -> Request:
    target = find_target(chip)
    is_amd = code_format(chip) is HSACO
    return Request(
        program.text,
        program.extension,
        "hip" if is_amd else "cuda",
        target.name if is_amd else target.name.removeprefix("sm_"),
        _lanes_of(chip),
        program.options,
    )


def _lanes_of(chip: str) -> int:
    """The threads of a warp; NVIDIA's targets are those of tile blocks, which have none."""
    return find_target(chip).subgroup_size if code_format(chip) is HSACO else 32


def code_format(chip: str) -> CodeFormat:
    """What machine code for a chip is."""
    return HSACO if vendor_of(chip) is AMD else CUBIN


def machine_code(
    program: Program, built: Built, chip: str, signatures: Mapping[str, Signature]
) -> MachineCode:
    """What Triton has made, with what a launch must know.

    Raises:
        DeviceError: Blocks work together, which launches do not provide for.
    """
    kind = code_format(chip)
    code, facts = built.stages[kind.name], built.facts
    if int(facts["num_ctas"] or 1) > 1 or facts["launch_cooperative_grid"]:
        raise DeviceError(
            f"@{program.kernel} is for launches in which blocks work together (num_ctas above 1 "
            "or launch_cooperative_grid), which xtile does not make"
        )
    interface = replace(
        program.interface,
        threads=int(facts["num_warps"]) * _lanes_of(chip),
        shared=int(facts["shared"] or 0),
        scratch=tuple(_scratches(facts)[: _hidden(program, built, kind)]),
    )
    return MachineCode(
        code, chip_name(chip), str(find_triton()), signatures, {program.kernel: interface}, kind
    )


def _scratches(facts: Mapping[str, Any]) -> Sequence[Scratch]:
    """The memory that kernels may take, in the order of their parameters."""
    return [
        Scratch(int(facts[f"{name}_size"]), max(1, int(facts[f"{name}_align"])))
        for name in ("global_scratch", "profile_scratch")
    ]


def _hidden(program: Program, built: Built, kind: CodeFormat) -> int:
    """The number of parameters of the machine code that the kernel's text has not."""
    if kind is HSACO:
        from xtile.backends.amd.hsaco import kernels_of

        given = len(kernels_of(built.stages[kind.name])[program.kernel].slots)
    else:
        given = _parameters_in_ptx(built.stages["ptx"].decode(), program.kernel)
    return given - program.parameters


def _parameters_in_ptx(text: str, kernel: str) -> int:
    import re

    found = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\((.*?)\n\)", text, re.DOTALL)
    return 0 if found is None else found[1].count(".param")
