"""Layouts that matrix units ask for: of their results, and of their operands.

Source: Triton 3.4 to 3.9, `TritonGPUAttrDefs.td`, `lib/Dialect/TritonGPU/IR/Dialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, Float64Type, IntAttr, f64, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.triton.encodings.blocks import (
    BLOCK_KEYS,
    SharedByBlocks,
    read_blocks,
    verify_blocks,
)
from xtile.dialects.triton.encodings.distributed import BlockedEncodingAttr
from xtile.dialects.triton.encodings.encoding import (
    Bases,
    BasesAttr,
    DistributedEncodingAttr,
    Given,
    Key,
    Numbers,
    NumbersAttr,
    bases,
    dictionary,
    numbers,
    verify_bases,
    verify_powers_of_two,
    verify_ranks,
)
from xtile.dialects.triton.versions import V3_4, V3_5, V3_6, V3_7, Release
from xtile.layouts import triton
from xtile.layouts.linear import LayoutError, LinearLayout
from xtile.text.mlir_attributes import ALIAS_NAMES


class MatrixUnitEncodingAttr(SharedByBlocks, DistributedEncodingAttr):
    """A layout of results of a matrix unit."""


@irdl_attr_definition
class AMDMfmaEncodingAttr(MatrixUnitEncodingAttr):
    """The results of MFMA instructions of CDNA.

    ```
    #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8],
      isTransposed = true}>
    ```
    """

    name = "ttg.amd_mfma"

    version: IntAttr
    """1 for gfx908, 2 for gfx90a, 3 for gfx942, 4 for gfx950."""

    warps_per_cta: NumbersAttr
    instr_shape: NumbersAttr
    """M, N and K of an instruction; texts before 3.6 leave K out."""

    is_transposed: BoolAttr
    tiles_per_warp: NumbersAttr
    element_bit_width: IntAttr
    blocks: BasesAttr

    is_of_integers: BoolAttr
    """Whether the elements are i32, which 3.5 alone says; what is read never has it."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("versionMajor", "version", until=V3_4),
        Key("versionMinor", "version_minor", until=V3_4),
        Key("version", "version", since=V3_5),
        Key("warpsPerCTA", "warps_per_cta"),
        Key("tilesPerWarp", "several_tiles_per_warp", since=V3_5, until=V3_5),
        Key("instrShape", "result_shape", until=V3_5),
        Key("instrShape", "instr_shape", since=V3_6),
        Key("isTransposed", "is_transposed"),
        *BLOCK_KEYS,
        Key("elementType", "other_element_type", since=V3_5, until=V3_5),
        Key("tilesPerWarp", "several_tiles_per_warp", since=V3_6),
        Key("elementBitWidth", "wide_element_bit_width", since=V3_6),
    )

    def __init__(
        self,
        version: int,
        warps_per_cta: Sequence[int],
        instr_shape: Sequence[int],
        is_transposed: bool,
        *,
        tiles_per_warp: Sequence[int] | None = None,
        element_bit_width: int = 32,
        blocks: Sequence[Sequence[int]] = (),
        is_of_integers: bool = False,
    ) -> None:
        super().__init__(
            IntAttr(version),
            numbers(warps_per_cta),
            numbers(instr_shape),
            BoolAttr.from_bool(is_transposed),
            numbers(tiles_per_warp or [1] * len(warps_per_cta)),
            IntAttr(element_bit_width),
            bases(blocks),
            BoolAttr.from_bool(is_of_integers),
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        warps = given.numbers("warpsPerCTA")
        # Triton 3.5 and later take `versionMajor` for nothing, and the version for 0.
        version = given.number("version" if "version" in given else "versionMajor")
        bits = given.number("elementBitWidth", 32)
        if "elementType" in given and isinstance(given.attribute("elementType"), Float64Type):
            bits = 64
        return cls(
            version,
            warps,
            given.numbers("instrShape"),
            given.flag("isTransposed"),
            tiles_per_warp=given.numbers("tilesPerWarp") if "tilesPerWarp" in given else None,
            element_bit_width=bits,
            blocks=read_blocks(given, len(warps)),
        )

    @property
    @override
    def rank(self) -> int:
        return len(self.warps_per_cta.data)

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @property
    @override
    def lanes(self) -> int:
        return 64

    @property
    @override
    def warps(self) -> int:
        return prod(self.warps_per_cta.data)

    @property
    def version_minor(self) -> int:
        """What 3.4 says beside the version."""
        return 0

    @property
    def result_shape(self) -> Numbers:
        """M and N of an instruction."""
        return self.instr_shape.data[:2]

    @property
    def several_tiles_per_warp(self) -> Numbers | None:
        """The instructions of a subgroup along each dimension; None where there is one."""
        tiles = self.tiles_per_warp.data
        return None if set(tiles) == {1} else tiles

    @property
    def other_element_type(self) -> Attribute | None:
        """The type of an element where it is not f32."""
        if self.is_of_integers.value.data:
            return i32
        return None if self.wide_element_bit_width is None else f64

    @property
    def wide_element_bit_width(self) -> int | None:
        """The bits of an element where these are not 32."""
        return None if self.element_bit_width.data == 32 else self.element_bit_width.data

    @property
    def form(self) -> triton.Mfma:
        """The layout's numbers, as the algebra of layouts takes them."""
        return triton.Mfma(
            self.version.data,
            self.warps_per_cta.data,
            self.instr_shape.data,
            bool(self.is_transposed.value.data),
            self.tiles_per_warp.data,
            self.element_bit_width.data,
            self.blocks.data,
        )

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def lost_in(self, release: Release) -> str | None:
        if release >= V3_6 and len(self.instr_shape.data) < 3:
            return (
                f"instrShape is {list(self.instr_shape.data)} as in Triton 3.5 and before; "
                f"{release} also "
                "needs K, as in [32, 32, 8]"
            )
        if release < V3_5 and (
            self.several_tiles_per_warp
            or self.wide_element_bit_width
            or self.result_shape[0] != self.result_shape[1]
        ):
            return (
                "#ttg.amd_mfma of Triton 3.4 has one instruction for each warp, 32x32 or 16x16, "
                "whose "
                "results have 32 bits"
            )
        return super().lost_in(release)

    @override
    def verify(self) -> None:
        if self.version.data not in (1, 2, 3, 4):
            raise VerifyException(
                f"there is no version {self.version.data} of MFMA; it is 1 for gfx908, 2 for "
                "gfx90a, 3 for "
                "gfx942 and 4 for gfx950"
            )
        if self.result_shape not in ((32, 32), (16, 16), (64, 4), (4, 64)):
            raise VerifyException(
                f"instrShape is {list(self.instr_shape.data)}; M and N are 32 and 32, 16 and 16, "
                "64 and 4, "
                "or 4 and 64"
            )
        if len(self.instr_shape.data) > 3:
            raise VerifyException(f"instrShape is {list(self.instr_shape.data)}; it has M, N and K")
        if self.element_bit_width.data not in (32, 64):
            raise VerifyException(
                f"elementBitWidth is {self.element_bit_width.data}; results have 32 or 64 bits"
            )
        sizes = {"warpsPerCTA": self.warps_per_cta.data, "tilesPerWarp": self.tiles_per_warp.data}
        verify_ranks(sizes)
        verify_powers_of_two(sizes)
        verify_blocks(self.blocks.data, self.rank)


_WMMA_SHAPES: dict[int, tuple[Numbers, ...]] = {
    1: ((16, 16, 16),),
    2: ((16, 16, 16), (16, 16, 32)),
    3: (
        (16, 16, 4),
        (16, 16, 32),
        (16, 16, 64),
        (16, 16, 128),
        (32, 16, 64),
        (32, 16, 128),
    ),
}
"""M, N and K of the instructions of each version."""

_DEFAULT_SHAPE = (16, 16, 16)


@irdl_attr_definition
class AMDWmmaEncodingAttr(MatrixUnitEncodingAttr):
    """The results of WMMA instructions of RDNA, and of gfx1250.

    ```
    #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>
    ```
    """

    name = "ttg.amd_wmma"

    version: IntAttr
    """1 for gfx11, 2 for gfx12, 3 for gfx1250."""

    is_transposed: BoolAttr
    register: BasesAttr
    """The image of each bit of a subgroup's instructions, in instructions."""

    warp: BasesAttr
    """The image of each bit of a subgroup's number, in instructions."""

    instr_shape: NumbersAttr
    blocks: BasesAttr
    rank_number: IntAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("version", "version"),
        Key("rank", "unusual_rank", since=V3_7),
        Key("isTranspose", "is_transposed"),
        Key("warpsPerCTA", "warps_per_cta", until=V3_6),
        Key("ctaLayout", "cta_layout", since=V3_7),
        *BLOCK_KEYS,
        Key("instrShape", "unusual_instr_shape", since=V3_6),
    )

    def __init__(
        self,
        version: int,
        is_transposed: bool,
        warp: Sequence[Sequence[int]],
        *,
        register: Sequence[Sequence[int]] = (),
        instr_shape: Sequence[int] = _DEFAULT_SHAPE,
        blocks: Sequence[Sequence[int]] = (),
        rank: int = 2,
    ) -> None:
        super().__init__(
            IntAttr(version),
            BoolAttr.from_bool(is_transposed),
            bases(register),
            bases(warp),
            numbers(instr_shape),
            bases(blocks),
            IntAttr(rank),
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        shape = given.numbers("instrShape") if "instrShape" in given else _DEFAULT_SHAPE
        version, is_transposed = given.number("version"), given.flag("isTranspose", False)
        register: Bases = ()
        if "warpsPerCTA" in given:
            counts = given.numbers("warpsPerCTA")
            verify_powers_of_two({"warpsPerCTA": counts})
            rank, warp = len(counts), _bases_of(counts)
        else:
            cta = dictionary(given.attribute("ctaLayout"), "ctaLayout")
            warp = cta.bases("warp") if "warp" in cta else ()
            register = cta.bases("register") if "register" in cta else ()
            default = len((*warp, *register, (0, 0))[0])
            rank = given.number("rank", default)
        return cls(
            version,
            is_transposed,
            warp,
            register=register,
            instr_shape=shape,
            blocks=read_blocks(given, rank),
            rank=rank,
        )

    @property
    @override
    def rank(self) -> int:
        return self.rank_number.data

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @property
    @override
    def lanes(self) -> int:
        return 32

    @property
    @override
    def warps(self) -> int:
        return 1 << len(self.warp.data)

    @property
    def unusual_rank(self) -> int | None:
        """The rank where it is not 2."""
        return None if self.rank == 2 else self.rank

    @property
    def unusual_instr_shape(self) -> Numbers | None:
        """M, N and K of an instruction where these are not 16 each."""
        return None if self.instr_shape.data == _DEFAULT_SHAPE else self.instr_shape.data

    @property
    def cta_layout(self) -> dict[str, Bases]:
        """How instructions and subgroups are arranged; never empty, which releases do not read."""
        registers = {"register": self.register.data} if self.register.data else {}
        return {**registers, "warp": self.warp.data}

    @property
    def warps_per_cta(self) -> Numbers:
        """The subgroups along each dimension.

        Raises:
            VerifyException: They are arranged in another way.
        """
        counts = [1] * self.rank
        for image in self.warp.data:
            for dimension, index in enumerate(image):
                counts[dimension] *= 2 if index else 1
        if self.register.data or _bases_of(tuple(counts)) != self.warp.data:
            raise VerifyException(
                "ctaLayout cannot be said with warpsPerCTA, as Triton 3.6 and before ask for; "
                "those "
                "arrange subgroups in rows"
            )
        return tuple(counts)

    @property
    def form(self) -> triton.Wmma:
        """The layout's numbers, as the algebra of layouts takes them."""
        return triton.Wmma(
            self.version.data,
            self.warp.data,
            self.instr_shape.data,
            bool(self.is_transposed.value.data),
            self.register.data,
            self.blocks.data,
        )

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def lost_in(self, release: Release) -> str | None:
        is_new = self.version.data == 3 or self.unusual_instr_shape is not None
        is_transposed = bool(self.is_transposed.value.data)
        if release < V3_6 and (is_new or (self.version.data == 1 and is_transposed)):
            return (
                f"#ttg.amd_wmma of Triton {release} has versions 1 and 2 with 16x16x16, and "
                "transposes "
                "version 2 only"
            )
        return super().lost_in(release)

    @override
    def verify(self) -> None:
        if self.version.data not in _WMMA_SHAPES:
            raise VerifyException(
                f"there is no version {self.version.data} of WMMA; it is 1 for gfx11, 2 for "
                "gfx12 and 3 "
                "for gfx1250"
            )
        shapes = _WMMA_SHAPES[self.version.data]
        if self.instr_shape.data not in shapes:
            known = ", ".join(str(list(shape)) for shape in shapes)
            raise VerifyException(
                f"instrShape is {list(self.instr_shape.data)}; version {self.version.data} has "
                f"{known}"
            )
        verify_bases({"register": self.register.data, "warp": self.warp.data}, self.rank)
        verify_blocks(self.blocks.data, self.rank)


def _bases_of(counts: Numbers) -> Bases:
    """The images of a subgroup's bits where subgroups stand in rows, the last dimension first."""
    return triton.Wmma.of_warps(1, counts).subgroups  # pyright: ignore[reportReturnType]


@irdl_attr_definition
class NvidiaMmaEncodingAttr(MatrixUnitEncodingAttr):
    """The results of NVIDIA's tensor cores.

    ```
    #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16,
      8]}>
    ```
    """

    name = "ttg.nvidia_mma"

    version_major: IntAttr
    version_minor: IntAttr
    warps_per_cta: NumbersAttr
    instr_shape: NumbersAttr
    blocks: BasesAttr

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("versionMajor", "version_major"),
        Key("versionMinor", "version_minor"),
        Key("warpsPerCTA", "warps_per_cta"),
        *BLOCK_KEYS,
        Key("instrShape", "instr_shape"),
    )

    def __init__(
        self,
        version_major: int,
        version_minor: int,
        warps_per_cta: Sequence[int],
        instr_shape: Sequence[int],
        blocks: Sequence[Sequence[int]] = (),
    ) -> None:
        super().__init__(
            IntAttr(version_major),
            IntAttr(version_minor),
            numbers(warps_per_cta),
            numbers(instr_shape),
            bases(blocks),
        )

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        warps = given.numbers("warpsPerCTA")
        return cls(
            given.number("versionMajor"),
            given.number("versionMinor", 0),
            warps,
            given.numbers("instrShape"),
            read_blocks(given, len(warps)),
        )

    @property
    @override
    def rank(self) -> int:
        return len(self.warps_per_cta.data)

    @property
    @override
    def block_bases(self) -> Bases:
        return self.blocks.data

    @property
    @override
    def lanes(self) -> int:
        return 32

    @property
    @override
    def warps(self) -> int:
        return prod(self.warps_per_cta.data)

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        raise LayoutError(f"xtile does not know which lane holds what of {self.name}")

    @override
    def verify(self) -> None:
        if self.version_major.data not in (2, 3, 5):
            raise VerifyException(
                f"there is no version {self.version_major.data} of NVIDIA's matrix unit; there "
                "are 2, 3 "
                "and 5"
            )
        verify_powers_of_two({"warpsPerCTA": self.warps_per_cta.data})
        verify_blocks(self.blocks.data, self.rank)


@irdl_attr_definition
class DotOperandEncodingAttr(SharedByBlocks, DistributedEncodingAttr):
    """An operand of a product whose result has the parent's layout.

    ```
    #ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2],
      instrShape = [32, 32, 8], isTransposed = true}>, kWidth = 4}>
    ```
    """

    name = "ttg.dot_op"

    op_idx: IntAttr
    """0 for the left operand, 1 for the right one."""

    parent: Attribute
    k_width: IntAttr
    """The elements along K that a lane has in a row; 0 for a blocked parent."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("opIdx", "op_idx"),
        Key("parent", "parent"),
        Key("kWidth", "given_k_width"),
    )

    def __init__(self, op_idx: int, parent: Attribute, k_width: int = 0) -> None:
        super().__init__(IntAttr(op_idx), parent, IntAttr(k_width))

    @classmethod
    @override
    def of_keys(cls, given: Given) -> Self:
        return cls(given.number("opIdx"), given.attribute("parent"), given.number("kWidth", 0))

    @property
    def given_k_width(self) -> int | None:
        """`k_width` where there is one."""
        return self.k_width.data or None

    @property
    @override
    def rank(self) -> int:
        return self._parent_layout.rank

    @property
    @override
    def block_bases(self) -> Bases:
        inner = self.rank - 1 if self.op_idx.data == 0 else self.rank - 2
        images = self._parent_layout.block_bases
        return tuple((*image[:inner], 0, *image[inner + 1 :]) for image in images)

    @property
    @override
    def lanes(self) -> int:
        return self._parent_layout.lanes

    @property
    @override
    def warps(self) -> int:
        return self._parent_layout.warps

    @property
    def _parent_layout(self) -> DistributedEncodingAttr:
        assert isinstance(self.parent, DistributedEncodingAttr)
        return self.parent

    @property
    def form(self) -> triton.DotOperand:
        """The layout's numbers, as the algebra of layouts takes them."""
        if not isinstance(
            self.parent, BlockedEncodingAttr | AMDMfmaEncodingAttr | AMDWmmaEncodingAttr
        ):
            raise LayoutError(f"xtile does not know which lane holds what of {self.parent}")
        return triton.DotOperand(self.op_idx.data, self.parent.form, self.k_width.data)

    @override
    def layout(self, shape: Sequence[int]) -> LinearLayout:
        return self.form.layout(shape)

    @override
    def verify(self) -> None:
        if self.op_idx.data not in (0, 1):
            raise VerifyException(f"opIdx is {self.op_idx.data}; operands are 0 and 1")
        widths = self._widths()
        if widths and self.k_width.data not in widths:
            expected = ", ".join(map(str, widths))
            raise VerifyException(
                f"kWidth is {self.k_width.data}; for an operand of {self.parent} it is {expected}"
            )
        if not widths and not self.k_width.data:
            raise VerifyException(f"kWidth is missing; an operand of {self.parent} needs it")

    def _widths(self) -> Numbers:
        """The widths that the parent takes; none where it takes all but 0."""
        match self.parent:
            case BlockedEncodingAttr():
                return (0,)
            case AMDWmmaEncodingAttr():
                return {1: (8, 16), 2: (4, 8, 16)}.get(self.parent.version.data, ())
            case AMDMfmaEncodingAttr():
                return ()
            case NvidiaMmaEncodingAttr():
                return () if self.parent.version_major.data in (2, 3) else (0,)
            case _:
                raise VerifyException(
                    f"parent is {self.parent}; expected a layout of results of products: "
                    "blocked, amd_mfma, "
                    "amd_wmma or nvidia_mma"
                )


ATTRIBUTES: list[type[Attribute]] = [
    AMDMfmaEncodingAttr,
    AMDWmmaEncodingAttr,
    NvidiaMmaEncodingAttr,
    DotOperandEncodingAttr,
]
"""Every attribute of this module."""

ALIAS_NAMES.update(
    dict.fromkeys((AMDMfmaEncodingAttr, AMDWmmaEncodingAttr, NvidiaMmaEncodingAttr), "mma")
)
