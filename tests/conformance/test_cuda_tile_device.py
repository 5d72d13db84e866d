"""The comparison of CUDA Tile IR's numbers with those of a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conformance import cuda_tile_device
from tests.conformance.cuda_tile_device import compare, key_of, results_of
from tests.conformance.cuda_tile_numbers import Case, cases
from tests.conformance.cuda_tile_operands import number_of, operands_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CASES = cases()
SOME = list({**{case.family: case for case in CASES}, **dict(enumerate(CASES[::13]))}.values())
"""One of each family, and some more."""


def recorded(chosen: list[Case]) -> dict[str, Any]:
    """Results of the reference device, as a GPU's are saved."""
    found = {}
    for case in chosen:
        for i, result in enumerate(results_of(case, case.text, "reference")):
            found[key_of(case, i)] = result.view(f"u{result.itemsize}")
    return found


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def test_the_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_operations_run_on_the_reference_device(case: Case) -> None:
    results = results_of(case, case.text, "reference")
    assert [result.dtype for result in results] == [number_of(t).dtype for t in case.results]
    again = operands_of(case), operands_of(case)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*again, strict=True))


def test_equal_results_have_no_difference(capsys: Any, tmp_path: Path) -> None:
    chosen = [case for case in CASES if case.name.startswith(("addf_f16", "pack", "cmpf_less"))]
    differences = compare(recorded(chosen), CASES)
    assert set(differences) == {case.name for case in chosen}
    assert all(each.count == 0 for each in differences.values())
    path = tmp_path / "numbers.npz"
    np.savez(path, **recorded(chosen))
    page = tmp_path / "page.md"
    assert cuda_tile_device.main(["--results", str(path), "--output", str(page)]) == 0
    assert "| packed tiles | 1 | 1 | 0.00 % | 0 |" in page.read_text()
    assert "floats in all rounding modes | 4 | 4" in capsys.readouterr().out


def test_differences_are_counted_and_measured(capsys: Any, tmp_path: Path) -> None:
    exact, function = case_of("ftof_f32_f16"), case_of("exp_f32")
    results = recorded([exact, function])
    finite = np.flatnonzero(np.isfinite(results_of(exact, exact.text, "reference")[0]))
    changed = results["ftof_f32_f16:0"].copy()
    # The bits of numbers that are not at the end count up with their size.
    chosen = finite[(changed[finite] & 0x7FFF > 2) & (changed[finite] & 0x7FFF < 0x7000)][:8]
    changed[chosen] += 2
    results["ftof_f32_f16:0"] = changed
    differences = compare(results, CASES)
    assert (differences["ftof_f32_f16"].count, differences["ftof_f32_f16"].units) == (8, 2)
    changed[chosen[0]] = 0x7C00
    assert compare(results, CASES)["ftof_f32_f16"].units is None
    path = tmp_path / "numbers.npz"
    np.savez(path, **results)
    assert cuda_tile_device.main(["--results", str(path)]) == 1
    found = capsys.readouterr()
    assert "ftof_f32_f16: 8 results differ" in found.err
    assert "| floats to floats | 1 | 0 | 0.05 % | a NaN or infinity |" in found.out


def test_results_are_signed_zeros_and_any_nan() -> None:
    case = case_of("negf_f32")
    results = recorded([case])
    bits = results["negf_f32:0"].copy()
    nan = np.isnan(bits.view(np.float32))
    bits[nan] = 0x7FFFFFFF
    assert compare({"negf_f32:0": bits}, [case])["negf_f32"].count == 0
    zeros = np.flatnonzero(bits == 0)
    bits[zeros] = 0x80000000
    found = compare({"negf_f32:0": bits}, [case])["negf_f32"]
    assert (found.count, found.units) == (len(zeros), 1)
    assert len(zeros) > 0


def test_the_assembler_takes_the_kernels(tmp_path: Path) -> None:
    arguments = ["--compile", str(tmp_path), "--only", "scan_affine"]
    assert cuda_tile_device.main(arguments) == 0
    assert (tmp_path / "scan_affine.cubin").read_bytes().startswith(b"\x7fELF")
