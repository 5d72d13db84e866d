"""Modules become what a release of Triton reads: the real ones take what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
from xtile.dialects.triton.versions import V3_4, V3_7, parse_release
from xtile.opt import main

MODULE = """#blocked = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [8, 8],
    warpsPerCTA = [4, 1], order = [1, 0]}}>
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
    ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f32>, %i: i32, %x: tensor<32x32xf32, #blocked>,
      %o: tensor<32x32xi32, #blocked>, %d: !tt.tensordesc<32x32xf32>,
      %m: !ttg.memdesc<32x32xf32, #shared, #smem, mutable>) {{
    %c0 = arith.constant 0 : i32
{body}
    tt.return
  }}
}}
"""

ALLOC = """%l = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
"""

OLD_PART = (
    ALLOC
    + """%n = ttg.memdesc_subview %l[%i, %c0, %c0]
    : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 2x32x32>
ttg.local_store %x, %n {OpIdx = #amdgpu.OpIdx<0>} : tensor<32x32xf32, #blocked>
    -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable, 2x32x32>"""
)

NEW_PART = (
    ALLOC
    + """%n = ttg.memdesc_index %l[%i]
    : !ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>
    -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>
ttg.local_store %x, %n : tensor<32x32xf32, #blocked>
    -> !ttg.memdesc<32x32xf32, #shared, #smem, mutable>"""
)

BUFFER = "%r = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<32x32xf32, #blocked>"

BODIES = {"old part": OLD_PART, "new part": NEW_PART, "buffer": BUFFER}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "k.ttgir"


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("name", BODIES)
def test_tritons_take_it(
    name: str, release: str, write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write.write_text(MODULE.format(body=BODIES[name]))
    version = str(parse_release(release))
    assert main([str(write), "--triton-version", version]) == 0
    printed = capsys.readouterr().out
    verdict = judge(release, printed)
    assert verdict.accepted, (verdict.said, printed)
    assert ("memdesc_subview" in printed) == (version == "3.4" and name != "buffer")
    assert ("amdgpu.buffer_load" in printed) == (version in ("3.4", "3.5") and name == "buffer")


COUNTED = (
    "amdgpu.instruction_sched_hint {variant = #amdgpu.SchedHintVariant<none>, "
    "isBufferLoadsAEnabled = false, isBufferLoadsBEnabled = false"
    + "".join(
        f", {name} = #amdgpu.InstCounter<0, none>"
        for name in (
            *("numDsReadsA", "numDsReadsB", "numDsWritesA", "numDsWritesB", "numGlobalLoadsA"),
            *("numGlobalLoadsB", "numMMAs"),
        )
    )
    + "}"
)


@pytest.mark.parametrize("release", releases())
def test_only_3_4_counts_what_a_hint_is_for(
    release: str, write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write.write_text(MODULE.format(body=COUNTED))
    version = parse_release(release)
    assert main([str(write), "--triton-version", str(version)]) == 0
    printed = capsys.readouterr().out
    verdict = judge(release, printed)
    assert verdict.accepted, (verdict.said, printed)
    assert ("InstCounter" in printed) == (version == V3_4)
    assert ("instruction_sched_hint" in printed) == (version <= V3_7)


def test_a_hint_without_counts_is_none_for_3_4(
    write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = "amdgpu.instruction_sched_hint {variant = #amdgpu.SchedHintVariant<none>}"
    write.write_text(MODULE.format(body=hint))
    assert main([str(write), "--triton-version", "3.4"]) == 0
    captured = capsys.readouterr()
    assert "instruction_sched_hint" not in captured.out
    assert "left out: that of Triton 3.4 also counts instructions" in captured.err


def test_hints_are_left_out_with_a_remark(write: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hint = "amdgpu.instruction_sched_hint {variant = #amdgpu.SchedHintVariant<none>}"
    write.write_text(MODULE.format(body=hint))
    assert main([str(write), "--triton-version", "3.5"]) == 0
    first = capsys.readouterr()
    assert "amdgpu.instruction_sched_hint" in first.out
    assert not first.err
    assert main([str(write), "--triton-version", "3.9"]) == 0
    second = capsys.readouterr()
    assert "instruction_sched_hint" not in second.out
    assert "k.ttgir:11.1-72: remark: amdg.instruction_sched_hint is left out: " in second.err


@pytest.mark.parametrize(
    ("release", "body", "message"),
    [
        (
            "3.8",
            "%r = tt.atomic_load acquire, gpu, %p : (!tt.ptr<f32>) -> f32",
            "tt.atomic_load came in with Triton 3.9, and this is to be 3.8",
        ),
        (
            "3.8",
            (
                "%t = amdg.async_tdm_copy_local_to_global %d from %m : "
                "!ttg.memdesc<32x32xf32, #shared, #smem, mutable> -> !tt.tensordesc<32x32xf32>\n"
                "%u = amdg.async_tdm_wait %t {num = 0 : i32}"
            ),
            "amdg.async_tdm_copy_local_to_global of Triton 3.8 has no result",
        ),
        (
            "3.9",
            (
                "%n = arith.extsi %i : i32 to i64\n"
                "%b = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 0>} : "
                "<tensor<8xf32>>"
            ),
            "Triton 3.7 was the last with tt.make_tensor_ptr, and this is to be 3.9",
        ),
    ],
)
def test_what_a_release_cannot_say(
    release: str, body: str, message: str, write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write.write_text(MODULE.format(body=body))
    assert main([str(write), "--triton-version", release, "-o", "out"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_releases_that_there_are_not(write: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write.write_text(MODULE.format(body=BUFFER))
    with pytest.raises(SystemExit) as ended:
        main([str(write), "--triton-version", "2.1"])
    assert ended.value.code == 2
    assert "invalid choice: '2.1'" in capsys.readouterr().err


@pytest.mark.parametrize("version", ["3.4", "3.5", "3.6"])
def test_only_3_5_names_elements_that_are_integers(
    version: str, write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the results of products; reading it makes no other layout of it."""
    unit = "version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32], isTransposed = true"
    factor = "tensor<32x32xi8, #ttg.dot_op<{opIdx = %d, parent = #mma, kWidth = 8}>>"
    types = f"{factor % 0} * {factor % 1} -> tensor<32x32xi32, #mma>"
    write.write_text(f"""
#mma = #ttg.amd_mfma<{{{unit}, elementType = i32}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func public @k(%a: {factor % 0}, %b: {factor % 1}, %c: tensor<32x32xi32, #mma>) {{
    %d = tt.dot %a, %b, %c : {types}
    tt.return
  }}
}}
""")
    assert main([str(write), "--triton-version", version]) == 0
    assert ("elementType = i32" in capsys.readouterr().out) == (version == "3.5")


def test_results_that_a_release_has_not_take_no_number(
    write: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor do values of regions behind them count on; a wait without tokens has two blanks."""
    memory, descriptor = (
        "!ttg.memdesc<16x16xf32, #shared, #smem>",
        "!tt.tensordesc<16x16xf32, #shared>",
    )
    write.write_text(f"""
#shared = #ttg.padded_shared<[16:+4] {{order = [1, 0], shape = [16, 16]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%d: {descriptor}, %m: {memory}, %c: i1, %n: i32) {{
    %0 = amdg.async_tdm_copy_local_to_global %d from %m : {memory} -> {descriptor}
    %1 = amdg.async_tdm_wait {{num = 0 : i32}}
    scf.if %c {{
      %2 = arith.addi %n, %n : i32
    }}
    tt.return
  }}
}}
""")
    for version, first in (("3.8", 0), ("3.9", 1)):
        assert main([str(write), "--triton-version", version]) == 0
        printed = capsys.readouterr().out
        assert f"%{first} = amdg.async_tdm_wait  {{num = 0 : i32}}" in printed
        assert f"%{first + 1} = arith.addi" in printed
        assert ("%0 = amdg.async_tdm_copy_local_to_global" in printed) == (first == 1)
