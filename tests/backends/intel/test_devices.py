"""The table of Intel's devices agrees with itself."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f16, f32, i8, i32
from xdsl.ir import Attribute

from xtile.backends.intel.devices import (
    BMG,
    CPU,
    CPU_AMX,
    DEVICES,
    DG2,
    PVC,
    CooperativeMatrix,
    Device,
)

ALL = pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))


def test_every_device_is_found_by_its_name() -> None:
    assert DEVICES == {"pvc": PVC, "bmg": BMG, "dg2": DG2, "cpu": CPU, "cpu-amx": CPU_AMX}
    assert all(device.name == name for name, device in DEVICES.items())


@pytest.mark.parametrize(("type", "depth"), [(i8, 32), (bf16, 16), (f32, 8)])
def test_depth_of_the_matrix_unit(type: Attribute, depth: int) -> None:
    assert PVC.matrix_unit is not None
    assert PVC.matrix_unit.depth(type) == depth


def test_exact_products_of_the_matrix_unit() -> None:
    """Those of narrow numbers in wide ones that the unit has."""
    unit = PVC.matrix_unit
    assert unit is not None
    types = (i8, i32, f16, bf16, f32)
    exact = {(a, b) for a in types for b in types if unit.is_exact(a, b)}
    assert exact == {(i8, i32), (f16, f32), (bf16, f32)}


@ALL
def test_sizes_fit_together(device: Device) -> None:
    assert device.subgroup_size in device.subgroup_sizes
    if device.matrix_unit is None:
        assert device in (CPU, CPU_AMX)
    else:
        assert device.matrix_unit.execution_size in device.subgroup_sizes
    assert device.most_work_items % max(device.subgroup_sizes) == 0


@ALL
def test_blocks_fit_the_registers_of_a_thread(device: Device) -> None:
    access = device.block_access
    if access is None:
        assert device in (DG2, CPU, CPU_AMX)
        return
    tables = (access.load, access.load_transformed, access.load_transposed, access.store)
    for table in tables:
        for size, shapes in table.items():
            largest = size * max(shapes.widths) * max(shapes.heights) * max(shapes.counts)
            assert largest <= device.registers * device.register_size // 2
            assert all(width * size <= access.least_width for width in shapes.widths)


@pytest.mark.parametrize(
    ("shape", "bits"), list(zip(CPU_AMX.cooperative_matrices, (16, 8), strict=True))
)
def test_a_tile_is_sixteen_rows_of_64_bytes(shape: CooperativeMatrix, bits: int) -> None:
    assert shape.rows == 16
    assert shape.depth * bits == 64 * 8
