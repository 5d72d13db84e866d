"""The languages that files are written in, and how to read each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xtile.text.source import SPIRV_MAGIC, TILE_MAGIC, Source

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from xtile.text.diagnostics import Diagnostics
    from xtile.text.mlir_parser import MlirParser

TRITON = re.compile(r"\b(?:tt|ttg|amdg|amdgpu|triton_gpu)\.")
"""What MLIR's text has of Triton's languages."""


class Language(NamedTuple):
    """One language.

    Attributes:
        name: What users call it.
        extension: The end of its files' names, without the dot.
        comment: What begins a comment that lasts to the end of the line.
        separators: What begins a line that separates the parts of a file of test inputs.
        read: Reads a text; errors go to the diagnostics, and the result is None where there is
            nothing to go on with. The revision, if not None, overrides what the text looks like.
        is_binary: Whether its files hold bytes instead of text.
        magic: What those bytes begin with.
    """

    name: str
    extension: str
    comment: str
    separators: tuple[str, ...]
    read: Callable[[Source, Diagnostics, Context, str | None], ModuleOp | None]
    is_binary: bool = False
    magic: bytes = b""

    def split(self, source: Source) -> list[Source]:
        """Splits a file at the lines that begin with a separator; lines keep their numbers."""
        marks = "|".join(re.escape(separator) for separator in self.separators)
        if not self.separators:
            return [source]
        separator = re.compile(rf"^[ \t]*(?:{marks}).*\n?", re.MULTILINE)
        parts: list[Source] = []
        start = 0
        for match in separator.finditer(source.text):
            parts.append(_part(source, start, match.start()))
            start = match.end()
        parts.append(_part(source, start, len(source.text)))
        return parts


def guess_language(text: str) -> Language:
    """Returns the language that a text without a file name is most likely written in.

    A program of the tensor language begins with `func @`, a preprocessor line or a comment of
    its own, one of the SPIR-V assembler with an instruction; everything else is MLIR.
    """
    if re.match(r"\s*(?:; SPIR-V|OpCapability)", text) is not None:
        return LANGUAGES["spvasm"]
    is_tensorlang = re.match(r"\s*(?:;|\$|func\s*@|\Z)", text) is not None
    return LANGUAGES["ir" if is_tensorlang else "mlir"]


def guess_binary(data: bytes) -> Language | None:
    """Returns the language of bytes without a file name; None if they are text."""
    for language in LANGUAGES.values():
        if language.is_binary and data.startswith(language.magic):
            return language
    return None


def _part(source: Source, start: int, end: int) -> Source:
    """Returns the characters from `start` to `end` as a source of their own."""
    line, _ = source.position(start)
    return Source(source.name, source.text[start:end], line)


def _read_tensorlang(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.dialects.tensorlang.reader import read
    from xtile.text.source import attach_source

    module = read(source, diagnostics, revision)
    attach_source(module, source)
    return module


def _read_mlir(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.text.mlir import read_mlir

    return read_mlir(source, diagnostics, context, mlir_parser_for(source))


def _read_triton(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.dialects.triton_dumps import attach_options

    module = _read_mlir(source, diagnostics, context, revision)
    if module is not None:
        attach_options(module, source, diagnostics)
    return module


def mlir_parser_for(source: Source) -> type[MlirParser]:
    """What reads an MLIR text: XeGPU's RFC and Triton's releases have forms of their own."""
    if TRITON.search(source.text) is not None:
        from xtile.dialects.triton.parser import TritonParser

        return TritonParser
    if re.search("xegpu", source.text, re.IGNORECASE) is None:
        from xtile.text.mlir_parser import MlirParser

        return MlirParser
    from xtile.dialects.xegpu.rfc.parser import XeGPUParser

    return XeGPUParser


def _read_spirv(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.dialects.spirv import decode

    return _decoded(lambda: decode(source.data or b"", source.name), diagnostics)


def _read_spirv_assembly(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.dialects.spirv import assemble, decode

    return _decoded(lambda: decode(assemble(source), source.name), diagnostics)


def _read_tile_bytecode(
    source: Source, diagnostics: Diagnostics, context: Context, revision: str | None
) -> ModuleOp | None:
    from xtile.dialects.cuda_tile.bytecode import decode

    return _decoded(lambda: decode(source.data or b"", source.name), diagnostics)


def _decoded(decode: Callable[[], Operation], diagnostics: Diagnostics) -> ModuleOp | None:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.text.diagnostics import DiagnosticError
    from xtile.text.source import attach_source, source_of

    try:
        inner = decode()
        module = ModuleOp([inner])
        source = source_of(inner)
        if source is not None:
            attach_source(module, source)
        return module
    except DiagnosticError as error:
        for diagnostic in error.diagnostics:
            diagnostics.add(diagnostic)
        return None


LANGUAGES: dict[str, Language] = {
    language.extension: language
    for language in (
        Language("tensorlang", "ir", ";", ("// -----", "; -----"), _read_tensorlang),
        Language("mlir", "mlir", "//", ("// -----",), _read_mlir),
        Language("ttir", "ttir", "//", ("// -----",), _read_triton),
        Language("ttgir", "ttgir", "//", ("// -----",), _read_triton),
        Language("spirv", "spv", ";", (), _read_spirv, True, SPIRV_MAGIC),
        Language("spirv-asm", "spvasm", ";", ("; -----",), _read_spirv_assembly),
        Language("tileir-bytecode", "tileirbc", "//", (), _read_tile_bytecode, True, TILE_MAGIC),
    )
}
"""The languages by the extension of their files."""


def file_endings() -> str:
    """What the names of files can end with, for messages: `.ir, .mlir, ... or ...`."""
    *others, last = (f".{extension}" for extension in LANGUAGES)
    return f"{', '.join(others)} or {last}"
