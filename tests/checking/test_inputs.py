"""What `xtile.check` fills arrays with."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checking.kernels import rows
from xtile.checking.inputs import Launch, Numbers, make_arguments
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
