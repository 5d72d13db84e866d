"""Reading kernels from paths and texts, and verifying them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

from xdsl.dialects.builtin import ModuleOp

from xtile.command import EXIT_USAGE_WRONG, CommandError
from xtile.dialects.languages import LANGUAGES, Language, file_endings, guess_language
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.garbage import without_collections
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity, SourceWarning
from xtile.text.files import source_from_path
from xtile.text.source import Source

TEXT_NAME = "<text>"
"""What messages call a text that comes from no file."""


class UnknownLanguageError(CommandError, ValueError):
    """The name of a file does not tell what language it is in, or there is no such language."""

    EXIT_CODE = EXIT_USAGE_WRONG


class TritonFunction(Protocol):
    """A function with `triton.jit`."""

    arg_names: list[str]


def parse(
    kernel: str | os.PathLike[str] | TritonFunction,
    *,
    language: Literal["tensorlang", "mlir", "ttir", "ttgir", "spirv", "spirv-asm"] | None = None,
    revision: Literal["v0.1", "v0.3", "v0.4"] | None = None,
    check: bool = True,
    diagnostics: Diagnostics | None = None,
    signature: Mapping[str, str] | None = None,
    constexprs: Mapping[str, Any] | None = None,
    target: str | None = None,
) -> ModuleOp:
    """Reads a kernel and verifies it.

    Args:
        kernel: A path, as a path object or as a string that ends with `.ir`, `.mlir`, `.ttir`,
            `.ttgir`, `.spv` or `.spvasm`; or the text itself; or a function with `triton.jit`,
            which the Triton that made it compiles to `tt`, without a GPU.
        language: What the text is written in; None goes by the file's extension or, without a
            file, by how the text begins.
        revision: The revision of tensor language text; None detects it.
        check: Whether to verify the module.
        diagnostics: Collects warnings and errors. Without it, warnings are Python warnings.
        signature: Of a function, Triton's name of the type of each parameter that is passed, such
            as `*fp32`; with `:16` behind it 16 divides the number or the address.
        constexprs: Of a function, the values of its other parameters.
        target: Of a function, the chip that it is compiled for, such as "gfx942" or "sm_90".

    Returns:
        The module; its source stays with it, so that later errors show the text.

    Raises:
        DiagnosticError: The file cannot be read, or the text has errors; it holds all of them.
        UnknownLanguageError: The extension of the file is of no known language.
        TypeError: The kernel is none of these.
        ValueError: What is said of a function does not fit to it, or it is no function.
    """
    if isinstance(kernel, str | os.PathLike):
        if signature is not None or constexprs is not None or target is not None:
            raise ValueError("signature, constexprs and target are for functions with triton.jit")
        source, reader = read_source(kernel, language)
    else:
        source, reader = _compiled(kernel, signature, constexprs, target)
    collected = Diagnostics() if diagnostics is None else diagnostics
    module = parse_source(source, reader, collected, revision=revision, check=check)
    if diagnostics is None:
        show_warnings(collected)
    return module


def _compiled(
    function: TritonFunction,
    signature: Mapping[str, str] | None,
    constexprs: Mapping[str, Any] | None,
    target: str | None,
) -> tuple[Source, Language]:
    """The text of a function of Triton."""
    from xtile.dialects.triton_functions import text_of_function

    text = text_of_function(function, signature or {}, constexprs, target)
    return Source(TEXT_NAME, text), LANGUAGES["ttir"]


def parse_source(
    source: Source,
    language: Language,
    diagnostics: Diagnostics,
    *,
    revision: str | None = None,
    check: bool = True,
) -> ModuleOp:
    """Like `parse`, for a text that was found already; warnings go to `diagnostics`.

    Raises:
        DiagnosticError: The text has errors; it holds all of them.
    """
    with without_collections():
        module = language.read(source, diagnostics, make_context(), revision)
        if module is not None and check:
            verify_module(module, diagnostics, source)
    diagnostics.raise_if_errors()
    assert module is not None, "a reader that returns nothing reports an error"
    return module


def verify(module: ModuleOp) -> None:
    """Checks a module against every rule of the languages in it.

    Raises:
        DiagnosticError: The module breaks rules; it holds all the errors.
    """
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    diagnostics.raise_if_errors()


def read_source(kernel: str | os.PathLike[str], name: str | None = None) -> tuple[Source, Language]:
    """Returns the text of a kernel and the language that it is written in.

    Args:
        kernel: A path or a text, as `parse` takes it.
        name: The language's name; None goes by the file's extension, or how the text begins.

    Raises:
        DiagnosticError: The file cannot be read.
        UnknownLanguageError: The language is not known.
    """
    if isinstance(kernel, str) and not _is_path(kernel):
        source = Source(TEXT_NAME, kernel)
        return source, guess_language(kernel) if name is None else _language(name)
    path = _file_of(os.fspath(kernel))
    if name is not None:
        return source_from_path(path, _language(name).is_binary), _language(name)
    extension = os.path.splitext(path)[1].removeprefix(".")
    if extension not in LANGUAGES:
        raise UnknownLanguageError(
            f"{path}: expected a file ending with {file_endings()}, or the argument language="
        )
    return source_from_path(path, LANGUAGES[extension].is_binary), LANGUAGES[extension]


def _is_path(text: str) -> bool:
    """Whether a string is the path of a file rather than the text of a kernel."""
    if "\n" in text:
        return False
    return text.endswith(tuple(f".{extension}" for extension in LANGUAGES)) or os.path.isdir(text)


def _file_of(path: str) -> str:
    """The file of a kernel, where a path may be that of a folder that Triton wrote."""
    if not os.path.isdir(path):
        return path
    from xtile.dialects.triton_dumps import kernel_file

    return kernel_file(path)


def _language(name: str) -> Language:
    """Returns the language of that name."""
    for language in LANGUAGES.values():
        if language.name == name:
            return language
    raise unknown_language(name, (language.name for language in LANGUAGES.values()))


def unknown_language(name: str, known_names: Iterable[str]) -> UnknownLanguageError:
    """Returns the error for a language that there is not."""
    known = " or ".join(f"'{known}'" for known in known_names)
    return UnknownLanguageError(f"expected language {known}, but got '{name}'")


def show_warnings(diagnostics: Iterable[Diagnostic]) -> None:
    """Shows the warnings among diagnostics as Python's, at the caller of the caller."""
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.WARNING:
            warnings.warn(diagnostic.render(), SourceWarning, stacklevel=3)
