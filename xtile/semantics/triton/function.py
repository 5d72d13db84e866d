"""How functions of Triton are launched: each program of the grid is a work-group.

Source: Triton 3.9, `TritonOps.td` (`FuncOp`); docs/semantics.md, "Triton".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.arguments import Argument, MemrefArgument, ScalarArgument, WordsArgument
from xtile.semantics.binding import Buffers
from xtile.semantics.compiler import Body, Compiler
from xtile.semantics.configuration import Configuration, Size3
from xtile.semantics.errors import ExecutionError
from xtile.semantics.language import Language
from xtile.semantics.triton.compiler import compiler_for
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Value


def _configure(function: Operation, grid: Size3, block: Size3 | None) -> Configuration:
    if block is not None and block != (1, 1, 1):
        raise ExecutionError(
            function, f"a program is launched as one, so the block must be (1, 1, 1), not {block}"
        )
    return Configuration(1, (1, 1, 1), (1, 1, 1), grid, "tile")


def _parameters(function: Operation) -> Sequence[SSAValue]:
    if not function.regions[0].blocks:
        raise ExecutionError(function, "the function is declared only: it has no body to execute")
    return function.regions[0].blocks[0].args


def _bind(type: Attribute, name: str, argument: Argument, buffers: Buffers) -> Value:
    match argument:
        case ScalarArgument() if not is_pointer(type):
            return number_of(type).number(argument.value)
        case MemrefArgument() if is_pointer(type) or number_of(type).bits == _ADDRESS_BITS:
            return buffers.address(argument, name)
        case WordsArgument() if is_pointer(type):
            return buffers.address(buffers.words(argument, name), name)
        case _:
            raise ValueError(f"{name} has type {type}, given {argument}")


_ADDRESS_BITS = 64


def _compile(function: Operation, compiler: Compiler) -> Body:
    return compiler.region(function.regions[0])


_SHARED = ("tt.atomic_", "tt.descriptor_reduce", "amdg.buffer_atomic_")
"""Operations with an effect that other programs may see while they run."""


def _may_share(function: Operation) -> bool:
    module = function.get_toplevel_object()
    around = module if isinstance(module, Operation) else function
    return not any(operation.name.startswith(_SHARED) for operation in around.walk())


LANGUAGE = Language(
    configure=_configure,
    parameters=_parameters,
    bind=_bind,
    compile=_compile,
    is_collective=False,
    may_share=_may_share,
    compiler=compiler_for,
)
