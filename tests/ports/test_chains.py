"""Ports of ports: a kernel that crosses between languages by way of a third one."""

from __future__ import annotations

import pytest

from tests.ports.corpus import kernels_of
from tests.ports.crossing import verdict_of_chain

CHAINS = [
    ("tensorlang", "gemm_f16", "xegpu", "triton"),
    ("xegpu", "random_work_group_3", "tensorlang", "triton"),
    ("xegpu", "work_group", "cuda_tile", "tensorlang"),
    ("cuda_tile", "attention", "xegpu", "tensorlang"),
    ("cuda_tile", "softmax", "tensorlang", "triton"),
    ("triton", "attention", "cuda_tile", "tensorlang"),
    ("triton", "extremes", "xegpu", "tensorlang"),
    ("triton", "rope", "xegpu", "cuda_tile"),
]
"""A kernel of a language, and the languages that it becomes one after the other."""


@pytest.mark.slow
@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_a_port_of_a_port_computes_the_same(chain: tuple[str, ...]) -> None:
    source, name, *languages = chain
    assert verdict_of_chain(kernels_of(source)[name], languages) == ("right", "")
