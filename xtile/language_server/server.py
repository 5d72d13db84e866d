"""The server: the protocol of editors, spoken over standard input and output by pygls.

Source: the Language Server Protocol 3.17.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from xtile import __version__
from xtile.language_server.document import Document, Part
from xtile.language_server.formatting import UnformattedError, formatted
from xtile.language_server.hover import hover
from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.REMARK: types.DiagnosticSeverity.Information,
    Severity.NOTE: types.DiagnosticSeverity.Hint,
}


class KernelServer(LanguageServer):
    """Keeps what was read of each text that an editor has open."""

    def __init__(self) -> None:
        super().__init__("xtile", __version__)  # pyright: ignore[reportUnknownMemberType]
        self._read: dict[str, tuple[str, Document | None]] = {}

    def document(self, uri: str) -> Document | None:
        """What was read of the text as it is now; None for a file of no language."""
        text = self.text(uri).source
        known = self._read.get(uri)
        if known is None or known[0] != text:
            try:
                read = Document(PurePosixPath(unquote(urlparse(uri).path)).name, text)
            except ValueError:
                read = None
            known = self._read[uri] = text, read
        return known[1]

    def text(self, uri: str) -> TextDocument:
        """The text of a file in the editor."""
        return self.workspace.get_text_document(uri)

    def forget(self, uri: str) -> None:
        """Drops what was read of a text that is closed."""
        self._read.pop(uri, None)

    def at(self, uri: str, position: types.Position) -> tuple[Part | None, int]:
        """The part of a text that a position is in, and the offset there."""
        document = self.document(uri)
        offset = self.text(uri).offset_at_position(position)
        part = None if document is None else document.part_at(offset)
        return part, offset if part is None else offset - part.start

    def range(self, source: Source, span: Span) -> types.Range:
        """A span of a part as lines and columns of the editor's text, in its units."""
        start, end = (self._position(source, offset) for offset in (span.start, span.end))
        return types.Range(start, end)

    def _position(self, source: Source, offset: int) -> types.Position:
        line, column = source.position(offset)
        before = source.line_text(line)[: column - 1]
        return types.Position(line - 1, self.workspace.position_codec.client_num_units(before))


def _publish(server: KernelServer, uri: str) -> None:
    document = server.document(uri)
    found = [] if document is None else [_diagnostic(server, uri, d) for d in document.diagnostics]
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


def _diagnostic(server: KernelServer, uri: str, diagnostic: Diagnostic) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(types.Location(uri, _range(server, note)), note.message)
        for note in diagnostic.notes
    ]
    return types.Diagnostic(
        range=_range(server, diagnostic),
        message=diagnostic.message,
        severity=_SEVERITIES[diagnostic.severity],
        source="xtile",
        related_information=related,
    )


def _range(server: KernelServer, diagnostic: Diagnostic) -> types.Range:
    """Where a diagnostic is; the first line for one about the whole text."""
    if diagnostic.source is None or diagnostic.span is None:
        return types.Range(types.Position(0, 0), types.Position(0, 0))
    return server.range(diagnostic.source, diagnostic.span)


def _opened(
    ls: KernelServer, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
) -> None:
    _publish(ls, params.text_document.uri)


def _closed(ls: KernelServer, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.forget(uri)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _hover(ls: KernelServer, params: types.HoverParams) -> types.Hover | None:
    part, offset = ls.at(params.text_document.uri, params.position)
    found = None if part is None else hover(part, offset)
    if part is None or found is None:
        return None
    text, span = found
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, ls.range(part.source, span))


def _definition(ls: KernelServer, params: types.DefinitionParams) -> types.Location | None:
    uri = params.text_document.uri
    part, offset = ls.at(uri, params.position)
    span = None if part is None else part.definition_at(offset)
    if part is None or span is None:
        return None
    return types.Location(uri, ls.range(part.source, span))


def _formatting(
    ls: KernelServer, params: types.DocumentFormattingParams
) -> list[types.TextEdit] | None:
    document = ls.document(params.text_document.uri)
    if document is None:
        return None
    try:
        text = formatted(document)
    except UnformattedError as error:
        message = f"not formatted: {error}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return None
    whole = Span(0, len(document.source.text))
    return [types.TextEdit(ls.range(document.source, whole), text)]


_ANSWERS: Mapping[str, Callable[[KernelServer, Any], object]] = {
    types.TEXT_DOCUMENT_DID_OPEN: _opened,
    types.TEXT_DOCUMENT_DID_CHANGE: _opened,
    types.TEXT_DOCUMENT_DID_CLOSE: _closed,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_DEFINITION: _definition,
    types.TEXT_DOCUMENT_FORMATTING: _formatting,
}
"""What the server answers, by the name of the request in the protocol."""


def serve() -> None:
    """Answers an editor over standard input and output until it ends the session."""
    server = KernelServer()
    for name, answer in _ANSWERS.items():
        server.feature(name)(answer)
    server.start_io()
