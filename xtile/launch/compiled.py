"""Compiled kernels, from the text or from what was kept of an earlier compilation.

The text itself is the key, so that a kernel that was compiled before is neither read nor verified.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.errors import ArgumentError, HostFunctionError, describe_type
from xtile.arguments.signature import Signature, choose_entry, signature_of_words, signature_words
from xtile.backends.cache import Cache, Entry, Header, make_key
from xtile.backends.compiler import Compiler, ProgramT
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.dialects.languages import Language
from xtile.dialects.reading import parse_source, read_source, show_warnings, verify
from xtile.dialects.registry import make_context
from xtile.launch.executable import Kernel
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, Span

MadeT = TypeVar("MadeT")

_MODULE = "module"
"""In place of a language's name, what a module is written in that is no text."""


@dataclass(frozen=True)
class Compiled(Generic[ProgramT]):
    """What a device needs to launch the kernels of a text.

    Attributes:
        program: The kernels as the device's backend compiles them.
        signatures: Those of the kernels, by name.
        hosts: The names of the functions of the host.
        warnings: What was to say about the text.
    """

    program: ProgramT
    signatures: Mapping[str, Signature]
    hosts: Sequence[str]
    warnings: Sequence[Diagnostic]


@dataclass(frozen=True)
class Text:
    """What is to be compiled, before it is read.

    Attributes:
        source: The text; that of a module only tells modules apart.
        language: What it is written in; None for a module.
        module: The module, if it is none that must be read.
        entry: The only kernel that is compiled; None compiles all.
    """

    source: Source
    language: Language | None
    module: ModuleOp | None
    entry: str | None = None

    def key(self, architecture: str) -> str:
        """Tells apart what it becomes for each architecture."""
        language = _MODULE if self.language is None else self.language.name
        text = self.source.text if self.source.data is None else self.source.data
        only = {} if self.entry is None else {"entry": self.entry}
        return make_key("program", text=text, language=language, device=architecture, **only)


def text_of(kernel: Kernel) -> Text:
    """Finds the text of a kernel.

    Raises:
        ArgumentError: It is neither a path, nor a text, nor a module.
        DiagnosticError: The file cannot be read.
    """
    given = kernel.source
    if isinstance(given, ModuleOp):
        output = StringIO()
        _print_generic(given, output)
        return Text(Source("<module>", output.getvalue()), None, given)
    if not isinstance(given, str | os.PathLike):
        raise ArgumentError(
            f"expected a kernel as a path, a text or a module, given {describe_type(given)}"
        )
    source, language = read_source(cast("str | os.PathLike[str]", given))
    return Text(source, language, None)


def _print_generic(module: ModuleOp, output: StringIO) -> None:
    from xdsl.printer import Printer

    Printer(output, print_generic_format=True).print_op(module)


_refused: RecentlyUsed[bool] = RecentlyUsed(TEXTS)
"""Whether some kernel of a text cannot be compiled, by the text's key."""


def compiled_for(
    entry: str | None, text: Text, architecture: str, make: Callable[[Text, str], MadeT]
) -> MadeT:
    """What is made of all kernels of a text; where one is refused, of that to be launched alone.

    Args:
        entry: The kernel to be launched, if one is named.
        text: The kernels.
        architecture: What they are compiled for.
        make: Compiles a text, or takes what was compiled before by the text's key.

    Raises:
        DiagnosticError: The text has errors, or the kernel cannot be compiled.
    """
    key = text.key(architecture)

    def is_refused() -> bool:
        try:
            make(text, key)
        except DiagnosticError:
            if entry is None:
                raise
            return True
        return False

    if not _refused.get(key, is_refused):
        return make(text, key)
    alone = replace(text, entry=entry)
    return make(alone, alone.key(architecture))


def compile_text(
    text: Text, key: str, compiler: Compiler[ProgramT], cache: Cache
) -> Compiled[ProgramT]:
    """Compiles kernels for an architecture, or takes what the cache has of them.

    Args:
        text: The kernels.
        key: The text's key for the architecture.
        compiler: Compiles for the architecture.
        cache: Holds what was compiled before.

    Raises:
        DiagnosticError: The text has errors, or cannot be compiled for the architecture.
    """
    entry = cache.get(key)
    if entry is not None:
        return decode(entry, text.source, compiler)
    collected = Diagnostics()
    compiled = _compile(_read(text, collected), text.entry, compiler, collected)
    cache.put(key, *encode(compiled, compiler))
    return compiled


def _read(text: Text, diagnostics: Diagnostics) -> ModuleOp:
    if text.language is not None:
        return parse_source(text.source, text.language, diagnostics)
    assert text.module is not None
    verify(text.module)
    return text.module


def _compile(
    module: ModuleOp, entry: str | None, compiler: Compiler[ProgramT], diagnostics: Diagnostics
) -> Compiled[ProgramT]:
    from xtile.arguments.kernel import hosts_of, kernels_of, kernels_only, signatures_of

    hosts, named = list(hosts_of(module)), kernels_of(module)
    if hosts and not named:
        raise _host_error(hosts[0])
    if entry in hosts and entry not in named:
        raise _host_error(entry)
    kernels = kernels_only(module, entry)
    signatures = signatures_of(kernels, may_overlap=compiler.may_overlap)
    program = compiler.compile(kernels, diagnostics)
    return Compiled(program, signatures, hosts, _warnings(diagnostics))


def choose_kernel(
    signatures: Mapping[str, Signature], hosts: Sequence[str], entry: str | None
) -> Signature:
    """The signature of the kernel that is to be launched.

    Args:
        signatures: Those of the kernels, by name.
        hosts: The names of the functions of the host.
        entry: The name of a function, if one is named.

    Raises:
        ArgumentError: There is no such function.
        HostFunctionError: It is code of the host.
    """
    name = choose_entry(list(signatures), hosts, entry)
    if name not in signatures:
        raise _host_error(name)
    return signatures[name]


def _host_error(name: str) -> HostFunctionError:
    return HostFunctionError(
        f"@{name} is a function of the host, which runs with the device 'reference' or with one of "
        "OpenCL's; choose a kernel with entry"
    )


def _warnings(diagnostics: Diagnostics) -> list[Diagnostic]:
    return [found for found in diagnostics if found.severity is Severity.WARNING]


def read_signatures(text: Text) -> tuple[dict[str, Signature], Sequence[Diagnostic]]:
    """The signatures of a text's kernels by name, and the text's warnings.

    Raises:
        DiagnosticError: The text has errors.
    """
    from xtile.arguments.kernel import signatures_of

    collected = Diagnostics()
    return signatures_of(_read(text, collected)), _warnings(collected)


def show(warnings: Sequence[Diagnostic], kernel: Kernel) -> None:
    """Shows the warnings about a kernel's text in the way that its caller chose."""
    diagnostics = Diagnostics() if kernel.diagnostics is None else kernel.diagnostics
    for warning in warnings:
        diagnostics.add(warning)
    if kernel.diagnostics is None:
        show_warnings(diagnostics)


def encode(compiled: Compiled[ProgramT], compiler: Compiler[ProgramT]) -> tuple[Header, bytes]:
    """What an entry says in words, and its bytes."""
    words, content = compiler.encode(compiled.program)
    header = {
        "signatures": [signature_words(signature) for signature in compiled.signatures.values()],
        "hosts": list(compiled.hosts),
        "warnings": [_diagnostic_words(warning) for warning in compiled.warnings],
        "program": words,
    }
    return header, content


def decode(entry: Entry, source: Source, compiler: Compiler[ProgramT]) -> Compiled[ProgramT]:
    """What an entry of the cache holds; `source` is the text that it was compiled from."""
    header = entry.header
    context = make_context()
    read = [signature_of_words(words, context) for words in header["signatures"]]
    signatures = {signature.name: signature for signature in read}
    return Compiled(
        compiler.decode(header["program"], entry.content, signatures),
        signatures,
        header["hosts"],
        [_diagnostic(words, source) for words in header["warnings"]],
    )


def _diagnostic_words(diagnostic: Diagnostic) -> list[Any]:
    span = diagnostic.span
    return [
        diagnostic.severity.value,
        diagnostic.message,
        diagnostic.source is not None,
        None if span is None else [span.start, span.end],
        [_diagnostic_words(note) for note in diagnostic.notes],
    ]


def _diagnostic(words: Sequence[Any], source: Source) -> Diagnostic:
    severity, message, has_source, span, notes = words
    return Diagnostic(
        Severity(severity),
        message,
        source if has_source else None,
        None if span is None else Span(*span),
        tuple(_diagnostic(note, source) for note in notes),
    )
