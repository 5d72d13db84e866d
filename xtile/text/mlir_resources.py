"""The resources at the end of MLIR text, `{-# ... #-}`, and how they are printed.

`dense_resource<key>` refers to bytes that stand there. They are kept with the module that was read,
so that two modules may use one key.

Source: MLIR Language Reference, "File Metadata Dictionary".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from io import StringIO
from typing import TypeAlias

from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.ir import Dialect, Operation

Resources: TypeAlias = dict[str, dict[str, dict[str, str]]]
"""The text of each resource by the section, the owner and the key."""

DIALECT_RESOURCES = "dialect_resources"
EXTERNAL_RESOURCES = "external_resources"

_ATTRIBUTE = "_xtile_resources"


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
