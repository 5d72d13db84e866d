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

ROOT = Path(__file__).parents[2]

PRODUCT = str(ROOT / "examples" / "matrix_unit.ir")
NOT_IN_TILES = str(ROOT / "tests" / "filetests" / "refusals" / "not_in_tiles.ir")
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
    assert list(ports) == ["xegpu", "spirv", "cuda_tile", "triton"]
    assert {port["verdict"] for port in ports.values()} == {"agrees"}
    assert {port["exact"] for port in ports.values()} == {"agrees"}
    accesses = {name: port["structured_accesses"] for name, port in ports.items()}
    assert accesses == {"xegpu": 5, "spirv": 5, "cuda_tile": 3, "triton": 0}
    assert [port["matrix_products"] for port in ports.values()] == [2, 2, 1, 1]
    for port in ports.values():
        for name in port["files"]:
            assert (out / name).stat().st_size > 0
    assert "matrix_unit.cuda_tile.cubin" in ports["cuda_tile"]["files"]
    instructions = ports["cuda_tile"]["instructions"]["machine code"]
    # NVIDIA's assembler takes no tensor core for 8 rows.
    assert instructions["FFMA"] > 0
    code = ports["cuda_tile"]["forms"][-1]
    assert code["name"] == "machine code"
    # Line 5 of the source is the product.
    assert _lines_of(code, 5, "FFMA") == instructions["FFMA"]
    shown = capsys.readouterr().out
    assert shown.count("agrees") == 2 * 4
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
