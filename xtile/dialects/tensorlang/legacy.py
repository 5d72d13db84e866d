"""Older revisions of the tensor language, and spellings that only its reference uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader
    from xtile.dialects.tensorlang.term_reader import TermReader

REVISIONS = ("v0.1", "v0.3", "v0.4")

Handler = Callable[["Reader", str], TensorLangOperation]


def detect_revision(text: str) -> str:
    """The revision that `text` is written in."""
    return "v0.4"


def handler_of(mnemonic: str, revision: str) -> Handler | None:
    """What reads an instruction that the current revision does not have in this form."""
    return None


def read_index_immediate(reader: TermReader) -> SSAValue:
    """Reads an integer where the current revision wants an index value."""
    raise reader.unexpected("a local identifier '%name'")


def read_dropped_type(reader: TermReader) -> Attribute:
    """Reads a type that the current revision does not have."""
    raise reader.unexpected("a type")


def missing_group_size(reader: TermReader, span: Span) -> int:
    """The size of a group that is written without one."""
    raise reader.unexpected("'x' and the group's size")
