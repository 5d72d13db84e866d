"""What each step takes and gives, in one table, and the one check of a module against it.

A module may hold kernels of several forms. A contract is kept by each of them alone: a step takes a
kernel, or lets it stay what it is, or refuses it. `flow` says what becomes of a form along several
steps, so that a route has the contract that its steps have together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from xtile.text.diagnostics import (
    Diagnostic,
    Diagnostics,
    Severity,
    SourceWarning,
)
from xtile.text.source import place_of, source_of


class Form(StrEnum):
    """What a function, or a module that cannot be taken apart, is written in.

    The value is what messages call one.
    """

    TENSORLANG = "a function of the tensor language"
    BLOCK = 'a kernel at level "block"'
    SUBGROUP = 'a kernel at level "subgroup"'
    LANE = 'a kernel at level "lane"'
    PLAIN = "a kernel without core.level"
    TILE = 'a kernel at level "tile"'
    CUDA_TILE = "a module of CUDA Tile IR"
    SPIRV = "a module of SPIR-V"
    HOST = "a function of the host"
    CALLED = "a function for kernels to call"


KERNELS = (Form.BLOCK, Form.SUBGROUP, Form.LANE, Form.PLAIN, Form.TILE)
"""The forms of a `gpu.func`."""

DEVICE_CODE = ("spirv", "cuda_tile")
"""The languages that hold kernels only."""

_BESIDE = (Form.HOST, Form.CALLED)
"""What stands beside kernels, and is nothing to translate on its own."""

_STRUCTURED = (Form.BLOCK, Form.SUBGROUP, Form.TILE)
"""The forms whose control flow is that of `scf`: a function has one block."""


@dataclass(frozen=True)
class Contract:
    """What a step does with each form. What it does not name is refused.

    Attributes:
        takes: The forms that it is for.
        gives: What it makes of them; None for a step after which they are what they were.
        keeps: The forms that it lets stay as they are.
    """

    takes: tuple[Form, ...]
    gives: Form | None
    keeps: tuple[Form, ...] = ()


_OTHERS = (*KERNELS, *_BESIDE)

_TO_LANES = Contract((Form.SUBGROUP,), Form.PLAIN, keeps=(Form.LANE, Form.PLAIN, *_BESIDE))

CONTRACTS: Mapping[str, Contract] = {
    "tensorlang-to-core": Contract((Form.TENSORLANG,), Form.BLOCK),
    "core-distribute": Contract((Form.BLOCK,), Form.SUBGROUP, keeps=_OTHERS),
    "core-tile-linalg": Contract((Form.BLOCK,), Form.TILE, keeps=_OTHERS),
    "core-cleanup": Contract(KERNELS, None, keeps=_BESIDE),
    "core-to-xegpu": _TO_LANES,
    "core-to-lane": _TO_LANES,
    "xegpu-to-spirv": Contract((Form.LANE, Form.PLAIN), Form.SPIRV, keeps=_BESIDE),
    "tile-to-cuda_tile": Contract((Form.TILE,), Form.CUDA_TILE, keeps=_BESIDE),
}
"""The contract of each step, by its name; passes and routes are made of them."""

_PASSES = ("tensorlang-to-core", "core-distribute", "core-tile-linalg", "core-to-xegpu")
"""The steps that a message may advise to run first."""


def forms_of(module: ModuleOp) -> Iterator[tuple[Operation, Form]]:
    """The functions of a module with their forms, in the order of the text.

    Modules of CUDA Tile IR and of SPIR-V are not taken apart.
    """
    for operation in module.body.ops:
        yield from _forms(operation, Form.HOST)


def _forms(operation: Operation, of_func: Form) -> Iterator[tuple[Operation, Form]]:
    name = operation.name
    if name in _FORMS:
        yield operation, _FORMS[name]
    elif name == "func.func":
        yield operation, of_func
    elif name == "gpu.func":
        yield operation, _kernel_form(operation)
    elif name in ("gpu.module", "builtin.module"):
        inside = Form.CALLED if name == "gpu.module" else of_func
        for inner in operation.regions[0].ops:
            yield from _forms(inner, inside)


_FORMS = {
    "cuda_tile.module": Form.CUDA_TILE,
    "spirv.module": Form.SPIRV,
    "tensorlang.func": Form.TENSORLANG,
}


def _kernel_form(function: Operation) -> Form:
    from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE

    level = function.attributes.get(LEVEL_ATTRIBUTE)
    return _LEVELS.get(level.data, Form.PLAIN) if isinstance(level, StringAttr) else Form.PLAIN


_LEVELS = {
    "block": Form.BLOCK,
    "subgroup": Form.SUBGROUP,
    "lane": Form.LANE,
    "tile": Form.TILE,
}


def flow(form: Form, contracts: Sequence[Contract]) -> tuple[Form | None, bool]:
    """What becomes of a form along some steps; None if one refuses it.

    Returns:
        The last form, and whether the steps are for it, to which cleaning up does not count unless
        it is the only step.
    """
    current, is_taken = form, False
    for contract in contracts:
        if current in contract.takes:
            is_taken = is_taken or contract.gives is not None or len(contracts) == 1
            current = contract.gives or current
        elif current not in contract.keeps:
            return None, is_taken
    return current, is_taken


def taken_by(contracts: Sequence[Contract]) -> list[Form]:
    """The forms that some steps are for, together."""
    results = {form: flow(form, contracts) for form in Form}
    return [form for form, (last, is_taken) in results.items() if last is not None and is_taken]


def check(module: ModuleOp, name: str, contracts: Sequence[Contract]) -> None:
    """Checks that steps can do their work on a module.

    Args:
        module: What they are applied to.
        name: What messages call the steps.
        contracts: Their contracts, in order.

    Raises:
        DiagnosticError: They refuse something in it, or there is nothing that they are for.
    """
    source, diagnostics = source_of(module), Diagnostics()
    found = list(forms_of(module))
    is_for_something = any(form in taken_by(contracts) for _, form in found)
    only_beside = all(form in _BESIDE for _, form in found)
    for operation, form in found:
        last, is_taken = flow(form, contracts)
        is_unused = not is_for_something and (only_beside or form not in _BESIDE)
        message = None
        if last is None or is_unused:
            message = f"{_name(operation)} is {form}, but {_needs(name, contracts, form)}"
        elif is_taken and form in _STRUCTURED and len(operation.regions[0].blocks) != 1:
            message = f"{_name(operation)} has several blocks, but {name} takes control flow of scf"
        if message is not None:
            diagnostics.error(source, place_of(operation, source), message)
    if not found:
        diagnostics.error(source, None, f"there is no function here, but {_needs(name, contracts)}")
    diagnostics.raise_if_errors()


def _needs(name: str, contracts: Sequence[Contract], form: Form | None = None) -> str:
    """What steps are for, and what makes it of what is there."""
    wanted = taken_by(contracts)
    needs = f"{name} takes {_several(wanted)}"
    if form is None or form in _BESIDE:
        return needs
    first = _way(form, wanted)
    if first is not None:
        return f"{needs}; run {', then '.join(first)} first"
    return f"{needs}; {'name its level' if form is Form.PLAIN else 'no pass makes them of it'}"


def _several(forms: Sequence[Form]) -> str:
    """What messages call functions of several forms."""
    if Form.TENSORLANG in forms:
        return "functions of the tensor language"
    if set(forms) == set(KERNELS):
        return "kernels"
    levels = [f'"{level}"' for level, form in _LEVELS.items() if form in forms]
    words = [f"kernels at level {_either(levels)}"]
    return _either([*words, "kernels without core.level"] if Form.PLAIN in forms else words)


def _way(form: Form, wanted: Sequence[Form]) -> list[str] | None:
    """The shortest way of passes from a form to one of those that are wanted; None if none is."""
    ways: list[tuple[Form, list[str]]] = [(form, [])]
    for current, passes in ways:
        if current in wanted:
            return passes
        for name in _PASSES:
            contract = CONTRACTS[name]
            if current in contract.takes and contract.gives is not None and name not in passes:
                ways.append((contract.gives, [*passes, name]))
    return None


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _name(operation: Operation) -> str:
    name = operation.get_attr_or_prop("sym_name")
    return f"@{name.data}" if isinstance(name, StringAttr) else f"this {operation.name}"


def warn_of_left_out(module: ModuleOp, diagnostics: Diagnostics | None = None) -> None:
    """Warns of the functions that are no part of the device code made of a module's kernels.

    Args:
        module: What is about to become device code.
        diagnostics: Where the warnings go; None makes them Python's.
    """
    source = source_of(module)
    found = list(forms_of(module))
    if not any(form in KERNELS for _, form in found):
        return
    called = {str(call.properties["callee"]) for call in _calls(module)}
    for operation, form in found:
        if form is Form.HOST and operation.regions[0].blocks:
            reason = "is a function of the host, and device code is kernels"
        elif form is Form.CALLED and _name(operation) not in called:
            reason = "is called by no kernel"
        else:
            continue
        message = f"{_name(operation)} {reason}; it is left out"
        warning = Diagnostic(Severity.WARNING, message, source, place_of(operation, source))
        if diagnostics is None:
            warnings.warn(warning.render(), SourceWarning, stacklevel=3)
        else:
            diagnostics.add(warning)


def _calls(module: ModuleOp) -> Iterable[Operation]:
    return (operation for operation in module.walk() if operation.name == "func.call")
