"""Routes between languages, from Python and with the flags of xtile-opt."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import StringAttr

import xtile
from xtile.backends.intel.compilation import spirv_in
from xtile.dialects.cuda_tile.bytecode import encode as encode_tiles
from xtile.dialects.languages import SPIRV_MAGIC
from xtile.dialects.spirv import encode
from xtile.opt import main
from xtile.targets import INTEL, NVIDIA, OptionError
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.route import ROUTES, Options, translate

GEMM = """\
func @f(%alpha: f16, %A: memref<f16x64x64>, %B: memref<f16x64x64>, %beta: f32,
        %C: memref<f32x64x64>) {
    gemm.n.n %alpha, %A, %B, %beta, %C
}
"""

MATRIX = """\
func @f(%A: memref<f16x63x64>, %C: memref<f16x64x64>) attributes {subgroup_size=16} {
    parallel {
        %z = constant 0 : index
        %a = cooperative_matrix_load %A[%z,%z] : coopmatrix<f16x16x8,matrix_acc>
        cooperative_matrix_store %a, %C[%z,%z]
    }
}
"""

UNKNOWN = """\
func @f(%A: memref<f16x?x?>, %C: memref<f16x64x64>) attributes {subgroup_size=16} {
    parallel {
        %z = constant 0 : index
        %a = cooperative_matrix_load.both_checked %A[%z,%z] : coopmatrix<f16x16x8,matrix_acc>
        cooperative_matrix_store %a, %C[%z,%z]
    }
}
"""

NARROW = """\
func @f(%A: memref<i8x64>) {
    parallel {
        %a = constant 1 : coopmatrix<i8x64x8,matrix_b>
        %b = cooperative_matrix_extract %a[1] : i8
    }
}
"""

PITCH = (
    "loads element by element: the pitch is 126 bytes, no multiple of 16, a row has 126 bytes, "
    "no multiple of 4"
)

LEVELS = {
    "tensorlang-to-core": 'core.level = "block"',
    "tensorlang-to-subgroup": 'core.level = "subgroup"',
    "tensorlang-to-tile": 'core.level = "tile"',
    "tensorlang-to-xegpu": "xegpu.dpas",
}
"""A part of the text that each route ends with."""

Opt = pytest.CaptureFixture[str]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the folder that the commands run in."""
    monkeypatch.chdir(tmp_path)
    Path("kernel.ir").write_text(GEMM)
    return Path("kernel.ir")


def _opt(capsys: Opt, *arguments: object) -> tuple[int, str, str]:
    """Runs xtile-opt and returns its exit code, its output and its messages."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# --- from Python ---


@pytest.mark.parametrize("route", LEVELS)
def test_the_end_of_a_route(route: str) -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    before = xtile.to_text(module)
    assert LEVELS[route] in xtile.to_text(translate(module, route), "mlir")
    assert xtile.to_text(module) == before


def test_a_route_can_be_cut() -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    at_once = translate(module, "tensorlang-to-xegpu")
    in_two = translate(translate(module, "tensorlang-to-subgroup"), "core-to-xegpu")
    assert xtile.to_text(in_two, "mlir") == xtile.to_text(at_once, "mlir")


def test_unknown_routes() -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    with pytest.raises(OptionError, match="tensorlang cannot be translated to 'ptx'; it can to c"):
        translate(module, "tensorlang-to-ptx")
    with pytest.raises(OptionError, match="there is no translation 'ptx'; there are tensorlang-"):
        translate(module, "ptx")


def test_messages_point_at_the_source_at_every_step() -> None:
    diagnostics = Diagnostics()
    translate(xtile.parse(MATRIX, language="tensorlang"), "tensorlang-to-xegpu", None, diagnostics)
    with pytest.raises(
        DiagnosticError, match=re.escape("<text>:4.14-50: error: which component entry 1")
    ):
        translate(xtile.parse(NARROW, language="tensorlang"), "tensorlang-to-xegpu")
    assert [message.message for message in diagnostics] == [PITCH]


def test_what_files_begin_with() -> None:
    assert {name: ROUTES.extension_of(route) for name, route in ROUTES.routes.items()} == {
        "tensorlang-to-core": "ir",
        "linalg-to-tensorlang": "mlir",
        "cuda_tile-to-tensorlang": "mlir",
        "triton-to-tensorlang": "ttir",
        "core-to-tensorlang": "mlir",
        "xegpu-to-tensorlang": "mlir",
        "tensorlang-to-subgroup": "ir",
        "tensorlang-to-xegpu": "ir",
        "core-to-subgroup": "mlir",
        "core-to-xegpu": "mlir",
        "tensorlang-to-lane": "ir",
        "core-to-lane": "mlir",
        "tensorlang-to-spirv": "ir",
        "core-to-spirv": "mlir",
        "cuda_tile-to-lane": "mlir",
        "cuda_tile-to-spirv": "mlir",
        "cuda_tile-to-subgroup": "mlir",
        "cuda_tile-to-xegpu": "mlir",
        "xegpu-to-core": "mlir",
        "xegpu-to-cuda_tile": "mlir",
        "xegpu-to-lane": "mlir",
        "xegpu-to-spirv": "mlir",
        "xegpu-to-subgroup": "mlir",
        "xegpu-to-tile": "mlir",
        "tensorlang-to-tile": "ir",
        "core-to-tile": "mlir",
        "tensorlang-to-cuda_tile": "ir",
        "core-to-cuda_tile": "mlir",
        "linalg-to-core": "mlir",
        "linalg-to-subgroup": "mlir",
        "linalg-to-tile": "mlir",
        "linalg-to-xegpu": "mlir",
        "linalg-to-lane": "mlir",
        "linalg-to-spirv": "mlir",
        "linalg-to-cuda_tile": "mlir",
        "cuda_tile-to-core": "mlir",
        "cuda_tile-to-tile": "mlir",
        "tensorlang-to-triton": "ir",
        "tensorlang-to-amdg": "ir",
        "core-to-triton": "mlir",
        "core-to-amdg": "mlir",
        "cuda_tile-to-triton": "mlir",
        "cuda_tile-to-amdg": "mlir",
        "linalg-to-triton": "mlir",
        "linalg-to-amdg": "mlir",
        "xegpu-to-triton": "mlir",
        "xegpu-to-xegpu": "mlir",
        "xegpu-to-amdg": "mlir",
        "triton-to-amdg": "ttir",
        "triton-to-core": "ttir",
        "triton-to-cuda_tile": "ttir",
        "triton-to-lane": "ttir",
        "triton-to-spirv": "ttir",
        "triton-to-subgroup": "ttir",
        "triton-to-tile": "ttir",
        "triton-to-triton": "ttir",
        "triton-to-xegpu": "ttir",
    }


@pytest.mark.parametrize("chip", ["pvc", "cpu"])
def test_core_becomes_spirv_from_every_level(chip: str) -> None:
    options = Options(chip)
    source = xtile.parse(GEMM, language="tensorlang")
    expected = encode(spirv_in(translate(source, "tensorlang-to-spirv", options)))
    block = translate(source, "tensorlang-to-core", options)
    assert encode(spirv_in(translate(block, "core-to-spirv", options))) == expected
    lane = translate(source, "tensorlang-to-lane", options)
    assert encode(spirv_in(translate(lane, "lane-to-spirv", options))) == expected


@pytest.mark.parametrize(
    ("route", "level", "chip"),
    [
        ("core-to-tile", "block", "sm_90"),
        ("core-to-lane", "block", "cpu"),
        ("core-to-xegpu", "subgroup", "cpu"),
        ("core-to-xegpu", "subgroup", "pvc"),
    ],
)
def test_a_loop_without_a_sign_stays_one(route: str, level: str, chip: str) -> None:
    text = f"""
    gpu.module @m {{
      gpu.func @k(%n: i32, %out: memref<4xi32>) kernel attributes {{core.level = "{level}"}} {{
        %c0 = arith.constant 0 : index
        %last = arith.constant -1 : i32
        %step = arith.constant 1431655765 : i32
        scf.for unsigned %i = %n to %last step %step : i32 {{
          memref.store %i, %out[%c0] : memref<4xi32>
        }}
        gpu.return
      }}
    }}"""
    module = translate(xtile.parse(text, language="mlir"), route, Options(chip))
    assert "scf.for unsigned %i = %n to %last" in xtile.to_text(module, "mlir")


def test_the_subgroup_level_becomes_spirv() -> None:
    source = xtile.parse(GEMM, language="tensorlang")
    subgroup = translate(source, "tensorlang-to-subgroup", Options("pvc"))
    module = spirv_in(translate(subgroup, "core-to-spirv", Options("pvc")))
    assert encode(module).startswith(SPIRV_MAGIC)


def test_every_chip_is_found() -> None:
    assert [Options(chip).target(INTEL).name for chip in INTEL.chips] == list(INTEL.chips)
    assert [Options().target(vendor).name for vendor in (INTEL, NVIDIA)] == ["pvc", "sm_90"]


# --- chips ---


def test_dg2_has_neither_blocks_nor_a_matrix_unit_for_16_lanes() -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    names = {
        operation.name
        for operation in translate(module, "tensorlang-to-xegpu", Options("dg2")).walk()
    }
    assert not any(name.startswith("xegpu.") for name in names)
    assert {"memref.load", "memref.store", "arith.mulf", "arith.addf"} <= names


@pytest.mark.parametrize(
    ("chip", "size", "known"),
    [
        ("pvc", 8, "16 or 32"),
        ("bmg", 8, "16 or 32"),
        ("pvc", 64, "16 or 32"),
        ("dg2", 64, "8 or 16 or 32"),
    ],
)
def test_subgroup_sizes_that_a_chip_lacks(chip: str, size: int, known: str) -> None:
    text = f"func @f(%A: memref<f32x64>) attributes {{subgroup_size={size}}} {{\n}}\n"
    with pytest.raises(DiagnosticError) as caught:
        translate(xtile.parse(text, language="tensorlang"), "tensorlang-to-xegpu", Options(chip))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == (
        f"a subgroup has {size} work-items, but {chip} has subgroups of {known}"
    )


@pytest.mark.parametrize(("chip", "size"), [("pvc", 32), ("bmg", 32), ("dg2", 8), ("dg2", 32)])
def test_subgroup_sizes_that_a_chip_has(chip: str, size: int) -> None:
    text = f"func @f(%A: memref<f32x64>) attributes {{subgroup_size={size}}} {{\n}}\n"
    module = translate(
        xtile.parse(text, language="tensorlang"), "tensorlang-to-xegpu", Options(chip)
    )
    assert f"intel_reqd_sub_group_size = {size} : i32" in xtile.to_text(module, "mlir")


# --- xtile-opt ---


@pytest.mark.parametrize("route", LEVELS)
def test_translate(route: str, kernel: Path, capsys: Opt) -> None:
    code, out, err = _opt(capsys, kernel, "--translate", route)
    assert (code, err) == (0, "")
    module = translate(xtile.parse(kernel), route)
    assert out == xtile.to_text(module, "mlir")


@pytest.mark.parametrize("route", ["tensorlang-to-core", "tensorlang-to-tensorlang"])
def test_the_name_of_a_file_tells_its_language(route: str, kernel: Path, capsys: Opt) -> None:
    Path("kernel.mlir").write_text(xtile.to_text(xtile.parse(kernel), "mlir"))
    Path("kernel").write_text(GEMM)
    expected = _opt(capsys, kernel, "--translate", route)
    assert expected[0] == 0
    assert _opt(capsys, "kernel.mlir", "--translate", route) == expected
    assert _opt(capsys, "kernel", "--translate", route) == expected
    code, out, err = _opt(capsys, kernel, "--translate", "core-to-spirv")
    assert (code, out) == (1, "")
    assert err.startswith(
        "kernel.ir:1.1-2.30: error: @f is a function of the tensor language, but "
    )


@pytest.mark.parametrize("chip", INTEL.chips)
def test_chip(chip: str, kernel: Path, capsys: Opt) -> None:
    code, out, err = _opt(capsys, kernel, "--translate", "tensorlang-to-xegpu", "--chip", chip)
    assert (code, err) == (0, "")
    assert ("xegpu.dpas" in out) == (chip in ("pvc", "bmg"))


def test_remarks(kernel: Path, capsys: Opt) -> None:
    kernel.write_text(MATRIX)
    arguments = (kernel, "--translate", "tensorlang-to-xegpu")
    code, out, err = _opt(capsys, *arguments, "--remarks")
    assert code == 0
    assert err == (
        f"kernel.ir:4.14-80: remark: {PITCH}\n"
        "        %a = cooperative_matrix_load %A[%z,%z] : coopmatrix<f16x16x8,matrix_acc>\n"
        "             ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
    )
    assert _opt(capsys, *arguments) == (0, out, "")


def test_what_cannot_be_translated(kernel: Path, capsys: Opt) -> None:
    kernel.write_text(NARROW)
    code, out, err = _opt(capsys, kernel, "--translate", "tensorlang-to-xegpu")
    assert (code, out) == (1, "")
    assert err == (
        "kernel.ir:4.14-50: error: which component entry 1 of coopmatrix<i8x64x8,matrix_b> is "
        "depends on the subgroup size; give the function the attribute subgroup_size\n"
        "        %b = cooperative_matrix_extract %a[1] : i8\n"
        "             ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
    )


USAGE_ERRORS = [
    (("--translate", "tensorlang-to-ptx"), "argument --translate: invalid choice"),
    (
        ("--translate", "tensorlang-to-xegpu", "--chip", "xe9"),
        "argument --chip: there is no chip 'xe9'; xegpu is for pvc, bmg, dg2",
    ),
    (("--chip", "pvc"), "argument --chip: needs --translate"),
    (("--remarks",), "argument --remarks: needs --translate"),
    (
        ("--translate", "tensorlang-to-xegpu", "-t", "tensorlang"),
        (
            "argument -t/--target: tensorlang does not encode xegpu, which --translate "
            "tensorlang-to-xegpu ends with; choose mlir"
        ),
    ),
    (
        ("--translate", "tensorlang-to-spirv", "-t", "tileir-bytecode"),
        (
            "tileir-bytecode does not encode spirv, which --translate tensorlang-to-spirv ends "
            "with; choose mlir or spirv or spirv-asm"
        ),
    ),
    (
        ("--translate", "tensorlang-to-spirv", "--chip", "dg2", "-t", "spirv{chip=pvc}"),
        "argument -t/--target: chip is given twice",
    ),
    (
        ("--translate", "tensorlang-to-tensorlang", "--chip", "pvc"),
        "argument --chip: needs --translate",
    ),
    (
        ("--translate", "xegpu-to-spirv", "--may-overlap"),
        "argument --may-overlap: is for kernels of the tensor language and the core form",
    ),
    (
        ("--translate", "tensorlang-to-xegpu", "--matrix-spelling", "plain"),
        "argument --matrix-spelling: is for kernels that become SPIR-V",
    ),
    (
        ("--translate", "tensorlang-to-spirv", "--chip", "cpu", "--matrix-spelling", "functions"),
        "argument --matrix-spelling: cpu has no matrix spelling 'functions'; it has plain",
    ),
    (
        ("--translate", "tensorlang-to-xegpu", "-f", "mlir"),
        "argument --translate: already says what -f/--frontend would",
    ),
    (
        ("-p", "tensorlang-to-xegpu{chip=xe9}"),
        "there is no chip 'xe9'; tensorlang-to-xegpu is for pvc, bmg",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE_ERRORS)
def test_usage_errors(arguments: tuple[str, ...], message: str, kernel: Path, capsys: Opt) -> None:
    code, out, err = _opt(capsys, kernel, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_garbage_is_collected_again_afterwards() -> None:
    assert gc.isenabled()
    translate(xtile.parse(GEMM, language="tensorlang"), "tensorlang-to-xegpu")
    assert gc.isenabled()
    with pytest.raises(DiagnosticError):
        translate(xtile.parse(NARROW, language="tensorlang"), "tensorlang-to-xegpu")
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("route", "chip", "maker", "target", "chips"),
    [
        (
            "tensorlang-to-spirv",
            "sm_90",
            "NVIDIA",
            "spirv",
            "pvc, bmg, dg2, cpu, cpu-avx2, cpu-amx",
        ),
        (
            "tensorlang-to-cuda_tile",
            "pvc",
            "Intel",
            "cuda_tile",
            "sm_80, sm_86, sm_89, sm_90, sm_100",
        ),
    ],
)
def test_chips_of_other_vendors_are_wrong(
    kernel: Path, capsys: Opt, route: str, chip: str, maker: str, target: str, chips: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(kernel), "--translate", route, "--chip", chip])
    assert end.value.code == 2
    assert (
        f"argument --chip: '{chip}' is a chip of {maker}'s; {target} is for {chips}"
        in capsys.readouterr().err
    )


# --- targets that encode what a translation ends with ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("route", "target", "more"),
    [
        ("tensorlang-to-spirv", "spirv-asm", ("--chip", "dg2")),
        ("tensorlang-to-spirv", "spirv-asm", ("--chip", "cpu")),
        ("tensorlang-to-spirv", "spirv-asm", ("--matrix-spelling", "plain")),
        ("tensorlang-to-spirv", "spirv-asm", ()),
    ],
)
def test_a_target_may_encode_what_a_translation_ends_with(
    route: str, target: str, more: tuple[str, ...], kernel: Path, capsys: Opt
) -> None:
    at_once = _opt(capsys, kernel, "--translate", route, "-t", target, *more)
    assert at_once == _opt(capsys, kernel, "-t", target, *more)
    code, out, err = at_once
    assert (code, err) == (0, "")
    assert "OpEntryPoint Kernel" in out


@pytest.mark.parametrize("may_overlap", [False, True])
def test_bytecode_of_a_translation(may_overlap: bool, kernel: Path, capsys: Opt) -> None:
    more = ("--chip", "sm_80", *(["--may-overlap"] if may_overlap else []))
    to_bytes = ("-t", "tileir-bytecode", "-o")
    route = ("--translate", "tensorlang-to-cuda_tile")
    assert _opt(capsys, kernel, *route, *to_bytes, "a.tileirbc", *more) == (0, "", "")
    assert _opt(capsys, kernel, *to_bytes, "b.tileirbc", *more) == (0, "", "")
    data = Path("a.tileirbc").read_bytes()
    assert data == Path("b.tileirbc").read_bytes()
    module = translate(xtile.parse(kernel), route[1], Options("sm_80", may_overlap=may_overlap))
    assert data == encode_tiles(module)


@pytest.mark.slow
def test_the_same_chip_is_the_default_of_a_translation_and_of_a_target(
    kernel: Path, capsys: Opt
) -> None:
    _, translated, _ = _opt(capsys, kernel, "--translate", "tensorlang-to-spirv", "-t", "spirv-asm")
    _, compiled, _ = _opt(capsys, kernel, "-t", "spirv-asm")
    _, for_pvc, _ = _opt(capsys, kernel, "-t", "spirv-asm", "--chip", "pvc")
    assert translated == compiled == for_pvc


def test_mlir_may_be_asked_for(kernel: Path, capsys: Opt) -> None:
    code, out, err = _opt(capsys, kernel, "--translate", "tensorlang-to-tensorlang", "-t", "mlir")
    assert (code, err) == (0, "")
    assert "tensorlang.func @" in out


# --- remarks and steps ---


@pytest.mark.parametrize(
    "arguments", [("--translate", "tensorlang-to-xegpu"), ("-t", "spirv-asm", "--chip", "pvc")]
)
def test_remarks_of_translations_and_targets(
    arguments: tuple[str, ...], kernel: Path, capsys: Opt
) -> None:
    kernel.write_text(MATRIX)
    _, out, err = _opt(capsys, kernel, *arguments, "--remarks")
    assert "kernel.ir:4.14-80: remark: " in err
    assert _opt(capsys, kernel, *arguments) == (0, out, "")


STEPS = {
    ("--translate", "tensorlang-to-xegpu"): (
        "tensorlang-to-core core-distribute core-cleanup subgroup-to-xegpu"
    ),
    ("-t", "spirv-asm"): (
        "tensorlang-to-core core-distribute core-cleanup subgroup-to-lane lane-to-spirv"
    ),
    ("--translate", "tensorlang-to-spirv", "-t", "spirv-asm"): (
        "tensorlang-to-core core-distribute core-cleanup subgroup-to-lane lane-to-spirv"
    ),
    ("--translate", "tensorlang-to-cuda_tile"): (
        "tensorlang-to-core core-tile-linalg core-cleanup tile-to-cuda_tile"
    ),
    ("-p", "tensorlang-to-core,core-cleanup", "-t", "spirv-asm"): (
        "tensorlang-to-core core-cleanup core-distribute core-cleanup subgroup-to-lane "
        "lane-to-spirv"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", STEPS)
def test_steps_are_timed_and_shown(arguments: tuple[str, ...], kernel: Path, capsys: Opt) -> None:
    names = STEPS[arguments].split()
    code, out, err = _opt(capsys, kernel, *arguments, "--time-passes")
    assert code == 0
    assert re.findall(r"^(\S+): \d+\.\d{3} s$", err, re.MULTILINE) == names
    code, again, err = _opt(capsys, kernel, *arguments, "--print-between-passes")
    assert (code, again) == (0, out)
    shown = re.split(r"^// after pass '(\S+)':\n", err, flags=re.MULTILINE)
    assert shown[1::2] == names[:-1]
    assert shown[2].startswith("module")
    for text in shown[2::2]:
        xtile.parse(text, language="mlir")


# --- the API ---


@pytest.mark.parametrize(
    ("target", "chip", "message"),
    [
        ("cuda_tile", "pvc", "'pvc' is a chip of Intel's; cuda_tile is for sm_80, sm_86, "),
        ("cuda_tile", "gfx942", "'gfx942' is a chip of AMD's; cuda_tile is for sm_80, "),
        ("xegpu", "sm_90", "'sm_90' is a chip of NVIDIA's; xegpu is for pvc, bmg, dg2, cpu, "),
        ("core", "gfx000", "there is no chip 'gfx000'; core is for pvc, .*sm_121, gfx90a"),
        (
            "foo",
            None,
            "there is no language 'foo'; kernels can be translated to core, ",
        ),
    ],
)
def test_what_a_kernel_cannot_be_ported_to(target: Any, chip: str | None, message: str) -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    with pytest.raises(OptionError, match=message):
        xtile.port(module, target, chip=chip)
    # Not even the text is needed to find that out.
    with pytest.raises(OptionError, match=message):
        xtile.port("no/such.ir", target, chip=chip)


@pytest.mark.slow
def test_ports_have_the_default_chip_of_the_vendor() -> None:
    module = xtile.parse(GEMM, language="tensorlang")
    for target, chip in (("xegpu", "pvc"), ("spirv", "pvc"), ("cuda_tile", "sm_90")):
        expected = xtile.to_text(xtile.port(module, target, chip=chip), "mlir")
        assert xtile.to_text(xtile.port(module, target), "mlir") == expected


# --- what is to be promised ---


def test_remarks_name_what_to_promise_in_the_words_of_the_source(kernel: Path, capsys: Opt) -> None:
    kernel.write_text(UNKNOWN)
    arguments = ("--translate", "tensorlang-to-xegpu", "--remarks")
    _, _, err = _opt(capsys, kernel, *arguments)
    assert "; give %A {alignment=128, stride_gcd=[1,32], shape_gcd=[32,1]}\n" in err
    promise = err.partition("give %A ")[2].partition("\n")[0]
    kernel.write_text(UNKNOWN.replace("f16x?x?>,", f"f16x?x?> {promise},"))
    code, out, err = _opt(capsys, kernel, *arguments)
    assert (code, err) == (0, "")
    assert "xegpu.load_nd" in out
    # MLIR spells the same attributes in its own way.
    kernel.write_text(UNKNOWN)
    Path("k.mlir").write_text(xtile.to_text(xtile.parse(kernel), "mlir"))
    _, _, err = _opt(capsys, Path("k.mlir"), "-t", "spirv-asm", "--remarks")
    promise = "{alignment = 128 : i64, stride_gcd = [1, 32], shape_gcd = [32, 1]}"
    assert f"; give %A {promise}\n" in err


@pytest.mark.slow
def test_layouts_are_for_the_chip_that_is_asked_for() -> None:
    """What has layouts for another chip is translated again through the core form."""
    laid_out = xtile.translate(xtile.parse(GEMM, language="tensorlang"), "amdg", chip="gfx950")
    for chip, target in ((None, "gfx950"), ("gfx950", "gfx950"), ("gfx1100", "gfx1100")):
        made = xtile.translate(laid_out, "amdg", chip=chip)
        assert str(made.attributes["ttg.target"]) == f'"hip:{target}"'
        assert made.is_structurally_equivalent(laid_out) == (target == "gfx950")
    for_nvidia = laid_out.clone()
    for_nvidia.attributes["ttg.target"] = StringAttr("cuda:90")
    made = xtile.translate(for_nvidia, "amdg")
    assert str(made.attributes["ttg.target"]) == '"hip:gfx942"'
