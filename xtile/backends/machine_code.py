"""Compiled kernels, and what a launch of machine code must know of them beside their signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xtile.arguments.calling_convention import DIVISIBLE_BY
from xtile.arguments.launch_checks import LaunchCheck
from xtile.arguments.signature import Signature
from xtile.targets import AMD, INTEL, NVIDIA, Vendor


@dataclass(frozen=True)
class CodeFormat:
    """A kind of files with compiled kernels.

    Attributes:
        name: What messages call one.
        vendor: Whose devices it is for.
        extension: How the names of its files end.
        machine: The number by which ELF knows the devices; None for what is no ELF file.
    """

    name: str
    vendor: Vendor
    extension: str
    machine: int | None = None

    @property
    def an(self) -> str:
        """What messages call any one."""
        return f"an {self.name}" if self.name.startswith("h") else f"a {self.name}"


CUBIN = CodeFormat("cubin", NVIDIA, ".cubin", 190)
HSACO = CodeFormat("hsaco", AMD, ".hsaco", 224)
SPV = CodeFormat("SPIR-V module", INTEL, ".spv")

FORMATS = (CUBIN, HSACO, SPV)
"""The kinds of files that there are. Source of the numbers: LLVM 22, `BinaryFormat/ELF.h`."""


def format_of(path: str) -> CodeFormat | None:
    """The kind of a file, as its name tells it; None for what is no compiled kernel."""
    return next((each for each in FORMATS if path.endswith(each.extension)), None)


@dataclass(frozen=True)
class Scratch:
    """Memory that a launch allocates for a kernel, which takes its address as a last parameter.

    Attributes:
        size: Bytes for each program.
        alignment: Bytes that its address is a multiple of.
    """

    size: int = 0
    alignment: int = 1


@dataclass(frozen=True)
class Promises:
    """What machine code may rely on of its parameters, by their numbers.

    Attributes:
        divisible: Addresses and numbers that 16 divides.
        in_reach: Addresses of memory that ends below 2 GB.
    """

    divisible: frozenset[int] = frozenset()
    in_reach: frozenset[int] = frozenset()

    def __and__(self, other: Promises) -> Promises:
        """What both promise."""
        return Promises(self.divisible & other.divisible, self.in_reach & other.in_reach)

    def __str__(self) -> str:
        divisible, in_reach = (
            " ".join(map(str, sorted(numbers))) for numbers in (self.divisible, self.in_reach)
        )
        return f"16 divides {divisible or 'none'}, {in_reach or 'none'} in reach"


NO_PROMISES = Promises()


@dataclass(frozen=True)
class KernelInterface:
    """What a launch must know of a kernel beside its signature.

    Attributes:
        hints: What the kernel told the assembler, as MLIR text.
        heap: Bytes that each tile block allocates while it runs.
        checks: What it relies on that only a launch can tell.
        disjoint: The numbers of the parameters that it relies on not to overlap others.
        threads: The threads of a block, as the driver counts them; one of a tile block.
        shared: Bytes of shared memory that a launch gives to each block.
        scratch: What the kernel takes behind its parameters.
        divisors: For each parameter of the machine code what divides it; all the same, if empty.
        in_reach: The numbers of those parameters whose memory ends below 2 GB.
        preferred: For which launches it is fast, as checks; it is right for others, too.
    """

    hints: str = ""
    heap: int = 0
    checks: tuple[LaunchCheck, ...] = ()
    disjoint: tuple[int, ...] = ()
    threads: int = 1
    shared: int = 0
    scratch: tuple[Scratch, ...] = ()
    divisors: tuple[int, ...] = ()
    in_reach: tuple[int, ...] = ()
    preferred: tuple[LaunchCheck, ...] = ()

    @property
    def promises(self) -> Promises:
        """What it relies on of the parameters of the machine code."""
        divisible = (i for i, each in enumerate(self.divisors) if each % DIVISIBLE_BY == 0)
        return Promises(frozenset(divisible), frozenset(self.in_reach))


@dataclass(frozen=True)
class MachineCode:
    """Kernels that a GPU runs.

    Attributes:
        code: A file of the ELF format.
        chip: The architecture.
        tool: What made it, as in `tileiras 13.5.37`.
        signatures: Those of its kernels, by name.
        kernels: What else a launch must know of each kernel.
        format: What its files are.
    """

    code: bytes
    chip: str
    tool: str
    signatures: Mapping[str, Signature]
    kernels: Mapping[str, KernelInterface]
    format: CodeFormat = CUBIN
