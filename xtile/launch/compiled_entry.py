"""Compiled kernels as entries of the cache, and signatures in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xtile.arguments.signature import Parameter, Signature
from xtile.backends.cache import Entry, Header
from xtile.backends.compiler import Compiler, ProgramT
from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

if TYPE_CHECKING:
    from xtile.launch.compiled import Compiled


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
    from xtile.launch.compiled import Compiled

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


def signature_words(signature: Signature) -> dict[str, Any]:
    """What JSON can hold of a signature."""
    return {
        "name": signature.name,
        "parameters": [_parameter_words(parameter) for parameter in signature.parameters],
        "written": sorted(signature.written),
    }


def _parameter_words(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": str(parameter.type),
        "attributes": {name: str(value) for name, value in parameter.attributes.items()},
        "may_be_address": parameter.may_be_address,
        "is_noalias": parameter.is_noalias,
    }


def signature_of_words(words: dict[str, Any], context: Context) -> Signature:
    """The signature that `signature_words` describes.

    Raises:
        ParseError: A type cannot be read.
    """
    parameters = tuple(_parameter(parameter, context) for parameter in words["parameters"])
    return Signature(words["name"], parameters, frozenset(words["written"]))


def _parameter(words: dict[str, Any], context: Context) -> Parameter:
    return Parameter(
        words["name"],
        Parser(context, words["type"]).parse_type(),
        {name: _attribute(text, context) for name, text in words["attributes"].items()},
        words["may_be_address"],
        words["is_noalias"],
    )


def _attribute(text: str, context: Context) -> Attribute:
    return Parser(context, text).parse_attribute()


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
