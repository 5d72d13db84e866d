"""Reading, printing and verifying kernels from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from io import StringIO
from typing import Literal

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.languages import LANGUAGES, Language, file_endings, guess_language
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity, SourceWarning
from xtile.text.source import Source

TEXT_NAME = "<text>"
"""What messages call a text that comes from no file."""


class UnknownLanguageError(ValueError):
    """The name of a file does not tell what language it is in, or there is no such language."""


def parse(
    kernel: str | os.PathLike[str],
    *,
    language: Literal["tensorlang", "mlir", "spirv", "spirv-asm"] | None = None,
    revision: Literal["v0.1", "v0.3", "v0.4"] | None = None,
    check: bool = True,
    diagnostics: Diagnostics | None = None,
) -> ModuleOp:
    """Reads a kernel and verifies it.

    Args:
        kernel: A path, as a path object or as a string that ends with `.ir`, `.mlir`, `.spv` or
            `.spvasm`; or the text itself.
        language: What the text is written in; None goes by the file's extension or, without a
            file, by how the text begins.
        revision: The revision of tensor language text; None detects it.
        check: Whether to verify the module.
        diagnostics: Collects warnings and errors. Without it, warnings are Python warnings.

    Returns:
        The module; its source stays with it, so that later errors show the text.

    Raises:
        DiagnosticError: The file cannot be read, or the text has errors; it holds all of them.
        UnknownLanguageError: The extension of the file is of no known language.
    """
    source, reader = read_source(kernel, language)
    collected = Diagnostics() if diagnostics is None else diagnostics
    module = parse_source(source, reader, collected, revision=revision, check=check)
    if diagnostics is None:
        show_warnings(collected)
    return module


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
    module = language.read(source, diagnostics, make_context(), revision)
    if module is not None and check:
        verify_module(module, diagnostics, source)
    diagnostics.raise_if_errors()
    assert module is not None, "a reader that returns nothing reports an error"
    return module


def to_text(
    module: ModuleOp, language: Literal["tensorlang", "mlir", "spirv-asm"] = "tensorlang"
) -> str:
    """Returns a module as text: in the tensor language, in MLIR, or SPIR-V as its assembler has it.

    Raises:
        DiagnosticError: The language cannot express the module.
        UnknownLanguageError: The language is none of the three.
    """
    output = StringIO()
    if language == "tensorlang":
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)
    elif language == "mlir":
        from xtile.text.mlir import print_mlir

        print_mlir(module, output)
    elif language == "spirv-asm":
        from xtile.backends.intel.compilation import spirv_in
        from xtile.dialects.spirv import disassemble, encode

        output.write(disassemble(encode(spirv_in(module))))
    else:
        raise _unknown_language(language, ("tensorlang", "mlir", "spirv-asm"))
    return output.getvalue()


def translate(
    kernel: ModuleOp | str | os.PathLike[str],
    to: str,
    *,
    chip: str | None = None,
    may_overlap: bool = False,
    diagnostics: Diagnostics | None = None,
) -> ModuleOp:
    """Translates kernels to another language, or to another level of the core form.

    Memrefs of the result are row-major and have the modes of the tensor language in reverse order,
    so kernels of it take the transposes of the arrays.

    Args:
        kernel: A module, or a path or a text that `parse` reads, in any language from which there
            is a way. Its kernels may be of several languages and levels.
        to: The language, or the level of the core form; `xtile-opt --routes` lists them.
        chip: The device whose instructions are used, as `xtile devices` names it; None is `pvc`
            where that is one of Intel's, and `sm_90` where it is one of NVIDIA's.
        may_overlap: Whether arguments of kernels that become CUDA Tile IR may overlap although a
            kernel writes to one of them.
        diagnostics: Collects remarks that tell why the translation chose what it did.

    Returns:
        A new module; kernels that are there already stay what they are. A module that was given
        stays as it is.

    Raises:
        DiagnosticError: A kernel has errors, there is no way for it, or it cannot be translated.
        OptionError: There is no such language or chip, or the chip is another vendor's.
    """
    from xtile.text.value_names import clone_with_names
    from xtile.translate.route import Options, check_target, translate_to

    check_target(to, chip)
    module = kernel if isinstance(kernel, ModuleOp) else parse(kernel)
    options = Options(chip, may_overlap=may_overlap)
    result = translate_to(module, to, options, diagnostics)
    return clone_with_names(module) if result is kernel else result


def port(
    kernel: ModuleOp | str | os.PathLike[str],
    to: str,
    *,
    chip: str | None = None,
    diagnostics: Diagnostics | None = None,
) -> ModuleOp:
    """Like `translate`, for kernels of the tensor language only.

    Raises:
        DiagnosticError: The kernel has errors, cannot be translated, or is in another language.
        OptionError: There is no such language or chip, or the chip is another vendor's.
    """
    from xtile.translate.route import Options, check_route
    from xtile.translate.route import translate as translate_along

    route = f"tensorlang-to-{to}"
    check_route(route, chip)
    module = kernel if isinstance(kernel, ModuleOp) else parse(kernel)
    return translate_along(module, route, Options(chip), diagnostics)


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
    path = os.fspath(kernel)
    if name is not None:
        return Source.from_path(path, _language(name).is_binary), _language(name)
    extension = os.path.splitext(path)[1].removeprefix(".")
    if extension not in LANGUAGES:
        raise UnknownLanguageError(
            f"{path}: expected a file ending with {file_endings()}, or the argument language="
        )
    return Source.from_path(path, LANGUAGES[extension].is_binary), LANGUAGES[extension]


def _is_path(text: str) -> bool:
    """Whether a string is the path of a file rather than the text of a kernel."""
    return "\n" not in text and text.endswith(tuple(f".{extension}" for extension in LANGUAGES))


def _language(name: str) -> Language:
    """Returns the language of that name."""
    for language in LANGUAGES.values():
        if language.name == name:
            return language
    raise _unknown_language(name, (language.name for language in LANGUAGES.values()))


def _unknown_language(name: str, known_names: Iterable[str]) -> UnknownLanguageError:
    """Returns the error for a language that there is not."""
    known = " or ".join(f"'{known}'" for known in known_names)
    return UnknownLanguageError(f"expected language {known}, but got '{name}'")


def show_warnings(diagnostics: Iterable[Diagnostic]) -> None:
    """Shows the warnings among diagnostics as Python's, at the caller of the caller."""
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.WARNING:
            warnings.warn(diagnostic.render(), SourceWarning, stacklevel=3)
