"""How entries of CUDA Tile IR are launched: each tile block is a work-group with one work-item.

Source: CUDA Tile IR specification, "Programming Model"; NVIDIA/cuda-tile 13.3.0, `Ops.td`
(`entry`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from typing_extensions import override
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.attributes import Signedness
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.semantics.arguments import Argument, MemrefArgument, ScalarArgument, WordsArgument
from xtile.semantics.binding import Buffers
from xtile.semantics.compiler import Body, Compiler
from xtile.semantics.configuration import Configuration, Size3
from xtile.semantics.cuda_tile.control import compile_entry
from xtile.semantics.cuda_tile.integer import signedness_of
from xtile.semantics.cuda_tile.numbers import element_number, result_number
from xtile.semantics.errors import ExecutionError
from xtile.semantics.language import Language
from xtile.semantics.storage import storage_of
from xtile.semantics.unspecified import FollowingCompiler
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value


def _configure(entry: Operation, grid: Size3, block: Size3 | None) -> Configuration:
    if block is not None and block != (1, 1, 1):
        raise ExecutionError(
            entry, f"a tile block is launched as one, so the block must be (1, 1, 1), not {block}"
        )
    return Configuration(1, (1, 1, 1), (1, 1, 1), grid, "tile")


def _parameters(entry: Operation) -> Sequence[SSAValue]:
    return entry.regions[0].blocks[0].args


def _bind(type: Attribute, name: str, argument: Argument, buffers: Buffers) -> Value:
    if not isinstance(type, TileType) or type.rank:
        raise ValueError(f"{name} has type {type}, but an entry takes tiles without dimensions")
    element = type.element_type
    match argument:
        case ScalarArgument() if not isinstance(element, PointerType):
            return element_number(type).number(argument.value)
        case MemrefArgument():
            return _scale(element) * buffers.address(argument, name)
        case WordsArgument() if isinstance(element, PointerType):
            return buffers.address(buffers.words(argument, name), name)
        case _:
            raise ValueError(f"{name} has type {type}, given {argument}")


def _scale(element: Attribute) -> np.int64:
    """What a pointer counts in a byte: 1, or 2 elements of four bits."""
    is_packed = isinstance(element, PointerType) and storage_of(element.pointee_type).is_packed
    return np.int64(2 if is_packed else 1)


def _compile(entry: Operation, compiler: Compiler) -> Body:
    return Body([entry], [compile_entry(entry.regions[0], compiler)])


_SHARED = ("cuda_tile.atomic_", "cuda_tile.get_global")
"""Operations with an effect that other tile blocks may see while they run."""


def _may_share(entry: Operation) -> bool:
    return not any(operation.name.startswith(_SHARED) for operation in entry.walk())


class _Following(FollowingCompiler):
    sinks: ClassVar[Mapping[str, str]] = {
        "cuda_tile.assert": "the assertion",
        "cuda_tile.for": "a bound of the loop",
        "cuda_tile.if": "the condition",
        "cuda_tile.make_tensor_view": "a pointer, size or stride of the view",
        "cuda_tile.print_tko": "what is printed",
    }
    bounds: ClassVar[Mapping[str, int]] = {"cuda_tile.for": 3}
    follow_themselves: ClassVar[frozenset[str]] = frozenset(
        {
            "cuda_tile.atomic_cas_tko",
            "cuda_tile.atomic_red_view_tko",
            "cuda_tile.atomic_rmw_tko",
            "cuda_tile.load_ptr_tko",
            "cuda_tile.load_view_tko",
            "cuda_tile.loop",
            "cuda_tile.store_ptr_tko",
            "cuda_tile.store_view_tko",
        }
    )

    @override
    def cast_to(self, operation: Operation) -> tuple[Number, bool]:
        return result_number(operation), signedness_of(operation) is Signedness.SIGNED


def _compiler(configuration: Configuration, is_observed: bool) -> Compiler:
    if is_observed:
        return _Following(configuration, is_observed)
    return Compiler(configuration, is_observed)


LANGUAGE = Language(
    configure=_configure,
    parameters=_parameters,
    bind=_bind,
    compile=_compile,
    is_collective=False,
    may_share=_may_share,
    compiler=_compiler,
)
