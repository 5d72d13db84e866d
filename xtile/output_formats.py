"""The formats that `-t` writes, which xDSL calls targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from xtile.dialects.cuda_tile.versions import DEFAULT_VERSION, parse_version
from xtile.targets import AMD, INTEL, NVIDIA, check_chip, find_target

if TYPE_CHECKING:
    from xtile.text.diagnostics import Diagnostics
    from xtile.translate.route import Watcher


@dataclass(frozen=True)
class TensorLangFormat(Target):
    """The tensor language's own text, in its current revision."""

    name: ClassVar[str] = "tensorlang"

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)


class CompilingFormat(Target, ABC):
    """A language that kernels of other languages are compiled to."""

    @abstractmethod
    def compile(
        self,
        module: ModuleOp,
        diagnostics: Diagnostics | None = None,
        watcher: Watcher | None = None,
    ) -> ModuleOp:
        """The kernels of a module in the language that is encoded.

        Raises:
            DiagnosticError: A kernel cannot be compiled for the chip.
        """


class BinaryFormat(Target, ABC):
    """A language of bytes."""

    LANGUAGE: ClassVar[str]
    """What messages call it."""

    @abstractmethod
    def encode(self, module: ModuleOp) -> bytes:
        """The module as bytes.

        Raises:
            DiagnosticError: The language cannot hold it.
        """

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes to the bytes below a text stream, such as standard output or a file.

        Raises:
            ValueError: The stream holds nothing but text.
        """
        below: BinaryIO | None = getattr(output, "buffer", None)
        if below is None:
            raise ValueError(f"{self.LANGUAGE} is bytes and cannot be written to a stream of text")
        output.flush()
        below.write(self.encode(module))


@dataclass(frozen=True)
class SPIRVAssemblyFormat(CompilingFormat):
    """SPIR-V in the form of the SPIR-V assembler; kernels of other languages are compiled to it.

    Attributes:
        chip: The device that kernels are compiled for, one of Intel's.
        matrix_spelling: How products of matrices and accesses of blocks are written, a name of
            `xtile.targets.spellings`; None for what the device has.
        may_overlap: Whether arguments of a kernel may overlap although one of them is written,
            where its language or its attributes exclude it.
    """

    name: ClassVar[str] = "spirv-asm"
    chip: str = INTEL.default
    matrix_spelling: str | None = None
    may_overlap: bool = False

    def __post_init__(self) -> None:
        check_chip(self.chip, self.name, INTEL)
        if self.matrix_spelling is not None:
            from xtile.targets.spellings import check_spelling

            check_spelling(self.matrix_spelling, find_target(self.chip))

    @override
    def compile(
        self,
        module: ModuleOp,
        diagnostics: Diagnostics | None = None,
        watcher: Watcher | None = None,
    ) -> ModuleOp:
        from xtile.translate.route import Options, translate_to

        # Its words have no room for what a launch must check.
        options = Options(self.chip, self.matrix_spelling, self.may_overlap, may_wrap=True)
        return translate_to(module, "spirv", options, diagnostics, watcher)

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xtile.dialects.spirv import disassemble

        output.write(disassemble(self.encode(module)))

    def encode(self, module: ModuleOp) -> bytes:
        """The module as SPIR-V words in the byte order of the machine's files, little-endian.

        Raises:
            DiagnosticError: A kernel cannot be compiled for the device.
        """
        from xtile.backends.intel.compilation import spirv_in
        from xtile.dialects.spirv import encode
        from xtile.translate.contracts import warn_of_left_out

        warn_of_left_out(module)
        return encode(spirv_in(self.compile(module)))


@dataclass(frozen=True)
class SPIRVFormat(BinaryFormat, SPIRVAssemblyFormat):
    """SPIR-V as bytes."""

    name: ClassVar[str] = "spirv"
    LANGUAGE: ClassVar[str] = "SPIR-V"

    @override
    def encode(self, module: ModuleOp) -> bytes:
        return SPIRVAssemblyFormat.encode(self, module)


@dataclass(frozen=True)
class TileBytecodeFormat(BinaryFormat, CompilingFormat):
    """CUDA Tile IR as NVIDIA's assembler reads it; kernels of other languages are compiled to it.

    Attributes:
        version: The version of the bytecode, as in `13.3`; xDSL reads it as a number.
        chip: The architecture that kernels are compiled for, one of NVIDIA's.
        may_overlap: As in `SPIRVAssemblyFormat`.
        exact: As in `Options`.
    """

    name: ClassVar[str] = "tileir-bytecode"
    LANGUAGE: ClassVar[str] = "CUDA Tile bytecode"
    version: str | float = str(DEFAULT_VERSION)
    chip: str = NVIDIA.default
    may_overlap: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        parse_version(str(self.version))
        check_chip(self.chip, self.name, NVIDIA)

    @override
    def compile(
        self,
        module: ModuleOp,
        diagnostics: Diagnostics | None = None,
        watcher: Watcher | None = None,
    ) -> ModuleOp:
        from xtile.translate.route import Options, translate_to

        options = Options(self.chip, may_overlap=self.may_overlap, may_wrap=True, exact=self.exact)
        return translate_to(module, "cuda_tile", options, diagnostics, watcher)

    @override
    def encode(self, module: ModuleOp) -> bytes:
        from xtile.dialects.cuda_tile.bytecode import encode
        from xtile.translate.contracts import warn_of_left_out

        warn_of_left_out(module)
        return encode(self.compile(module), parse_version(str(self.version)))


@dataclass(frozen=True)
class AmdAssemblyFormat(CompilingFormat):
    """Machine code of AMD's GPUs in the assembler's form; kernels of all languages become it.

    Attributes:
        chip: The architecture, one of AMD's; None for that which a kernel of Triton with layouts
            names, and else AMD's default.
    """

    name: ClassVar[str] = "amdgcn"
    chip: str | None = None

    def __post_init__(self) -> None:
        if self.chip is not None:
            check_chip(self.chip, self.name, AMD)

    @override
    def compile(
        self,
        module: ModuleOp,
        diagnostics: Diagnostics | None = None,
        watcher: Watcher | None = None,
    ) -> ModuleOp:
        from xtile.backends.triton.compilation import chip_of, translated

        return translated(module, chip_of(module, self.chip), diagnostics, watcher)

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(self._stage(module, "amdgcn").decode())

    def _stage(self, module: ModuleOp, name: str) -> bytes:
        """What Triton makes of the kernel of a module.

        Raises:
            DeviceError: Triton is missing or fails.
            DiagnosticError: It cannot be compiled for the architecture.
        """
        from xtile.backends.cache import Cache
        from xtile.backends.triton.compilation import build_program, chip_of, compile_program
        from xtile.text.source import source_of

        chip = chip_of(module, self.chip)
        program = compile_program(module, chip)
        return build_program(program, chip, Cache(), None, source_of(module)).stages[name]


@dataclass(frozen=True)
class HsacoFormat(BinaryFormat, AmdAssemblyFormat):
    """Machine code of AMD's GPUs, as HIP loads it."""

    name: ClassVar[str] = "hsaco"
    LANGUAGE: ClassVar[str] = "an hsaco"

    @override
    def encode(self, module: ModuleOp) -> bytes:
        return self._stage(module, self.name)
