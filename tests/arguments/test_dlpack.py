"""What DLPack capsules describe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xtile.arguments.dlpack import Tensor, read_tensor

FLOAT, INTEGER, COMPLEX = 2, 0, 5
"""Type codes. Source: DLPack 1.1, `dlpack.h`, DLDataTypeCode."""


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}])
@pytest.mark.parametrize(
    ("dtype", "code", "bits"),
    [(np.float64, FLOAT, 64), (np.int16, INTEGER, 16), (np.complex64, COMPLEX, 64)],
)
def test_either_version(options: Any, dtype: Any, code: int, bits: int) -> None:
    array = np.zeros((4, 6), dtype)[::2, 1:]
    address = array.__array_interface__["data"][0]
    tensor = read_tensor(array.__dlpack__(**options))
    assert tensor == Tensor(address, code, bits, 1, (2, 5), (12, 1), is_read_only=False)


def test_a_number() -> None:
    tensor = read_tensor(np.zeros(()).__dlpack__())
    assert (tensor.shape, tensor.strides or ()) == ((), ())


def test_what_is_read_only() -> None:
    array = np.zeros(4)
    array.flags.writeable = False
    assert read_tensor(array.__dlpack__(max_version=(1, 0))).is_read_only


def test_the_capsule_is_not_used_up() -> None:
    class Exporter:
        def __dlpack__(self, **options: Any) -> Any:
            return capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    array = np.arange(4.0)
    capsule = array.__dlpack__()
    assert read_tensor(capsule) == read_tensor(capsule)
    assert np.array_equal(np.from_dlpack(Exporter()), array)
    # It is used up now.
    with pytest.raises(ValueError, match="expected a DLPack capsule that was not used yet"):
        read_tensor(capsule)
