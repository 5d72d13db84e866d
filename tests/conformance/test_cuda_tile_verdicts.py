"""The comparison with what NVIDIA's tests state, on files whose verdicts are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.cuda_tile_printed import compare_text, states_text
from tests.conformance.cuda_tile_verdicts import (
    SUBJECT,
    Rules,
    compare,
    expected_errors,
    main,
    report,
    rules_of,
)
from xtile.text.source import Source

STATED = "// RUN: cuda-tile-opt %s -verify-diagnostics -allow-unregistered-dialect"

# The second piece is refused at another line than it states, the third is right.
REFUSED = f"""{STATED}

cuda_tile.module @kernels {{
  testing$func @f(%a: tile<4xi32>, %b: tile<4xi64>) {{
    // expected-error @below{{{{some words}}}}
    %c = addi %a, %b : tile<4xi32>
  }}
}}
// -----
cuda_tile.module @kernels {{
  testing$func @f(%a: tile<4xf16>) {{
    // expected-error @below{{{{some words}}}}
    "other.op"() : () -> ()
    %c = exp2 %a flush_to_zero : tile<4xf16>
  }}
}}
// -----
// expected-error @below{{{{some words}}}}
cuda_tile.module @kernels {{
}}
"""

PRINTED = """// RUN: cuda-tile-opt %s | cuda-tile-opt | FileCheck %s
cuda_tile.module @kernels {
  // CHECK: testing$func @f(%{{.*}}: tile<4xi32>) {
  // CHECK-NEXT: %{{.*}} = absi %{{.*}} : tile<4xi32>
  testing$func @f(%a: !cuda_tile.tile<4xi32>) {
    %b = cuda_tile.absi %a : !cuda_tile.tile<4xi32>
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "printed.mlir").write_text(PRINTED)
    (tmp_path / "refused.mlir").write_text(REFUSED)
    (tmp_path / "tool_fails.mlir").write_text(
        "// RUN: not cuda-tile-opt %s\n// -----\ncuda_tile.module @m {\n  nothing\n}\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (STATED, Rules(True, False, True, False)),
        ("// RUN: not cuda-tile-opt %s", Rules(False, False, False, True)),
        (
            "// RUN: cuda-tile-opt -Wunsupported-hints -Werr-hints -verify-diagnostics %s",
            Rules(False, True, True, False),
        ),
        (
            "// RUN: cuda-tile-opt --test-some-pass -verify-diagnostics %s",
            Rules(False, False, False, False),
        ),
        ("no comment", Rules(False, False, False, False)),
    ],
)
def test_rules(text: str, rules: Rules) -> None:
    assert rules_of(text) == rules


def test_expected_errors() -> None:
    source = Source("t", "// expected-error @+2{{a}}\n// expected-warning{{b}}\n%a\n")
    assert expected_errors(source, Rules(False, False, True, False)) == [3]
    assert expected_errors(source, Rules(False, False, False, False)) == []
    assert expected_errors(source, Rules(False, False, False, True)) == [None]


def test_comparison(folder: Path) -> None:
    printed, refused, tool_fails = compare(sorted(folder.iterdir()))
    assert (printed.pieces, printed.wrong, printed.agreeing) == (1, 0, 1)
    assert (refused.pieces, refused.wrong, refused.agreeing) == (3, 3, 2)
    assert refused.located == 1
    assert (tool_fails.pieces, tool_fails.wrong, tool_fails.agreeing) == (1, 1, 1)
    assert (tool_fails.located, tool_fails.unlocated) == (0, 1)
    (disagreement,) = refused.disagreements
    assert (disagreement.number, disagreement.upstream, disagreement.ours, disagreement.reason) == (
        3,
        "an error in line 2",
        "accepted",
        "not known",
    )
    (elsewhere,) = refused.elsewhere
    assert elsewhere.upstream == "an error in line 4"
    assert elsewhere.ours.startswith("line 5: 'cuda_tile.exp2': 'flush_to_zero' is for tiles of")


def test_text(folder: Path) -> None:
    paths = sorted(folder.iterdir())
    assert compare_text(paths) == {"printed.mlir": True}
    (folder / "printed.mlir").write_text(PRINTED.replace("absi %{{", "negi %{{"))
    assert compare_text(paths) == {"printed.mlir": False}
    assert not states_text("// RUN: cuda-tile-opt %s --canonicalize | FileCheck %s")
    assert not states_text("// RUN: cuda-tile-opt %s -verify-diagnostics")


def test_report(folder: Path) -> None:
    paths = sorted(folder.iterdir())
    lines = report(compare(paths), {"printed.mlir": False, "a.mlir": True}).splitlines()
    assert "| refused.mlir | 3 | 3 | 2 | 1 | 1 | 0 |" in lines
    assert "| **all** | 5 | 4 | 4 | 1 | 1 | 1 |" in lines
    assert "The verdicts agree on 4 of 5 pieces (80.0 %)." in lines
    assert "| refused.mlir | 3 | an error in line 2 | accepted | not known |" in lines
    assert "- not so: printed.mlir" in lines


def test_the_page(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(f"a\n<!-- begin of {SUBJECT} -->\nold\n<!-- end of {SUBJECT} -->\nb\n")
    assert main(["--tests", str(folder), "--output", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("a\n")
    assert text.endswith("b\n")
    assert "(80.0 %)" in text
    assert "old" not in text


def test_wrong_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--tests", str(tmp_path)])
    assert ended.value.code == 2
    assert "there are no .mlir files" in capsys.readouterr().err
