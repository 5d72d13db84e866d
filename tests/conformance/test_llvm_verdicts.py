"""The comparison of verdicts, on files whose verdicts are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.llvm_verdicts import (
    Disagreement,
    allows_unregistered,
    compare,
    functions_of,
    main,
    pieces_of,
    report,
    write_report,
)

RIGHT = """func.func @f() {
  return
}
gpu.module @kernels {
  gpu.func @g(%a: i32) kernel attributes {note = "}"} {
    gpu.return
  }
}
"""

WRONG = "func.func @f() -> i32 {\n  return\n}\n"

# mlir-opt drops the operand, which this package refuses to do.
DROPPED = """func.func @f(%t: !xegpu.tensor_desc<4xf32>, %i: index) {
  %v = "xegpu.load_nd"(%t, %i) : (!xegpu.tensor_desc<4xf32>, index) -> vector<4xf32>
  return
}
func.func @g() {
  return
}
"""

COMMAND = "mlir-opt-22"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agreeing.mlir").write_text(f"{RIGHT}// -----\n{WRONG}")
    (tmp_path / "differing.mlir").write_text(DROPPED)
    unknown = "// RUN: mlir-opt -allow-unregistered-dialect %s\nfunc.func @f() {\n"
    (tmp_path / "lenient.mlir").write_text(f'{unknown}  "some.op"() : () -> ()\n  return\n}}\n')
    return tmp_path


def test_pieces() -> None:
    assert pieces_of("// -----\n  transform.named_sequence @s\n// -----\n") == []
    assert pieces_of("// gpu.warp_execute_on_lane_0") == ["// gpu.warp_execute_on_lane_0"]
    assert pieces_of("a\n// -----\nb\n//   -----\n// -----\n\n// ----- c\nd") == [
        "a\n",
        "b\n//   -----\n",
        "d",
    ]


def test_functions() -> None:
    module = "#a = #xegpu.range<[1, 2]>\n" + RIGHT + "func.func private @h(i32)\n"
    first, second, third = functions_of(module)
    assert first == "#a = #xegpu.range<[1, 2]>\nfunc.func @f() {\n  return\n}\n"
    assert second.startswith("#a = #xegpu.range<[1, 2]>\ngpu.module @functions {\n  gpu.func @g(")
    assert second.endswith("    gpu.return\n  }\n}\n")
    assert third.endswith("\nfunc.func private @h(i32)\n")


def test_allowed_dialects() -> None:
    assert allows_unregistered("// RUN: mlir-opt %s --allow-unregistered-dialect | FileCheck %s")
    assert not allows_unregistered("// RUN: mlir-opt %s\n// -allow-unregistered-dialect")


def test_comparison(folder: Path) -> None:
    agreeing, differing, lenient = compare(sorted(folder.iterdir()), COMMAND)
    assert (agreeing.pieces, agreeing.accepted, agreeing.agreeing) == (2, 1, 2)
    assert (agreeing.functions, agreeing.accepted_functions) == (2, 2)
    assert (lenient.pieces, lenient.accepted, lenient.agreeing) == (1, 1, 1)
    assert (differing.pieces, differing.accepted, differing.agreeing) == (1, 1, 0)
    assert (differing.functions, differing.accepted_functions) == (2, 1)
    (disagreement,) = differing.disagreements
    assert disagreement == Disagreement(
        "differing.mlir",
        1,
        "accepted",
        "'xegpu.load_nd': the list of offsets has a place for 0 operands, but is given 1",
    )
    assert disagreement.reason == "not known"


def test_report(folder: Path) -> None:
    lines = report(compare(sorted(folder.iterdir()), COMMAND)).splitlines()
    assert "| agreeing.mlir | 2 | 1 | 2 | 0 | 2 | 2 |" in lines
    assert "| **all** | 4 | 3 | 3 | 1 | 5 | 4 |" in lines
    assert "The verdicts agree on 3 of 4 pieces (75.0 %)." in lines
    assert lines[-1].startswith("| differing.mlir | 1 | accepted | 'xegpu.load_nd': the list of")


def test_the_page_keeps_what_stands_around_the_tables(folder: Path) -> None:
    page = folder / "page.md"
    write_report(page, "first\n")
    page.write_text("before\n" + page.read_text() + "after\n")
    assert main(["--tests", str(folder), "--mlir-opt", COMMAND, "--output", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- begin of the measurement -->\n")
    assert text.endswith("<!-- end of the measurement -->\nafter\n")
    assert "(75.0 %)" in text
    assert "first" not in text


def test_wrong_arguments(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, message in (
        (["--tests", str(empty)], "there are no .mlir files"),
        (["--tests", str(folder), "--mlir-opt", "no-such-tool"], "there is no command no-such"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err
