"""What kernels are written in: a language, and where it has several, a level.

`docs/core-form.md`, "Levels", states the rule by which a `gpu.func` has a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from xtile.dialects.walk import walk

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

CORE = "core"
"""The language in the middle."""


@dataclass(frozen=True, eq=False)
class Form:
    """What a function, or a module that cannot be taken apart, is written in. There is one of each.

    Attributes:
        language: The language.
        level: What a value belongs to, in languages that have several levels.
        words: What messages call one of this form.
        operation: The name of the operation that is one.
        extension: How the names of its files end, without the dot.
        is_device_code: Whether a module of it has no room for anything else.
        leaves_out_hosts: Whether functions of the host are left out where it is made of kernels.
    """

    language: str
    level: str | None
    words: str
    operation: str
    extension: str = "mlir"
    is_device_code: bool = False
    leaves_out_hosts: bool = False

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.language if self.level is None else f"{self.language} {self.level}"

    def is_like(self, other: Form) -> bool:
        """Whether what takes one of them takes the other.

        At lane level, the core form is the upstream dialects with operations of XeGPU, as XeGPU is.
        """
        return self is other or (self in _LANES and other in _LANES)

    def is_one_of(self, forms: Iterable[Form]) -> bool:
        """Whether it is like one of some forms."""
        return any(self.is_like(form) for form in forms)


def _kernel(language: str, level: str) -> Form:
    of = "" if language == CORE else "of XeGPU "
    return Form(language, level, f'a kernel {of}at level "{level}"', "gpu.func")


TENSORLANG = Form(
    *("tensorlang", None, "a function of the tensor language", "tensorlang.func", "ir"),
    leaves_out_hosts=True,
)
LINALG = Form("linalg", None, "a kernel of linalg and affine loops", "gpu.func")
BLOCK = _kernel(CORE, "block")
TILE = _kernel(CORE, "tile")
SUBGROUP = _kernel(CORE, "subgroup")
LANE = _kernel(CORE, "lane")
NO_LEVEL = Form(
    CORE, "no level", "a kernel with operations of core and without core.level", "gpu.func"
)
XEGPU_WORK_GROUP = _kernel("xegpu", "work-group")
XEGPU_SUBGROUP = _kernel("xegpu", "subgroup")
XEGPU_LANE = _kernel("xegpu", "lane")
CUDA_TILE = Form(
    *("cuda_tile", None, "a module of CUDA Tile IR", "cuda_tile.module"),
    is_device_code=True,
    leaves_out_hosts=True,
)
TRITON = Form("triton", None, "a kernel of Triton", "tt.func", "ttir")
AMDG = Form("triton", "amdg", "a kernel of Triton with layouts", "tt.func", "ttgir")
SPIRV = Form(
    *("spirv", None, "a module of SPIR-V", "spirv.module"),
    is_device_code=True,
    leaves_out_hosts=True,
)
HOST = Form("host", None, "a function of the host", "func.func")
CALLED = Form("called", None, "a function for kernels to call", "func.func")

XEGPU_FUNCTION = Form(
    "xegpu", "function", "a function with operations of XeGPU that is no kernel", "func.func"
)

KERNELS = (
    *(BLOCK, TILE, SUBGROUP, LANE, NO_LEVEL),
    *(XEGPU_WORK_GROUP, XEGPU_SUBGROUP, XEGPU_LANE),
)
"""The forms of a `gpu.func` at a level."""

BESIDE = (HOST, CALLED, XEGPU_FUNCTION)
"""What stands beside kernels, and is nothing to translate on its own."""

FORMS = (TENSORLANG, LINALG, *KERNELS, CUDA_TILE, TRITON, AMDG, SPIRV, *BESIDE)
"""The forms that are told apart here."""

_LANES = (LANE, XEGPU_LANE)

_OF_LEVELS = {form.level: form for form in (BLOCK, TILE, SUBGROUP, LANE)}

_OF_XEGPU = {form.level: form for form in (XEGPU_WORK_GROUP, XEGPU_SUBGROUP, XEGPU_LANE)}


class Found(NamedTuple):
    """A function of a module, or a module of device code in it.

    Attributes:
        operation: The function or the module.
        form: What it is written in.
        is_named: Whether it says so itself; a `gpu.func` without core.level does not.
        because: The operation in it that tells, where one does.
    """

    operation: Operation
    form: Form
    is_named: bool = True
    because: Operation | None = None


def forms_of(module: ModuleOp, forms: Iterable[Form] = FORMS) -> list[Found]:
    """The functions of a module with their forms, in the order of the text.

    Modules of device code are not taken apart.

    Args:
        module: The module.
        forms: The forms that may be in it.
    """
    whole = {
        form.operation: form
        for form in forms
        if form.operation not in (BLOCK.operation, HOST.operation, TRITON.operation)
    }
    return [found for operation in module.body.ops for found in _found(operation, whole, HOST)]


def _found(operation: Operation, whole: Mapping[str, Form], of_func: Form) -> Iterator[Found]:
    name = operation.name
    if name in whole:
        yield Found(operation, whole[name])
    elif name == TRITON.operation:
        yield Found(operation, _form_of_triton(operation))
    elif name == HOST.operation:
        has_xegpu = of_func is HOST and any(map(_is_of_xegpu, walk(operation)))
        yield Found(operation, XEGPU_FUNCTION if has_xegpu else of_func)
    elif name == BLOCK.operation:
        yield _kernel_found(operation)
    elif name in ("gpu.module", "builtin.module"):
        inside = CALLED if name == "gpu.module" else of_func
        for inner in operation.regions[0].ops:
            yield from _found(inner, whole, inside)


def _form_of_triton(function: Operation) -> Form:
    """With layouts, modules say for how many warps these are."""
    module = function.parent_op()
    return AMDG if module is not None and _WARPS in module.attributes else TRITON


_WARPS = "ttg.num-warps"


def _kernel_found(function: Operation) -> Found:
    from xtile.dialects.core.attributes import level_of

    try:
        level = level_of(function)
    except ValueError:
        return Found(function, NO_LEVEL)
    if level in (None, "block"):
        from xtile.dialects.linalg.kernels import first_of_linalg

        of_linalg = first_of_linalg(function)
        if of_linalg is not None:
            return Found(function, LINALG, is_named=level is not None, because=of_linalg)
    if level is not None:
        return Found(function, _OF_LEVELS[level.value])
    form, because = _form_by_content(function)
    return Found(function, form, is_named=False, because=because)


def _form_by_content(function: Operation) -> tuple[Form, Operation | None]:
    """The form of a `gpu.func` that names no level, and what tells: every work-item executes it.

    Operations of XeGPU may be the work of a subgroup or a work-group, as their types say; those of
    `core` have a meaning at a level only.
    """
    of_xegpu: list[Operation] = []
    for operation in walk(function):
        dialect = operation.name.partition(".")[0]
        if dialect == "core":
            from xtile.dialects.core.levels import is_for_lanes

            if not is_for_lanes(operation):
                return NO_LEVEL, operation
        elif dialect == "xegpu":
            of_xegpu.append(operation)
    if not of_xegpu and _SAYS_LEVEL.isdisjoint(function.attributes):
        return LANE, None
    from xtile.dialects.xegpu.levels import level_of_kernel

    level, because = level_of_kernel(function, of_xegpu)
    return _OF_XEGPU[level], because


_SAYS_LEVEL = frozenset({"xegpu.level", "VectorComputeFunctionINTEL"})
"""The attributes by which a kernel is one of XeGPU, whatever it holds."""


def insist_on_xegpu_level(module: ModuleOp, level: str) -> None:
    """Lets the kernels of XeGPU that do not say their level say this one.

    Args:
        module: The module; it is changed.
        level: One that `xtile.dialects.xegpu.levels.set_level` takes.
    """
    from xtile.dialects.xegpu.levels import LEVEL, set_level

    for found in forms_of(module):
        function = found.operation
        if found.form in _OF_XEGPU.values() and LEVEL not in function.attributes:
            set_level(function, level)


def _is_of_xegpu(operation: Operation) -> bool:
    return operation.name.startswith("xegpu.")
