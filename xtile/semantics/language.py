"""What the engine knows of each language: how functions are launched, where meanings stand.

The modules are loaded when an operation of theirs is compiled or launched first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xtile.dialects.number_attributes import says_how_to_round

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation, SSAValue

    from xtile.semantics.arguments import Argument
    from xtile.semantics.binding import Buffers
    from xtile.semantics.compiler import Body, Compiler, Handler
    from xtile.semantics.configuration import Configuration, Size3
    from xtile.semantics.values import Value


@dataclass(frozen=True)
class Language:
    """How the functions of a language are launched. Each callable takes the function first.

    Attributes:
        configure: The sizes of a launch with a grid and, if given, the work-group's size.
        parameters: The values that stand for the arguments.
        bind: The run-time value of an argument, from the parameter's type and name. It raises
            ValueError where the argument does not fit the type.
        compile: The function's body.
        is_collective: Whether the work-items of a work-group begin as one.
        may_share: Whether the work-groups may run in different processes.
        compiler: What compiles it, from the sizes and whether there is an observer; None: what
            compiles any function.
    """

    configure: Callable[[Any, Size3, Size3 | None], Configuration]
    parameters: Callable[[Any], Sequence[SSAValue]]
    bind: Callable[[Attribute, str, Argument, Buffers], Value]
    compile: Callable[[Any, Compiler], Body]
    is_collective: bool
    may_share: Callable[[Any], bool]
    compiler: Callable[[Configuration, bool], Compiler] | None = None


_LANGUAGES = {
    "cuda_tile": "xtile.semantics.cuda_tile.function",
    "func": "xtile.semantics.upstream.function",
    "gpu": "xtile.semantics.upstream.function",
    "tensorlang": "xtile.semantics.instructions.function",
    "tt": "xtile.semantics.triton.function",
}
"""For the dialect of a function the module with the LANGUAGE that launches it; `register` adds."""

_HANDLERS = {
    "affine": "xtile.semantics.upstream.affine",
    "arith": "xtile.semantics.upstream.arith",
    "builtin": "xtile.semantics.upstream.builtin",
    "cf": "xtile.semantics.upstream.assumptions",
    "complex": "xtile.semantics.upstream.complex",
    "core": "xtile.semantics.core",
    "cuda_tile": "xtile.semantics.cuda_tile.table",
    "func": "xtile.semantics.upstream.func",
    "gpu": "xtile.semantics.upstream.gpu",
    "index": "xtile.semantics.upstream.index",
    "linalg": "xtile.semantics.upstream.linalg",
    "llvm": "xtile.semantics.upstream.assumptions",
    "math": "xtile.semantics.upstream.math",
    "memref": "xtile.semantics.upstream.memref",
    "rocdl": "xtile.semantics.upstream.gpu_ids",
    "scf": "xtile.semantics.upstream.scf",
    "spirv": "xtile.semantics.upstream.spirv",
    "tensorlang": "xtile.semantics.instructions.table",
    "amdg": "xtile.semantics.triton.table",
    "tt": "xtile.semantics.triton.table",
    "ttg": "xtile.semantics.triton.table",
    "ub": "xtile.semantics.upstream.assumptions",
    "vector": "xtile.semantics.vector",
    "xegpu": "xtile.semantics.xegpu.table",
}
"""For each dialect the module with the HANDLERS of its operations, by name."""

_ROUNDED = "xtile.semantics.core_numbers"
"""The same for operations that say how they are rounded."""


def register(dialect: str, module: str) -> None:
    """Launches functions of a dialect as a module says that knows more than the engine.

    Args:
        dialect: The dialect.
        module: The name of the module with the LANGUAGE.
    """
    _LANGUAGES[dialect] = module


def language_of(function: Operation) -> Language:
    """The language that a function is launched as.

    Raises:
        ValueError: The operation is no function that can be launched.
    """
    module = _LANGUAGES.get(function.dialect_name())
    if module is None:
        raise ValueError(f"{function.name} cannot be launched")
    return import_module(module).LANGUAGE


def handler_of(operation: Operation) -> Handler | None:
    """What compiles an operation; None if nothing does."""
    is_rounded = says_how_to_round(operation)
    module = _ROUNDED if is_rounded else _HANDLERS.get(operation.dialect_name())
    if module is None:
        return None
    handlers: Mapping[str, Handler] = import_module(module).HANDLERS
    return handlers.get(operation.name)
