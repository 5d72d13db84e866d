"""Where a lane holds no component, a map does nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile

ACTION = """
func @f(%A: memref<i32x4x1>, %count: memref<i32x2>)
        attributes {{subgroup_size=16, work_group_size=[16,1]}} {{
    parallel {{
        %zero = constant 0 : index
        %a = cooperative_matrix_load %A[%zero,%zero] : coopmatrix<i32x4x1,matrix_acc>
        %b = cooperative_matrix_apply (%i,%j,%v)=%a -> coopmatrix<i32x4x1,matrix_acc> {{
            %one = constant 1 : i32
            %column = cast %j : index
            {action}
            yield (%w)
        }}
        cooperative_matrix_store %b, %A[%zero,%zero]
    }}
}}
"""

ACTIONS = {
    "an update": """
            %old = atomic_add %one, %count[%column] : i32
            %w = add %v, %one : i32""",
    "a quotient": """
            %wide = sub %one, %j : i32
            %w = div %v, %wide : i32""",
}
"""Lanes without a component have columns 1 to 3: they would count too much, or divide by zero."""

RESULTS = {"an update": ([6, 7, 8, 9], [4, 0]), "a quotient": ([5, 6, 7, 8], [0, 0])}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("device", ["reference", "pvc", "opencl"])
def test_only_components_act(action: str, device: str) -> None:
    kernel: Any = ACTION.format(action=ACTIONS[action])
    matrix = np.array([[5], [6], [7], [8]], np.int32, order="F")
    count = np.zeros(2, np.int32)
    if device == "pvc":
        xtile.run(xtile.port(kernel, "xegpu", chip="pvc"), [matrix, count])
    else:
        xtile.run(kernel, [matrix, count], device=device)
    assert (matrix[:, 0].tolist(), count.tolist()) == RESULTS[action]
