"""Vectors on OpenCL's CPU device hold what they hold on the reference device."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from tests.translate.xegpu_to_spirv.vector_cases import (
    LOADS,
    NEEDS,
    NUMBERS,
    PARAMETERS,
    RESULTS,
    STORE_NEEDS,
    STORED,
)
from xtile.dialects.registry import all_dialects
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.xegpu_to_spirv import RULES


def result_body(operation: str, type: str) -> str:
    """The body of a kernel that stores what an operation comes to."""
    words = set(operation.replace(",", " ").replace("[", " ").replace("]", " ").split())
    needs = "\n".join(f"{name} = {text}" for name, text in NEEDS.items() if name in words)
    count = (
        int(np.prod([int(n) for n in type.partition("<")[2].split("x")[:-1]])) if "<" in type else 1
    )
    if type == "f32":
        store = "memref.store %r, %out[%c0] : memref<256xf32>"
    else:
        store = f"""
            %flat = vector.shape_cast %r : {type} to vector<{count}xf32>
            vector.store %flat, %out[%c0] : memref<256xf32>, vector<{count}xf32>
        """
    return f"{NUMBERS}\n{LOADS}\n{needs}\n%r = {operation}\n{store}"


KERNELS = {
    f"k{i}": LaneKernel(PARAMETERS, result_body(*rest)) for i, rest in enumerate(RESULTS.values())
}


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels({**KERNELS, **STORES})


def memory(random: np.random.Generator) -> list[np.ndarray]:
    """Numbers whose sums and products are exact."""
    return [
        random.integers(-4, 5, 256).astype(np.float32),
        random.integers(-4, 5, (3, 6, 10)).astype(np.float32),
        random.integers(-4, 5, (8, 12)).astype(np.float32),
        random.normal(size=64).astype(np.float32).view(np.int32),
        random.normal(size=64).astype(np.float32).view(np.int64),
        random.normal(size=64).astype(np.float16),
    ]


@pytest.mark.parametrize(("name", "what"), list(zip(KERNELS, RESULTS, strict=True)))
@pytest.mark.parametrize(("n", "k"), [(0, 1), (1, 0)])
def test_values(name: str, what: str, n: int, k: int, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    given = *memory(random), np.int64(n), np.int64(k)
    *_, (expected, found) = kernels.on_both(name, *given, unwritten(256, "f32"))
    wrong = np.flatnonzero(~same(expected, found) & (expected != found))
    assert wrong.size == 0, f"{what}: {found[wrong[:8]]} instead of {expected[wrong[:8]]}"


# --- stores ---


def storing_body(operation: str) -> str:
    """The body of a kernel with an operation that stores."""
    needs = "\n".join(
        f"{name} = {text}"
        for name, text in STORE_NEEDS.items()
        if f"{name}," in operation
        or f"{name}[" in operation
        or f"{name} " in operation
        or f"{name}]" in operation
    )
    return f"{NUMBERS}\n{LOADS}\n{needs}\n{operation}"


STORES = {
    f"store_{i}": LaneKernel(PARAMETERS, storing_body(text))
    for i, text in enumerate(STORED.values())
}


@pytest.mark.parametrize(("name", "what"), list(zip(STORES, STORED, strict=True)))
@pytest.mark.parametrize(("n", "k"), [(0, 1), (1, 0)])
def test_stores(name: str, what: str, n: int, k: int, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    given = *memory(random), np.int64(n), np.int64(k)
    *_, (expected, found) = kernels.on_both(name, *given, unwritten(256, "f32"))
    assert same(expected, found).all(), what
    assert np.isfinite(expected).any(), what


def test_module_is_valid(kernels: LaneKernels) -> None:
    validate(kernels.program.spirv)


# --- all lengths and types ---

_LENGTHS = (1, 2, 3, 5, 8, 16, 17, 31, 33)

_TYPES = ("i1", "i8", "i32", "i64", "index", "f16", "bf16", "f32", "f64")


def _of_type(length: int, type: str) -> LaneKernel:
    """Reverses a vector, inserts an element and stores it; a reduction goes behind it."""
    order = ", ".join(map(str, reversed(range(length))))
    vector = f"vector<{length}x{type}>"
    body = f"""
        %c0 = arith.constant 0 : index
        %v = vector.load %m[%c0] : memref<{length}x{type}>, {vector}
        %r = vector.shuffle %v, %v [{order}] : {vector}, {vector}
        %e = vector.extract %v[%n] : {type} from {vector}
        %w = vector.insert %e, %r [{length // 2}] : {type} into {vector}
        vector.store %w, %out[%c0] : memref<{length}x{type}>, {vector}
    """
    parameters = f"%m: memref<{length}x{type}>, %n: index, %out: memref<{length}x{type}>"
    return LaneKernel(parameters, body)


_LENGTH_KERNELS = {
    f"length_{length}_{type}": _of_type(length, type) for length, type in product(_LENGTHS, _TYPES)
}


@pytest.fixture(scope="module")
def lengths() -> LaneKernels:
    return LaneKernels(_LENGTH_KERNELS)


@pytest.mark.parametrize("name", _LENGTH_KERNELS)
def test_lengths_and_types(name: str, lengths: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    _, length, type_ = name.split("_")
    count = int(length)
    dtype = np.dtype(DTYPES[type_])
    memory = random.integers(0, 2 if type_ == "i1" else 100, count).astype(dtype)
    location = int(random.integers(count))
    *_, (_, found) = lengths.on_both(name, memory, np.int64(location), unwritten(count, type_))
    expected = memory[::-1].copy()
    expected[count // 2] = memory[location]
    np.testing.assert_array_equal(found, expected)


def test_module_of_lengths_is_valid(lengths: LaneKernels) -> None:
    validate(lengths.program.spirv)


_REDUCED = {
    f"{kind}_{type}": LaneKernel(
        f"%m: memref<21x{type}>, %out: memref<1x{type}>",
        f"""
        %c0 = arith.constant 0 : index
        %v = vector.load %m[%c0] : memref<21x{type}>, vector<21x{type}>
        %s = vector.extract %v[3] : {type} from vector<21x{type}>
        %r = vector.reduction <{kind}>, %v, %s : vector<21x{type}> into {type}
        memref.store %r, %out[%c0] : memref<1x{type}>
        """,
    )
    for kind, type in (
        *product(
            ("add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor"),
            ("i1", "i8", "i32", "i64"),
        ),
        *product(
            ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf"),
            ("f16", "bf16", "f32", "f64"),
        ),
    )
}

_SCANS = {
    f"scan_{kind}_{'inclusive' if inclusive else 'exclusive'}": LaneKernel(
        "%m: memref<12xf32>, %out: memref<16xf32>",
        f"""
        %c0 = arith.constant 0 : index
        %c12 = arith.constant 12 : index
        %v = vector.load %m[%c0] : memref<12xf32>, vector<12xf32>
        %x = vector.shape_cast %v : vector<12xf32> to vector<3x4xf32>
        %i = vector.extract %x[1] : vector<4xf32> from vector<3x4xf32>
        %s, %t = vector.scan <{kind}>, %x, %i
            {{inclusive = {str(inclusive).lower()}, reduction_dim = 0 : i64}}
            : vector<3x4xf32>, vector<4xf32>
        %f = vector.shape_cast %s : vector<3x4xf32> to vector<12xf32>
        vector.store %f, %out[%c0] : memref<16xf32>, vector<12xf32>
        vector.store %t, %out[%c12] : memref<16xf32>, vector<4xf32>
        """,
    )
    for kind, inclusive in product(("add", "maxnumf"), (False, True))
} | {
    "parts": LaneKernel(
        "%m: memref<12xf32>, %out: memref<16xf32>",
        """
        %c0 = arith.constant 0 : index
        %c6 = arith.constant 6 : index
        %v = vector.load %m[%c0] : memref<12xf32>, vector<12xf32>
        %a, %b = vector.deinterleave %v : vector<12xf32> -> vector<6xf32>
        %e:6 = vector.to_elements %a : vector<6xf32>
        %d = arith.subf %e#5, %e#2 : f32
        %x = vector.insert %d, %b [0] : f32 into vector<6xf32>
        %s = vector.step : vector<6xindex>
        %i = arith.index_cast %s : vector<6xindex> to vector<6xi32>
        %g = arith.sitofp %i : vector<6xi32> to vector<6xf32>
        vector.store %x, %out[%c0] : memref<16xf32>, vector<6xf32>
        vector.store %g, %out[%c6] : memref<16xf32>, vector<6xf32>
        """,
    )
}


@pytest.fixture(scope="module")
def combined() -> LaneKernels:
    return LaneKernels({**_REDUCED, **_SCANS})


@pytest.mark.parametrize("name", _REDUCED)
def test_reductions(name: str, combined: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    kind, type_ = name.split("_")
    dtype = np.dtype(DTYPES[type_])
    memory = random.integers(-100, 100, 21).astype(dtype)
    if kind in ("add", "mul") and dtype.kind not in "ib":
        memory = random.choice([-1, 1, 2], 21).astype(dtype)
    elif dtype.kind not in "ib":
        memory[9] = np.nan
    _, (expected, found) = combined.on_both(name, memory, unwritten(1, type_))
    assert same(expected, found).all()


@pytest.mark.parametrize("name", _SCANS)
def test_scans_and_parts(name: str, combined: LaneKernels) -> None:
    memory = np.random.default_rng(fresh_seed()).integers(-9, 9, 12).astype(np.float32)
    _, (expected, found) = combined.on_both(name, memory, unwritten(16, "f32"))
    assert same(expected, found).all()


# --- what is written ---


def test_long_vectors_are_cut() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %v = vector.load %m[%c0] : memref<64xf32>, vector<39xf32>
        %w = arith.addf %v, %v : vector<39xf32>
        vector.store %w, %m[%c0] : memref<64xf32>, vector<39xf32>
    """
    text = spirv_text(body, "%m: memref<64xf32>")
    sums = [line.split("OpFAdd ")[1].split()[0] for line in text.splitlines() if "OpFAdd" in line]
    assert sums == ["%v16float", "%v16float", "%v4float", "%v2float", "%float"]
    assert text.count("OpLoad") == text.count("OpStore") == 5


def test_a_whole_row_is_no_work() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %v = vector.load %m[%c0, %c0] : memref<4x16xf32>, vector<4x16xf32>
        %w = vector.extract %v[2] : vector<16xf32> from vector<4x16xf32>
        vector.store %w, %m[%c0, %c0] : memref<4x16xf32>, vector<16xf32>
    """
    text = spirv_text(body, "%m: memref<4x16xf32>")
    assert "OpVectorShuffle" not in text
    assert "OpCompositeExtract" not in text


def test_a_number_everywhere_takes_two_instructions() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %v = vector.broadcast %x : f32 to vector<16xf32>
        vector.store %v, %m[%c0] : memref<16xf32>, vector<16xf32>
    """
    text = spirv_text(body, "%m: memref<16xf32>, %x: f32")
    assert text.count("OpCompositeInsert") == text.count("OpVectorShuffle") == 1


# --- what there is ---

_REFUSED = {
    "vector.print",
    "vector.type_cast",
    "vector.vscale",
    "vector.yield",
    "vector.scalable.extract",
    "vector.scalable.insert",
}
"""Of the host, of vectors of unknown length, of memrefs of vectors; and what ends a region."""


def test_every_operation_of_vectors_has_a_rule() -> None:
    names = {operation.name for operation in all_dialects()["vector"]().operations}
    assert {name for name in names if RULES.get(name) is None} == names & _REFUSED


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("vector.print %s : f32", "vector.print cannot be translated to SPIR-V"),
        (
            "%t = vector.type_cast %m : memref<4xf32> to memref<vector<4xf32>>",
            "vector.type_cast cannot be translated to SPIR-V",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    kernel = LaneKernel("%s: f32, %m: memref<4xf32>", body)
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": kernel}).program
    assert message in str(caught.value)
