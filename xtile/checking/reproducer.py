"""A script that shows how a port differs from its source, with the inputs in a file beside it."""

from __future__ import annotations

import os
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.arrays import Output
from xtile.arguments.copies import is_memory
from xtile.arguments.groups import Group
from xtile.dialects.printing import text_of
from xtile.text.files import write_file

if TYPE_CHECKING:
    from xtile.checking.agreement import Counterexample

_SCRIPT = '''"""Shows where a port of @{entry} differs from its source, on inputs from {inputs}."""

from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np

import xtile
from xtile.arguments.copies import copied

HERE = Path(__file__).parent
SOURCE = {source}
PORT = {port}
GRID = {grid}
DEVICE = {device!r}

saved = np.load(HERE / {inputs!r}, allow_pickle=False)


@cache
def array(name: str, dtype: str) -> np.ndarray:
    """An array of the file, whose elements have a type that the file does not know."""
    return saved[name].view(getattr(ml_dtypes, dtype, dtype))


arguments = [
{arguments}]
expected, found = copied(arguments), copied(arguments)
xtile.run(SOURCE, expected, GRID, entry={entry!r}{block})
xtile.run(PORT, found, GRID, device=DEVICE, entry={port_entry!r})
print("{where}")
print("source:", {expected_element})
print("port:  ", {found_element})
print("allowed to be off by", {limit})
'''


def write_reproducer(
    path: str,
    source: str | os.PathLike[str] | ModuleOp,
    port: str | os.PathLike[str] | ModuleOp,
    found: Counterexample,
) -> None:
    """Writes the script, and the inputs to a file with the same name that ends with `.npz`.

    Kernels that are no files are written beside it, too.

    Args:
        path: The script.
        source: The source.
        port: The port.
        found: The launch after which they differ.

    Raises:
        OSError: A file cannot be written; those that were there stay as they were.
    """
    stem = os.path.splitext(path)[0]
    arrays: dict[str, Any] = {}
    saved: dict[int, str] = {}
    lines = [
        f"    {_argument(f'a{n}', each, arrays, saved)},\n"
        for n, each in enumerate(found.arguments)
    ]
    content = BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    index = found.difference.first or found.difference.index
    name, _, entry = found.difference.parameter.partition("[")
    names = [parameter.name for parameter in found.signature.parameters]
    element = f"[{names.index(name)}]{_entry_of(entry)}[{', '.join(map(str, index)) or '()'}]"
    script = _SCRIPT.format(
        entry=found.signature.name,
        port_entry=found.port_entry,
        inputs=os.path.basename(f"{stem}.npz"),
        source=_kernel(source, f"{stem}.source", path),
        port=_kernel(port, f"{stem}.port", path),
        grid=found.launch.grid,
        device=found.device,
        arguments="".join(lines),
        block="" if found.launch.block is None else f", block={found.launch.block}",
        where=f"{found.difference.parameter}{list(index)}, with inputs: {found.inputs}",
        expected_element=f"expected{element}",
        found_element=f"found{element}",
        limit=found.difference.limit,
    )
    write_file(f"{stem}.npz", content.getvalue())
    write_file(path, script)


def _entry_of(text: str) -> str:
    return f".entries[{text.rstrip(']')}]" if text else ""


def _kernel(kernel: str | os.PathLike[str] | ModuleOp, stem: str, script: str) -> str:
    """The words of the script for a kernel, which is written beside it if it is no file."""
    if isinstance(kernel, ModuleOp):
        text, ending = text_of(kernel)
        path = f"{stem}{ending}"
        write_file(path, text)
    elif isinstance(kernel, str) and "\n" in kernel:
        path = f"{stem}.{'mlir' if 'module' in kernel or 'tt.' in kernel else 'ir'}"
        write_file(path, kernel)
    else:
        return f"Path({os.path.abspath(os.fspath(kernel))!r})"
    return f"HERE / {os.path.relpath(path, os.path.dirname(script) or '.')!r}"


def _argument(name: str, argument: Any, arrays: dict[str, Any], saved: dict[int, str]) -> str:
    """The words of the script for an argument, whose arrays go to `arrays`.

    Args:
        name: What its array is called.
        argument: The argument.
        arrays: The arrays by their names.
        saved: By the identity of each array its name, as two arguments may be one.
    """
    if isinstance(argument, Output):
        return f"xtile.launch.Output({_argument(name, argument.array, arrays, saved)})"
    if isinstance(argument, Group):
        entries = [
            _argument(f"{name}_{i}", entry, arrays, saved)
            for i, entry in enumerate(argument.entries)
        ]
        return f"xtile.launch.Group([{', '.join(entries)}])"
    if is_memory(argument):
        saved.setdefault(id(argument), name)
        name = saved[id(argument)]
        is_narrow = argument.dtype.kind == "V"
        arrays[name] = argument.view(f"u{argument.itemsize}") if is_narrow else argument
        return f"array({name!r}, {argument.dtype.name!r})"
    if isinstance(argument, np.generic):
        return repr(cast("Any", argument).item())
    return "float('nan')" if argument != argument else repr(argument)
