"""Arguments that overlap although the kernel writes to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i64

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel, installed
from tests.backends.nvidia.fake_gpu import STORE, Gpu, address_of
from tests.backends.nvidia.gpu_arrays import Interface, Tensor, install_torch, random
from xtile.arguments.binding import bind
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.overlaps import overlapping
from xtile.launch import ArgumentError, DeviceArray
from xtile.launch.gpu_prepared import prepare

TWO = "%A: memref<f32x?>, %B: memref<f32x?>"

AXPBY = """
func @axpby(%A: memref<f32x?>, %B: memref<f32x?>) {
    %one = constant 1.0 : f32
    axpby.n %one, %A, %one, %B
}
"""


@pytest.fixture(autouse=True)
def _torch(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    install_torch(monkeypatch)


def pairs_of(x: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Two arrays, and whether they overlap."""
    yield x[:50], x[50:], False
    yield x[50:], x[:50], False
    yield x[:51], x[50:], True
    yield x[50:], x[:51], True
    yield x, x, True
    yield x[10:20], x, True
    yield x[:0], x, False
    yield x[:50], np.array(x[:50]), False


class TestCubins:
    @pytest.mark.parametrize("number", range(8))
    @pytest.mark.parametrize("kind", [lambda x: x, Interface, Tensor])
    def test_what_overlaps_is_refused(self, gpu: Gpu, number: int, kind: Any) -> None:
        gpu.make(TWO, [8] * 4, store=STORE)
        a, b, overlap = list(pairs_of(random(100)))[number]
        if overlap:
            with pytest.raises(ArgumentError) as raised:
                gpu.run(kind(a), kind(b))
            assert str(raised.value) == (
                "@k writes to 'B', which overlaps 'A', but its cubin was compiled for arguments "
                "that do not overlap; compile it with `xtile compile --may-overlap`"
            )
            assert not gpu.seen
        else:
            gpu.run(kind(a), kind(b))
            assert len(gpu.seen) == 1

    def test_what_is_only_read_may_overlap(self, gpu: Gpu) -> None:
        gpu.make(TWO, [8] * 4)
        x = random(10)
        gpu.run(x, x)
        gpu.run(Interface(x), Interface(x))
        assert len(gpu.seen) == 2

    def test_a_cubin_that_is_compiled_for_it(self, gpu: Gpu) -> None:
        gpu.make(TWO, [8] * 4, store=STORE, may_overlap=True)
        x = random(10)
        for _ in range(2):
            gpu.run(Interface(x), Interface(x))
        assert gpu.seen == [(address_of(x), 10, address_of(x), 10)] * 2

    def test_a_layout_that_is_known(self, gpu: Gpu) -> None:
        gpu.make(TWO, [8] * 4, store=STORE)
        x = random(100)
        gpu.run(Tensor(x[:50]), Tensor(x[50:]))
        with pytest.raises(ArgumentError, match="which overlaps 'A'"):
            gpu.run(Tensor(x[:50]), Tensor(x[49:99]))
        gpu.run(Tensor(x[50:]), Tensor(x[:50]))

    def test_groups(self, gpu: Gpu) -> None:
        gpu.make("%G: group<memref<f32x4>x?>, %B: memref<f32x?>", [8] * 4, store=STORE)
        storage, other = random(4, 10), random(4)
        flat = storage.T.reshape(-1)
        for group in (storage, Interface(storage), [Interface(storage[:, 1]), None, other]):
            gpu.run(group, random(4))
            for position in (slice(4, 8), slice(7, 9)):
                with pytest.raises(ArgumentError, match="writes to 'B', which overlaps 'G'"):
                    gpu.run(group, Interface(flat[position]))
        gpu.run([Interface(storage[:, 1]), Interface(storage[:, 3])], Interface(flat[8:12]))
        # What is only read is in no order.
        gpu.make("%G: group<memref<f32x4>x?>, %B: memref<f32x?>", [8] * 4)
        gpu.run(storage, Interface(flat))

    def test_prepared_launches(self, gpu: Gpu) -> None:
        gpu.make(TWO, [8] * 4, store=STORE)
        x = random(10)
        with pytest.raises(ArgumentError, match="which overlaps 'A'"):
            prepare(gpu.path, [Interface(x), Interface(x)])


class TestTexts:
    @pytest.fixture(name="api")
    def fake_api(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
        api = FakeApi(kernels={"axpby": FakeKernel([8] * 4, lambda *values: None)})
        with installed(monkeypatch, api):
            yield api

    @pytest.mark.parametrize("kind", [lambda x: x, Interface])
    def test_another_cubin_is_made(self, api: FakeApi, kind: Any) -> None:
        x = random(104)
        for _ in range(2):
            xtile.run(AXPBY, [kind(x[:52]), kind(x[52:])], device="cuda")
        assert len(api.loaded) == 1
        for _ in range(2):
            xtile.run(AXPBY, [kind(x[:52]), kind(x[48:100])], device="cuda")
        assert len(api.loaded) == 2
        # The first one is still there.
        xtile.run(AXPBY, [kind(x[52:]), kind(x[:52])], device="cuda")
        assert len(api.loaded) == len(set(api.loaded)) == 2
        assert len(api.launches) == 5

    @pytest.mark.slow
    def test_what_is_prepared(self, api: FakeApi) -> None:
        x = random(104)
        prepare(AXPBY, [Interface(x[:52]), Interface(x[52:])]).enqueue()
        prepare(AXPBY, [Interface(x[:52]), Interface(x[48:100])]).enqueue()
        assert len(set(api.loaded)) == 2


POINTER = Parameter("p", i64, {}, may_be_address=True)


def signature_of(*parameters: Parameter) -> Signature:
    return Signature("k", parameters, frozenset())


class TestAddresses:
    @pytest.fixture(name="memref")
    def read_memref(self) -> Parameter:
        from xdsl.dialects.builtin import MemRefType

        return Parameter("A", MemRefType(f32, [4]), {}, is_noalias=True)

    def names_of(self, signature: Signature, *arguments: Any) -> tuple[str, ...] | None:
        found = overlapping(signature, bind(signature, list(arguments)))
        return None if found is None else tuple(parameter.name for parameter in found)

    def test_memory_whose_address_is_taken(self, memref: Parameter) -> None:
        signature = signature_of(POINTER, memref)
        x = random(8)
        assert self.names_of(signature, x, x[:4]) == ("A", "p")
        assert self.names_of(signature, x[:4], x[4:]) is None
        # Nothing says how large it is.
        assert self.names_of(signature, Interface(x[:4]), x[4:]) == ("A", "p")

    def test_numbers(self, memref: Parameter) -> None:
        signature = signature_of(POINTER, memref)
        x = random(4)
        # The host's own arrays may lie below: the heap of a process at a fixed address does.
        for address in (2**32, 0x7F12_3456_0000):
            assert self.names_of(signature, address, x) == ("A", "p")
        for number in (0, -1, 2**32 - 1):
            assert self.names_of(signature, number, x) is None

    def test_a_device_array(self, memref: Parameter) -> None:
        signature = Signature("k", (memref, memref), frozenset({0}))
        first = DeviceArray(1000)
        assert self.names_of(signature, first, DeviceArray(1016)) is None
        assert self.names_of(signature, first, DeviceArray(1012)) == ("A", "A")
        assert self.names_of(signature, first, DeviceArray(988, offset=16)) == ("A", "A")
        assert self.names_of(signature, first, None) is None
