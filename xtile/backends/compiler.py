"""What a vendor's backend offers to launches: compiling, and keeping what was compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from xtile.backends.cache import Header

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.arguments.signature import Signature
    from xtile.text.diagnostics import Diagnostics

ProgramT = TypeVar("ProgramT")


@dataclass(frozen=True)
class Compiler(Generic[ProgramT]):
    """Makes programs for one architecture.

    Attributes:
        name: The architecture; a text's program depends on it.
        compile: Compiles the kernels of a module; raises a DiagnosticError where it cannot.
        encode: What the cache keeps of a program: words, and bytes.
        decode: The program that was kept, with the signatures of its kernels by name.
        may_overlap: Whether arguments may overlap although a kernel writes to one of them.
    """

    name: str
    compile: Callable[[ModuleOp, Diagnostics | None], ProgramT]
    encode: Callable[[ProgramT], tuple[Header, bytes]]
    decode: Callable[[Header, bytes, Mapping[str, Signature]], ProgramT]
    may_overlap: bool = False
