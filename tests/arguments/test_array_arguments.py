"""Arrays as arguments of kernels of CUDA Tile IR, which take pointers, sizes and strides."""

# pyright: basic

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    export_kernel,
    mangle_kernel_name,
)
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel, installed
from tests.backends.nvidia.gpu_arrays import Interface, install_torch
from tests.dialects.cuda_tile.cutile.cases import CASES
from tests.dialects.cuda_tile.cutile.launching import Constant, exported
from tests.dialects.cuda_tile.cutile.test_cutile import check
from tests.seeds import fresh_generator
from xtile.arguments.cutile_signature import (
    ArrayArgument,
    Dimension,
    ListArgument,
    NumberArgument,
    TupleArgument,
    exported_arguments,
)
from xtile.cli import main
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.launch import ArgumentError, DeviceArray, Output
from xtile.text.diagnostics import SourceWarning

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/cutile/rms_norm.mlir"

NAME = "rms_norm_Kt1_A2f32_1l0_2t1_A1f32_1t1_A2f32_1l0_2t1_Sf32_I4_I64"


def array(rank: int = 2, **known: Any) -> ArrayConstraint:
    """What is known of an f32 array."""
    rest: dict[str, Any] = {
        "index_dtype": ct.int32,
        "stride_lower_bound_incl": 0,
        "alias_groups": [],
        "may_alias_internally": False,
    }
    return ArrayConstraint(ct.float32, rank, **rest | known)


NUMBER = ScalarConstraint(ct.float32)

ANY = Dimension(least_stride=0)


class TestNames:
    """The names that the exporter itself makes."""

    @pytest.mark.parametrize(
        ("constraints", "expected"),
        [
            ([], ()),
            ([array(), NUMBER], (ArrayArgument("f32", (ANY, ANY)), NumberArgument("f32"))),
            (
                [array(shape_constant=(64, None), stride_constant=(None, 1))],
                (ArrayArgument("f32", (Dimension(64, 1, None, 1, 0), Dimension(stride=1))),),
            ),
            (
                [array(1, stride_divisible_by=(16,), shape_divisible_by=(4,))],
                (ArrayArgument("f32", (Dimension(None, 4, None, 16, 0),)),),
            ),
            (
                [array(1, stride_lower_bound_incl=-5, stride_constant=None)],
                (ArrayArgument("f32", (Dimension(least_stride=-5),)),),
            ),
            (
                [
                    array(3, base_addr_divisible_by=16, index_dtype=ct.int64, alias_groups=["a"]),
                    array(0, alias_groups=["a"], may_alias_internally=True),
                    array(1, index_dtype=ct.uint32, base_addr_divisible_by=8),
                    ScalarConstraint(ct.bool_),
                ],
                (
                    ArrayArgument("f32", (ANY,) * 3, may_overlap=True),
                    ArrayArgument("f32", (), may_overlap=True),
                    ArrayArgument("f32", (ANY,)),
                    NumberArgument("b8"),
                ),
            ),
            (
                [
                    ConstantConstraint(-3), ConstantConstraint(0.5), ConstantConstraint(True),
                    ScalarConstraint(ct.int64),
                ],
                (NumberArgument("i64"),),
            ),
            (
                [
                    ListConstraint(array(1), alias_groups=[], elements_may_alias=True),
                    TupleConstraint((array(1), ConstantConstraint(1), NUMBER)),
                ],
                (
                    ListArgument(ArrayArgument("f32", (ANY,))),
                    TupleArgument((ArrayArgument("f32", (ANY,)), NumberArgument("f32"))),
                ),
            ),
        ],
    )  # fmt: skip
    def test_are_understood(self, constraints: list[Any], expected: tuple[Any, ...]) -> None:
        signature = KernelSignature(constraints, CallingConvention.cutile_python_v2())
        assert exported_arguments(mangle_kernel_name("f_K_1", signature)) == expected

    @pytest.mark.parametrize(
        "name", ["k", "k_K", "scale_Kernel", "k_Kt1_", "k_Kt1_A", "k_Kt1_A2f32_8t1", "k_Kt1_Q"]
    )
    def test_others_are_just_names(self, name: str) -> None:
        assert exported_arguments(name) is None


def inputs() -> tuple[Any, Any, Any, Any]:
    """X, a weight, an output and what it should be."""
    generator = fresh_generator()
    x = generator.standard_normal((10, 200)).astype(np.float32)[:, :150]
    weight = generator.standard_normal(150).astype(np.float32)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5) * weight
    return x, weight, np.full((10, 150), np.nan, np.float32), expected


def kernels() -> dict[str, Any]:
    """The example, with and without what its name says."""
    module = xtile.parse(EXAMPLE)
    entry = next(op for op in module.walk() if op.name == "cuda_tile.module")
    return {
        "exported": EXAMPLE,
        "nameless": EXAMPLE.read_text().replace(NAME, "rms_norm"),
        "bytecode": ModuleOp([decode(encode(entry), "k.tileirbc")]),
    }


KERNELS = kernels()


class TestLaunches:
    @pytest.mark.parametrize("sanitize", [False, True])
    @pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
    def test_arrays_in_their_order(self, kernel: Any, sanitize: bool) -> None:
        x, weight, out, expected = inputs()
        xtile.run(kernel, [x, weight, Output(out), 1e-5], 3, sanitize=sanitize)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)

    def test_arrays_by_the_names_of_their_pointers(self) -> None:
        x, weight, out, expected = inputs()
        given = {"arg13": 1e-5, "arg8": out, "arg0": x, "arg5": weight}
        xtile.run(EXAMPLE, given, 3)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)

    def test_numbers_one_by_one(self) -> None:
        x, weight, out, expected = inputs()
        xtile.run(EXAMPLE, [x, 10, 150, 200, 1, weight, 150, 1, out, 10, 150, 150, 1, 1e-5], 3)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)

    @pytest.mark.parametrize("name", CASES)
    def test_every_kernel_of_the_corpus(self, name: str) -> None:
        case = CASES[name]()
        module = ModuleOp([decode(exported(case.kernel, case.arguments, **case.options), "k")])
        given = [value for value in case.arguments if not isinstance(value, Constant)]
        xtile.run(module, given, case.grid)
        for position, expected in case.expected.items():
            check(case.arguments[position], expected, case.tolerance)

    def test_tuples_and_lists_that_the_exporter_tells_of(self) -> None:
        arrays = fresh_generator().integers(-9, 9, (3, 8)).astype(np.float32)
        out = np.full(8, np.nan, np.float32)
        xtile.run(mixed(), [list(arrays), (out, 0.5)], 2)
        np.testing.assert_array_equal(out, arrays.sum(axis=0) * np.float32(0.5))
        with pytest.raises(ArgumentError, match=r"entry 1 .* given an array of shape"):
            xtile.run(mixed(), [[arrays[0], arrays], (out, 0.5)], 2)
        with pytest.raises(ArgumentError, match="expected a tuple of 2, given an ndarray"):
            xtile.run(mixed(), [list(arrays), out], 2)


@ct.kernel
def scaled_sum(arrays, pair):
    """The sum of the arrays of a list, multiplied by a number."""
    total = ct.zeros((4,), dtype=ct.float32)
    for i in range(len(arrays)):
        total += ct.load(arrays[i], (ct.bid(0),), (4,))
    ct.store(pair[0], (ct.bid(0),), total * pair[1])


def mixed() -> ModuleOp:
    """A kernel that takes a list and a tuple."""
    constraints = [
        ListConstraint(array(1), alias_groups=[], elements_may_alias=False),
        TupleConstraint((array(1), NUMBER)),
    ]
    file = BytesIO()
    signature = KernelSignature(constraints, CallingConvention.cutile_python_v2())
    export_kernel(scaled_sum, [signature], file, output_format="tileir_bytecode")
    return ModuleOp([decode(file.getvalue(), "k.tileirbc")])


class TestMistakes:
    @pytest.mark.parametrize("kernel", [KERNELS["exported"], KERNELS["nameless"]])
    @pytest.mark.parametrize("sanitize", [False, True])
    def test_sizes_in_the_wrong_order(self, kernel: Any, sanitize: bool) -> None:
        x, weight, out, _ = inputs()
        given = [x, 150, 10, 200, 1, weight, 150, 1, out, 10, 150, 150, 1, 1e-5]
        with pytest.raises(ArgumentError, match=r"its sizes are \(10, 150\), but \(150, 10\)"):
            xtile.run(kernel, given, 3, sanitize=sanitize)

    def test_the_transpose_is_an_array_of_its_own(self) -> None:
        x, weight, out, _ = inputs()
        with pytest.raises(ArgumentError, match="stride 200 of dimension 1 is not the 1 that"):
            xtile.run(EXAMPLE, [x.T, weight, out, 1e-5], 3)
        # One by one they are any numbers that describe the memory.
        xtile.run(EXAMPLE, [x, 5, 150, 200, 1, weight, 150, 1, out, 5, 150, 150, 1, 1e-5], 2)
        assert np.isnan(out[5:]).all()

    def test_too_few(self) -> None:
        x, weight, out, _ = inputs()
        with pytest.raises(ArgumentError) as raised:
            xtile.run(EXAMPLE, [x, weight, out], 3)
        message = str(raised.value)
        assert "takes 4 arguments (arg0: f32 array of 2 dimensions, arg5: f32 array" in message
        assert "arg13: f32), or 14 one by one (arg0: " in message
        assert message.endswith("given 3")
        with pytest.raises(ArgumentError, match="or an array in place of each pointer and"):
            xtile.run(KERNELS["nameless"], [x, weight, out], 3)

    @pytest.mark.parametrize(
        ("position", "value", "problem"),
        [
            (0, np.zeros(3, np.float32), r"f32 array of 2 dimensions\): given an array of shape"),
            (0, np.zeros((3, 4)), "expected elements of type float32, given float64"),
            (0, None, r"argument 0 \(f32 array of 2 dimensions\): expected an array, given None"),
            (1, 1.5, r"argument 1 \(f32 array of 1 dimension\): expected an array, given a float"),
            (2, [1, 2], r"argument 2 \(f32 array of 2 dimensions\): expected an array, given a l"),
            (3, np.zeros(3, np.float32), "expected a number, given an ndarray"),
        ],
    )
    def test_what_does_not_fit(self, position: int, value: Any, problem: str) -> None:
        given: list[Any] = [*inputs()[:3], 1e-5]
        given[position] = value
        with pytest.raises(ArgumentError, match=problem):
            xtile.run(EXAMPLE, given, 3)

    def test_an_array_without_elements(self) -> None:
        _, weight, _, _ = inputs()
        x, out = np.zeros((0, 150), np.float32), np.zeros((0, 150), np.float32)
        assert x.strides == (0, 0)
        with pytest.warns(SourceWarning, match="lies outside of the view's index space"):
            xtile.run(EXAMPLE, [x, weight, out, 1e-5], 1)

    def test_what_the_kernel_relies_on(self) -> None:
        text = EXAMPLE.read_text().replace(NAME, NAME.replace("A2f32_1l0", "A2f32_1i4v16l64", 1))
        x, weight, out, _ = inputs()
        for given, problem in (
            (x, "size 10 of dimension 0 is no multiple of 4"),
            (x[:8], "stride 200 of dimension 0 is no multiple of 16"),
            (np.zeros((8, 48), np.float32), "stride 48 of dimension 0 is below 64"),
        ):
            with pytest.raises(ArgumentError, match=problem):
                xtile.run(text, [given, weight, out, 1e-5], 3)

    def test_integers_that_are_not_there(self) -> None:
        x, weight, out, _ = inputs()
        with pytest.raises(ArgumentError, match="needs 6 integers behind it for its sizes and"):
            xtile.run(KERNELS["nameless"], [x[None], weight, out, 1e-5], 3)


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--rand", "--grid", "3", "--size", "arg0=10x150", "--size", "arg5=150"]
    outputs = [part for n in (0, 5, 8) for part in ("--out", f"arg{n}={tmp_path}/{n}.npy")]
    command = ["run", str(EXAMPLE), *options, "--arg", "arg8=nan:10x150", *outputs]
    assert main([*command, "--arg", "arg13=1e-5", "--sanitize"]) == 0
    x, weight, out = (np.load(tmp_path / f"{n}.npy").astype(np.float64) for n in (0, 5, 8))
    expected = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * weight
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)
    capsys.readouterr()
    assert main(command) == 1
    assert "no value is given; add --arg arg13=..." in capsys.readouterr().err


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, Interface, "address"])
def test_on_cuda(kind: Any, by_name: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    install_torch(monkeypatch)
    seen: list[tuple[int, ...]] = []
    sizes = [8, 4, 4, 4, 4, 8, 4, 4, 8, 4, 4, 4, 4, 4]
    api = FakeApi()
    api.kernels = {NAME: FakeKernel(sizes, lambda block, *values: seen.append(values))}
    with installed(monkeypatch, api):
        x, weight, out, _ = inputs()
        given = [on_device(kind, each) for each in (x, weight, out)]
        names = {"arg0": given[0], "arg5": given[1], "arg8": given[2], "arg13": 1.0}
        for _ in range(2):
            xtile.run(EXAMPLE, names if by_name else [*given, 1.0], 1, device="cuda")
            values = seen.pop()
            assert values[1:5] == (10, 150, 200, 1)
            assert values[6:8] == (150, 1)
            assert values[9:13] == (10, 150, 150, 1)
        with pytest.raises(ArgumentError, match="takes 4 arguments"):
            xtile.run(EXAMPLE, given, 1, device="cuda")


def on_device(kind: Any, array: Any) -> Any:
    if kind == "address":
        strides = [stride // 4 for stride in array.strides]
        return DeviceArray(array.ctypes.data, array.shape, strides)
    return kind(array)
