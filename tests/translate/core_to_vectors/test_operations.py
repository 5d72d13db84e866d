"""Operations on vectors of subgroups and of tiles, on a CPU and on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.translate.xegpu_to_spirv.lane_kernels import LaneKernel, LaneKernels, same, unwritten
from tests.translate.xegpu_to_spirv.test_vectors import memory, result_body, storing_body
from tests.translate.xegpu_to_spirv.vector_cases import PARAMETERS, RESULTS, STORED

FORMS: dict[str, dict[str, Any]] = {
    "subgroup": {"block": (16, 1, 1), "subgroup_size": 16, "level": "subgroup"},
    "subgroup of one work-item": {"subgroup_size": 1, "level": "subgroup"},
    "tile": {"level": "tile"},
}
"""Whose the vectors are."""

_SUM = "{ ^bb0(%u: f32, %v: f32): %add = arith.addf %u, %v : f32  core.yield %add : f32 }"

_AGGREGATES = {
    "a region's sums of rows": (
        f"core.reduce %p axis 1 : vector<4x6xf32> -> vector<4xf32> {_SUM}",
        "vector<4xf32>",
    ),
    "a region's sums of all before": (
        f"core.scan %p axis 0 : vector<4x6xf32> -> vector<4x6xf32> {_SUM}",
        "vector<4x6xf32>",
    ),
}

BODIES = {
    **{name: result_body(*rest) for name, rest in {**RESULTS, **_AGGREGATES}.items()},
    **{f"store of {name}": storing_body(text) for name, text in STORED.items()},
}

NAMES = {name: f"k{i}" for i, name in enumerate(BODIES)}


@pytest.fixture(scope="module", params=FORMS)
def kernels(request: pytest.FixtureRequest) -> LaneKernels:
    form = FORMS[request.param]
    return LaneKernels(
        {NAMES[name]: LaneKernel(PARAMETERS, body, **form) for name, body in BODIES.items()}
    )


@pytest.mark.parametrize("what", BODIES)
def test_values(what: str, kernels: LaneKernels) -> None:
    rng = fresh_generator()
    n = int(rng.integers(2))
    given = *memory(rng), np.int64(n), np.int64(1 - n)
    *_, (expected, found) = kernels.on_both(NAMES[what], *given, unwritten(256, "f32"))
    wrong = np.flatnonzero(~same(expected, found) & (expected != found))
    assert wrong.size == 0, f"{found[wrong[:8]]} instead of {expected[wrong[:8]]}"
    assert not np.isnan(expected).all()
