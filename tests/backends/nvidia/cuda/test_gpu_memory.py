"""Arrays that lie on a GPU are passed as they are, in every form that libraries have."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_gpu import STORE, Gpu, address_of, floats
from tests.backends.nvidia.gpu_arrays import Dlpack, Interface, Tensor, install_torch, random
from xtile.launch import ArgumentError, DeviceArray


class TestMemoryOfTheGpu:
    @pytest.fixture(autouse=True)
    def _torch(  # pyright: ignore[reportUnusedFunction]
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install_torch(monkeypatch)

    @pytest.mark.parametrize("kind", [Interface, Dlpack, Tensor])
    def test_nothing_is_copied(self, gpu: Gpu, kind: Any) -> None:
        def body(b: int, n: int, m: int, stride: int) -> None:
            floats(b, n)[:] = 3

        gpu.make("%B: memref<f32x?x?>", [8] * 4, body, STORE.replace("%zero]", "%zero,%zero]"))
        array = random(20, 30)
        view = array[4:10, ::3]
        gpu.run(kind(view))
        assert gpu.seen == [(address_of(view), 6, 10, 60)]
        assert (array[4:10, 0] == 3).all()
        assert not {"cuMemAlloc", "cuMemcpyHtoD", "cuMemcpyDtoH"} & set(gpu.api.calls)

    @pytest.mark.parametrize("kind", [Interface, Dlpack, Tensor])
    def test_a_mode_of_size_1_has_any_stride(self, gpu: Gpu, kind: Any) -> None:
        gpu.make("%A: memref<f32x?x?>", [8] * 4)
        gpu.run(kind(random(8, 6)[:, 2:3]))
        assert gpu.seen[0][1:] == (8, 1, 8)

    def test_row_major_without_strides(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        gpu.run(Interface(random(8), strides=None))
        assert gpu.seen[0][1] == 8

    def test_the_address_of_a_device_array(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        array = random(8)
        gpu.run(DeviceArray(address_of(array), (5,), (1,), 4))
        assert gpu.seen == [(address_of(array) + 4, 5)]

    @pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
    def test_small_types_of_torch(self, gpu: Gpu, dtype: str) -> None:
        from xtile.arguments.gpu_arrays import gpu_array_of

        array = np.zeros(4, getattr(ml_dtypes, dtype))
        found = gpu_array_of("A", Tensor(array))
        assert found is not None
        assert found.dtype == array.dtype

    def test_unsigned_integers_are_integers(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<i32x?>", [8, 8])
        gpu.run(Tensor(np.zeros(3, np.uint32)))
        assert len(gpu.seen) == 1

    def test_the_stream_that_computes_it_is_waited_for(
        self, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gpu.make("%A: memref<f32x?>, %B: memref<f32x?>, %C: memref<f32x?>", [8] * 6)
        install_torch(monkeypatch, stream=77)
        third = Dlpack(random(4))
        gpu.run(Tensor(random(4)), Interface(random(4), stream=55), third)
        assert gpu.api.waits == [(0, 55), (0, 77)]
        # DLPack's arrays wait themselves, for the stream of the launch.
        assert third.streams == [1]
        gpu.run(Interface(random(4), stream=1), Interface(random(4), stream=None), third)
        assert len(gpu.api.waits) == 2

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (
                Tensor(random(4, dtype=np.float64)),
                "expected elements of type float32, given float64",
            ),
            (Tensor(random(4), dtype="qint8"), "expected elements of type float32, given qint8"),
            *(
                (
                    Tensor(random(4), **options),
                    (
                        "expected a tensor whose elements lie in memory as they are, given a "
                        "sparse, conjugated or negated view; tensor.to_dense() or "
                        "tensor.resolve_conj() makes a copy"
                    ),
                )
                for options in ({"is_conj": True}, {"layout": "sparse_csr"})
            ),
            (Interface(random(4, 5)), "expected shape (?,), given shape (4, 5)"),
            (
                Interface(random(4), strides=(6,)),
                (
                    "expected strides that are multiples of the element size (4 bytes), given "
                    "strides (6,) in bytes"
                ),
            ),
            (Interface(random(4), mask=1), "an array with a mask cannot be passed to a kernel"),
            (Interface(random(4), typestr="<V4"), None),
            (Dlpack(np.zeros(4, np.int32)), "expected elements of type float32, given int32"),
            (
                Interface(random(8)[::2]),
                (
                    "expected strides (1,), given strides (2,) for shape (4,), counted in "
                    "elements; numpy.asfortranarray makes a column-major copy"
                ),
            ),
        ],
    )
    def test_what_does_not_fit(self, gpu: Gpu, value: Any, message: str | None) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        with pytest.raises(ArgumentError) as raised:
            gpu.run(value)
        expected = message or "expected elements of type float32, given <V4"
        assert str(raised.value) == f"argument 'A' (memref<f32x?>): {expected}"
        assert not gpu.seen

    def test_what_is_read_only(self, gpu: Gpu) -> None:
        gpu.make("%B: memref<f32x?>", [8, 8], store=STORE)
        array = random(4)
        array.flags.writeable = False
        with pytest.raises(ArgumentError, match="the given array is read-only"):
            gpu.run(Interface(array))

    def test_an_exporter_that_refuses(self, gpu: Gpu) -> None:
        class Refusing(Dlpack):
            def __dlpack__(self, stream: int | None = None) -> Any:
                raise BufferError("no way\nreally")

        gpu.make("%A: memref<f32x?>", [8, 8])
        with pytest.raises(ArgumentError, match=r"its memory is not shared: no way$"):
            gpu.run(Refusing(random(4)))

    def test_on_the_reference_device(self) -> None:
        with pytest.raises(ArgumentError) as raised:
            xtile.run("func @k(%A: memref<f32x?>) {\n}\n", [Interface(random(4))])
        assert str(raised.value) == (
            "argument 'A' (memref<f32x?>): memory of a CUDA GPU is given, but the kernel runs on "
            "the device 'reference'"
        )

    def test_on_an_opencl_device(self) -> None:
        with pytest.raises(
            ArgumentError, match="memory of a CUDA GPU is given, but the kernel runs"
        ):
            xtile.run("func @k(%A: memref<f32x?>) {\n}\n", [Interface(random(4))], device="opencl")
