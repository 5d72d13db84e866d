"""What each pass, translation and target takes: no other kernels, and never nothing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

import xtile
from tests.seeds import fresh_generator
from xtile.opt import main
from xtile.text.diagnostics import DiagnosticError, SourceWarning
from xtile.translate.forms import (
    AMDG,
    BLOCK,
    CALLED,
    CUDA_TILE,
    FORMS,
    HOST,
    LANE,
    LINALG,
    NO_LEVEL,
    SPIRV,
    SUBGROUP,
    TENSORLANG,
    TILE,
    TRITON,
    XEGPU_FUNCTION,
    XEGPU_LANE,
    XEGPU_SUBGROUP,
    XEGPU_WORK_GROUP,
    Form,
    forms_of,
)
from xtile.translate.route import ROUTES, translate
from xtile.universe import XTILE_UNIVERSE


def _kernel(level: str | None, name: str = "k", body: str = "") -> str:
    size = ", known_block_size = array<i32: 1, 1, 1>" if level in ("lane", "subgroup") else ""
    at = "" if level is None else f' attributes {{core.level = "{level}"{size}}}'
    return f"gpu.func @{name}(%a: memref<4xi32>) kernel{at} {{\n{body}\ngpu.return\n}}"


def _module(*functions: str) -> str:
    inside = "\n".join(functions)
    return f"gpu.module @m {{\n{inside}\n}}\n"


ADD = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : i32
%v = memref.atomic_rmw addi %c1, %a[%c0] : (i32, memref<4xi32>) -> i32"""

FILL = """%c1 = arith.constant 1 : i32
linalg.fill ins(%c1 : i32) outs(%a : memref<4xi32>)"""

HOST_TEXT = "func.func @main() {\n  return\n}\n"


_SIZE = "known_block_size = array<i32: 16, 1, 1>"


def _copies(type: str, part: str, mark: str = "") -> str:
    """A kernel that copies a block of XeGPU."""
    return _module(f"""gpu.func @k(%a: memref<8x16xf32>) kernel attributes {{{_SIZE}}} {{
      {_copy(type, part, mark)}
      gpu.return
    }}""")


def _copy(type: str, part: str, mark: str = "") -> str:
    return f"""%t = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> {type}
      %v = xegpu.load_nd %t[0, 0] {mark}: {type} -> {part}
      xegpu.store_nd %v, %t[0, 0] : {part}, {type}"""


BLOCK_TYPE = "!xegpu.tensor_desc<8x16xf32>"
DEALT_TYPE = "!xegpu.tensor_desc<8x16xf32, #xegpu.layout<sg_layout = [1, 2], sg_data = [8, 8]>>"

TEXTS: Mapping[Form | None, str] = {
    None: "",
    TENSORLANG: "",
    LINALG: _module(_kernel(None, body=FILL)),
    BLOCK: _module(_kernel("block", body=ADD)),
    SUBGROUP: _module(_kernel("subgroup", body=ADD)),
    LANE: _module(_kernel("lane", body=ADD)),
    TILE: _module(_kernel("tile", body=ADD)),
    NO_LEVEL: _module(_kernel(None, body=f"core.parallel {{\n{ADD}\n}}")),
    XEGPU_WORK_GROUP: _copies(DEALT_TYPE, "vector<8x16xf32>"),
    XEGPU_SUBGROUP: _copies(BLOCK_TYPE, "vector<8x16xf32>"),
    XEGPU_LANE: _copies(BLOCK_TYPE, "vector<8xf32>"),
    CUDA_TILE: "cuda_tile.module @k {\n  entry @e() {\n    return\n  }\n}\n",
    TRITON: "tt.func public @k() {\n  tt.return\n}\n",
    AMDG: 'module attributes {"ttg.num-warps" = 4 : i32} {\n'
    "  tt.func public @k() {\n    tt.return\n  }\n}\n",
    SPIRV: "",
    HOST: HOST_TEXT,
    CALLED: _module("func.func @f() { return }"),
    XEGPU_FUNCTION: "func.func @f(%a: memref<8x16xf32>) {\n"
    + _copy(BLOCK_TYPE, "vector<8x16xf32>")
    + "\nreturn\n}\n",
}
"""A module for each form, and an empty one."""

_OF_XEGPU = {XEGPU_WORK_GROUP, XEGPU_SUBGROUP, XEGPU_LANE}

TAKEN: Mapping[str, set[Form]] = {
    "block-to-tensorlang": {BLOCK},
    "core-cleanup": {BLOCK, SUBGROUP, LANE, TILE, NO_LEVEL, *_OF_XEGPU},
    "core-distribute": {BLOCK},
    "core-distribute-tiles": {TILE},
    "core-lift": {SUBGROUP, LANE, XEGPU_LANE},
    "core-structure": {TILE},
    "core-split-complex": {BLOCK, SUBGROUP, LANE, TILE, NO_LEVEL, *_OF_XEGPU},
    "core-tile-linalg": {BLOCK},
    "core-to-cuda_tile": {BLOCK, SUBGROUP, LANE, TILE, XEGPU_LANE},
    "core-to-lane": {BLOCK, SUBGROUP, TILE},
    "core-to-spirv": {BLOCK, SUBGROUP, LANE, TILE, XEGPU_LANE},
    "core-to-subgroup": {BLOCK, LANE, TILE, XEGPU_LANE},
    "core-to-tensorlang": {BLOCK, SUBGROUP, LANE, TILE, XEGPU_LANE},
    "core-to-tile": {BLOCK, SUBGROUP, LANE, XEGPU_LANE},
    "core-to-amdg": {BLOCK, SUBGROUP, LANE, TILE, XEGPU_LANE},
    "core-to-triton": {BLOCK, SUBGROUP, LANE, TILE, XEGPU_LANE},
    "core-to-xegpu": {BLOCK, SUBGROUP, TILE},
    "cuda_tile-to-core": {CUDA_TILE},
    "cuda_tile-to-lane": {CUDA_TILE},
    "cuda_tile-to-spirv": {CUDA_TILE},
    "cuda_tile-to-subgroup": {CUDA_TILE},
    "cuda_tile-to-tensorlang": {CUDA_TILE},
    "cuda_tile-to-tile": {CUDA_TILE},
    "cuda_tile-to-amdg": {CUDA_TILE},
    "cuda_tile-to-triton": {CUDA_TILE},
    "cuda_tile-to-xegpu": {CUDA_TILE},
    "lane-to-spirv": {LANE, XEGPU_LANE},
    "lane-to-tensorlang": {LANE, XEGPU_LANE},
    "linalg-to-core": {LINALG},
    "linalg-to-cuda_tile": {LINALG},
    "linalg-to-lane": {LINALG},
    "linalg-to-spirv": {LINALG},
    "linalg-to-subgroup": {LINALG},
    "linalg-to-tensorlang": {LINALG},
    "linalg-to-tile": {LINALG},
    "linalg-to-amdg": {LINALG},
    "linalg-to-triton": {LINALG},
    "linalg-to-xegpu": {LINALG},
    "subgroup-to-lane": {SUBGROUP},
    "subgroup-to-tensorlang": {SUBGROUP},
    "subgroup-to-xegpu": {SUBGROUP},
    "subgroup-to-xegpu-subgroup": {SUBGROUP},
    "tensorlang-to-core": {TENSORLANG},
    "tensorlang-to-cuda_tile": {TENSORLANG},
    "tensorlang-to-lane": {TENSORLANG},
    "tensorlang-to-spirv": {TENSORLANG},
    "tensorlang-to-subgroup": {TENSORLANG},
    "tensorlang-to-tile": {TENSORLANG},
    "tensorlang-to-amdg": {TENSORLANG},
    "tensorlang-to-triton": {TENSORLANG},
    "tensorlang-to-xegpu": {TENSORLANG},
    "tensorlang-verify": {TENSORLANG},
    "tile-to-cuda_tile": {TILE},
    "tile-to-lane": {TILE},
    "tile-to-triton": {TILE},
    "tile-to-tensorlang": {TILE},
    "tile-to-xegpu": {TILE},
    "triton-to-amdg": {TRITON},
    "triton-to-core": {TRITON, AMDG},
    "triton-to-cuda_tile": {TRITON, AMDG},
    "triton-to-lane": {TRITON, AMDG},
    "triton-to-spirv": {TRITON, AMDG},
    "triton-to-subgroup": {TRITON, AMDG},
    "triton-to-tensorlang": {TRITON, AMDG},
    "triton-to-tile": {TRITON, AMDG},
    "triton-to-triton": {AMDG},
    "triton-to-xegpu": {TRITON, AMDG},
    "xegpu-rfc-to-llvm22": {*_OF_XEGPU, XEGPU_FUNCTION},
    "xegpu-subgroup-to-core": {XEGPU_SUBGROUP},
    "xegpu-to-core": {XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-cuda_tile": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-lane": {XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-spirv": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-subgroup": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-tensorlang": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-tile": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-amdg": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-triton": {LANE, XEGPU_LANE, XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-to-xegpu": {XEGPU_SUBGROUP, XEGPU_WORK_GROUP},
    "xegpu-work-group-to-core": {XEGPU_WORK_GROUP},
}
"""The forms that each pass takes."""


def _read(form: Form | None) -> ModuleOp:
    if form is TENSORLANG:
        return xtile.parse("func @k() {\n}\n", language="tensorlang")
    if form is SPIRV:
        return translate(_read(LANE), "lane-to-spirv")
    text = TEXTS[form]
    is_whole = text.startswith("module")
    return xtile.parse(text if is_whole else f"module {{\n{text}}}\n", language="mlir")


def _pass(name: str) -> ModulePass:
    return XTILE_UNIVERSE.all_passes[name]()()


def test_every_pass_and_every_form_is_here() -> None:
    assert set(TAKEN) == set(XTILE_UNIVERSE.all_passes)
    assert set(TEXTS) == {None, *FORMS}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_a_function_is_written_in(form: Form) -> None:
    assert [found.form for found in forms_of(_read(form))] == [form]


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKEN)
def test_a_pass_works_or_says_what_it_takes(name: str) -> None:
    for form in TEXTS:
        module = _read(form)
        before = xtile.to_text(module, "mlir")
        if form in TAKEN[name]:
            _pass(name).apply(Context(), module)
            given = [found.form for found in forms_of(module)]
            assert len(given) == 1
            assert name not in ROUTES.routes or given[0].is_one_of(
                ROUTES.goals_of(ROUTES.routes[name].target)
            )
            continue
        with pytest.raises(DiagnosticError, match=f"but {name} takes ") as raised:
            _pass(name).apply(Context(), module)
        assert isinstance(raised.value, PassFailedException), (name, form)
        assert xtile.to_text(module, "mlir") == before


@pytest.mark.parametrize("name", TAKEN)
def test_the_contract_is_what_the_pass_does(name: str) -> None:
    assert set(ROUTES.contract_of(name).takes) == TAKEN[name]


@pytest.mark.parametrize(
    ("form", "name", "message"),
    [
        (
            BLOCK,
            "subgroup-to-xegpu",
            (
                '<text>:3.1-8.1: error: @k is a kernel at level "block", but subgroup-to-xegpu '
                'takes kernels at level "subgroup"; run core-distribute first'
            ),
        ),
        (
            XEGPU_FUNCTION,
            "core-to-tile",
            (
                "<text>:2.1-7.1: error: @f is a function with operations of XeGPU that is no "
                'kernel, but core-to-tile takes kernels at level "block", "subgroup" or "lane"'
            ),
        ),
        (
            BLOCK,
            "lane-to-spirv",
            (
                '<text>:3.1-8.1: error: @k is a kernel at level "block", but lane-to-spirv takes '
                'kernels at level "lane"; '
                "run core-distribute, then subgroup-to-lane first"
            ),
        ),
        (
            XEGPU_SUBGROUP,
            "lane-to-spirv",
            (
                "<text>:5.7-84: error: xegpu.load_nd makes @k a kernel of XeGPU at level "
                '"subgroup", but lane-to-spirv takes kernels at level "lane"; '
                "run xegpu-subgroup-to-core, then subgroup-to-lane first"
            ),
        ),
        (
            NO_LEVEL,
            "core-distribute",
            (
                "<text>:4.1-8.1: error: core.parallel makes @k a kernel with operations of core "
                'and without core.level, but core-distribute takes kernels at level "block"; '
                "name its level"
            ),
        ),
        (
            HOST,
            "lane-to-spirv",
            (
                "<text>:2.1-4.1: error: @main is a function of the host, but lane-to-spirv takes "
                'kernels at level "lane"'
            ),
        ),
        (
            CALLED,
            "core-to-spirv",
            "<text>:3.1-25: error: @f is a function for kernels to call, but core-to-spirv takes",
        ),
        (
            CUDA_TILE,
            "core-to-xegpu",
            (
                "<text>:2.1-6.1: error: @k is a module of CUDA Tile IR, but core-to-xegpu takes "
                'kernels at level "block", "tile" or "subgroup"; run cuda_tile-to-core first'
            ),
        ),
        (
            TENSORLANG,
            "core-to-spirv",
            (
                "<text>:1.1-9: error: @k is a function of the tensor language, but core-to-spirv "
                'takes kernels at level "block", "tile", "subgroup" or "lane"; '
                "run tensorlang-to-core first"
            ),
        ),
        (None, "core-to-spirv", "<text>: error: there is no function here, but core-to-spirv"),
    ],
)
def test_what_the_message_says(form: Form | None, name: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        _pass(name).apply(Context(), _read(form))
    assert str(raised.value).startswith(message)


# --- from the command line ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the commands run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("-t", "spirv"), "the translation to spirv"),
        (("-t", "spirv-asm"), "the translation to spirv"),
        (("-t", "tileir-bytecode"), "the translation to cuda_tile"),
        (("--translate", "core-to-spirv"), "core-to-spirv"),
        (("--translate", "core-to-lane"), "core-to-lane"),
        (("-p", "core-to-spirv"), "core-to-spirv"),
        (("-p", "lane-to-spirv"), "lane-to-spirv"),
    ],
)
@pytest.mark.parametrize("form", [None, HOST, CALLED])
def test_nothing_is_written_without_a_kernel(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    name: str,
    form: Form | None,
) -> None:
    Path("k.mlir").write_text(TEXTS[form])
    assert main(["k.mlir", *arguments, "-o", "out"]) == 1
    assert f"but {name} takes " in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "arguments",
    [("-t", "spirv-asm"), ("-p", "lane-to-spirv"), ("--translate", "xegpu-to-spirv")],
)
def test_what_is_left_out_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    helpers = "func.func @unused() { return }\nfunc.func @used() { return }"
    kernel = _kernel(None, body="func.call @used() : () -> ()")
    Path("k.mlir").write_text(HOST_TEXT + _module(helpers, kernel))
    assert main(["k.mlir", *arguments]) == 0
    captured = capsys.readouterr()
    assert "EntryPoint" in captured.out
    lines = [line for line in captured.err.splitlines() if "warning" in line]
    assert lines == [
        (
            "k.mlir:1.1-3.1: warning: @main is a function of the host, and device code is kernels; "
            "it is left out"
        ),
        "k.mlir:5.1-30: warning: @unused is called by no kernel; it is left out",
    ]


def test_passes_warn_from_python() -> None:
    module = xtile.parse(HOST_TEXT + _module(_kernel(None)), language="mlir")
    with pytest.warns(SourceWarning, match="@main is a function of the host"):
        _pass("lane-to-spirv").apply(Context(), module)


def test_launches_leave_the_host_alone() -> None:
    numbers = np.zeros(4, np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SourceWarning)
        kernels = HOST_TEXT + _module(_kernel(None, body=ADD))
        xtile.run(kernels, [numbers], entry="k", device="opencl")
    assert numbers.tolist() == [1, 0, 0, 0]


# --- modules of several forms ---


@pytest.mark.slow
def test_each_kernel_goes_its_own_way() -> None:
    """Each of these adds once in a work-group of one work-item, whatever its level is."""
    levels = {"block": "block", "subgroup": "subgroup", "lane": "lane", "plain": None}
    text = HOST_TEXT + _module(*(_kernel(level, name, ADD) for name, level in levels.items()))
    module = xtile.parse(text, language="mlir")
    given = forms_of(translate(module, "core-to-lane"))
    assert [found.form for found in given] == [HOST, LANE, LANE, LANE, LANE]
    assert [found.is_named for found in given] == [True, False, False, True, False]
    for name in levels:
        for device in ("reference", "opencl"):
            numbers = np.zeros(4, np.int32)
            xtile.run(text, [numbers], entry=name, device=device)
            assert numbers.tolist() == [1, 0, 0, 0], (name, device)


@pytest.mark.slow
def test_languages_levels_globals_and_host_functions_in_one_module() -> None:
    function = """func @source(%a: memref<i32x4>) {
      %one = constant 1 : i32
      parallel {
        %zero = constant 0 : index
        store %one, %a[%zero]
      }
    }"""
    module = xtile.parse(function, language="tensorlang")
    variable = "memref.global @g : memref<4xf32, #gpu.address_space<workgroup>>"
    others = HOST_TEXT + _module(
        variable, _kernel("block", "block", ADD), _kernel(None, "lane", ADD)
    )
    for operation in xtile.parse(others, language="mlir").body.ops:
        module.body.block.add_op(operation.clone())
    assert [found.form for found in forms_of(module)] == [TENSORLANG, HOST, BLOCK, LANE]
    for target, expected in {
        "core": [BLOCK, HOST, BLOCK, LANE],
        "lane": [LANE, HOST, LANE, LANE],
        "spirv": [SPIRV],
    }.items():
        given = xtile.translate(module, target, chip="cpu")
        xtile.verify(given)
        assert [found.form for found in forms_of(given)] == expected
    for name in ("source", "block", "lane"):
        for device in ("reference", "opencl"):
            numbers = np.zeros(4, np.int32)
            xtile.run(module, [numbers], entry=name, device=device)
            assert numbers.tolist() == [1, 0, 0, 0], (name, device)


def test_a_kernel_that_is_refused_stands_beside_others() -> None:
    text = _module(_kernel("block", "good"), _kernel(None, "bad", f"core.parallel {{\n{ADD}\n}}"))
    module = xtile.parse(text, language="mlir")
    with pytest.raises(DiagnosticError) as raised:
        _pass("core-to-tile").apply(Context(), module)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.startswith("core.parallel makes @bad a kernel with")


@pytest.mark.parametrize("form", [CUDA_TILE, SPIRV], ids=lambda form: form.name)
def test_device_code_has_no_room_for_other_kernels(form: Form) -> None:
    module = _read(form)
    for operation in _read(BLOCK).body.ops:
        module.body.block.add_op(operation.clone())
    with pytest.raises(DiagnosticError) as raised:
        xtile.translate(module, form.language)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.endswith(
        "; it is there already and has no room for others, so translate them alone"
    )


def test_branches_between_blocks() -> None:
    body = "cf.br ^next\n^next:"
    for level, name in {
        "block": "core-distribute",
        "subgroup": "subgroup-to-xegpu",
        "tile": "core-to-cuda_tile",
    }.items():
        module = xtile.parse(_module(_kernel(level, body=body)), language="mlir")
        with pytest.raises(DiagnosticError, match=f"@k has several blocks, but {name} takes"):
            _pass(name).apply(Context(), module)


def test_cleaning_up_keeps_blocks() -> None:
    body = f"{ADD}\ncf.br ^next\n^next:\n{ADD.replace('%c', '%d').replace('%v', '%w')}"
    module = xtile.parse(_module(_kernel(None, body=body)), language="mlir")
    before = xtile.to_text(module, "mlir")
    _pass("core-cleanup").apply(Context(), module)
    assert xtile.to_text(module, "mlir") == before.replace("^next", "^bb1")


# --- subgroups that are not full ---

PART = "!xegpu.tensor_desc<8x16xf32>"


def _lanes(attributes: str) -> str:
    return f"""gpu.module @m {{
      gpu.func @k(%a: memref<8x16xf32>, %b: memref<8x16xf32>) kernel attributes {{{attributes}}} {{
        %0 = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> {PART}
        %1 = xegpu.load_nd %0[0, 0] : {PART} -> vector<8xf32>
        %2 = arith.addf %1, %1 : vector<8xf32>
        %3 = xegpu.create_nd_tdesc %b : memref<8x16xf32> -> {PART}
        xegpu.store_nd %2, %3[0, 0] : vector<8xf32>, {PART}
        gpu.return
      }}
    }}"""


SUBGROUP = """gpu.module @m {
  gpu.func @k(%a: memref<8x16xf32>, %b: memref<8x16xf32>) kernel attributes {
      core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
      known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]}
      : memref<8x16xf32>, vector<8x16xf32>
    %s = arith.addf %v, %v : vector<8x16xf32>
    vector.transfer_write %s, %b[%c0, %c0] {in_bounds = [true, true]}
      : vector<8x16xf32>, memref<8x16xf32>
    gpu.return
  }
}"""


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize(
    "text",
    [
        _lanes("known_block_size = array<i32: 1, 1, 1>, intel_reqd_sub_group_size = 16 : i32"),
        _lanes("known_block_size = array<i32: 24, 1, 1>"),
        _lanes(""),
        SUBGROUP,
    ],
    ids=["one_of_16", "24_of_32", "the_launch_s_default", "level_subgroup"],
)
def test_a_work_group_is_not_rounded_up(device: str, text: str) -> None:
    arrays = [np.ones((8, 16), np.float32), np.zeros((8, 16), np.float32)]
    with pytest.raises(Exception, match=r"multiple of (the subgroup size )?16") as raised:
        xtile.run(text, arrays, device=device)
    assert isinstance(raised.value, xtile.launch.ArgumentError | DiagnosticError)
    assert not arrays[1].any()


@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_full_subgroups_run(device: str) -> None:
    a = fresh_generator().standard_normal((8, 16)).astype(np.float32)
    b = np.full((8, 16), np.nan, np.float32)
    xtile.run(_lanes(""), [a, b], device=device, block=(16, 1, 1))
    assert np.array_equal(b, 2 * a)
