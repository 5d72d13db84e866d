"""The check of a module against what a pass takes, and of what a step gives against what it says.

A module may hold kernels of several forms. A contract is kept by each of them alone: a pass takes a
kernel, or lets it stay what it is, or refuses it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity, SourceWarning
from xtile.text.source import source_of, span_of, spelling_of
from xtile.translate.forms import (
    BESIDE,
    BLOCK,
    CALLED,
    CORE,
    KERNELS,
    LINALG,
    NO_LEVEL,
    SUBGROUP,
    TILE,
    Form,
    Found,
    forms_of,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_STRUCTURED = (BLOCK, LINALG, SUBGROUP, TILE)
"""The forms whose control flow is that of `scf`: a function has one block."""


class ContractError(Exception):
    """A step gave what it does not declare, which is a defect of xtile."""


class Contract(NamedTuple):
    """What a pass does with each form.

    Attributes:
        name: What messages call the pass.
        takes: The forms that it is for.
        keeps: The forms that it lets stay what they are; what is in neither is refused.
        advice: What else would do with a kernel that it refuses, for messages; empty where nothing
            would.
    """

    name: str
    takes: tuple[Form, ...]
    keeps: tuple[Form, ...]
    advice: Callable[[Form], str]

    def check(self, module: ModuleOp, found: Sequence[Found]) -> None:
        """Checks that the pass can do its work on a module.

        Args:
            module: What it is applied to.
            found: The functions of the module.

        Raises:
            DiagnosticError: It refuses something in it, or there is nothing that it is for.
        """
        source, diagnostics = source_of(module), Diagnostics()
        for function, message in self._problems(found):
            position = None if function is None else span_of(function, source)
            diagnostics.error(source, position, message)
        diagnostics.raise_if_errors()

    def _problems(self, found: Sequence[Found]) -> Iterator[tuple[Operation | None, str]]:
        if not found:
            yield None, f"there is no function here, but {self._needs()}"
        is_for_something = any(each.form in self.takes for each in found)
        only_beside = all(each.form in BESIDE for each in found)
        for each in found:
            form = each.form
            is_unused = not is_for_something and (only_beside or form not in BESIDE)
            if form not in (*self.takes, *self.keeps) or is_unused:
                advice = "" if form in BESIDE else f"; {self.advice(form)}"
                yield each.because or each.operation, f"{_told(each)}, but {self._needs()}{advice}"
            elif form in self.takes and form in _STRUCTURED and _has_blocks(each.operation):
                name = _name(each.operation)
                message = f"{name} has several blocks, but {self.name} takes control flow of scf"
                yield each.operation, message

    def _needs(self) -> str:
        return f"{self.name} takes {several(self.takes)}"


def check_result(
    name: str, before: Sequence[Found], after: Sequence[Found], takes: Iterable[Form], gives: Form
) -> None:
    """Checks that a step gave what it says.

    Args:
        name: The step.
        before: The functions that it got.
        after: Those that it gave.
        takes: The forms that it says it takes.
        gives: What it says that it makes of them.

    Raises:
        ContractError: It gave something else.
    """
    kept = [each.form for each in before if each.form not in tuple(takes)]
    for each in after:
        if not any(each.form.is_like(form) for form in (gives, *kept, *BESIDE)):
            raise ContractError(f"{name} gave {each.form.words}, but declares {gives.words}")
    if not any(each.form.is_like(gives) for each in after):
        raise ContractError(f"{name} gave nothing that is {gives.words}, as it declares")


def refuse_level(module: ModuleOp, found: Found, levels: Sequence[str], asked: str) -> None:
    """Says that a kernel does not become XeGPU at the level that is asked for.

    Args:
        module: The module.
        found: The kernel.
        levels: The levels that it becomes.
        asked: The one that is asked for.

    Raises:
        DiagnosticError: Always, at the kernel.
    """
    source = source_of(module)
    becomes = _either([f'"{level}"' for level in levels])
    message = (
        f"{_told(found)}, which becomes XeGPU at level {becomes} so far and not at level "
        f'"{asked}"; ask for level {becomes}, or for none'
    )
    position = span_of(found.operation, source)
    raise DiagnosticError([Diagnostic(Severity.ERROR, message, source, position)])


def several(forms: Sequence[Form]) -> str:
    """What messages call functions of several forms."""
    if set(forms) == set(KERNELS):
        return "kernels"
    forms = [form for index, form in enumerate(forms) if not form.is_one_of(forms[:index])]
    at_levels = [form for form in forms if form in KERNELS and form is not NO_LEVEL]
    words = [_plural(form.words) for form in forms if form not in at_levels]
    for language in dict.fromkeys(form.language for form in at_levels):
        levels = [f'"{form.level}"' for form in at_levels if form.language == language]
        of = "" if language == CORE else " of XeGPU"
        words.append(f"kernels{of} at level {_either(levels)}")
    return _either(words)


def _plural(words: str) -> str:
    """The plural of `a function of the host` and its like."""
    _, noun, rest = words.split(" ", 2)
    return f"{noun}s {rest}"


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _told(found: Found) -> str:
    """What messages say of a function."""
    name, words = _name(found.operation), found.form.words
    if found.because is not None:
        return f"{spelling_of(found.because)} makes {name} {words}"
    return f"{name}{'' if found.is_named else ', without core.level,'} is {words}"


def _name(operation: Operation) -> str:
    from xdsl.dialects.builtin import StringAttr

    name = operation.get_attr_or_prop("sym_name")
    return f"@{name.data}" if isinstance(name, StringAttr) else f"this {operation.name}"


def _has_blocks(function: Operation) -> bool:
    return len(function.regions[0].blocks) != 1


def warn_of_left_out(module: ModuleOp, diagnostics: Diagnostics | None = None) -> None:
    """Warns of the functions that are no part of the device code made of a module's kernels.

    Args:
        module: What is about to become device code.
        diagnostics: Where the warnings go; None makes them Python's.
    """
    source = source_of(module)
    found = forms_of(module)
    if not any(each.form in (LINALG, *KERNELS) for each in found):
        return
    called = {str(call.properties["callee"]) for call in _calls(module)}
    for each in found:
        if each.form is CALLED and _name(each.operation) not in called:
            reason = "is called by no kernel"
        elif each.form in BESIDE and each.form is not CALLED and each.operation.regions[0].blocks:
            reason = f"is {each.form.words}, and device code is kernels"
        else:
            continue
        message = f"{_name(each.operation)} {reason}; it is left out"
        position = span_of(each.operation, source)
        warning = Diagnostic(Severity.WARNING, message, source, position)
        if diagnostics is None:
            warnings.warn(warning.render(), SourceWarning, stacklevel=3)
        else:
            diagnostics.add(warning)


def _calls(module: ModuleOp) -> Iterable[Operation]:
    return (operation for operation in module.walk() if operation.name == "func.call")
