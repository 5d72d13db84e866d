"""A session of a real client with `xtile lsp` over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

URI = "file:///kernels/scale.ir"

TEXT = """\
; Größe: a comment with characters of several bytes 🙂
func @scale(%alpha: f32, %x: memref<f32x?>) {
    %i = group_id.x : index
    %a = load %x[%i] : f32
    %b = mul %alpha, %missing : f32
    store %b, %x[%i]
}
"""

SECONDS = 60

T = TypeVar("T")


class Editor:
    """A client that has one text open, and collects what the server says on its own."""

    def __init__(self) -> None:
        self.client = LanguageClient("test", "1")
        self.diagnostics: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: asyncio.Queue[types.ShowMessageParams] = asyncio.Queue()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics.put_nowait(params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            self.messages.put_nowait(params)

    async def open(self, text: str) -> types.InitializeResult:
        """Starts the server and opens a text."""
        await self.client.start_io(sys.executable, "-m", "xtile", "lsp")
        result = await self.client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities())
        )
        self.client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(URI, "tensorlang", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return result

    def change(self, text: str) -> None:
        """Replaces the text."""
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, URI),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def formatted(self) -> list[types.TextEdit] | None:
        """Asks for the printed form."""
        found = await self.client.text_document_formatting_async(
            types.DocumentFormattingParams(_IDENTIFIER, types.FormattingOptions(4, True))
        )
        return None if found is None else list(found)


_IDENTIFIER = types.TextDocumentIdentifier(URI)


def _in_session(body: Callable[[Editor], Awaitable[T]]) -> T:
    async def run() -> T:
        editor = Editor()
        result = await body(editor)
        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        await editor.client.stop()
        return result

    return asyncio.run(asyncio.wait_for(run(), SECONDS))


@pytest.mark.slow
def test_a_session() -> None:
    async def session(editor: Editor) -> None:
        result = await editor.open(TEXT)
        assert result.server_info is not None
        assert result.server_info.name == "xtile"
        (error,) = (await editor.diagnostics.get()).diagnostics
        assert error.severity is types.DiagnosticSeverity.Error
        assert "%missing is not defined here" in error.message
        assert error.range == types.Range(types.Position(4, 21), types.Position(4, 29))

        assert await editor.formatted() is None
        assert (await editor.messages.get()).message == "not formatted: the text has errors"

        editor.change(TEXT.replace("%missing", "%a"))
        assert not (await editor.diagnostics.get()).diagnostics

        at_use = types.Position(5, 18)
        hover = await editor.client.text_document_hover_async(
            types.HoverParams(_IDENTIFIER, at_use)
        )
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "%i : index" in hover.contents.value
        assert hover.range == types.Range(types.Position(5, 17), types.Position(5, 19))
        found = await editor.client.text_document_definition_async(
            types.DefinitionParams(_IDENTIFIER, at_use)
        )
        definition = types.Range(types.Position(2, 4), types.Position(2, 6))
        assert found == types.Location(URI, definition)

        editor.change(TEXT.replace("%missing", "%a").replace("    %b", "%b "))
        await editor.diagnostics.get()
        (edit,) = await editor.formatted() or []
        assert edit.range == types.Range(types.Position(0, 0), types.Position(7, 0))
        assert edit.new_text == TEXT.replace("%missing", "%a")

    _in_session(session)
