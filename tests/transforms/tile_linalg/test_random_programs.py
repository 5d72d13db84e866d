"""Random collective programs: tiles keep their meaning, also those that local memory becomes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.distribute.kernels import kernel, printed, read, run
from tests.transforms.distribute.test_random_programs import PARAMETERS, Writer, arguments
from tests.transforms.tile_linalg.kernels import tiled

PROGRAMS = 30


class TileWriter(Writer):
    """Writes no code of work-items; every other program has linear algebra only."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, is_aliased=seed % 3 == 0)
        self.is_pure = seed % 2 == 0

    def operation(self, depth: int) -> str:
        makers = [self.axpby, self.hadamard, self.ger, self.product, self.sum, self.gemv]
        makers.append(self.cumsum)
        if not self.is_pure:
            makers += [self.store, self.atomic]
        if depth and self.random.random() < 0.4:
            return self.random.choice([self.loop, self.choice])(depth)
        return self.random.choice(makers)()

    def update(self, name: str, flags: str, *memrefs: str) -> str:
        text = super().update(name, flags, *memrefs)
        return text.replace(" atomic ", " ") if self.is_pure else text


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed: int) -> None:
    writer = TileWriter(seed)
    text = kernel(PARAMETERS, writer.program())
    module = tiled(text, is_read_again=True)
    if writer.is_pure:
        assert "memref.alloca" not in printed(module), text
    expected, found = arguments(seed), arguments(seed)
    run(read(text), *expected)
    run(module, *found)
    for a, b in zip(expected[:3], found[:3], strict=True):
        assert np.array_equal(a, b), text
