"""Tensors of PyTorch on the CPU; `test_binding.py` and `test_run.py` have the same without it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import xtile
from xtile.arguments.binding import bind
from xtile.arguments.kernel import find_function, signature_of

SCALE = """
func @scale(%alpha: f32, %A: memref<f32x4x?>, %B: memref<f32x4x?>) {
    %zero = constant 0.0 : f32
    axpby %alpha, %A, %zero, %B
}
"""


def bound(type: str, tensor: torch.Tensor) -> Any:
    """A tensor as the only parameter, %A, of a function."""
    function = find_function(f"func @f(%A: {type}) {{\n}}\n", None)
    return bind(signature_of(function), [tensor])[0]


def test_memory_is_shared() -> None:
    tensor = torch.zeros(8, 4).T
    bound("memref<f32x4x8>", tensor).memory[1 + 4 * 2] = 3
    assert tensor[1, 2] == 3


def test_bf16() -> None:
    tensor = torch.zeros(4, dtype=torch.bfloat16)
    bound("memref<bf16x4>", tensor).memory[1] = 1.5
    assert float(tensor[1]) == 1.5


@pytest.mark.parametrize("type", [torch.float32, torch.bfloat16])
def test_a_tensor_is_updated_in_place(type: torch.dtype) -> None:
    kernel = SCALE if type is torch.float32 else SCALE.replace("f32", "bf16")
    a = torch.randn(6, 4).to(type)
    b = torch.full((6, 4), float("nan"), dtype=type)
    xtile.run(kernel, [4.0, a.T, b.T])
    assert torch.equal(b, 4 * a)
