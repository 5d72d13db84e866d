"""The tables of chips agree with themselves, and cost nothing before they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest
from xdsl.dialects.builtin import bf16, f16, f32, i64

from xtile.opt import main
from xtile.targets import (
    AMD,
    COMPILED_VENDORS,
    INTEL,
    LARGEST_WORK_GROUP,
    NVIDIA,
    VENDORS,
    OptionError,
    Vendor,
    check_chip,
    find_target,
)
from xtile.targets.blocks import Action, shapes_of
from xtile.targets.target import Hints, MatrixUnit, ProductTile, Target
from xtile.translate.route import ROUTES, Options

ALL = {name: target for vendor in VENDORS for name, target in vendor.chips.items()}
EVERY_CHIP = pytest.mark.parametrize("target", ALL.values(), ids=list(ALL))
OF_NVIDIA = pytest.mark.parametrize("target", NVIDIA.chips.values(), ids=list(NVIDIA.chips))

MOST_ELEMENTS = 2**24
"""Of a tile of CUDA Tile IR."""


# --- names ---


def test_names() -> None:
    assert list(INTEL.chips) == ["pvc", "bmg", "dg2", "cpu", "cpu-avx2", "cpu-amx"]
    assert " ".join(NVIDIA.chips) == ("sm_80 sm_86 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121")
    assert " ".join(AMD.chips) == (
        "gfx90a gfx942 gfx950 gfx1100 gfx1101 gfx1151 gfx1200 gfx1201 gfx1250"
    )
    assert len(ALL) == 24


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_the_default_is_a_chip(vendor: Vendor) -> None:
    assert find_target(vendor.default) is vendor.chips[vendor.default]


def test_a_chip_that_nobody_makes() -> None:
    with pytest.raises(OptionError, match=r"^there is no chip 'gtx'$"):
        find_target("gtx")
    with pytest.raises(OptionError, match=r"^'gfx942' is a chip of AMD's; spirv is for pvc, bmg, "):
        check_chip("gfx942", "spirv", INTEL)


def test_a_chip_with_its_features() -> None:
    """As AMD's driver names it."""
    name = "gfx942:sramecc+:xnack-"
    assert find_target(name) is AMD.chips["gfx942"]
    assert check_chip(name, "Triton", AMD) == "gfx942"
    assert Options(name).chip == "gfx942"
    with pytest.raises(OptionError, match=r"^there is no chip 'gfx1:xnack-'; Triton is for gfx90a"):
        check_chip("gfx1:xnack-", "Triton", AMD)


def test_tables_are_loaded_when_a_chip_is_asked_for() -> None:
    code = (
        "import sys, xtile.targets as t; before = set(sys.modules); t.AMD.chips; "
        "print(sorted(m for m in set(sys.modules) - before if m.startswith(('xtile', 'xdsl'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "['xtile.targets.amd', 'xtile.targets.spellings', 'xtile.targets.target']\n"
    )


# --- what is compiled ---


def test_each_vendor_has_the_languages_that_steps_are_for() -> None:
    # The core form and the tensor language are nobody's: no step there is for a chip.
    languages = [each for each in ROUTES.targets if each not in ("core", "tensorlang")]
    for vendor in VENDORS:
        own = [each for each in languages if vendor in ROUTES.vendors_of(each)]
        assert sorted(own) == sorted(vendor.languages)
    assert ROUTES.vendors_of("core") == list(COMPILED_VENDORS) == [INTEL, NVIDIA, AMD]


@pytest.mark.parametrize("language", ["lane", "xegpu", "cuda_tile"])
def test_chips_without_a_compiler_are_refused(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--translate", f"tensorlang-to-{language}", "--chip", "gfx942", "k.ir"])
    known = [name for vendor in ROUTES.vendors_of(language) for name in vendor.chips]
    assert exit_.value.code == 2
    assert capsys.readouterr().err.endswith(
        f"error: argument --chip: 'gfx942' is a chip of AMD's; {language} is for "
        f"{', '.join(known)}\n"
    )


def test_help_names_the_chips_that_there_are_compilers_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "pvc, bmg, dg2, cpu, cpu-avx2, cpu-amx (Intel); sm_80, " in text
    assert f"{', '.join(AMD.chips)} (AMD)" in text


# --- sizes ---


@EVERY_CHIP
def test_sizes_fit_together(target: Target) -> None:
    assert target.subgroup_size in target.subgroup_sizes
    assert target.most_work_items % max(target.subgroup_sizes) == 0
    lanes = {unit.lanes for unit in target.matrix_units}
    assert lanes <= {None, *target.subgroup_sizes}
    assert target.register_size >= min(target.subgroup_sizes) * 4


def test_the_largest_work_group_is_a_cpus() -> None:
    sizes = [chip.most_work_items for vendor in VENDORS for chip in vendor.chips.values()]
    assert max(sizes) == INTEL.chips["cpu"].most_work_items == LARGEST_WORK_GROUP


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_blocks_fit_the_registers_of_a_thread(chip: str) -> None:
    target = INTEL.chips[chip]
    access = target.block_access
    assert access is not None
    for action in (Action.LOAD, Action.LOAD_TRANSFORMED, Action.LOAD_TRANSPOSED, Action.STORE):
        for size, shapes in shapes_of(access, action).items():
            largest = size * max(shapes.widths) * max(shapes.heights) * max(shapes.counts)
            assert largest <= target.registers * target.register_size // 2
            assert all(width * size <= access.least_width for width in shapes.widths)


def test_which_chips_have_blocks_and_vectors() -> None:
    assert [name for name, target in ALL.items() if target.block_access] == ["pvc", "bmg"]
    assert [name for name, target in ALL.items() if target.row_access] == ["pvc", "bmg", "dg2"]
    assert [name for name, target in ALL.items() if target.vector_unit] == [
        "cpu",
        "cpu-avx2",
        "cpu-amx",
    ]


# --- matrix units ---

_WAVES = {"MFMA": (64,), "WMMA": (32,)}


@EVERY_CHIP
def test_a_row_of_each_product(target: Target) -> None:
    assert len(set(target.matrix_units)) == len(target.matrix_units)
    for unit in target.matrix_units:
        assert unit.instruction in ("dpas", "AMX", "MFMA", "WMMA")
        assert unit.is_exact == (unit.a != unit.sums)


@pytest.mark.parametrize("chip", ["pvc", "dg2"])
def test_dpas_multiplies_rows_of_eight_words(chip: str) -> None:
    units = INTEL.chips[chip].matrix_units
    assert {unit.depth * unit.bits for unit in units} == {8 * 32}
    assert {unit.rows for unit in units} == {1, 2, 4, 8}
    assert {unit.columns for unit in units} == {unit.lanes for unit in units}


def test_the_products_of_intel() -> None:
    assert _types("pvc") == {
        *{"f16 f16 f32", "f16 f16 f16", "bf16 bf16 f32", "bf16 bf16 bf16", "tf32 tf32 f32"},
        *{"i8 i8 i32", "si8 si8 i32", "ui8 ui8 i32"},
    }
    assert _types("dg2") == _types("pvc") - {"f16 f16 f16", "bf16 bf16 bf16", "tf32 tf32 f32"}
    assert INTEL.chips["cpu-amx"].matrix_units == (
        MatrixUnit("AMX", "bf16", "bf16", "f32", 16, 16, 32, None),
        MatrixUnit("AMX", "i8", "i8", "i32", 16, 16, 64, None),
    )


def _types(chip: str) -> set[str]:
    return {f"{unit.a} {unit.b} {unit.sums}" for unit in ALL[chip].matrix_units}


@pytest.mark.parametrize("chip", AMD.chips)
def test_a_wave_holds_its_matrices(chip: str) -> None:
    """Every lane has as many elements of each matrix as any other; RDNA 3 has each twice."""
    for unit in AMD.chips[chip].matrix_units:
        assert unit.lanes is not None
        assert (unit.lanes,) == _WAVES[unit.instruction]
        for rows, columns in (
            (unit.rows, unit.depth),
            (unit.depth, unit.columns),
            (unit.rows, unit.columns),
        ):
            assert rows * columns % unit.lanes == 0


@pytest.mark.parametrize(
    ("chip", "types", "shapes"),
    [
        ("gfx90a", "bf16 bf16 f32", "32x32x8 32x32x4 16x16x16 16x16x8"),
        ("gfx942", "tf32 tf32 f32", "32x32x4 16x16x8"),
        ("gfx942", "f16 f16 f32", "32x32x8 16x16x16"),
        ("gfx942", "f8E4M3FNUZ f8E5M2FNUZ f32", "32x32x16 16x16x32"),
        ("gfx942", "f64 f64 f64", "16x16x4"),
        ("gfx950", "f16 f16 f32", "32x32x16 32x32x8 16x16x32 16x16x16"),
        ("gfx950", "i8 i8 i32", "32x32x32 32x32x16 16x16x64 16x16x32"),
        ("gfx1100", "f16 f16 f16", "16x16x16"),
        ("gfx1151", "bf16 bf16 f32", "16x16x16"),
        ("gfx1201", "f8E5M2 f8E4M3FN f32", "16x16x16"),
        ("gfx1201", "i4 i4 i32", "16x16x32 16x16x16"),
        ("gfx1250", "f32 f32 f32", "16x16x4"),
        ("gfx1250", "f8E5M2 f8E5M2 f32", "16x16x128 16x16x64"),
    ],
)
def test_the_products_of_amd(chip: str, types: str, shapes: str) -> None:
    units = AMD.chips[chip].matrix_units
    found = [u for u in units if f"{u.a} {u.b} {u.sums}" == types]
    assert " ".join(f"{u.rows}x{u.columns}x{u.depth}" for u in found) == shapes


def test_which_chips_have_floats_of_eight_bits() -> None:
    """Those of gfx942 are half as large as the other chips' of the same bits."""
    with_fnuz = {chip for chip in ALL if any("FNUZ" in types for types in _types(chip))}
    with_ocp = {chip for chip in ALL if any("f8E4M3FN " in types for types in _types(chip))}
    assert with_fnuz == {"gfx942"}
    assert with_ocp == {"gfx950", "gfx1200", "gfx1201", "gfx1250"}


# --- tiles ---


@OF_NVIDIA
def test_tiles_are_powers_of_two_and_the_largest_is_first(target: Target) -> None:
    for tiles in (*target.tiles.products.values(), target.tiles.products_of(i64)):
        areas = [tile.rows * tile.columns for tile in tiles]
        assert areas == sorted(areas, reverse=True)
        sizes = [size for tile in tiles for size in (tile.rows, tile.columns, tile.depth)]
        assert all(size & (size - 1) == 0 for size in sizes)
        assert max(areas) <= MOST_ELEMENTS
    for elements in (target.tiles.elements, target.tiles.sum_elements):
        assert elements & (elements - 1) == 0


@OF_NVIDIA
def test_large_tiles_have_the_warps_that_keep_them_in_registers(target: Target) -> None:
    for factor in (bf16, f16):
        for tile in target.tiles.products_of(factor):
            sums = tile.rows * tile.columns * 4
            warps = tile.hints.num_worker_warps_per_cta or 4
            registers = target.registers * target.register_size * warps
            is_in_tensor_memory = target.name.startswith(("sm_10", "sm_11"))
            clusters = tile.hints.num_cta_in_cga or 1
            assert is_in_tensor_memory or sums <= registers * clusters


def test_clusters_are_of_hopper_and_its_successors() -> None:
    with_clusters = {
        name
        for name, target in NVIDIA.chips.items()
        for tile in target.tiles.products_of(bf16)
        if tile.hints.num_cta_in_cga is not None
    }
    assert with_clusters == {"sm_90", "sm_100", "sm_103", "sm_110"}


def test_tiles_of_other_types() -> None:
    hopper = NVIDIA.chips["sm_90"].tiles
    assert hopper.products_of(i64)[0].rows == 32
    assert hopper.products_of(f32)[0] == ProductTile(256, 64, 32, Hints(num_worker_warps_per_cta=8))
    exact = NVIDIA.chips["sm_90"].exact.tiles
    assert exact.products_of(f32)[0] == ProductTile(128, 64, 16, Hints(num_worker_warps_per_cta=8))
