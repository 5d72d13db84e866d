"""The output languages, as xDSL targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import IO, BinaryIO, ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from xtile.dialects.cuda_tile.versions import DEFAULT_VERSION, parse_version
from xtile.translate.route import CHIPS, DEFAULT_NVIDIA_CHIP, NVIDIA_CHIPS

DEFAULT_SPIRV_CHIP = "cpu"
"""The device that runs everywhere: a CPU under Intel's OpenCL runtime."""


@dataclass(frozen=True)
class TensorLangTarget(Target):
    """The tensor language's own text, in its current revision."""

    name: ClassVar[str] = "tensorlang"

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)


class BinaryTarget(Target, ABC):
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
class SPIRVAssemblyTarget(Target):
    """SPIR-V in the form of the SPIR-V assembler; kernels of other languages are compiled to it.

    Attributes:
        chip: The device that kernels are compiled for, a name of `xtile.translate.route.CHIPS`.
        matrix_spelling: How products of matrices and accesses of blocks are written, a name of
            `xtile.backends.intel.spellings`; None for what the device has.
    """

    name: ClassVar[str] = "spirv-asm"
    chip: str = DEFAULT_SPIRV_CHIP
    matrix_spelling: str | None = None

    def __post_init__(self) -> None:
        if self.chip not in CHIPS:
            raise ValueError(f"there is no chip '{self.chip}'; there are {', '.join(CHIPS)}")
        if self.matrix_spelling is not None:
            from xtile.backends.intel.devices import DEVICES
            from xtile.backends.intel.spellings import check_spelling

            check_spelling(self.matrix_spelling, DEVICES[self.chip])

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xtile.dialects.spirv import disassemble

        output.write(disassemble(self.encode(module)))

    def encode(self, module: ModuleOp) -> bytes:
        """The module as SPIR-V words in the byte order of the machine's files, little-endian.

        Raises:
            DiagnosticError: A kernel cannot be compiled for the device.
        """
        from xtile.backends.intel.compilation import compile_to_spirv, spirv_in
        from xtile.dialects.spirv import encode
        from xtile.translate.route import Options

        device = Options(self.chip, self.matrix_spelling).spirv_device
        return encode(spirv_in(compile_to_spirv(module, device)))


@dataclass(frozen=True)
class SPIRVTarget(BinaryTarget, SPIRVAssemblyTarget):
    """SPIR-V as bytes."""

    name: ClassVar[str] = "spirv"
    LANGUAGE: ClassVar[str] = "SPIR-V"

    @override
    def encode(self, module: ModuleOp) -> bytes:
        return SPIRVAssemblyTarget.encode(self, module)


@dataclass(frozen=True)
class TileBytecodeTarget(BinaryTarget):
    """CUDA Tile IR as NVIDIA's assembler reads it; kernels of other languages are compiled to it.

    Attributes:
        version: The version of the bytecode, as in `13.3`; xDSL reads it as a number.
        chip: The architecture that kernels are compiled for, a name of
            `xtile.translate.route.NVIDIA_CHIPS`.
    """

    name: ClassVar[str] = "tileir-bytecode"
    LANGUAGE: ClassVar[str] = "CUDA Tile bytecode"
    version: str | float = str(DEFAULT_VERSION)
    chip: str = DEFAULT_NVIDIA_CHIP

    def __post_init__(self) -> None:
        parse_version(str(self.version))
        if self.chip not in NVIDIA_CHIPS:
            raise ValueError(f"there is no chip '{self.chip}'; there are {', '.join(NVIDIA_CHIPS)}")

    @override
    def encode(self, module: ModuleOp) -> bytes:
        from xtile.backends.nvidia.compilation import compile_to_tile_ir
        from xtile.dialects.cuda_tile.bytecode import encode

        lowered = compile_to_tile_ir(module, self.chip)
        return encode(lowered, parse_version(str(self.version)))
