"""What `xtile.check` fills arrays with."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checking.kernels import rows
from xtile.arguments.copies import arrays_of
from xtile.checking.inputs import Launch, Numbers, make_arguments
from xtile.checking.launches import Given
from xtile.checking.trials import Trials
from xtile.launch.executable import Kernel
from xtile.launch.reference import load


@pytest.mark.parametrize("size", [0, 1, 2, 3, 80, 5000])
def test_no_special_number_takes_the_place_of_another(size: int) -> None:
    """Few elements and many draws: NaN and both infinities are there wherever there is room."""
    signature = load(Kernel(rows(), None)).signature
    launch = Launch(size, shapes={"x": (size,)})
    for seed in range(100):
        random = np.random.default_rng(seed)
        array = make_arguments(signature, launch, Numbers.SPECIAL, random, {})[0]
        found = [np.isnan(array).sum(), (array == np.inf).sum(), (array == -np.inf).sum()]
        each = max(1, size // 1024)
        assert found == [each * (size > kind) for kind in range(3)]


LOCKED = """
tt.func public @add(%lock: !tt.ptr<i32>, %sum: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  scf.while : () -> () {
    %was = tt.atomic_cas acquire, gpu, %lock, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
    %busy = arith.cmpi ne, %was, %zero : i32
    scf.condition(%busy)
  } do {
    scf.yield
  }
  %old = tt.load %sum : !tt.ptr<i32>
  %new = arith.addi %old, %one : i32
  tt.store %sum, %new : !tt.ptr<i32>
  %0 = tt.atomic_rmw exch, release, gpu, %lock, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
"""


@pytest.mark.slow
def test_locks_are_free() -> None:
    """Of any other number the kernel would wait forever, and so there would be no launch."""
    trials = list(Trials(LOCKED, None, Given({}, {}), seed=1))
    assert max(trial.launch.grid[0] for trial in trials) > 1
    for trial in trials:
        (lock,) = arrays_of(trial.arguments[0])
        assert not lock.any()
