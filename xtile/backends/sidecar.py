"""The file beside compiled kernels that says what a launch must know of them.

With it a cubin runs on a computer that has neither the kernel's source nor the assembler, and so
do an hsaco and SPIR-V. It is JSON, `k.cubin.json` for `k.cubin`:

| field | what it holds |
|---|---|
| `format`, `version` | "xtile cubin", "xtile hsaco" or "xtile spv", and 3 |
| `xtile`, `tool` | what compiled and what assembled it |
| `chip` | the architecture |
| `sha256` | the checksum of the machine code, in hexadecimal digits |
| `kernels` | for each its signature, `slots` and launch, as below |

The signature of a kernel is its `name`, its `parameters`, `written` and `checks`.

A parameter has the type of the kernel's source, as MLIR writes it. `is_noalias` says whether the
code relies on it that no other argument overlaps this one where either is written. `written` are
the numbers of those that the kernel writes to, `checks` what it relies on that a launch finds out
(docs/core-form.md, "Launch checks"). `slots` are offset and size of each parameter of the
machine code, `0:4 8:8`, which follow from the types.

A launch of SPIR-V is what `xtile.backends.intel.files` says. One of machine code is `threads` of a
block, its `shared` memory in bytes, and `scratch`, pointers that the machine code takes behind its
parameters: to `size` bytes for each program, with an `alignment`. The grid counts programs, one for
each work-group of the source. `heap` are the bytes that a tile block allocates while it runs, and
`hints` what the source told the assembler. `divisors` are what the code relies on to divide each of
its parameters, and `in_reach` the numbers of those whose memory ends below 2 GB.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from xtile import __version__
from xtile.arguments.signature import Signature, signature_of_words, signature_words
from xtile.backends.elf import find_damage
from xtile.backends.machine_code import SPV, CodeFormat, KernelInterface, MachineCode, Scratch
from xtile.backends.parameters import conventions_of, slots_of
from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.files import source_from_path
from xtile.text.source import Source, Span

SIDECAR = ".json"
"""What follows the path of machine code in that of its sidecar."""

_VERSION = 3


def sidecar_path(path: str | os.PathLike[str]) -> Path:
    """The sidecar of machine code."""
    return Path(os.fspath(path) + SIDECAR)


def write_machine_code(path: str | os.PathLike[str], made: MachineCode) -> None:
    """Writes machine code and its sidecar.

    Raises:
        OSError: A file cannot be written.
    """
    write_both(path, made.code, encode(made))


def write_both(path: str | os.PathLike[str], code: bytes, text: str) -> None:
    """Writes a file, and the text of its sidecar.

    Raises:
        OSError: A file cannot be written.
    """
    Path(path).write_bytes(code)
    sidecar_path(path).write_text(text, encoding="utf-8")


def encode(made: MachineCode) -> str:
    """The text of the sidecar of machine code."""
    launches = {
        name: _launch_words(made.kernels.get(name, KernelInterface())) for name in made.signatures
    }
    described = Described(made.chip, made.tool, made.signatures, launches)
    return description(described, made.code, made.format)


@dataclass(frozen=True)
class Described:
    """What the sidecar of each kind of files says.

    Attributes:
        chip: The architecture.
        tool: What made the file.
        signatures: Those of the kernels, by name.
        launches: What else a launch must know of each kernel, in words of the kind's own.
        options: What it must know of the whole file, likewise.
    """

    chip: str
    tool: str
    signatures: Mapping[str, Signature]
    launches: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def description(described: Described, code: bytes, kind: CodeFormat) -> str:
    """The text of the sidecar of a file."""
    words = {
        "format": _name(kind),
        "version": _VERSION,
        "xtile": __version__,
        "tool": described.tool,
        "chip": described.chip,
        "sha256": sha256(code).hexdigest(),
        **described.options,
        "kernels": [
            {
                **signature_words(signature),
                "slots": _slots(signature),
                **described.launches[name],
            }
            for name, signature in described.signatures.items()
        ],
    }
    return json.dumps(words, indent=1) + "\n"


def _name(kind: CodeFormat) -> str:
    return f"xtile {kind.extension.removeprefix('.')}"


def _launch_words(interface: KernelInterface) -> dict[str, Any]:
    """What a launch must know of a kernel; what it relies on stands in the signature."""
    return {
        "hints": interface.hints,
        "heap": interface.heap,
        "threads": interface.threads,
        "shared": interface.shared,
        "scratch": [asdict(scratch) for scratch in interface.scratch],
        "divisors": interface.divisors,
        "in_reach": interface.in_reach,
    }


def _slots(signature: Signature) -> str:
    """Offset and size of each parameter of the machine code.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
    """
    arguments = (argument for each in conventions_of(signature) for argument in each)
    return " ".join(f"{slot.offset}:{slot.size}" for slot in slots_of(arguments))


def read_code(path: str | os.PathLike[str], kind: CodeFormat) -> bytes:
    """The machine code of a file without looking at its sidecar.

    Raises:
        DiagnosticError: The file cannot be read, is not of the kind, or is cut off.
    """
    source = source_from_path(path, is_binary=True)
    code = source.data or b""
    # SPIR-V was checked as it was read.
    damage = None if kind is SPV else find_damage(code, kind)
    if damage is not None:
        raise _error(source, damage)
    return code


def read_machine_code(path: str | os.PathLike[str], kind: CodeFormat) -> MachineCode:
    """Reads machine code and its sidecar.

    Raises:
        DiagnosticError: A file cannot be read, is damaged, or they do not belong together.
    """
    code = read_code(path, kind)
    if not sidecar_path(path).exists():
        raise _error(
            Source(os.fspath(path), ""),
            f"its sidecar {sidecar_path(path).name} is missing, which `xtile compile` writes "
            "beside it; without it, run the kernel's source with --binary",
        )
    return decode(source_from_path(sidecar_path(path)), code, kind)


def decode(source: Source, code: bytes, kind: CodeFormat) -> MachineCode:
    """What a sidecar says of machine code.

    Raises:
        DiagnosticError: It is damaged, or of other machine code.
    """
    with damage_located(source):
        described = read_description(source, code, kind)
        kernels = {name: _interface(words) for name, words in described.launches.items()}
        return MachineCode(
            code, described.chip, described.tool, described.signatures, kernels, kind
        )


def read_description(source: Source, code: bytes, kind: CodeFormat) -> Described:
    """What a sidecar says of a file; `launches` and `options` have all of its words.

    Raises:
        AttributeError, IndexError, KeyError, TypeError: It is damaged; `damage_located` tells.
        DiagnosticError: It is damaged, or of another file.
    """
    words, expected = _read_json(source), _name(kind)
    if words.get("format") != expected or words.get("version") != _VERSION:
        raise _error(
            source, f'expected a file with "format": "{expected}" and "version": {_VERSION}'
        )
    if words.get("sha256") != sha256(code).hexdigest():
        raise _error(source, f"it describes another {kind.name}: the checksum sha256 differs")
    signatures = _read_kernels(source, words["kernels"])
    launches = {str(kernel["name"]): kernel for kernel in words["kernels"]}
    return Described(str(words["chip"]), str(words["tool"]), signatures, launches, words)


@contextmanager
def damage_located(source: Source) -> Generator[None]:
    """Makes what goes wrong with the words of a sidecar an error at the sidecar.

    Raises:
        DiagnosticError: Something is missing, or is not what it must be.
    """
    try:
        yield
    # What is missing, or no list or object where there must be one.
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise _error(source, f"it is damaged: {_reason(error)}") from None


def _interface(words: Mapping[str, Any]) -> KernelInterface:
    return KernelInterface(
        str(words["hints"]),
        number(words, "heap"),
        threads=number(words, "threads", least=1),
        shared=number(words, "shared"),
        scratch=tuple(
            Scratch(number(each, "size"), number(each, "alignment", least=1))
            for each in words["scratch"]
        ),
        divisors=numbers(words, "divisors", least=1),
        in_reach=numbers(words, "in_reach"),
    )


def number(words: Mapping[str, Any], name: str, least: int = 0) -> int:
    """A number of a sidecar.

    Raises:
        KeyError: It is missing.
        TypeError: It is none, or less than `least`.
    """
    return _checked(words[name], name, least)


def numbers(words: Mapping[str, Any], name: str, least: int = 0) -> tuple[int, ...]:
    """Numbers of a sidecar; the errors are those of `number`."""
    return tuple(_checked(each, name, least) for each in words[name])


def _checked(number: object, name: str, least: int) -> int:
    if not isinstance(number, int) or number < least:
        raise TypeError(f"{name} is no number from {least} on")
    return number


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
