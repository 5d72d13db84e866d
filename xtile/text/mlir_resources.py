"""Reads and prints the resources at the end of MLIR text, `{-# ... #-}`.

`dense_resource<key>` refers to bytes that stand there. They are kept with the module that was read,
so that two modules may use one key.

Source: MLIR Language Reference, "File Metadata Dictionary".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from io import StringIO
from typing import TypeAlias

from typing_extensions import override
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.ir import Dialect, Operation
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_aliases import AliasParser

Resources: TypeAlias = dict[str, dict[str, dict[str, str]]]
"""The text of each resource by the section, the owner and the key."""

DIALECT_RESOURCES = "dialect_resources"
EXTERNAL_RESOURCES = "external_resources"

_ATTRIBUTE = "_xtile_resources"
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


def attach_resources(module: Operation, resources: Resources) -> None:
    """Keeps the resources of a text with the module that was read from it."""
    setattr(module, _ATTRIBUTE, resources)


def resources_of(
    module: Operation, used: Mapping[str, Collection[str]], dialects: Iterable[Dialect]
) -> Resources:
    """Returns the resources to print with a module.

    Args:
        module: What is printed.
        used: The keys that it uses, by dialect.
        dialects: Where the resources of modules are that were not read from text.
    """
    attached: Resources = getattr(module, _ATTRIBUTE, {})
    blobs = {owner: dict(found) for owner, found in attached.get(DIALECT_RESOURCES, {}).items()}
    for dialect in dialects:
        interface = dialect.get_interface(OpAsmDialectInterface)
        if interface is not None and dialect.name in used:
            known = interface.build_resources(used[dialect.name])
            quoted = {key: f'"{value}"' for key, value in known.items()}
            blobs[dialect.name] = quoted | blobs.get(dialect.name, {})
    shown = {
        owner: {key: entries[key] for key in used.get(owner, ()) if key in entries}
        for owner, entries in sorted(blobs.items())
    }
    return {
        DIALECT_RESOURCES: {owner: entries for owner, entries in shown.items() if entries},
        EXTERNAL_RESOURCES: attached.get(EXTERNAL_RESOURCES, {}),
    }


def resources_text(resources: Resources) -> str:
    """Returns resources as MLIR prints them; an empty text if there are none."""
    sections = {section: owners for section, owners in resources.items() if owners}
    if not sections:
        return ""
    texts = [_braced(f"  {section}", _owners(owners)) for section, owners in sections.items()]
    return "\n{-#\n" + ",\n".join(texts) + "\n#-}\n"


def _owners(owners: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        _braced(f"    {_key(owner)}", [f"      {_key(key)}: {text}" for key, text in found.items()])
        for owner, found in owners.items()
    ]


def _braced(head: str, lines: list[str]) -> str:
    indent = " " * (len(head) - len(head.lstrip()))
    return f"{head}: {{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _key(key: str) -> str:
    from xdsl.printer import Printer

    stream = StringIO()
    Printer(stream=stream).print_identifier_or_string_literal(key)
    return stream.getvalue()


def _is_blob(literal: str) -> bool:
    text = literal[1:-1]
    try:
        return text.startswith("0x") and len(bytes.fromhex(text[2:])) >= _ALIGNMENT_BYTES
    except ValueError:
        return False
