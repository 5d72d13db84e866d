"""Measures how far the numbers of CUDA Tile IR on a GPU are from the reference device's.

    python -m tests.conformance.cuda_tile_device --compile DIRECTORY --chip sm_90
    python -m tests.conformance.cuda_tile_device --run DIRECTORY --save numbers.npz
    python -m tests.conformance.cuda_tile_device --results numbers.npz --output docs/conformance.md

The first step needs NVIDIA's assembler, the second a GPU; each may be done on another machine. Each
kernel has one operation, with the same operands each time (`cuda_tile_numbers`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

import xtile
from tests.conformance.cuda_tile_numbers import COUNT, GRID, Case, cases
from tests.conformance.cuda_tile_operands import number_of, operands_of
from tests.conformance.llvm_verdicts import table, write_report
from xtile.semantics.storage import to_bits
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Array, choose

SUBJECT = "the measurement of numbers of CUDA Tile IR"
"""What the marks of the table in the page are called."""


@dataclass
class Difference:
    """How far two devices are apart.

    Attributes:
        count: How many results differ.
        units: How many numbers of the type lie between two results, at most; None where one is NaN
            or infinite and the other is not.
    """

    count: int = 0
    units: int | None = 0

    def __ior__(self, other: Difference) -> Difference:
        """The difference of both."""
        self.count += other.count
        known = self.units is not None and other.units is not None
        self.units = max(cast("int", self.units), cast("int", other.units)) if known else None
        return self


def results_of(case: Case, kernel: str | Path, device: str) -> list[Array]:
    """The results of a case on a device."""
    results = [np.empty(COUNT, number_of(type).dtype) for type in case.results]
    for result in results:
        result.view(np.uint8)[:] = 0 if result.dtype == np.bool_ else 0xFF
    xtile.run(kernel, [*operands_of(case), *results], GRID, device=device)
    return results


def difference(number: Number, expected: Array, found: Array) -> Difference:
    """How far results are apart; any NaN equals any other, and zeros differ by their sign."""
    if number.kind is Kind.INTEGER:
        return Difference(int(np.sum(expected != found)))
    wide = [np.asarray(each, np.float64) for each in (expected, found)]
    differs = _positions(expected, number) != _positions(found, number)
    differs &= ~(np.isnan(wide[0]) & np.isnan(wide[1]))
    if not differs.any():
        return Difference()
    if not all(np.isfinite(each[differs]).all() for each in wide):
        return Difference(int(differs.sum()), None)
    positions = (_positions(each[differs], number).astype(object) for each in (expected, found))
    largest = max(abs(first - second) for first, second in zip(*positions, strict=True))
    return Difference(int(differs.sum()), int(largest))


def _positions(values: Array, number: Number) -> Array:
    """The position of each number among those of its type in ascending order, -0 before 0."""
    bits = to_bits(values, number)
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    size: Array = (bits & ~sign).astype(np.int64)
    return choose(bits & sign != 0, -1 - size, size)


def compare(results: Mapping[str, Array], chosen: Iterable[Case]) -> dict[str, Difference]:
    """The difference of each case from the reference device.

    Args:
        results: The results of the device by `key_of`, as unsigned numbers.
        chosen: The cases; those without results are left out.
    """
    found: dict[str, Difference] = {}
    for case in chosen:
        if key_of(case, 0) not in results:
            continue
        total = found[case.name] = Difference()
        for i, expected in enumerate(results_of(case, case.text, "reference")):
            number = number_of(case.results[i])
            total |= difference(number, expected, results[key_of(case, i)].view(number.dtype))
    return found


def key_of(case: Case, index: int) -> str:
    """What a result is saved as."""
    return f"{case.name}:{index}"


def report(differences: Mapping[str, Difference], chosen: Sequence[Case]) -> list[str]:
    """The lines of the table of all families."""
    families: dict[str, list[Difference]] = {}
    for case in chosen:
        if case.name in differences:
            families.setdefault(case.family, []).append(differences[case.name])
    rows: list[list[str | int]] = []
    for family, members in families.items():
        total = Difference()
        for member in members:
            total |= member
        equal = sum(member.count == 0 for member in members)
        units = "a NaN or infinity" if total.units is None else total.units
        share = f"{100 * total.count / (COUNT * len(members)):.2f} %"
        rows.append([family, len(members), equal, share, units])
    columns = ("operations", "number", "equal in every bit", "results that differ", "units at most")
    return table(columns, rows)


def _compile(directory: Path, chip: str, chosen: Iterable[Case]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for case in chosen:
        cast("Any", xtile).compile(case.text, directory / f"{case.name}.cubin", chip=chip)


def _run(directory: Path, chosen: Iterable[Case], output: Path) -> None:
    found: dict[str, Array] = {}
    for case in chosen:
        kernel = directory / f"{case.name}.cubin"
        for i, result in enumerate(results_of(case, kernel, "cuda")):
            found[key_of(case, i)] = result.view(f"u{result.itemsize}")
    cast("Any", np).savez_compressed(output, **found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compiles, runs or compares.

    Returns:
        1 if an operation with one right result gives another, else 0.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.cuda_tile_device")
    parser.add_argument("--compile", type=Path, metavar="DIRECTORY", help="where cubins are put")
    parser.add_argument("--chip", default="sm_90", help="the architecture to compile for")
    parser.add_argument("--run", type=Path, metavar="DIRECTORY", help="run the cubins there")
    parser.add_argument("--save", type=Path, default=Path("numbers.npz"), help="of --run")
    parser.add_argument("--results", type=Path, help="compare what --run saved")
    parser.add_argument("--output", type=Path, help="the page that the table is put into")
    parser.add_argument("--only", default="", help="a part of the names of the operations")
    options = parser.parse_args(arguments)
    chosen = [case for case in cases() if options.only in case.name]
    # NaN and infinities are numbers like others here.
    with np.errstate(all="ignore"):
        if options.compile is not None:
            _compile(options.compile, options.chip, chosen)
        if options.run is not None:
            _run(options.run, chosen, options.save)
        return 0 if options.results is None else _compare(options, chosen)


def _compare(options: argparse.Namespace, chosen: Sequence[Case]) -> int:
    with np.load(options.results) as results:
        differences = compare(dict(results), chosen)
    lines = "\n".join(report(differences, chosen)) + "\n"
    print(lines)
    if options.output is not None:
        write_report(options.output, lines, SUBJECT)
    exact = {case.name for case in chosen if case.is_exact}
    wrong = [name for name, each in differences.items() if each.count and name in exact]
    for name in wrong:
        print(f"{name}: {differences[name].count} results differ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
