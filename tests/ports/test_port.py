"""`xtile port`: files, the report, exit codes, and kernels that a language refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
import xtile.ports.port
from tests.checking.kernels import rows
from xtile.backends.machine_code import HSACO
from xtile.backends.sidecar import read_machine_code
from xtile.cli import main
from xtile.dialects.printing import text_of
from xtile.ports.measures import measure
from xtile.ports.targets import chosen_targets

ROOT = Path(__file__).parents[2]

PRODUCT = str(ROOT / "examples" / "matrix_unit.ir")
NOT_IN_TILES = str(ROOT / "tests" / "filetests" / "refusals" / "not_in_tiles.ir")
NVIDIAS = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1],
  order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90",
    "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #blocked>
    %from = tt.addptr %xs, %range : tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xi32, #blocked>
    %values = tt.load %from : tensor<32x!tt.ptr<f32>, #blocked>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #blocked>
    %to = tt.addptr %ys, %range : tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xi32, #blocked>
    tt.store %to, %values : tensor<32x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
"""
"""A kernel with layouts for one of NVIDIA's chips."""

SMALL = ("--size", "x=5x16", "--size", "y=5", "--grid", "6", "--device", "reference")


def ported(directory: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code of the command, and its report."""
    code = main(["port", *options, "-o", str(directory)])
    return code, json.loads((directory / "report.json").read_text())


def _lines_of(form: dict[str, Any], line: int, word: str) -> int:
    """How many lines of a form have a word, and were made of a line of the source."""
    lines = zip(form["text"].splitlines(), form["origins"], strict=True)
    return sum(word in text and origin == line for text, origin in lines)


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "rows.mlir"
    path.write_text(rows())
    return str(path)


@pytest.mark.slow
def test_a_product_in_every_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    code, report = ported(out, PRODUCT, "--to", "all", "--device", "reference")
    assert code == 0
    ports = {port["target"]: port for port in report["ports"]}
    assert list(ports) == ["xegpu", "spirv", "cuda_tile", "triton", "amdg"]
    assert {port["verdict"] for port in ports.values()} == {"agrees"}
    assert {port["exact"] for port in ports.values()} == {"agrees"}
    accesses = {name: port["structured_accesses"] for name, port in ports.items()}
    assert accesses == {"xegpu": 5, "spirv": 5, "cuda_tile": 3, "triton": 0, "amdg": 0}
    assert (ports["amdg"]["scattered_accesses"], ports["triton"]["scattered_accesses"]) == (3, 3)
    assert [port["matrix_products"] for port in ports.values()] == [2, 2, 1, 1, 1]
    for port in ports.values():
        for name in port["files"]:
            assert (out / name).stat().st_size > 0
    assert "matrix_unit.cuda_tile.cubin" in ports["cuda_tile"]["files"]
    instructions = ports["cuda_tile"]["instructions"]["machine code"]
    # NVIDIA's assembler takes no tensor core for 8 rows, so that they became 16.
    assert instructions["HMMA"] > 0
    code = ports["cuda_tile"]["forms"][-1]
    assert code["name"] == "machine code"
    # Line 5 of the source is the product.
    assert _lines_of(code, 5, "HMMA") == instructions["HMMA"]
    shown = capsys.readouterr().out
    assert shown.count("agrees") == 2 * 5
    assert f"{out}/report.html shows the ports line by line" in shown


def test_lines_of_every_form_know_the_source(tmp_path: Path) -> None:
    code, report = ported(tmp_path / "out", PRODUCT, "--to", "xegpu", "--no-check")
    assert code == 0
    (port,) = report["ports"]
    names = [form["name"] for form in port["forms"]]
    assert names == ["tensorlang-to-core", "core-distribute", "core-cleanup", "subgroup-to-xegpu"]
    lines = port["forms"][-1]["text"].splitlines()
    origins = port["forms"][-1]["origins"]
    assert len(lines) == len(origins)
    assert not any("loc(" in line for line in lines)
    # Line 5 of the source is the product, whose loop ends with a brace.
    of_product = [line for line, origin in zip(lines, origins, strict=True) if origin == 5]
    assert sum("xegpu.dpas" in line for line in of_product) == 2
    assert any("scf.for" in line for line in of_product)


def test_lines_of_the_tensor_language_know_the_source(tmp_path: Path, kernel: str) -> None:
    _, report = ported(tmp_path / "out", kernel, "--to", "tensorlang", "--no-check")
    form = report["ports"][0]["forms"][-1]
    source = report["text"].splitlines()
    exponentials = [
        source[origin - 1]
        for line, origin in zip(form["text"].splitlines(), form["origins"], strict=True)
        if " exp " in line
    ]
    assert exponentials
    assert all("math.exp" in line for line in exponentials)


@pytest.mark.slow
def test_the_page_needs_no_network(tmp_path: Path, kernel: str) -> None:
    ported(tmp_path / "out", kernel, "--to", "tensorlang", *SMALL)
    page = (tmp_path / "out" / "report.html").read_text()
    addresses = set(re.findall(r"https?://[^\s\"'<\\]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "@DATA@" not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["ports"][0]["target"] == "tensorlang"


def test_what_a_language_refuses_has_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = ported(tmp_path / "out", NOT_IN_TILES, "--to", "cuda_tile", "--no-check")
    assert code == 1
    (port,) = report["ports"]
    assert (port["verdict"], port["files"]) == ("refused", [])
    error = port["errors"][0]
    assert "memory that differs between work-items" in error["text"]
    assert "%memory = load" in report["text"].splitlines()[error["line"] - 1]
    assert "refused" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "func.func @f(%a: memref<4xf32>) {\n  return\n}\n",
            1,
            "@f is a function of the host, but",
        ),
        ("module {}\n", 0, "there is no function here, but"),
    ],
)
def test_what_is_no_kernel_is_refused(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "host.mlir"
    path.write_text(text)
    code, report = ported(tmp_path / "out", str(path), "--to", "xegpu,triton")
    assert code == 1
    assert [(each["verdict"], each["files"]) for each in report["ports"]] == [("refused", [])] * 2
    for port in report["ports"]:
        error = port["errors"][0]
        assert error["text"].startswith(words)
        assert error["line"] == line


def test_an_entry_that_is_not_there(
    tmp_path: Path, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["port", kernel, "--to", "triton", "--entry", "g", "-o", str(tmp_path / "out")]
    assert main(options) == 1
    assert "the kernel has no function 'g'" in capsys.readouterr().err


@pytest.mark.slow
def test_machine_code_for_the_chip_that_is_named(tmp_path: Path) -> None:
    chips = ("--chip", "gfx942", "--chip", "pvc", "--no-check")
    _, report = ported(tmp_path / "out", PRODUCT, "--to", "triton", "--to", "spirv", *chips)
    for_intel, port = report["ports"]
    assert for_intel["instructions"]["machine code"]["dpas"] == 2
    assert "dpas.8x8" in for_intel["forms"][-1]["text"]
    products = port["instructions"]["machine code"]["v_mfma_f32_16x16x16_f16"]
    assert products == _lines_of(port["forms"][-1], 5, "v_mfma_f32") > 0
    path = tmp_path / "out" / "matrix_unit.triton.hsaco"
    assert path.name in [Path(each).name for each in port["files"]]
    made = read_machine_code(path, HSACO)
    assert (made.chip, list(made.signatures)) == ("gfx942", ["product"])


@pytest.mark.slow
def test_layouts_and_their_machine_code_for_the_chip_that_is_named(tmp_path: Path) -> None:
    chip = ("--chip", "gfx1100", "--device", "reference")
    code, report = ported(tmp_path / "out", PRODUCT, "--to", "triton,amdg", *chip)
    assert (code, [port["verdict"] for port in report["ports"]]) == (0, ["agrees", "agrees"])
    of_triton, of_layouts = report["ports"]
    assert (of_layouts["target"], of_layouts["chip"]) == ("amdg", "gfx1100")
    endings = ("ttgir", "hsaco", "hsaco.json")
    assert of_layouts["files"] == [f"matrix_unit.amdg.{each}" for each in endings]
    assert of_layouts["forms"][-2]["name"] == "triton-to-amdg"
    # Line 5 of the source is the product.
    assert _lines_of(of_layouts["forms"][-2], 5, "tt.dot") == 1
    assert 'ttg.target = "hip:gfx1100"' in (tmp_path / "out" / "matrix_unit.amdg.ttgir").read_text()
    xtile.compile(PRODUCT, tmp_path / "own.hsaco", chip="gfx1100")
    own = (tmp_path / "own.hsaco").read_bytes()
    for name in ("triton", "amdg"):
        assert (tmp_path / "out" / f"matrix_unit.{name}.hsaco").read_bytes() == own
    assert of_layouts["instructions"] == of_triton["instructions"]
    assert of_layouts["instructions"]["machine code"]["v_wmma_f32_16x16x16_f16"] > 0


@pytest.mark.slow
def test_layouts_are_for_the_default_chip_without_machine_code(tmp_path: Path) -> None:
    code, report = ported(tmp_path / "out", PRODUCT, "--to", "amdg", "--no-check")
    (port,) = report["ports"]
    assert (code, port["chip"], port["files"]) == (0, None, ["matrix_unit.amdg.ttgir"])
    assert 'ttg.target = "hip:gfx942"' in (tmp_path / "out" / "matrix_unit.amdg.ttgir").read_text()
    assert (port["structured_accesses"], port["scattered_accesses"]) == (0, 3)


def test_layouts_refuse_what_tiles_refuse(tmp_path: Path) -> None:
    code, report = ported(tmp_path / "out", NOT_IN_TILES, "--to", "amdg", "--no-check")
    (port,) = report["ports"]
    assert (code, port["verdict"], port["files"]) == (1, "refused", [])
    error = port["errors"][0]
    assert "memory that differs between work-items" in error["text"]
    assert "%memory = load" in report["text"].splitlines()[error["line"] - 1]


@pytest.mark.slow
def test_layouts_of_another_chip_are_made_anew(tmp_path: Path) -> None:
    made = xtile.translate(xtile.parse(PRODUCT), "amdg", chip="gfx950")
    kernel = tmp_path / "product.ttgir"
    kernel.write_text(text_of(made)[0])
    for chip, target, first in (
        ((), "gfx950", "as it is"),
        (("--chip", "gfx950"), "gfx950", "as it is"),
        (("--chip", "gfx1201"), "gfx1201", "triton-to-core"),
    ):
        out = tmp_path / target / first
        _, report = ported(out, str(kernel), "--to", "amdg", "--no-check", *chip)
        (port,) = report["ports"]
        assert port["verdict"] == "not checked"
        assert port["forms"][0]["name"] == first
        assert f'ttg.target = "hip:{target}"' in (out / "product.amdg.ttgir").read_text()
    nvidia = tmp_path / "nvidia.ttgir"
    nvidia.write_text(NVIDIAS)
    _, report = ported(tmp_path / "own", str(nvidia), "--to", "amdg", "--no-check")
    assert report["ports"][0]["forms"][0]["name"] == "triton-to-core"
    assert "hip:gfx942" in (tmp_path / "own" / "nvidia.amdg.ttgir").read_text()


@pytest.mark.slow
def test_a_port_to_triton_has_no_layouts(tmp_path: Path) -> None:
    kernel = tmp_path / "product.ttgir"
    kernel.write_text(text_of(xtile.translate(xtile.parse(PRODUCT), "amdg", chip="gfx942"))[0])
    code, report = ported(tmp_path / "out", str(kernel), "--to", "triton", "--device", "reference")
    (port,) = report["ports"]
    assert (code, port["verdict"], port["files"]) == (0, "agrees", ["product.triton.ttir"])
    text = (tmp_path / "out" / "product.triton.ttir").read_text()
    assert "tt.dot" in text
    assert not re.search("ttg|amdg|hip:", text)


@pytest.mark.slow
def test_all_languages_leave_out_the_own_one_and_its_level(tmp_path: Path) -> None:
    kernel = tmp_path / "copy.ttgir"
    kernel.write_text(NVIDIAS)
    assert [target.name for target in chosen_targets(["all"], ("triton", "triton"))] == [
        *("tensorlang", "xegpu", "spirv", "cuda_tile", "amdg")
    ]
    _, report = ported(tmp_path / "out", str(kernel), "--to", "all", "--no-check")
    assert report["language"] == "triton"
    targets = [port["target"] for port in report["ports"]]
    assert targets == ["tensorlang", "xegpu", "spirv", "cuda_tile"]


@pytest.mark.slow
def test_spirv_has_what_launches_need(tmp_path: Path) -> None:
    """The files are those that `xtile compile` writes."""
    chip = ("--chip", "cpu", "--no-check")
    _, report = ported(tmp_path / "out", PRODUCT, "--to", "spirv", *chip)
    files = [Path(each).name for each in report["ports"][0]["files"]]
    assert files == [f"matrix_unit.spirv.{each}" for each in ("spvasm", "spv", "spv.json")]
    xtile.compile(PRODUCT, tmp_path / "own.spv", chip="cpu")
    for ending in ("spv", "spv.json"):
        made = (tmp_path / "out" / f"matrix_unit.spirv.{ending}").read_bytes()
        assert made == (tmp_path / f"own.{ending}").read_bytes()


def test_no_check_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = ported(tmp_path / "out", PRODUCT, "--to", "triton", "--no-check")
    assert (code, report["checked"]) == (0, False)
    assert report["ports"][0]["verdict"] == "not checked"
    # Lines are broken where the path in front is long.
    assert "not checked because of --no-check" in " ".join(capsys.readouterr().out.split())


def test_a_kernel_in_its_own_language_stays_as_it_is(tmp_path: Path) -> None:
    code, report = ported(tmp_path, PRODUCT, "--to", "tensorlang", "--no-check")
    (port,) = report["ports"]
    assert (code, [form["name"] for form in port["forms"]]) == (0, ["as it is"])
    written = xtile.parse(tmp_path / "matrix_unit.tensorlang.ir")
    assert xtile.to_text(written) == xtile.to_text(xtile.parse(PRODUCT))


@pytest.mark.slow
def test_a_wrong_port_is_shown_and_reproduced(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = xtile.ports.port.translate_to

    def wrong(*arguments: Any) -> ModuleOp:
        text = xtile.to_text(right(*arguments), "tensorlang")
        return xtile.parse(text.replace("exp ", "exp2 "), language="tensorlang")

    monkeypatch.setattr(xtile.ports.port, "translate_to", wrong)
    code, report = ported(tmp_path / "out", kernel, "--to", "tensorlang", *SMALL)
    assert code == 1
    (port,) = report["ports"]
    assert port["verdict"] == "differs"
    assert (tmp_path / "out" / "rows.tensorlang.py").exists()
    assert "#c00" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_a_difference_below_every_tolerance_is_found_on_exact_numbers(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = xtile.ports.port.translate_to

    def wrong(*arguments: Any) -> ModuleOp:
        text = xtile.to_text(right(*arguments), "tensorlang")
        assert " 0.0 : f32" in text
        return xtile.parse(text.replace(" 0.0 : f32", " 1.0e-7 : f32"), language="tensorlang")

    monkeypatch.setattr(xtile.ports.port, "translate_to", wrong)
    code, report = ported(tmp_path / "out", kernel, "--to", "tensorlang", *SMALL)
    (port,) = report["ports"]
    assert (code, port["verdict"], port["exact"]) == (1, "differs", "differs")
    floats = [each for each in port["checks"][0]["comparisons"] if each["device"] != "field"]
    assert {each["verdict"] for each in floats} == {"agrees"}
    code, report = ported(tmp_path / "out", kernel, "--to", "tensorlang", "--no-field", *SMALL)
    (port,) = report["ports"]
    assert (code, port["verdict"], port["exact"]) == (0, "agrees", "")


@pytest.mark.slow
def test_what_exact_numbers_refuse_falls_back_to_floats_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "rows.mlir").write_text(rows(change="math.erf"))
    out = tmp_path / "out"
    assert main(["port", str(folder), "--to", "tensorlang", *SMALL, "-o", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["exact"] == {"core to tensorlang": {"refused": 1}}
    assert summary["kernels"][0]["verdicts"] == {"tensorlang": "agrees"}
    assert "to tensorlang on exact numbers: 1 refused" in capsys.readouterr().out


def test_nothing_half_written_stays(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("xtile.ports.report.os.replace", full)
    out = tmp_path / "out"
    assert main(["port", kernel, "--to", "triton", "--no-check", "-o", str(out)]) == 1
    assert list(out.iterdir()) == []


def test_usage(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", kernel, "--to", "fortran"]) == 2
    assert "there is no port to 'fortran'; there are tensorlang, xegpu" in capsys.readouterr().err
    assert main(["port", kernel, "--to", "triton", "--chip", "pvc"]) == 2
    assert "the chip 'pvc' is for none of triton" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder(tmp_path: Path, kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "kernels", tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "rows.mlir").write_text(rows())
    (folder / "wrong.ir").write_text("func @k(%a: f32) { oops }\n")
    options = ["port", str(folder), "--to", "triton", "--no-check", "-o", str(out)]
    assert main([*options, "--jobs", "2"]) == 1
    assert "0 were done before" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    first, second = summary["kernels"]
    assert (first["kernel"], first["verdicts"]) == ("deep/rows.mlir", {"triton": "refused"})
    assert (second["kernel"], second["verdicts"]) == ("wrong.ir", {})
    assert "wrong.ir:1" in second["message"]
    before = (out / "deep" / "rows.mlir" / "report.json").stat().st_mtime_ns
    assert main(options) == 1
    assert "1 were done before" in capsys.readouterr().out
    assert (out / "deep" / "rows.mlir" / "report.json").stat().st_mtime_ns == before


@pytest.mark.slow
def test_accesses_of_layouts_are_counted() -> None:
    """Offsets for each element are scattered; blocks of local memory are not."""
    made = xtile.translate(xtile.parse(ROOT / "examples" / "gemm.ir"), "amdg", chip="gfx942")
    names = [each.name for each in made.walk()]
    local = sum(name in ("ttg.local_load", "ttg.local_store") for name in names)
    buffers = sum(name in ("amdg.buffer_load", "amdg.buffer_store") for name in names)
    others = sum(name in ("tt.load", "tt.store") for name in names)
    found = measure(made)
    assert (found.structured, found.scattered) == (local, buffers + others) == (6, 6)
    assert found.products == names.count("tt.dot") == 1
