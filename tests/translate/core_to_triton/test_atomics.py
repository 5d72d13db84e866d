"""Atomic updates as Triton: words that are swapped, and barriers beside acquires and releases."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import tile_kernel
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST, assembled, judge
from xtile.targets import AMD, NVIDIA
from xtile.translate.core_to_triton import translate_module
from xtile.translate.route import Options, translate

CHIPS = {"90": "sm_90", "gfx942": "gfx942", "gfx1100": "gfx1100"}
"""The chips that are compiled for: what Triton calls them, and what they are called here."""

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
}


def lowered(text: str, chip: str = "gfx942") -> str:
    """The text of what a kernel becomes; it is read again."""
    made = printed(translate_module(read(text), {**AMD.chips, **NVIDIA.chips}[chip]))
    assert printed(read(made)) == made
    return made


# --- words ---


def of_tile(kind: str, type_: str) -> str:
    """Updates the first 7 of 16 elements, which are all that memory has."""
    vector = f"vector<16x{type_}>"
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<16x{type_}>, %old: memref<16x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %x = vector.load %v[%c0] : memref<16x{type_}>, {vector}
        %r = core.atomic_update {kind} %x, %m[%c0] checked [0]
            : {vector}, memref<7x{type_}> -> {vector}
        vector.store %r, %old[%c0] : memref<16x{type_}>, {vector}""",
    )


def of_all(kind: str, type_: str) -> str:
    """Updates as many elements as memory has, without a mask."""
    vector = f"vector<16x{type_}>"
    return tile_kernel(
        f"%m: memref<16x{type_}>, %v: memref<16x{type_}>, %old: memref<16x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %x = vector.load %v[%c0] : memref<16x{type_}>, {vector}
        %r = core.atomic_update {kind} %x, %m[%c0] checked []
            : {vector}, memref<16x{type_}> -> {vector}
        vector.store %r, %old[%c0] : memref<16x{type_}>, {vector}""",
    )


def of_element(kind: str, type_: str) -> str:
    """Updates the last element of memory."""
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<1x{type_}>, %old: memref<1x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %c6 = arith.constant 6 : index
        %x = memref.load %v[%c0] : memref<1x{type_}>
        %r = memref.atomic_rmw {kind} %x, %m[%c6] : ({type_}, memref<7x{type_}>) -> {type_}
        memref.store %r, %old[%c0] : memref<1x{type_}>""",
    )


KERNELS = {"all": (of_all, 16, 16), "element": (of_element, 7, 1), "tile": (of_tile, 7, 16)}
"""Kernels that update memory, and how many elements it and the operands have."""

OF_16_BITS = (
    *(("addf", "bf16"), ("maxnumf", "f16"), ("addi", "i16"), ("mins", "i16"), ("ori", "i16")),
    *(("assign", "f16"), ("assign", "bf16"), ("assign", "i16")),
)
"""Updates of 16 bits that Triton has no instruction for."""


def swaps(text: str) -> list[tuple[str, str]]:
    """The order and the element of each compare-and-swap in a text."""
    found = re.findall(r"tt\.atomic_cas (\w+), .* : \((?:tensor<\w+x)?!tt\.ptr<(\w+)>", text)
    assert len(found) == text.count("tt.atomic_cas")
    return found


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("kind", "type_"), OF_16_BITS)
def test_elements_of_16_bits_are_swapped_as_they_are(kind: str, type_: str, kernel: str) -> None:
    made, count, size = KERNELS[kernel]
    source = made(kind, type_)
    text = lowered(source)
    assert swaps(text) == [("relaxed", "i16")] * 2
    assert "!tt.ptr<i32>" not in text
    random = fresh_generator()
    m = random.integers(-9, 10, count).astype(DTYPES[type_])
    v = random.integers(-9, 10, size).astype(DTYPES[type_])
    expected, found = ([m.copy(), v, np.zeros_like(v)] for _ in range(2))
    run(read(source), *expected)
    # The memory ends with its last element: a word around that one would be an error.
    xtile.run(xtile.parse(text, language="ttir"), found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", KERNELS)
def test_elements_of_8_bits_are_swapped_with_the_word_around_them(kernel: str) -> None:
    made, _, _ = KERNELS[kernel]
    text = lowered(made("addi", "i8"))
    assert swaps(text) == [("relaxed", "i32")]
    assert "tt.atomic_rmw or, relaxed, gpu" in text


def compare_and_swap(type_: str, mask: str = "") -> str:
    """Swaps the last of 7 elements of memory."""
    return tile_kernel(
        f"%m: memref<7x{type_}>, %v: memref<2x{type_}>, %old: memref<1x{type_}>",
        f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c6 = arith.constant 6 : index
        %true = arith.constant true
        %x = memref.load %v[%c0] : memref<2x{type_}>
        %y = memref.load %v[%c1] : memref<2x{type_}>
        %r = core.atomic_compare_and_swap relaxed device %x, %y, %m[%c6]{", %true" if mask else ""}
            : {type_}, memref<7x{type_}>[index]{", i1" if mask else ""}
        memref.store %r, %old[%c0] : memref<1x{type_}>""",
    )


@pytest.mark.parametrize("type_", ["bf16", "f16", "f32", "f64", "i16", "i32", "i64"])
def test_one_swap_is_one_instruction(type_: str) -> None:
    text = lowered(compare_and_swap(type_))
    assert swaps(text) == [("relaxed", f"i{type_.lstrip('bfi')}")]
    assert "scf.while" not in text
    m = np.arange(7).astype(DTYPES[type_])
    v, old = np.array([6, 9], m.dtype), np.zeros(1, m.dtype)
    for expected in (9, 9):
        xtile.run(xtile.parse(text, language="ttir"), [m, v, old])
        assert m[6] == expected
    assert old[0] == 9


# --- the first reading of a loop ---


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("kind", "type_", "reading"),
    [
        ("maxnumf", "f32", r"tt.atomic_rmw or, relaxed, gpu, \S+, \S+ : .*ptr<i32>"),
        ("minnumf", "f64", r"tt.atomic_rmw or, relaxed, gpu, \S+, \S+ : .*ptr<i64>"),
        ("addf", "bf16", r"tt.atomic_cas relaxed, gpu, \S+, (\S+), \1 : .*ptr<i16>"),
    ],
)
def test_a_loop_begins_with_an_atomic_reading(
    kind: str, type_: str, reading: str, kernel: str
) -> None:
    made, count, size = KERNELS[kernel]
    source = made(kind, type_)
    text = lowered(source)
    # The one load is that of the operands.
    assert text.count("tt.load") == 1
    assert re.search(reading, text[: text.index("scf.while")])
    m = fresh_generator().integers(-9, 10, count).astype(DTYPES[type_])
    v = np.arange(size).astype(DTYPES[type_]) - 3
    expected, found = ([m.copy(), v, np.zeros_like(v)] for _ in range(2))
    run(read(source), *expected)
    xtile.run(xtile.parse(text, language="ttir"), found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("type_", "word"), [("f16", "cas"), ("f32", "rmw or,")])
def test_the_reading_is_relaxed_and_has_the_scope_of_the_update(type_: str, word: str) -> None:
    text = lowered(
        tile_kernel(
            f"%m: memref<7x{type_}>, %x: {type_}",
            f"""
            %c0 = arith.constant 0 : index
            %r = core.atomic_rmw mulf acq_rel system %x, %m[%c0]
                : {type_}, memref<7x{type_}>[index]""",
        )
    )
    assert f"tt.atomic_{word} relaxed, sys," in text
    assert text.count("tt.atomic_cas acq_rel, sys,") == 1


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_machine_code_of_loops(chip: str) -> None:
    updates = (("addf", "bf16"), ("maxnumf", "f16"), ("addi", "i16"), ("addi", "i8"))
    sources = [made(*each) for made, _, _ in KERNELS.values() for each in updates]
    sources += [
        compare_and_swap("i16"),
        compare_and_swap("f16", "masked"),
        of_all("minnumf", "f64"),
    ]
    for source in sources:
        text = lowered(source, CHIPS[chip])
        verdict = assembled(NEWEST, text, chip)
        assert verdict.accepted, (verdict.said, text)
        for release in releases():
            assert judge(release, text).accepted


# --- barriers ---


def events(text: str) -> list[str]:
    """Barriers, accesses of memory and loops in the order of a text."""
    words = r"(gpu\.barrier|ttg\.barrier|tt\.load|tt\.store|tt\.atomic_\w+|scf\.while|scf\.for) "
    found = re.findall(words, re.sub(r"(barrier)\n", r"\1 \n", text))
    return [each.split(".")[-1].removeprefix("atomic_") for each in found]


def locked(acquire: str, release: str) -> str:
    """The text of a kernel that adds numbers to a total under a lock."""
    return tile_kernel(
        "%lock: memref<1xi32>, %total: memref<64xf32>, %x: memref<64xf32>",
        f"""
        %c0 = arith.constant 0 : index
        %free = arith.constant 0 : i32
        %taken = arith.constant 1 : i32
        %a = vector.load %x[%c0] : memref<64xf32>, vector<64xf32>
        scf.while : () -> () {{
          %found = core.atomic_compare_and_swap {acquire} device %free, %taken, %lock[%c0]
              : i32, memref<1xi32>[index]
          %again = arith.cmpi eq, %found, %taken : i32
          scf.condition(%again)
        }} do {{
          scf.yield
        }}
        %b = vector.load %total[%c0] : memref<64xf32>, vector<64xf32>
        %sum = arith.addf %a, %b : vector<64xf32>
        vector.store %sum, %total[%c0] : memref<64xf32>, vector<64xf32>
        %old = core.atomic_rmw assign {release} device %free, %lock[%c0]
            : i32, memref<1xi32>[index]""",
    )


@pytest.mark.parametrize(
    ("acquire", "release", "expected"),
    [
        ("relaxed", "relaxed", "load while cas load store rmw"),
        ("acquire", "relaxed", "load while cas barrier load store rmw"),
        ("relaxed", "release", "load while cas load store barrier rmw"),
        ("acquire", "release", "load while cas barrier load store barrier rmw"),
        # All wait once before the loop that takes the lock, and not each time around.
        ("acq_rel", "acq_rel", "load barrier while cas barrier load store barrier rmw"),
    ],
)
def test_all_threads_wait_beside_a_lock(acquire: str, release: str, expected: str) -> None:
    assert events(lowered(locked(acquire, release))) == expected.split()


def test_a_lock_works() -> None:
    random = fresh_generator()
    total, x = (random.integers(-9, 10, 64).astype(np.float32) for _ in range(2))
    expected, lock = total + 4 * x, np.zeros(1, np.int32)
    module = xtile.parse(lowered(locked("acquire", "release")), language="ttir")
    xtile.run(module, [lock, total, x], grid=(4,), sanitize=True)
    np.testing.assert_array_equal(total, expected)
    assert lock[0] == 0


ONE = "%r{0} = core.atomic_rmw addi {1} device %n, %m[%c0] : i32, memref<1xi32>[index]\n"
SEVERAL = (
    "%r{0} = core.atomic_rmw addi {1} device %t, %p[%c0] : vector<8xi32>, memref<8xi32>[index]\n"
)
READ = "%r{0} = vector.load %q[%c0] : memref<8xi32>, vector<8xi32>\n"
KEEP = "vector.store %r{0}, %w{0}[%c0] : memref<8xi32>, vector<8xi32>\n"
COPY = READ + KEEP
WRITE = "vector.store %t, %q[%c0] : memref<8xi32>, vector<8xi32>\n"


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        # One thread alone has the order of the text.
        (ONE.format(0, "acq_rel") + ONE.format(1, "acq_rel"), "rmw rmw"),
        (ONE.format(0, "relaxed") + ONE.format(1, "release"), "rmw rmw"),
        # Elements of a tensor are updated by many.
        (SEVERAL.format(0, "relaxed") + ONE.format(1, "release"), "rmw barrier rmw"),
        (ONE.format(0, "relaxed") + SEVERAL.format(1, "release"), "rmw barrier rmw"),
        (ONE.format(0, "acquire") + SEVERAL.format(1, "relaxed"), "rmw barrier rmw"),
        (SEVERAL.format(0, "acquire") + ONE.format(1, "relaxed"), "rmw barrier rmw"),
        (SEVERAL.format(0, "relaxed") + SEVERAL.format(1, "relaxed"), "rmw rmw"),
        # Other accesses of any memory.
        (ONE.format(0, "acquire") + COPY.format(1), "rmw barrier load store"),
        (ONE.format(0, "release") + COPY.format(1), "rmw load store"),
        (COPY.format(0) + ONE.format(1, "release"), "load store barrier rmw"),
        (COPY.format(0) + ONE.format(1, "acquire"), "load store rmw"),
        (
            READ.format(0) + ONE.format(1, "release") + KEEP.format(0),
            "load barrier rmw store",
        ),
        (WRITE + ONE.format(1, "release"), "store barrier rmw"),
        (WRITE + ONE.format(1, "relaxed"), "store rmw"),
        # One barrier is enough for several accesses.
        (WRITE + ONE.format(1, "release") + ONE.format(2, "release"), "store barrier rmw rmw"),
        (
            ONE.format(0, "acquire") + COPY.format(1) + COPY.format(2) + ONE.format(3, "relaxed"),
            "rmw barrier load store load store rmw",
        ),
        # A loop of compare-and-swap is one access.
        (
            WRITE + ONE.format(1, "acq_rel").replace("addi", "muli") + COPY.format(2),
            "store barrier rmw while cas barrier load store",
        ),
    ],
)
def test_all_threads_wait_beside_acquires_and_releases(accesses: str, expected: str) -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %n = arith.constant 2 : i32
        %t = arith.constant dense<3> : vector<8xi32>
        {accesses}"""
    memories = ", ".join(f"%w{number}: memref<8xi32>" for number in range(4))
    parameters = f"%m: memref<1xi32>, %p: memref<8xi32>, %q: memref<8xi32>, {memories}"
    assert events(lowered(tile_kernel(parameters, body))) == expected.split()


def test_atomic_loads_and_stores_are_acquires_and_releases() -> None:
    text = lowered(
        tile_kernel(
            "%flag: memref<2xi32>, %q: memref<8xi32>",
            f"""
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %t = arith.constant dense<3> : vector<8xi32>
            %n = core.gather_load acquire device %flag[%c0] : memref<2xi32>[index] -> i32
            {WRITE}
            core.scatter_store release device %n, %flag[%c1] : i32, memref<2xi32>[index]""",
        )
    )
    assert events(text) == ["rmw", "barrier", "store", "barrier", "rmw"]


def test_what_the_first_region_of_a_loop_does_is_last() -> None:
    """The barrier in the second region comes before that."""
    text = lowered(
        tile_kernel(
            "%q: memref<8xi32>, %n: i32, %w0: memref<8xi32>, %w1: memref<8xi32>",
            f"""
            %c0 = arith.constant 0 : index
            %one = arith.constant 1 : i32
            %zero = arith.constant 0 : i32
            %last = scf.while (%i = %n) : (i32) -> i32 {{
              %t = vector.broadcast %i : i32 to vector<8xi32>
              {WRITE}
              %again = arith.cmpi sgt, %i, %zero : i32
              scf.condition(%again) %i : i32
            }} do {{
            ^body(%i: i32):
              %next = arith.subi %i, %one : i32
              {COPY.format(0)}
              scf.yield %next : i32
            }}
            {COPY.format(1)}""",
        )
    )
    after_the_loop = events(text[text.index("scf.yield") :])
    assert after_the_loop == ["barrier", "load", "store"]


SPIN = """
tt.func public @spin(%lock: !tt.ptr<i32>, %total: !tt.ptr<f32>, %x: !tt.ptr<f32>) {
  %true = arith.constant true
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %xp : tensor<64x!tt.ptr<f32>>
  scf.while : () -> () {
    %found = tt.atomic_cas acquire, gpu, %lock, %free, %taken : (!tt.ptr<i32>, i32, i32) -> i32
    %again = arith.cmpi eq, %found, %taken : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  AFTER
  %ts = tt.splat %total : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %tp = tt.addptr %ts, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %b = tt.load %tp : tensor<64x!tt.ptr<f32>>
  %sum = arith.addf %a, %b : tensor<64xf32>
  tt.store %tp, %sum : tensor<64x!tt.ptr<f32>>
  BEFORE
  %old = tt.atomic_rmw exch, release, gpu, %lock, %free, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}
"""


def spin(after: str, before: str) -> str:
    """The text of a kernel of Triton that adds numbers under a lock, with barriers or without."""
    return SPIN.replace("AFTER", after).replace("BEFORE", before)


def again(text: str) -> ModuleOp:
    """What a kernel of Triton is once it was one of the core form."""
    raised = translate(xtile.parse(text, language="ttir"), "triton-to-core")
    return translate(raised, "core-to-triton", Options("gfx942"))


@pytest.mark.parametrize("after", ["", "gpu.barrier", "ttg.barrier all"])
@pytest.mark.parametrize("before", ["", "gpu.barrier", "ttg.barrier all"])
def test_kernels_of_triton_come_back_with_one_barrier_each(after: str, before: str) -> None:
    source = spin(after, before)
    expected = ["load", "while", "cas", "barrier", "load", "store", "barrier", "rmw"]
    once = xtile.to_text(again(source), "mlir")
    assert events(once) == expected
    assert events(xtile.to_text(again(once), "mlir")) == expected
    if after and before:
        assert events(source) == expected


@pytest.mark.parametrize("language", ["amdg", "cuda_tile", "triton"])
def test_barriers_are_read(language: str) -> None:
    """The barriers that are written here are taken by all that read Triton."""
    text = lowered(locked("acquire", "release"))
    chip = "sm_90" if language == "cuda_tile" else "gfx942"
    made = xtile.translate(xtile.parse(text, language="ttir"), language, chip=chip)
    if language != "cuda_tile":
        assert xtile.to_text(made, "mlir").count("barrier") == 2


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("acquire", "release"), [("acquire", "release"), ("acq_rel", "acq_rel")])
def test_machine_code_of_locks(acquire: str, release: str, chip: str) -> None:
    text = lowered(locked(acquire, release), CHIPS[chip])
    verdict = assembled(NEWEST, text, chip)
    assert verdict.accepted, verdict.said
    for name in releases():
        assert judge(name, text).accepted, name
