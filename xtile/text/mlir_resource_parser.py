"""Reads the resources at the end of MLIR text, `{-# ... #-}`.

Source: MLIR Language Reference, "File Metadata Dictionary".
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_aliases import AliasParser
from xtile.text.mlir_resources import DIALECT_RESOURCES, EXTERNAL_RESOURCES, Resources

_ALIGNMENT_BYTES = 4


class ResourceParser(AliasParser):
    """The parser of aliases with file metadata."""

    _resources: Resources

    @override
    def _parse_file_metadata_dictionary(self) -> None:
        self.parse_comma_separated_list(self.Delimiter.METADATA_TOKEN, self._parse_section)

    def _parse_section(self) -> None:
        """Reads `dialect_resources: {...}` or `external_resources: {...}`."""
        section = self.parse_keyword_in((DIALECT_RESOURCES, EXTERNAL_RESOURCES))
        owners = self._resources.setdefault(section, {})

        def parse_owner() -> None:
            owner = self.parse_identifier_or_str_literal(" for the owner of resources")
            entries = owners.setdefault(owner, {})
            self.parse_punctuation(":", " after the owner of resources")
            is_blob = section == DIALECT_RESOURCES and owner == "builtin"
            self.parse_comma_separated_list(
                self.Delimiter.BRACES, lambda: self._parse_entry(entries, is_blob)
            )

        self.parse_punctuation(":", " after the section of resources")
        self.parse_comma_separated_list(self.Delimiter.BRACES, parse_owner)

    def _parse_entry(self, entries: dict[str, str], is_blob: bool) -> None:
        """Reads `key: value`; the value of a blob is its alignment and its bytes."""
        key = self.parse_identifier_or_str_literal(" for the key of a resource")
        self.parse_punctuation(":", " after the key of a resource")
        token = self._current_token
        is_string = token.kind in (MLIRTokenKind.STRING_LIT, MLIRTokenKind.BYTES_LIT)
        if not is_string and token.text not in ("true", "false"):
            self.raise_error("expected a string, true or false for the value of a resource")
        self._consume_token()
        if is_blob and not _is_blob(token.text):
            message = (
                'expected a string such as "0x0800000001000000": four bytes for the alignment and '
                "the data, in hexadecimal"
            )
            self.raise_error(message, token.span)
        entries[key] = token.text


def _is_blob(literal: str) -> bool:
    text = literal[1:-1]
    try:
        return text.startswith("0x") and len(bytes.fromhex(text[2:])) >= _ALIGNMENT_BYTES
    except ValueError:
        return False
