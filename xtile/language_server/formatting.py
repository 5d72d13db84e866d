"""A text as the printer of its language writes it, where nothing that people wrote is lost."""

from __future__ import annotations

import re
from collections import Counter

from xtile.dialects.languages import Language
from xtile.dialects.printing import text_in
from xtile.language_server.document import Document, Part
from xtile.text.diagnostics import DiagnosticError

_TOKENS = {
    ";": re.compile(r'"[^"\n]*"|(?P<comment>;[^\n]*)'),
    "//": re.compile(r'"(?:[^"\\\n]|\\.)*"|(?P<comment>//[^\n]*)'),
}
"""Strings and comments, by what begins a comment."""

_CALCULATED = re.compile(r"\$\w|!calc\b")

_LOCATION = re.compile(r"\bloc\s*\(")


class UnformattedError(Exception):
    """A text is not formatted; the message says why."""


def formatted(document: Document) -> str:
    """A text in its printer's form.

    Raises:
        UnformattedError: It has errors, or something in it would be lost.
    """
    if document.has_errors:
        raise UnformattedError("the text has errors")
    if len(document.parts) != 1:
        raise UnformattedError("the text has several parts between lines of dashes")
    (part,) = document.parts
    if part.module is None:
        raise UnformattedError("nothing could be read")
    _check(part, document.language)
    try:
        name = "tensorlang" if document.language.name == "tensorlang" else "mlir"
        text = text_in(part.module, name)
    except DiagnosticError as error:
        raise UnformattedError(error.diagnostics[0].message) from error
    _check_same(part, text, document.language)
    return text


def _check(part: Part, language: Language) -> None:
    """Checks that a text has nothing that is resolved while it is read."""
    text = part.source.text
    plain = _without_comments(text, language)
    if language.name == "tensorlang":
        from xtile.dialects.tensorlang.legacy import CURRENT, detect_revision

        if detect_revision(text) != CURRENT:
            raise UnformattedError(
                "the text is of an older revision; "
                "xtile-opt --translate tensorlang-to-tensorlang updates it"
            )
        if _CALCULATED.search(plain):
            raise UnformattedError("the definitions of the preprocessor would be lost")
    elif _LOCATION.search(plain):
        raise UnformattedError("the locations in the text would be lost")


def _check_same(part: Part, text: str, language: Language) -> None:
    """Checks that a printed text has all comments, and is read as the same."""
    lost = comments(part.source.text, language) - comments(text, language)
    if lost:
        first = next(iter(lost))
        raise UnformattedError(f"comments would be lost: {first}")
    again = Document(part.source.name, text)
    module = again.parts[0].module if len(again.parts) == 1 else None
    assert part.module is not None
    if again.has_errors or module is None or not part.module.is_structurally_equivalent(module):
        raise UnformattedError("the printed text is not read as the same kernel")


def comments(text: str, language: Language) -> Counter[str]:
    """The comments of a text, without the spaces around them, and how often each is there."""
    found = _TOKENS[language.comment].finditer(text)
    return Counter(match["comment"].strip() for match in found if match["comment"])


def _without_comments(text: str, language: Language) -> str:
    return _TOKENS[language.comment].sub(" ", text)
