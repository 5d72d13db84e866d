"""What the releases of Triton answer, also to text that ends them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.triton_releases import judges
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST, Verdict, compiled, judge
from tests.triton_releases.source import Source

TEXT = """module {
  tt.func public @f(%arg0: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.load %arg0 : !tt.ptr<f32>
    tt.store %arg0, %0 : !tt.ptr<f32>
    tt.return
  }
}
"""

ENDS_TRITON = """
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%x: tensor<64x64xi32, #blocked>) {
    %0 = amdg.extract_slice %x [0] : tensor<64x64xi32, #blocked> to tensor<16x64xi32, #blocked>
    tt.return
  }
}
"""  # noqa: E501

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def twice(x_ptr, out_ptr, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)
"""


def _source(directory: Path, text: str = KERNEL) -> Source:
    file = directory / "kernel.py"
    file.write_text(text)
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    return Source(str(file), "twice", signature, {"SIZE": 128}, ["x_ptr", "out_ptr"])


@pytest.mark.parametrize("release", releases())
def test_text_is_printed(release: str) -> None:
    verdict = judge(release, TEXT)
    assert (verdict.accepted, verdict.said, verdict.text) == (True, "", TEXT)
    assert '"tt.load"(%arg0) <{' in verdict.generic
    assert "data_layout" not in verdict.generic
    assert 'loc("' in verdict.located


@pytest.mark.parametrize("release", releases())
def test_the_generic_form_is_read(release: str) -> None:
    assert judge(release, judge(release, TEXT).generic).text == TEXT


@pytest.mark.parametrize("release", releases())
def test_text_is_refused(release: str) -> None:
    verdict = judge(release, TEXT.replace("tt.load", "tt.reload"))
    assert not verdict.accepted
    assert '"input.mlir":3:10' in verdict.said or "input.mlir:3:10" in verdict.said
    assert "custom op 'tt.reload' is unknown" in verdict.said
    assert verdict.text == ""


def test_an_abort_is_an_answer() -> None:
    verdict = judge(NEWEST, ENDS_TRITON)
    assert not verdict.accepted
    assert "Invalid index!" in verdict.said
    assert verdict.said.endswith("it died of SIGABRT")
    assert judge(NEWEST, TEXT.replace("@f", "@after")).accepted


def test_time_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "SECONDS", 1)
    verdict = compiled(NEWEST, _source(tmp_path, f"{KERNEL}\nwhile True:\n    pass\n"), "gfx942")
    assert verdict == Verdict(accepted=False, said="it died of SIGXCPU")


@pytest.mark.parametrize("release", releases())
def test_functions_are_compiled(release: str, tmp_path: Path) -> None:
    source = _source(tmp_path)
    first = compiled(release, source, "gfx942", "source")
    assert "arith.constant 2.000000e+00" in first.text
    early = compiled(release, source, "gfx942", "ttir")
    assert "%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32" in early.text
    late = compiled(release, source, "gfx1100")
    assert 'ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32' in late.text
    assert late.metadata["num_warps"] == 4
    assert "define amdgpu_kernel void @twice(" in compiled(release, source, "gfx942", "llir").text


def test_functions_are_compiled_for_nvidia(tmp_path: Path) -> None:
    assert 'ttg.target = "cuda:90"' in compiled(NEWEST, _source(tmp_path), "90").text


def test_errors_of_functions(tmp_path: Path) -> None:
    verdict = compiled(NEWEST, _source(tmp_path, KERNEL.replace("2 * tl", "tl.no")), "gfx942")
    assert not verdict.accepted
    assert "has no attribute 'no'" in verdict.said


def test_nothing_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXT.replace("@f", "@once")
    first = judge(NEWEST, text)
    monkeypatch.setattr(judges, "_server", None)
    assert judge(NEWEST, text) == first


def test_triton_is_not_loaded_here() -> None:
    judge(NEWEST, TEXT)
    assert "triton" not in sys.modules
