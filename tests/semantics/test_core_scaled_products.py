"""Products with scales on the reference device and as CUDA Tile IR, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.dialects.core.core_text import check_error, check_round_trip, verified
from tests.semantics.test_core_narrow import DTYPES as NARROW
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.pad import pad

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {**NARROW, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Case:
    """A product: the types of factors and scales, how many share one, and M, N and K.

    Attributes:
        types: The types of both factors.
        groups: How many factors share a scale on each side; 0: there is none.
        scale: The type of scales.
        sizes: M, N and K.
        batch: How many products there are; 0: one without a dimension for it.
        fast: Whether no scale is NaN.
    """

    types: tuple[str, str]
    groups: tuple[int, int]
    scale: str = "f8E8M0FNU"
    sizes: tuple[int, int, int] = (16, 8, 64)
    batch: int = 0
    fast: bool = False

    @property
    def shapes(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """For each memory its name, the type of its elements and its shape."""
        m, n, k = self.sizes
        lead = (self.batch,) if self.batch else ()
        made = [
            ("a", self.types[0], (*lead, m, k)),
            ("b", self.types[1], (*lead, k, n)),
            ("c", "f32", (*lead, m, n)),
        ]
        if self.groups[0]:
            made.append(("s", self.scale, (*lead, m, k // self.groups[0])))
        if self.groups[1]:
            made.append(("t", self.scale, (*lead, k // self.groups[1], n)))
        return made

    @property
    def text(self) -> str:
        """A kernel that reads the operands and writes the result to %o."""
        parameters: list[str] = []
        body = ["%c0 = arith.constant 0 : index"]
        vectors: dict[str, str] = {}
        indices = ", ".join(["%c0"] * (3 if self.batch else 2))
        for name, element, shape in self.shapes:
            held = "x".join(map(str, (*shape, element)))
            vectors[name] = f"vector<{held}>"
            parameters.append(f"%{name}: memref<{held}>")
            body.append(
                f"%{name}v = vector.load %{name}[{indices}] : memref<{held}>, vector<{held}>"
            )
        result = vectors["c"]
        sides = [("lhs_scale", "s"), ("rhs_scale", "t")]
        given = " ".join(f"{word} %{name}v" for word, name in sides if name in vectors)
        types = " ".join(f"{word} {vectors[name]}" for word, name in sides if name in vectors)
        fast = " fast" if self.fast else ""
        body.append(
            f"%d = core.scaled_contract %av, %bv, %cv {given}{fast} : {vectors['a']}, "
            f"{vectors['b']}, {result} {types} -> {result}"
        )
        memory = result.replace("vector", "memref")
        body.append(f"vector.store %d, %o[{indices}] : {memory}, {result}")
        return tile_kernel(", ".join([*parameters, f"%o: {memory}"]), "\n".join(body))

    def arrays(self, rng: np.random.Generator) -> dict[str, Array]:
        """Random operands."""
        made: dict[str, Array] = {}
        for name, element, shape in self.shapes:
            if name in "st":
                numbers = np.exp2(rng.integers(-6, 7, shape))
            else:
                numbers = rng.standard_normal(shape) * 2
            made[name] = numbers.astype(np.float32).astype(DTYPES.get(element, np.float32))
        return made


def expected(case: Case, given: dict[str, Array]) -> tuple[Array, Array]:
    """The product and the sum of sizes, element by element in f64."""
    wide = {name: array.astype(np.float64) for name, array in given.items()}
    total, sizes = wide["c"].copy(), np.abs(wide["c"])
    for k in range(case.sizes[2]):
        left, right = wide["a"][..., :, k].copy(), wide["b"][..., k, :].copy()
        if case.groups[0]:
            left *= wide["s"][..., :, k // case.groups[0]]
        if case.groups[1]:
            right *= wide["t"][..., k // case.groups[1], :]
        product = left[..., :, np.newaxis] * right[..., np.newaxis, :]
        total, sizes = total + product, sizes + np.abs(product)
    return total, sizes


def check(case: Case, given: dict[str, Array], out: Array) -> None:
    total, sizes = expected(case, given)
    assert (np.abs(out - total) <= 2**-20 * sizes).all()


CASES = {
    "f8 in groups of 32": Case(("f8E4M3FN", "f8E4M3FN"), (32, 32)),
    "f8E5M2, fast": Case(("f8E5M2", "f8E5M2"), (32, 32), fast=True),
    "f4 in groups of 16": Case(("f4E2M1FN", "f4E2M1FN"), (16, 16), "f8E4M3FN"),
    "f4 with powers of two": Case(("f4E2M1FN", "f4E2M1FN"), (32, 32)),
    "several products": Case(("f8E5M2", "f8E5M2"), (32, 32), sizes=(4, 8, 64), batch=2),
    "a scale on the left": Case(("f8E4M3FN", "f8E4M3FN"), (32, 0)),
    "a scale on the right": Case(("f8E5M2", "f8E5M2"), (0, 32)),
}
"""What CUDA Tile IR has."""

OTHERS = {
    "f8 of two types": (
        Case(("f8E4M3FN", "f8E5M2"), (32, 32)),
        "has scaled products of factors of one type .* not of f8E4M3FN and f8E5M2",
    ),
    "f4 and f16": (
        Case(("f4E2M1FN", "f16"), (32, 0)),
        "not of f4E2M1FN and f16",
    ),
    "bf16 and f8": (Case(("bf16", "f8E4M3FN"), (0, 32)), "not of bf16 and f8E4M3FN"),
    "groups of 16 and 32": (
        Case(("f8E5M2", "f8E5M2"), (16, 32)),
        "32 factors of f8E5M2 share a scale of f8E8M0FNU, not 16 and 32",
    ),
    "f8 with scales of f8": (
        Case(("f8E5M2", "f8E5M2"), (16, 16), "f8E4M3FN"),
        "has no products of f8E5M2 with scales of f8E4M3FN",
    ),
    "f6": (Case(("f6E2M3FN", "f6E3M2FN"), (32, 32)), "there are no tiles of f6E2M3FN"),
}
"""What it has not, and why."""

ALL = {**CASES, **{name: case for name, (case, _) in OTHERS.items()}}


@pytest.mark.parametrize("name", ALL)
def test_on_the_reference_device(name: str, rng: np.random.Generator) -> None:
    case = ALL[name]
    given = case.arrays(rng)
    out = np.full(given["c"].shape, np.nan, np.float32)
    run(read(case.text), *given.values(), out)
    check(case, given, out)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_cuda_tile(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    text = case.text
    if "f4" in case.types[0]:
        # Memory has one f4 in a byte here, so that they come by a cast.
        for letter, element, shape in case.shapes[:2]:
            held, wide = ("x".join(map(str, (*shape, each))) for each in (element, "f32"))
            load = f"%{letter}v = vector.load %{letter}[%c0, %c0] : memref<{held}>, vector<{held}>"
            assert load in text
            text = text.replace(load, load.replace("v =", "w =").replace(held, wide))
            text = text.replace(
                "%d = core",
                f"%{letter}v = arith.truncf %{letter}w : vector<{wide}> to "
                f"vector<{held}>\n%d = core",
            )
            text = text.replace(f"%{letter}: memref<{held}>", f"%{letter}: memref<{wide}>")
    module = lowered(text, "sm_100")
    assert "mmaf_scaled" in printed(module)
    given = case.arrays(rng)
    out = np.full(given["c"].shape, np.nan, np.float32)
    factors = [
        each.astype(np.float32) if each.dtype == DTYPES["f4E2M1FN"] else each
        for each in given.values()
    ]
    run_entry(text, module, *factors, out)
    check(case, given, out)


def test_the_assembler_takes_it() -> None:
    assemble_for_all(lowered(CASES["f8 in groups of 32"].text, "sm_100"), ["sm_100"])


@pytest.mark.parametrize("name", OTHERS)
def test_what_cuda_tile_has_not(name: str) -> None:
    case, message = OTHERS[name]
    text = case.text
    with pytest.raises(DiagnosticError, match=f"{message}|holds two in a byte"):
        lowered(text, "sm_100")


@pytest.mark.parametrize("groups", [(32, 32), (32, 0), (0, 16)])
def test_sizes_that_are_no_powers_of_two(groups: tuple[int, int], rng: np.random.Generator) -> None:
    """What lies beyond the depth is 0 times 1, whatever is there."""
    case = Case(("f8E4M3FN", "f8E5M2"), groups, sizes=(5, 7, 96))
    module = pad(read(case.text))
    assert "vector<8x128xf8E4M3FN>" in printed(module)
    given = case.arrays(rng)
    out = np.full(given["c"].shape, np.nan, np.float32)
    run(module, *given.values(), out)
    check(case, given, out)


def test_narrow_factors_in_sizes_that_are_no_powers_of_two(rng: np.random.Generator) -> None:
    case = Case(("f4E2M1FN", "f6E3M2FN"), (16, 32), sizes=(3, 5, 96))
    module = pad(read(case.text))
    given = case.arrays(rng)
    out = np.full(given["c"].shape, np.nan, np.float32)
    run(module, *given.values(), out)
    check(case, given, out)


def test_groups_that_cannot_be_padded() -> None:
    case = Case(("f8E5M2", "f8E5M2"), (12, 12), sizes=(4, 4, 36))
    with pytest.raises(DiagnosticError, match="groups of 12 factors that share a scale"):
        pad(read(case.text))


def test_a_scale_that_is_nan(rng: np.random.Generator) -> None:
    """The rows and columns that it scales are NaN."""
    case = CASES["f8 in groups of 32"]
    given = case.arrays(rng)
    given["s"].view(np.uint8)[3, 1] = 0xFF
    out = np.zeros(given["c"].shape, np.float32)
    run(read(case.text), *given.values(), out)
    assert np.isnan(out).all(axis=1).tolist() == [row == 3 for row in range(16)]
    assert not np.isnan(np.delete(out, 3, axis=0)).any()


# --- text ---

PARAMETERS = (
    "%a: vector<4x32xf8E5M2>, %b: vector<32x8xf8E5M2>, %c: vector<4x8xf32>, "
    "%s: vector<4x2xf8E8M0FNU>, %t: vector<1x8xf8E8M0FNU>, %h: vector<4x32xf16>, "
    "%w: vector<4x3xf8E8M0FNU>, %d: vector<4x4xf32>, %x: vector<16x8xf8E5M2>"
)
TYPES = "vector<4x32xf8E5M2>, vector<32x8xf8E5M2>, vector<4x8xf32>"
S, T = "lhs_scale vector<4x2xf8E8M0FNU>", "rhs_scale vector<1x8xf8E8M0FNU>"

RIGHT = [
    (
        f"%r = core.scaled_contract %a, %b, %c lhs_scale %s rhs_scale %t : {TYPES} {S} {T} "
        "-> vector<4x8xf32>"
    ),
    f"%r = core.scaled_contract %a, %b, %c lhs_scale %s fast : {TYPES} {S} -> vector<4x8xf32>",
    (
        f"%r = core.scaled_contract %h, %b, %c rhs_scale %t : "
        f"{TYPES.replace('4x32xf8E5M2', '4x32xf16')} {T} -> vector<4x8xf32>"
    ),
]

WRONG = [
    (
        f"%r = core.scaled_contract %a, %b, %c : {TYPES} -> vector<4x8xf32>",
        "expected a scale; without any there is vector.contract",
    ),
    (
        (
            f"%r = core.scaled_contract %h, %b, %c lhs_scale %s : "
            f"{TYPES.replace('4x32xf8E5M2', '4x32xf16')} {S} -> vector<4x8xf32>"
        ),
        "lhs is of f16, so that it has no lhs_scale",
    ),
    (
        (
            f"%r = core.scaled_contract %a, %b, %c lhs_scale %w : {TYPES} "
            "lhs_scale vector<4x3xf8E8M0FNU> -> vector<4x8xf32>"
        ),
        "expected scales for groups of vector<4x32xf8E5M2> along 1, got vector<4x3xf8E8M0FNU>",
    ),
    (
        (
            f"%r = core.scaled_contract %a, %b, %d lhs_scale %s : "
            f"{TYPES.replace('4x8xf32', '4x4xf32')} {S} -> vector<4x4xf32>"
        ),
        "the accumulator must be vector<4x8xf32>, but is vector<4x4xf32>",
    ),
    (
        (
            f"%r = core.scaled_contract %a, %x, %c lhs_scale %s : "
            f"{TYPES.replace('32x8xf8', '16x8xf8')} {S} -> vector<4x8xf32>"
        ),
        "are 32 elements deep, columns of vector<16x8xf8E5M2> 16; they must be as deep",
    ),
    (
        (
            f"%r = core.scaled_contract %a, %b, %c lhs_scale %a : {TYPES} "
            "lhs_scale vector<4x32xf8E5M2> -> vector<4x8xf32>"
        ),
        "a vector of f8E8M0FNU or f8E4M3FN",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_refused(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


def test_only_of_tiles() -> None:
    _, errors = verified(PARAMETERS, RIGHT[0], "subgroup")
    assert any("core.scaled_contract is an operation on tiles" in error for error in errors)
