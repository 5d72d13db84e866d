"""The file beside a cubin that says what a launch must know of its kernels.

With it a cubin runs on a computer that has neither the kernel's source nor the assembler. It is
JSON, `k.cubin.json` for `k.cubin`:

| field | what it holds |
|---|---|
| `format`, `version` | "xtile cubin" and 2 |
| `xtile`, `tool` | what compiled and what assembled it |
| `chip` | the architecture |
| `sha256` | the checksum of the cubin, in hexadecimal digits |
| `kernels` | for each its `name`, `parameters`, `written`, `checks`, `slots`, `hints` and `heap` |

A parameter has the type of the kernel's source, as MLIR writes it. `is_noalias` says whether the
code relies on it that no other argument overlaps this one where either is written. `written` are
the numbers of those that the kernel writes to, `checks` what it relies on that a launch finds out
(docs/core-form.md, "Launch checks"). `slots` are offset and size of each parameter of the
machine code, `0:4 8:8`, which follow from the types.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from xtile import __version__
from xtile.arguments.calling_convention import source_arguments
from xtile.arguments.signature import Signature
from xtile.arguments.signature_words import signature_of_words, signature_words
from xtile.backends.nvidia.compilation import Cubin, KernelInterface
from xtile.backends.nvidia.elf import find_damage
from xtile.backends.nvidia.parameters import slots_of
from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.files import source_from_path
from xtile.text.source import Source, Span

EXTENSION = ".cubin"

SIDECAR = ".json"
"""What follows the path of a cubin in that of its sidecar."""

_FORMAT = "xtile cubin"
_VERSION = 2


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """The sidecar of a cubin."""
    return Path(os.fspath(path) + SIDECAR)


def write_cubin(path: str | os.PathLike[str], cubin: Cubin) -> None:
    """Writes a cubin and its sidecar.

    Raises:
        OSError: A file cannot be written.
    """
    Path(path).write_bytes(cubin.code)
    sidecar_path(path).write_text(encode(cubin), encoding="utf-8")


def encode(cubin: Cubin) -> str:
    """The text of a cubin's sidecar."""
    kernels = [
        {
            **signature_words(signature),
            "slots": _slots(signature),
            "hints": interface.hints,
            "heap": interface.heap,
        }
        for name, signature in cubin.signatures.items()
        for interface in [cubin.kernels.get(name, KernelInterface())]
    ]
    words = {
        "format": _FORMAT,
        "version": _VERSION,
        "xtile": __version__,
        "tool": cubin.tool,
        "chip": cubin.chip,
        "sha256": sha256(cubin.code).hexdigest(),
        "kernels": kernels,
    }
    return json.dumps(words, indent=1) + "\n"


def _slots(signature: Signature) -> str:
    """Offset and size of each parameter of the machine code."""
    arguments = (
        argument
        for parameter in signature.parameters
        for argument in source_arguments(parameter.type)
    )
    return " ".join(f"{slot.offset}:{slot.size}" for slot in slots_of(arguments))


def read_code(path: str | os.PathLike[str]) -> bytes:
    """The machine code of a cubin without looking at its sidecar.

    Raises:
        DiagnosticError: The file cannot be read, is no cubin, or is cut off.
    """
    source = source_from_path(path, is_binary=True)
    code = source.data or b""
    damage = find_damage(code)
    if damage is not None:
        raise _error(source, damage)
    return code


def read_cubin(path: str | os.PathLike[str]) -> Cubin:
    """Reads a cubin and its sidecar.

    Raises:
        DiagnosticError: A file cannot be read, is damaged, or they do not belong together.
    """
    code = read_code(path)
    if not sidecar_path(path).exists():
        raise _error(
            Source(os.fspath(path), ""),
            f"its sidecar {sidecar_path(path).name} is missing, which `xtile compile` writes "
            "beside it; without it, run the kernel's source with --binary",
        )
    return decode(source_from_path(sidecar_path(path)), code)


def decode(source: Source, code: bytes) -> Cubin:
    """What a sidecar says of a cubin.

    Raises:
        DiagnosticError: It is damaged, or of another cubin.
    """
    words = _read_json(source)
    if words.get("format") != _FORMAT or words.get("version") != _VERSION:
        raise _error(
            source, f'expected a file with "format": "{_FORMAT}" and "version": {_VERSION}'
        )
    if words.get("sha256") != sha256(code).hexdigest():
        raise _error(source, "it describes another cubin: the checksum sha256 differs")
    try:
        signatures = _read_kernels(source, words["kernels"])
        kernels = {
            str(kernel["name"]): KernelInterface(str(kernel["hints"]), _heap(kernel["heap"]))
            for kernel in words["kernels"]
        }
        return Cubin(code, str(words["chip"]), str(words["tool"]), signatures, kernels)
    # What is missing, or no list or object where there must be one.
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise _error(source, f"it is damaged: {_reason(error)}") from None


def _heap(size: object) -> int:
    if not isinstance(size, int) or size < 0:
        raise TypeError("heap is no number of bytes")
    return size


def _read_json(source: Source) -> dict[str, Any]:
    try:
        words = json.loads(source.text)
    except json.JSONDecodeError as error:
        position = min(error.pos, max(0, len(source.text) - 1))
        message = f"expected JSON: {error.msg}"
        span = Span(position, position + 1)
        raise DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)]) from None
    except RecursionError:
        raise _error(source, "expected JSON that is not so deeply nested") from None
    if not isinstance(words, dict):
        raise _error(source, "expected a JSON object")
    return cast("dict[str, Any]", words)


def _read_kernels(source: Source, kernels: Sequence[dict[str, Any]]) -> dict[str, Signature]:
    from xdsl.utils.exceptions import ParseError

    context = make_context()
    signatures: dict[str, Signature] = {}
    for words in kernels:
        try:
            signature = signature_of_words(words, context)
            slots = _slots(signature)
        except (ParseError, ValueError) as error:
            reason = str(error).strip().splitlines()[-1]
            message = f"a type of kernel '{words['name']}' cannot be read: {reason}"
            raise _error(source, message) from None
        if slots != words["slots"]:
            raise _error(
                source,
                f"the parameters of kernel '{signature.name}' lie at '{slots}' by its signature, "
                f"but its slots are '{words['slots']}'",
            )
        signatures[signature.name] = signature
    return signatures


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _error(source: Source, message: str) -> DiagnosticError:
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, None)])
