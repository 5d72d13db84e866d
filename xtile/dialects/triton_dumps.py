"""Folders of compiled kernels, as Triton's cache, `TRITON_KERNEL_DUMP=1` and Inductor write them.

For each kernel there is a folder with a file for each stage: `add.ttir`, `add.ttgir`, `add.llir`
and machine code. In a cache, which Inductor's is too, an `add.json` beside them has the options of
the launch, and what the compiler found, such as the size of shared memory. A dump has none.

Source: `triton.compiler.compile` and `triton.runtime.cache` in Triton 3.4 to 3.9.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.files import source_from_path
from xtile.text.source import Source, Span, span_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

ATTRIBUTE = "xtile.triton"
"""The attribute of a module with what the JSON beside its file says."""

_STAGES = (".ttir", ".ttgir")
"""The stages that xtile reads; of a folder it takes the first that is there."""

_SHOWN = 8
"""How many kernels of a folder with several an error lists."""

_NUMBERS = (
    "num_warps",
    "num_ctas",
    "num_stages",
    "maxnreg",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "shared",
    "global_scratch_size",
    "profile_scratch_size",
)
"""What is kept of the JSON: options that a launch or a configuration gave, then sizes in bytes."""


def kernel_file(path: str) -> str:
    """The path of a kernel: of a folder, the file of the only kernel in it or below it.

    Raises:
        DiagnosticError: The folder has no kernel, or several.
    """
    if not os.path.isdir(path):
        return path
    # The last entry of a kernel stays, so that the first stage comes last.
    files = sorted(_files_in(path), key=_rank, reverse=True)
    found = {os.path.splitext(file)[0]: file for file in files}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise _error(f"the folder has no {' or '.join(_STAGES)} of a kernel", Source(path, ""))
    names = sorted(found.values())
    more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    listed = "\n  ".join([*names[:_SHOWN], *more])
    raise _error(f"the folder has several kernels; name one of\n  {listed}", Source(path, ""))


def _files_in(folder: str) -> Iterator[str]:
    for directory, _, names in os.walk(folder):
        yield from (os.path.join(directory, name) for name in names if name.endswith(_STAGES))


def _rank(path: str) -> int:
    return _STAGES.index(os.path.splitext(path)[1])


def options_text(module_path: str) -> str:
    """What the JSON beside a kernel's file says, in one line; empty where there is none."""
    source = _source_beside(module_path)
    if source is None:
        return ""
    metadata = _Metadata(source)
    numbers = (f"{name} = {value}" for name, value in metadata.numbers().items())
    return ", ".join([f"compiled for {metadata.target()}", *numbers])


def attach_options(module: ModuleOp, source: Source, diagnostics: Diagnostics) -> None:
    """Gives a module what the JSON beside its file says, as the attribute `xtile.triton`.

    Args:
        module: The module that was read.
        source: Its text, whose name is its path.
        diagnostics: Where an error goes if the JSON cannot be read or contradicts the module, and
            a remark if it is missing beside what a compiler wrote.
    """
    try:
        beside = _source_beside(source.name)
        if beside is not None:
            _attach(module, source, _Metadata(beside))
        elif os.path.exists(_beside(source.name, ".llir")):
            diagnostics.add(_missing(source))
    except DiagnosticError as error:
        for diagnostic in error.diagnostics:
            diagnostics.add(diagnostic)


def _beside(path: str, ending: str) -> str:
    return os.path.splitext(path)[0] + ending


def _source_beside(path: str) -> Source | None:
    """The text of the JSON beside a kernel's file.

    Raises:
        DiagnosticError: It cannot be read.
    """
    beside = _beside(path, ".json")
    if not path.endswith(_STAGES) or not os.path.isfile(beside):
        return None
    return source_from_path(beside)


def _missing(source: Source) -> Diagnostic:
    name = os.path.basename(_beside(source.name, ".json"))
    message = (
        f"there is no {name} beside this file, as in a folder of TRITON_CACHE_DIR: what it was "
        "compiled with is known only as far as the text says it"
    )
    return Diagnostic(Severity.REMARK, message, source, None)


class _Metadata:
    """What a JSON says.

    Raises:
        DiagnosticError: It is no JSON, or does not say what Triton's says.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            found: object = json.loads(source.text)
        except json.JSONDecodeError as error:
            span = Span(error.pos, error.pos + 1)
            raise _error(f"this is no JSON: {error.msg}", source, span) from None
        except (ValueError, RecursionError) as error:
            raise _error(f"this is no JSON: {error}", source) from None
        if not isinstance(found, dict):
            raise _error("expected an object, as Triton writes it", source)
        self._values = cast("Mapping[str, Any]", found)

    def span(self, key: str) -> Span | None:
        """Where a key and what it says stand."""
        pattern = rf'"{key}"\s*:\s*(?:\{{[^}}]*\}}|"[^"]*"|[^,}}\s]+)'
        found = re.search(pattern, self.source.text)
        return None if found is None else Span(*found.span())

    def numbers(self) -> dict[str, int]:
        """The options and sizes that it says."""
        given = {name: self._values.get(name) for name in _NUMBERS}
        for name, value in given.items():
            if value is not None and not _is_i32(value):
                message = f"expected an integer of 32 bits for {name}"
                raise _error(message, self.source, self.span(name))
        return {name: value for name, value in given.items() if value is not None}

    def name(self) -> str | None:
        """The kernel's name."""
        return self._values.get("name")

    def target(self) -> str:
        """The chip, as `ttg.target` has it.

        Raises:
            DiagnosticError: It says none.
        """
        backend, arch = (self._of_target(key) for key in ("backend", "arch"))
        if backend is None or arch is None:
            span = self.span("target")
            raise _error('expected "target" with a "backend" and an "arch"', self.source, span)
        return f"{backend}:{arch}"

    def warp_size(self) -> object:
        """The threads of a warp."""
        return self._of_target("warp_size")

    def _of_target(self, key: str) -> object:
        target = self._values.get("target")
        return cast("Mapping[str, Any]", target).get(key) if isinstance(target, dict) else None


def _is_i32(value: object) -> bool:
    return type(value) is int and -(2**31) <= value < 2**31


def _attach(module: ModuleOp, source: Source, metadata: _Metadata) -> None:
    """Raises DiagnosticError where the JSON and the module contradict each other."""
    from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, i32

    _check_name(module, source, metadata)
    _check_options(module, source, metadata)
    kept: dict[str, Attribute] = {"target": StringAttr(metadata.target())}
    kept |= {name: IntegerAttr(value, i32) for name, value in metadata.numbers().items()}
    module.attributes[ATTRIBUTE] = DictionaryAttr(kept)


def _check_name(module: ModuleOp, source: Source, metadata: _Metadata) -> None:
    functions = {_name_of(each): each for each in module.body.ops if each.name == "tt.func"}
    name = metadata.name()
    if name is None or not functions or name in functions:
        return
    other, function = next(iter(functions.items()))
    raise _contradiction(
        f"the kernel is called @{name} here, and @{other} in the text",
        metadata,
        "name",
        function,
        source,
    )


def _name_of(function: Operation) -> str:
    name: Any = function.get_attr_or_prop("sym_name")
    return name.data


def _check_options(module: ModuleOp, source: Source, metadata: _Metadata) -> None:
    """Compares what a `ttg` module says of its launch, too."""
    numbers = metadata.numbers()
    compared = {
        "target": ("ttg.target", metadata.target()),
        "num_warps": ("ttg.num-warps", numbers.get("num_warps")),
        "num_ctas": ("ttg.num-ctas", numbers.get("num_ctas")),
        "warp_size": ("ttg.threads-per-warp", metadata.warp_size()),
    }
    for key, (attribute, value) in compared.items():
        own = _plain(module.attributes.get(attribute))
        if own is None or value is None:
            continue
        # Specialized warps are counted in the JSON only.
        if own == value or (key == "num_warps" and _is_specialized(module)):
            continue
        raise _contradiction(
            f"{key} is {value} here, and {attribute} is {own} in the text",
            metadata,
            key,
            module,
            source,
        )


def _plain(attribute: Attribute | None) -> Any:
    """A string or an integer; None for other attributes."""
    from xdsl.dialects.builtin import IntegerAttr, StringAttr

    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            return attribute.value.data
        case _:
            return None


def _is_specialized(module: ModuleOp) -> bool:
    return any(each.name == "ttg.warp_specialize" for each in module.walk())


def _contradiction(
    message: str, metadata: _Metadata, key: str, operation: Operation, source: Source
) -> DiagnosticError:
    note = Diagnostic(Severity.NOTE, "the text is here", source, span_of(operation, source))
    span = metadata.span(key)
    message += "; one of the two files is of another compilation"
    return DiagnosticError([Diagnostic(Severity.ERROR, message, metadata.source, span, (note,))])


def _error(message: str, source: Source, span: Span | None = None) -> DiagnosticError:
    return DiagnosticError([Diagnostic(Severity.ERROR, message, source, span)])
