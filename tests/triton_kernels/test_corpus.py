"""Kernels of the corpus compute what their references say, and releases of Triton compile them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest

from tests.samples import one_of
from tests.triton_kernels.case import Case
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST, compiled, interpreted

CHIPS = ("gfx942", "gfx950", "gfx1100")

NOT_INTERPRETED = {
    "inductor_pointwise": "NoneType",  # functions of the vendor are empty there
    "inline_assembly": "inline_asm not supported in interpreter mode",
    "libdevice_functions": "NoneType",
    "matmul_block_pointers": "Block pointers have been removed",
}
"""The kernels that the interpreter of Triton 3.9 does not run, with the reason."""


@dataclass(frozen=True)
class Refusal:
    """Kernels that releases do not compile for chips.

    Attributes:
        kernels: Their names.
        releases: The releases.
        chips: The chips.
        said: What they say.
    """

    kernels: tuple[str, ...]
    releases: tuple[str, ...]
    chips: tuple[str, ...]
    said: str


REFUSALS = (
    Refusal(("matmul_block_pointers",), ("3.9.0",), CHIPS, "Block pointers have been removed"),
    # Only the matrix unit of gfx942 multiplies numbers that are rounded to ten bits.
    Refusal(
        ("matmul_tf32",),
        ("3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0"),
        ("gfx950", "gfx1100"),
        "input_precision must be one of",
    ),
    Refusal(("descriptor_nan",), ("3.4.0",), CHIPS, "unexpected keyword argument 'padding_option'"),
    Refusal(
        ("convert_e4m3_fnuz_bf16", "convert_f32_e4m3_fnuz", "convert_f32_e5m2_fnuz"),
        ("3.4.0",),
        ("gfx950", "gfx1100"),
        "not supported in this architecture",
    ),
    Refusal(
        (
            *("convert_e4m3_f16", "convert_f32_e4m3", "matmul_block_scales", "matmul_fp8"),
            *("matmul_mxfp8", "quantize_fp8", "quantize_mx"),
        ),
        ("3.4.0",),
        ("gfx1100",),
        "type fp8e4nv not supported in this architecture",
    ),
)
"""All kernels that a release does not compile for a chip; it compiles each other one."""


def _refusal(name: str, release: str, chip: str) -> str | None:
    """Why a release does not compile a kernel; None where it does."""
    return next(
        (
            refusal.said
            for refusal in REFUSALS
            if name in refusal.kernels and release in refusal.releases and chip in refusal.chips
        ),
        None,
    )


def _case(name: str) -> Case:
    return CASES[name]()


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_INTERPRETED])
def test_references(name: str) -> None:
    case = _case(name)
    case.check(interpreted(case.source(), case.arguments, case.grid))


@pytest.mark.parametrize("name", NOT_INTERPRETED)
def test_what_is_not_interpreted(name: str) -> None:
    case = _case(name)
    with pytest.raises(RuntimeError, match=NOT_INTERPRETED[name]):
        interpreted(case.source(), case.arguments, case.grid)


@pytest.mark.parametrize(("name", "release", "chip"), one_of(3, product(CASES, releases(), CHIPS)))
def test_compiled(name: str, release: str, chip: str) -> None:
    refusal = _refusal(name, release, chip)
    verdict = compiled(release, _case(name).source(), chip)
    if refusal is None:
        assert verdict.accepted, verdict.said
        assert f'ttg.target = "hip:{chip}"' in verdict.text
    else:
        assert not verdict.accepted
        assert refusal in verdict.said


def test_what_a_launch_tells() -> None:
    source = _case("add_strided").source()
    assert source.constants == {"R": 16, "C": 32, "x_row": 1}
    assert "x_row" not in source.signature
    assert source.signature["x_ptr"] == "*fp32"
    assert "columns" not in source.divisible
    assert "x_column" not in source.divisible


def test_a_wrong_output_is_noticed() -> None:
    case = _case("add")
    arguments = case.copied_arguments()
    with pytest.raises(AssertionError):
        case.check(arguments)


def test_the_newest_release_is_the_one_of_the_tables() -> None:
    assert NEWEST == "3.9.0"
