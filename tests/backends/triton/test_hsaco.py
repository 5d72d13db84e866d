"""Kernels of every language as hsacos and as assembly, by the Triton that is installed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import xtile
from tests.triton_releases.folders import ALL_VARIABLE
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.backends.amd.hsaco import kernels_of
from xtile.backends.build_error import BuildError
from xtile.backends.cache import DIRECTORY_VARIABLE, Cache
from xtile.backends.machine_code import HSACO, Promises, Scratch
from xtile.backends.sidecar import read_machine_code
from xtile.backends.triton import builds, compilation, installed
from xtile.backends.triton.build_process import Built, Request, build_in_process
from xtile.backends.triton.layouts import Options, Through
from xtile.cli import main
from xtile.opt import main as opt_main
from xtile.targets import AMD, OptionError
from xtile.text.diagnostics import Diagnostics

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"

SCALE = """
tt.func public @scale(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                      %n: i32) {
  %block = arith.constant 256 : i32
  %program = tt.get_program_id x : i32
  %first = arith.muli %program, %block : i32
  %lane = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %firsts = tt.splat %first : i32 -> tensor<256xi32>
  %at = arith.addi %firsts, %lane : tensor<256xi32>
  %end = tt.splat %n : i32 -> tensor<256xi32>
  %inside = arith.cmpi slt, %at, %end : tensor<256xi32>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p = tt.addptr %base, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %value = tt.load %p, %inside : tensor<256x!tt.ptr<f32>>
  %twice = arith.addf %value, %value : tensor<256xf32>
  tt.store %p, %twice, %inside : tensor<256x!tt.ptr<f32>>
  tt.return
}
"""

WITH_LAYOUTS = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64],
                         warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32,
                   ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @fill(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    amdg.buffer_store %lane, %x[%lane] : !tt.ptr<i32> -> tensor<128xi32, #blocked>
    tt.return
  }
}
"""

OTHER_LANGUAGES = {
    "core": """
gpu.module @m {
  gpu.func @k(%x: memref<64xf32>, %y: memref<64xf32>) kernel attributes {core.level = "tile"} {
    %zero = arith.constant 0 : index
    %edge = arith.constant 0.0 : f32
    %value = vector.transfer_read %x[%zero], %edge {in_bounds = [true]}
      : memref<64xf32>, vector<64xf32>
    %more = arith.addf %value, %value : vector<64xf32>
    vector.transfer_write %more, %y[%zero] {in_bounds = [true]}
      : vector<64xf32>, memref<64xf32>
    gpu.return
  }
}
""",
    "cuda_tile": """
cuda_tile.module @m {
  entry @k(%x: tile<ptr<f32>>) {
    %zero = constant <i64: 0> : tile<i64>
    %view = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %part = make_partition_view %view : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
    %value, %t = load_view_tko weak %part[%zero]
      : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i64>
      -> tile<64xf32>, token
    %twice = addf %value, %value rounding<nearest_even> : tile<64xf32>
    %u = store_view_tko weak %twice, %part[%zero] token = %t
      : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i64>
      -> token
    return
  }
}
""",
    "linalg": """
gpu.module @m {
  gpu.func @k(%x: memref<64xf32>, %y: memref<64xf32>) kernel {
    linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
    gpu.return
  }
}
""",
}


def count(assembly: str, instruction: str) -> int:
    """How often the machine code has an instruction, by how its name begins."""
    return len(re.findall(rf"^\s+{instruction}", assembly, re.MULTILINE))


def assembly_of(path: Path, tmp_path: Path, *options: str) -> str:
    output = tmp_path / "k.s"
    assert opt_main([str(path), "-t", "amdgcn", "-o", str(output), *options]) == 0
    return output.read_text()


@pytest.fixture(name="scale")
def write_scale(tmp_path: Path) -> Path:
    path = tmp_path / "scale.ttir"
    path.write_text(SCALE)
    return path


def test_the_tensor_language(tmp_path: Path) -> None:
    path = tmp_path / "k.hsaco"
    arguments = [str(EXAMPLES / "axpby.ir"), "-o", str(path), "--chip", "gfx942:sramecc+:xnack-"]
    assert main(["compile", *arguments]) == 0
    made = read_machine_code(path, HSACO)
    assert (made.chip, made.tool) == ("gfx942", f"Triton {installed.find_triton().version}")
    assert [each.name for each in made.signatures["axpby"].parameters] == [
        "alpha",
        "A",
        "beta",
        "B",
    ]
    alone = [each.is_noalias for each in made.signatures["axpby"].parameters]
    assert (alone[1], alone[3]) == (True, True)
    interface = made.kernels["axpby"]
    assert (interface.threads, interface.shared) == (256, 0)
    assert interface.scratch == (Scratch(0, 1), Scratch(0, 1))
    metadata = kernels_of(made.code)["axpby"]
    words = json.loads(path.with_suffix(".hsaco.json").read_text())["kernels"][0]
    slots = " ".join(f"{slot.offset}:{slot.size}" for slot in metadata.slots)
    # Behind the parameters come two addresses of scratch memory.
    assert slots == f"{words['slots']} 80:8 88:8"
    assert (metadata.lanes, metadata.most_threads) == (64, 256)
    assert (metadata.vector_spills, metadata.scalar_spills, metadata.private) == (0, 0, 0)


EVERYTHING = bool(os.environ.get(ALL_VARIABLE))
"""Whether more than a sample is compiled, as pytest's option `--all-on-triton` says."""


@pytest.mark.parametrize("language", OTHER_LANGUAGES if EVERYTHING else ["cuda_tile"])
def test_other_languages(language: str, tmp_path: Path) -> None:
    path = tmp_path / "k.hsaco"
    xtile.compile(xtile.parse(OTHER_LANGUAGES[language], language="mlir"), path, chip="gfx1100")
    made = read_machine_code(path, HSACO)
    # One wave is enough for 64 elements.
    assert made.kernels["k"].threads == 32
    assert kernels_of(made.code)["k"].lanes == 32


@pytest.mark.parametrize("through", ["ttir", "amdg"])
def test_a_kernel_of_triton(through: Through, scale: Path) -> None:
    path = scale.with_suffix(".hsaco")
    xtile.compile(scale, path, chip="gfx942", warps=2, through=through)
    made = read_machine_code(path, HSACO)
    interface = made.kernels["scale"]
    assert (interface.threads, interface.divisors, interface.in_reach) == (128, (16, 1), (0,))
    # Triton's kernels say themselves what may overlap.
    assert not any(each.is_noalias for each in made.signatures["scale"].parameters)


def test_a_kernel_with_layouts(tmp_path: Path) -> None:
    source = tmp_path / "fill.ttgir"
    source.write_text(WITH_LAYOUTS)
    assembly = assembly_of(source, tmp_path)
    assert "amdhsa.target:   amdgpu9.42" in assembly
    assert count(assembly, "buffer_store_dword") == 1
    path = tmp_path / "fill.hsaco"
    xtile.compile(source, path)
    made = read_machine_code(path, HSACO)
    assert (made.chip, made.kernels["fill"].threads) == ("gfx942", 2 * 64)
    binary = tmp_path / "fill.bin"
    assert opt_main([str(source), "-t", "hsaco", "-o", str(binary)]) == 0
    assert binary.read_bytes() == made.code


def test_layouts_of_another_chip(tmp_path: Path) -> None:
    """They are dropped, and made again for the chip."""
    source, path = tmp_path / "fill.ttgir", tmp_path / "fill.hsaco"
    source.write_text(WITH_LAYOUTS)
    xtile.compile(source, path, chip="gfx1201")
    assert read_machine_code(path, HSACO).kernels["fill"].threads == 32


DESCRIPTORS = """
tt.func public @rows(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 8 : i32
  %stride = arith.constant 8 : i64
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%stride, %one] : !tt.ptr<f32>,
    !tt.tensordesc<8x8xf32>
  %e = tt.make_tensor_descriptor %y, [%n, %n], [%stride, %one] : !tt.ptr<f32>,
    !tt.tensordesc<8x8xf32>
  %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  tt.descriptor_store %e[%c0, %c0], %v : !tt.tensordesc<8x8xf32>, tensor<8x8xf32>
  tt.return
}
"""


def test_descriptors_on_a_chip_that_has_none(tmp_path: Path) -> None:
    """They become pointers; by itself Triton dies of them in text."""
    path = tmp_path / "rows.hsaco"
    xtile.compile(xtile.parse(DESCRIPTORS, language="ttir"), path, chip="gfx942")
    made = read_machine_code(path, HSACO)
    assert kernels_of(made.code)["rows"].vector_spills == 0


def test_a_parameter_that_no_launch_has(tmp_path: Path) -> None:
    text = "tt.func public @k(%d: !tt.tensordesc<8x8xf32>) {\n  tt.return\n}\n"
    module = xtile.parse(text, language="ttir")
    for name in ("k.hsaco", "k.cubin"):
        with pytest.raises(ArgumentError, match="tensordesc<8x8xf32> cannot be passed"):
            xtile.compile(module, tmp_path / name)


def test_the_machine_code_of_a_product(tmp_path: Path) -> None:
    """Of 8 x 32 x 64 in f16: 4 products of 16 x 16 x 16 for each of two waves, without a detour."""
    assembly = assembly_of(EXAMPLES / "matrix_unit.ir", tmp_path, "--chip", "gfx942")
    assert count(assembly, r"v_mfma_f32_16x16x16") == 4
    assert 1 <= count(assembly, "buffer_load") <= 12
    assert 1 <= count(assembly, "buffer_store") <= 4
    assert count(assembly, "global_") == count(assembly, "scratch_") == 0
    assert ".sgpr_spill_count: 0" in assembly
    assert ".vgpr_spill_count: 0" in assembly


def test_layouts_of_xtile(tmp_path: Path) -> None:
    """What `triton-to-amdg` makes, Triton compiles without a layout of its own."""
    options = ("--translate", "tensorlang-to-amdg", "--chip", "gfx942")
    assembly = assembly_of(EXAMPLES / "matrix_unit.ir", tmp_path, *options)
    # Of 8 x 32 x 64, in waves that share the columns.
    assert 1 <= count(assembly, r"v_mfma_f32_") <= 8
    assert count(assembly, "buffer_load") >= 1
    assert count(assembly, "global_") == count(assembly, "scratch_") == 0
    assert ".vgpr_spill_count: 0" in assembly


def program_of(
    path: Path, chip: str, through: Through | None = None, stages: int | None = None
) -> tuple[compilation.Program, list[str]]:
    """What Triton gets of a kernel, and the remarks about that."""
    found, options = Diagnostics(), Options(through=through, stages=stages)
    program = compilation.compile_program(xtile.parse(path), chip, found, options=options)
    return program, [each.message for each in found]


def test_whose_layouts_they_are(scale: Path) -> None:
    """Those of xtile, unless something else is asked for."""
    program, remarks = program_of(scale, "gfx942")
    assert (program.extension, remarks) == ("ttgir", [])
    assert "amdg.buffer_load" in program.text
    assert program_of(scale, "gfx942", "amdg")[0].text == program.text
    plain, remarks = program_of(scale, "gfx942", "ttir")
    assert (plain.extension, plain.text, remarks) == ("ttir", program.without_layouts, [])
    assert "tt.load" in plain.text
    assert program_of(scale, "sm_90")[0].extension == "ttir"
    with pytest.raises(OptionError, match="layouts for AMD's chips, and sm_90 is none of them"):
        program_of(scale, "sm_90", "amdg")


def test_what_is_tuned_for_the_passes_of_triton(scale: Path) -> None:
    program, remarks = program_of(scale, "gfx942", stages=3)
    assert program.extension == "ttir"
    assert remarks == ["num_stages = 3 is for Triton's own passes, which find its layouts"]


def test_what_has_no_layouts_of_xtile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.ttir"
    path.write_text(DESCRIPTORS)
    arguments = [str(path), "-o", str(tmp_path / "rows.hsaco"), "--chip", "gfx1250"]
    assert main(["compile", *arguments, "--remarks"]) == 0
    reason = "tt.make_tensor_descriptor is of blocks of tensors"
    remark = f":7.8-78: remark: Triton's own passes find the layouts of this kernel: {reason}"
    assert remark in capsys.readouterr().err
    assert main(["compile", *arguments, "--through", "amdg"]) == 1
    assert f":7.8-78: error: {reason}" in capsys.readouterr().err


def test_layouts_that_triton_fails_on(
    scale: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It finds its own, unless those of xtile are asked for."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    given: list[str] = []

    def build(request: Request, *others: Any) -> Built:
        given.append(request.extension)
        if request.extension == "ttgir":
            raise BuildError("failed", "LLVM ERROR: no")
        return build_in_process(request, *others)

    monkeypatch.setattr(builds, "build_in_process", build)
    path, found = scale.with_suffix(".hsaco"), Diagnostics()
    xtile.compile(scale, path, chip="gfx90a", diagnostics=found)
    assert given == ["ttgir", "ttir"]
    (remark,) = found
    assert remark.message.startswith(
        "Triton finds the layouts, because it fails on those of xtile: Triton 3.9.0, for gfx90a,"
    )
    with pytest.raises(DeviceError, match="cannot build the kernel: failed"):
        xtile.compile(scale, path, chip="gfx90a", through="amdg")


def test_what_launches_check(tmp_path: Path) -> None:
    """With offsets of 32 bits every access is one of a buffer, where sizes are not known, too."""
    source, path = EXAMPLES / "gemm.ir", tmp_path / "gemm.hsaco"
    xtile.compile(source, path, chip="gfx942", launch_checks=True)
    interface = read_machine_code(path, HSACO).kernels["gemm"]
    assert interface.in_reach == (1, 5, 10)
    assert interface.divisors == (1, 16, 1, 1, 1, 16, 1, 1, 1, 1, 16, 1, 1, 1)
    memory = frozenset(interface.in_reach)
    program = compilation.compile_program(
        xtile.parse(source), "gfx942", promises=Promises(memory, memory)
    )
    built = compilation.build_program(program, "gfx942", Cache(), None, None)
    assembly = built.stages["amdgcn"].decode()
    assert count(assembly, "buffer_load") > 0
    assert count(assembly, "buffer_store") > 0
    assert count(assembly, "global_load") == count(assembly, "global_store") == 0


@pytest.mark.parametrize("chip", AMD.chips if EVERYTHING else ["gfx950"])
def test_every_chip(chip: str, tmp_path: Path) -> None:
    assembly = assembly_of(EXAMPLES / "matrix_unit.ir", tmp_path, "--chip", chip)
    products = count(assembly, "v_mfma_f32") + count(assembly, "v_wmma_f32")
    assert products == (2 if chip in ("gfx950", "gfx1250") else 4)
    assert ".vgpr_spill_count: 0" in assembly


# --- what is refused, and what fails ---


def test_several_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ir"
    path.write_text("func @f(%x: memref<f32x8>) {\n}\nfunc @g(%x: memref<f32x8>) {\n}\n")
    assert main(["compile", str(path), "-o", str(tmp_path / "k.hsaco")]) == 1
    assert "Triton compiles one kernel of a module, and here are @f, @g; name one of them" in (
        capsys.readouterr().err
    )
    xtile.compile(path, tmp_path / "k.hsaco", entry="g")
    assert list(read_machine_code(tmp_path / "k.hsaco", HSACO).signatures) == ["g"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("k.hsaco", {"may_overlap": True}, "Triton takes different arguments for different memory"),
        ("k.hsaco", {"warps": 3}, "expected warps as one of"),
        ("k.cubin", {"warps": 4}, "warps, stages and through are for Triton"),
        ("k.hsaco", {"stages": 2, "through": "amdg"}, "the layouts of xtile have stages of their"),
        ("k.hsaco", {"chip": "sm_90"}, "'sm_90' is a chip of NVIDIA's; an hsaco is for gfx90a"),
    ],
)
def test_options(scale: Path, name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        xtile.compile(scale, scale.with_name(name), **options)  # pyright: ignore


ABORTS = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64],
                         warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32,
                   ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @fill(%x: !tt.ptr<f32>, %v: f32) {
    %lane = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    %s = tt.splat %v : f32 -> tensor<128xf32, #blocked>
    %old = amdg.buffer_atomic_rmw add, acq_rel, gpu, %s, %x[%lane]
      : !tt.ptr<f32> -> tensor<128xf32, #blocked>
    tt.return
  }
}
"""
"""A kernel that xtile itself refuses; Triton 3.9 does not."""


def test_what_aborts_triton() -> None:
    request = Request(ABORTS, "ttgir", "hip", "gfx942", 64, {})
    with pytest.raises(BuildError, match="it died of SIGABRT") as raised:
        build_in_process(request, installed.find_triton().folder, 60)
    assert raised.value.log.startswith("LLVM ERROR: Cannot select")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            'loc("{path}":5:3): error: it is wrong\nStack dump:\n#0 0x1',
            "{path}:5.3: error: it is wrong",
        ),
        (
            "LLVM ERROR: no\n  t1: i32 = and t2\nmodule @m {{\n}}",
            "xtile: error: Triton 3.9.0, for gfx90a, cannot build the kernel: failed\nLLVM ERROR",
        ),
    ],
)
def test_what_triton_says(
    said: str,
    shown: str,
    scale: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """At its location if it has one, without what compilers dump; it is asked once."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    runs: list[Request] = []

    def build(request: Request, *_: object) -> None:
        runs.append(request)
        raise BuildError("failed", said.format(path=scale))

    monkeypatch.setattr(builds, "build_in_process", build)
    arguments = [str(scale), "-o", str(scale.with_suffix(".hsaco")), "--chip", "gfx90a"]
    arguments += ["--through", "ttir"]
    code = 1 if "loc" in said else 3
    for number in range(2):
        assert main(["compile", *arguments]) == code
        error = capsys.readouterr().err
        remembered = "failed (in an earlier attempt; `xtile cache clear` forgets it)"
        expected = shown.format(path=scale)
        assert error.startswith(expected.replace("failed", remembered) if number else expected)
        assert "0x1" not in error
        assert "t1:" not in error
    assert [request.architecture for request in runs] == ["gfx90a"]


def test_too_little_time(scale: Path) -> None:
    text = SCALE.replace("256", "512")
    scale.write_text(text)
    with pytest.raises(DeviceError, match=r"it was not done after 0\.001 s"):
        xtile.compile(scale, scale.with_suffix(".hsaco"), chip="gfx90a", build_seconds=0.001)


def test_without_triton(
    scale: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None)  # pyright: ignore
    installed.find_triton.cache_clear()
    try:
        assert main(["compile", str(scale), "-o", str(scale.with_suffix(".hsaco"))]) == 3
        expected = (
            "Triton, which makes machine code, is not here; add it with: pip install 'xtile[amd]'\n"
        )
        assert capsys.readouterr().err == f"xtile: error: {expected}"
        assert opt_main([str(scale), "-t", "hsaco"]) == 3
        assert capsys.readouterr().err == f"xtile-opt: error: {expected}"
    finally:
        installed.find_triton.cache_clear()
