"""Compiled kernels as entries of the cache: SPIR-V, and the rest in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xtile.backends.cache import Entry, Header
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.launch.signature import Parameter, Signature
from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.languages import make_context
from xtile.text.source import Source, Span

if TYPE_CHECKING:
    from xtile.launch.compiled import Compiled


def encode(compiled: Compiled) -> tuple[Header, bytes]:
    """What an entry says in words, and its bytes."""
    program = compiled.program
    header = {
        "kernels": [
            {**_signature_words(signature), **_interface_words(program.kernels[name])}
            for name, signature in compiled.signatures.items()
        ],
        "hosts": list(compiled.hosts),
        "warnings": [_diagnostic_words(warning) for warning in compiled.warnings],
        "build_options": program.build_options,
        "is_risky": program.is_risky,
    }
    return header, program.spirv


def decode(entry: Entry, source: Source) -> Compiled:
    """What an entry of the cache holds; `source` is the text that it was compiled from."""
    from xtile.launch.compiled import Compiled

    header = entry.header
    context = make_context()
    signatures = [_signature(words, context) for words in header["kernels"]]
    interfaces = [
        _interface(words, signature)
        for words, signature in zip(header["kernels"], signatures, strict=True)
    ]
    program = Program(
        entry.content,
        {interface.name: interface for interface in interfaces},
        header["build_options"],
        header["is_risky"],
    )
    return Compiled(
        program,
        {signature.name: signature for signature in signatures},
        header["hosts"],
        [_diagnostic(words, source) for words in header["warnings"]],
    )


def _signature_words(signature: Signature) -> dict[str, Any]:
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
    }


def _signature(words: dict[str, Any], context: Context) -> Signature:
    parameters = tuple(_parameter(parameter, context) for parameter in words["parameters"])
    return Signature(words["name"], parameters, frozenset(words["written"]))


def _parameter(words: dict[str, Any], context: Context) -> Parameter:
    return Parameter(
        words["name"],
        Parser(context, words["type"]).parse_type(),
        {name: _attribute(text, context) for name, text in words["attributes"].items()},
        words["may_be_address"],
    )


def _attribute(text: str, context: Context) -> Attribute:
    return Parser(context, text).parse_attribute()


def _interface_words(interface: KernelInterface) -> dict[str, Any]:
    return {
        "work_group_size": interface.work_group_size,
        "subgroup_size": interface.subgroup_size,
        "local_memory": interface.local_memory,
    }


def _interface(words: dict[str, Any], signature: Signature) -> KernelInterface:
    size = words["work_group_size"]
    return KernelInterface(
        signature.name,
        tuple(parameter.type for parameter in signature.parameters),
        None if size is None else (size[0], size[1], size[2]),
        words["subgroup_size"],
        words["local_memory"],
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
