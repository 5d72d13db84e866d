"""From a function with `triton.jit` to its text in `tt`, by the Triton that made it.

Triton compiles without a GPU or a driver where it is told what a launch would tell it: the types of
arguments, the values of constants, and the chip. Nothing here loads Triton; a function brings it.

Source: `triton.compiler.ASTSource` and the stages of `triton.backends` in Triton 3.4 to 3.9; the
notation of types is that of `triton.tools.compile`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from itertools import accumulate
from typing import Any

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source, Span

DEFAULT_TARGET = "gfx950"
"""Text for it compiles for all chips; that for gfx942 says how its matrix unit rounds."""

_DIVISOR = 16
"""What a launch tells of the pointers and numbers that it divides."""


_TYPE = re.compile(
    r"constexpr|tensordesc<.+>|\**k?([iu](1|8|16|32|64)|fp(16|32|64)|bf16|fp8e(4nv|4b8|4b15|5|5b16))"
)
"""Triton's names of types."""


def text_of_function(
    function: Any,
    signature: Mapping[str, str],
    constexprs: Mapping[str, Any] | None = None,
    target: str | None = None,
) -> str:
    """Compiles a function of Triton to its text in `tt`, with locations in its file.

    Args:
        function: A function with `triton.jit`, also one with `triton.autotune` around it.
        signature: Triton's name of the type of each parameter that is passed, such as `*fp32` or
            `i32`; with `:16` behind it 16 divides the number or the address.
        constexprs: The values of all other parameters.
        target: The chip whose products and types may be used, such as "gfx942" or "sm_90".

    Raises:
        DiagnosticError: Triton cannot compile the function.
        TypeError: It is no function with `triton.jit`.
        ValueError: Parameters are missing or unknown, or the target is.
    """
    compiled = _jit_function(function)
    values = dict(constexprs or {})
    _check_names(compiled, signature, values)
    compiler: Any = import_module("triton.compiler.compiler")
    chip = _target(DEFAULT_TARGET if target is None else target)
    backend = compiler.make_backend(chip)
    source = compiler.ASTSource(compiled, *_arguments(compiled, signature, values, backend))
    try:
        return str(_lowered(source, chip, backend))
    except import_module("triton.compiler.errors").CompilationError as error:
        raise DiagnosticError([_diagnostic(compiled, error)]) from error


def _jit_function(function: Any) -> Any:
    """What `triton.jit` made, inside of what other decorators put around it.

    Raises:
        TypeError: There is none.
    """
    found = function
    while found is not None:
        if any(each.__name__ == "JITFunction" for each in type(found).__mro__):
            return found
        found = getattr(found, "fn", None)
    hint = ""
    if type(function).__name__ == "InterpretedFunction":
        hint = ", which is compiled: unset TRITON_INTERPRET before Triton is imported"
    name = type(function).__name__
    raise TypeError(f"expected a path, a text, or a function with triton.jit{hint}, but got {name}")


def _check_names(function: Any, signature: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Checks that each parameter has a type or a value, and nothing else has.

    Raises:
        ValueError: It is not so.
    """
    names: list[str] = list(function.arg_names)
    defaults = inspect.signature(function.fn).parameters
    for name in (*signature, *values):
        if name not in names:
            known = ", ".join(names)
            raise ValueError(f"{function.__name__} has no parameter '{name}', but {known}")
    for name in names:
        if name in signature and name in values:
            raise ValueError(f"parameter '{name}' has a type and a value; give one of them")
        has_default = defaults[name].default is not inspect.Parameter.empty
        if name not in signature and name not in values and not has_default:
            raise ValueError(
                f"parameter '{name}' has neither a type in signature nor a value in constexprs"
            )


def _target(name: str) -> Any:
    """A chip as Triton has it.

    Raises:
        ValueError: The name is none of a chip of AMD or NVIDIA.
    """
    make = import_module("triton.backends.compiler").GPUTarget
    if name.startswith("sm_") and name[3:].isdigit():
        return make("cuda", int(name[3:]), 32)
    if name.startswith("gfx"):
        return make("hip", name, 64 if name.startswith("gfx9") else 32)
    raise ValueError(f"expected a target such as 'gfx942' or 'sm_90', but got '{name}'")


def _arguments(
    function: Any, signature: Mapping[str, str], values: dict[str, Any], backend: Any
) -> tuple[dict[str, str], dict[str, Any], dict[tuple[int, ...], Any]]:
    """The types, the constants and the attributes of parameters, as Triton's launcher has them."""
    names: list[str] = list(function.arg_names)
    parameters = inspect.signature(function.fn).parameters
    types = {name: signature.get(name, "constexpr") for name in names}
    for name in names:
        if name not in signature and name not in values:
            values[name] = parameters[name].default
    attributes: dict[tuple[int, ...], Any] = {}
    for index, name in enumerate(names):
        type_, _, divisor = types[name].partition(":")
        types[name] = type_
        if not _TYPE.fullmatch(type_):
            raise ValueError(
                f"parameter '{name}': expected a type such as '*fp32' or 'i32', but got '{type_}'"
            )
        if divisor not in ("", str(_DIVISOR)):
            raise ValueError(
                f"parameter '{name}': expected ':{_DIVISOR}' or nothing behind the type, "
                f"but got ':{divisor}'"
            )
        if divisor:
            attributes[index,] = backend.parse_attr("D")
    return types, values, attributes


def _lowered(source: Any, target: Any, backend: Any) -> Any:
    """The module that the front end makes, after the passes for `tt`."""
    options = backend.parse_options({})
    ir: Any = import_module("triton._C.libtriton").ir
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    given = [options, backend.get_codegen_implementation(options), backend.get_module_map()]
    # Newer releases ask for the target, too, and for the language of backends that have two.
    if "target" in inspect.signature(source.make_ir).parameters:
        given.insert(0, target)
    module = source.make_ir(*given, context)
    stages: dict[str, Any] = {}
    has_language = "language" in inspect.signature(backend.add_stages).parameters
    backend.add_stages(stages, options, *([source.language] if has_language else []))
    return stages["ttir"](module, {})


def _diagnostic(function: Any, error: Any) -> Diagnostic:
    """An error of Triton at the line that caused it, with the calls that led there."""
    chain = [error]
    while hasattr(chain[-1].__cause__, "node"):
        chain.append(chain[-1].__cause__)
    *callers, innermost = chain
    cause = innermost.__cause__
    message = innermost.error_message or (str(cause) if cause else type(innermost).__name__)
    notes = [
        Diagnostic(Severity.NOTE, "called from here", *_location(function, caller))
        for caller in reversed(callers)
    ]
    return Diagnostic(Severity.ERROR, message, *_location(function, innermost), tuple(notes))


def _location(function: Any, error: Any) -> tuple[Source | None, Span | None]:
    """Where an error of Triton is; its lines count from the `def` of a function."""
    if error.src is None:
        return None, None
    name, first_line = f"<{_name_of(error.src)}>", 1
    if error.src == function.src:
        name = function.fn.__code__.co_filename
        lines, first_line = inspect.getsourcelines(function.fn)
        first_line += next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    source = Source(name, error.src, first_line)
    line: int | None = getattr(error.node, "lineno", None)
    if line is None:
        return source, None
    node: Any = error.node
    starts: list[int] = [0, *accumulate(map(len, source.text.splitlines(keepends=True)))]
    start: int = starts[line - 1] + node.col_offset
    end: int = starts[(node.end_lineno or line) - 1] + (node.end_col_offset or 0)
    return source, Span(start, end)


def _name_of(text: str) -> str:
    """The name of the function that a text defines."""
    return text.partition("def ")[2].partition("(")[0].strip() or "function"
