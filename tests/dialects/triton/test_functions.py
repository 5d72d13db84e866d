"""Functions of Triton are read as the text that the releases of Triton make of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xtile
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.folders import folders, releases
from tests.triton_releases.judges import compiled

KERNELS = """import triton
import triton.language as tl


@triton.jit
def wrong(x, SIZE: tl.constexpr):
    tl.store(x, tl.load(x)
             + missing)


@triton.jit
def inner(x, SIZE: tl.constexpr):
    return x + tl.arange(0, SIZE + 1)


@triton.autotune(configs=[triton.Config({})], key=[])
@triton.jit
def outer(x, SIZE: tl.constexpr):
    tl.store(inner(x, SIZE), 1.0)


@triton.jit
def defaults(x, value=2.0, SIZE: tl.constexpr = 4):
    tl.store(x + tl.arange(0, SIZE), value)
"""


def answered(release: str, directory: Path, code: str) -> str:
    """What Python prints that has a release of Triton, in a folder with `KERNELS`."""
    (directory / "kernels.py").write_text(KERNELS)
    paths = [folders().get(release), directory, Path(__file__).parents[3]]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"import xtile, kernels\n{code}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(path) for path in paths if path)},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(release: str, directory: Path, call: str) -> str:
    """The error of a call of `xtile.parse`, with its class."""
    code = f"try:\n    xtile.parse({call})\nexcept Exception as e:\n    print(type(e).__name__, e)"
    return answered(release, directory, code)


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("name", ["softmax_online", "matmul_f16"])
def test_functions_are_read(release: str, name: str, tmp_path: Path) -> None:
    source = CASES[name]().source()
    types = {
        n: f"{type_}:16" if n in source.divisible else type_
        for n, type_ in source.signature.items()
    }
    code = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("corpus", {source.file!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
kernel = xtile.parse(module.{source.function}, signature={types!r}, constexprs={source.constants!r})
print(xtile.to_text(kernel, "mlir"), end="")
"""
    found = xtile.to_text(xtile.parse(answered(release, tmp_path, code)), "mlir")
    text = compiled(release, source, "gfx950", "ttir").text
    text = text.replace(", tt.pointer_range = 32 : i32", "")
    assert _unnamed(found) == _unnamed(xtile.to_text(xtile.parse(text), "mlir"))


def _unnamed(text: str) -> list[str]:
    """The lines without names of values, which Triton takes from Python where it has locations."""
    return [re.sub(r"%\w+", "%", line) for line in text.splitlines()]


@pytest.mark.parametrize("release", releases())
def test_errors_are_where_they_are_in_the_file(release: str, tmp_path: Path) -> None:
    said = refused(
        release, tmp_path, "kernels.wrong, signature={'x': '*fp32'}, constexprs={'SIZE': 4}"
    )
    assert f"{tmp_path}/kernels.py:8.16-22: error: NameError('missing is not defined')" in said
    assert "             + missing)\n               ~~~~~~~" in said


@pytest.mark.parametrize("release", releases())
def test_errors_in_functions_that_are_called(release: str, tmp_path: Path) -> None:
    said = refused(
        release, tmp_path, "kernels.outer, signature={'x': '*fp32'}, constexprs={'SIZE': 4}"
    )
    assert "<inner>:2.16-37: error: arange's range must be a power of 2" in said
    assert f"{tmp_path}/kernels.py:19.14-27: note: called from here" in said


def test_default_values_are_constants(tmp_path: Path) -> None:
    call = "xtile.parse(kernels.defaults, signature={'x': '*fp32'})"
    text = answered(releases()[-1], tmp_path, f"print(xtile.to_text({call}, 'mlir'))")
    assert "arith.constant dense<2.000000e+00> : tensor<4xf32>" in text


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "kernels.wrong, signature={'x': '*fp32'}",
            "ValueError parameter 'SIZE' has neither a type in signature nor a value in constexprs",
        ),
        (
            "kernels.wrong, signature={'x': '*fp32', 'y': 'i32'}",
            "ValueError wrong has no parameter 'y', but x, SIZE",
        ),
        (
            "kernels.wrong, signature={'x': '*fp32', 'SIZE': 'i32'}, constexprs={'SIZE': 4}",
            "ValueError parameter 'SIZE' has a type and a value; give one of them",
        ),
        (
            "kernels.wrong, signature={'x': '*f32'}, constexprs={'SIZE': 4}",
            "ValueError parameter 'x': expected a type such as '*fp32' or 'i32', but got '*f32'",
        ),
        (
            "kernels.wrong, signature={'x': '*fp32:8'}, constexprs={'SIZE': 4}",
            "ValueError parameter 'x': expected ':16' or nothing behind the type, but got ':8'",
        ),
        (
            "kernels.wrong, signature={'x': '*fp32'}, constexprs={'SIZE': 4}, target='a100'",
            "ValueError expected a target such as 'gfx942' or 'sm_90', but got 'a100'",
        ),
        ("3", "TypeError expected a path, a text, or a function with triton.jit, but got int"),
        (
            "'module {}', target='gfx942'",
            "ValueError signature, constexprs and target are for functions with triton.jit",
        ),
    ],
)
def test_what_does_not_fit(call: str, said: str, tmp_path: Path) -> None:
    assert refused(releases()[-1], tmp_path, call) == f"{said}\n"


def test_interpreted_functions(tmp_path: Path) -> None:
    code = "try:\n    xtile.parse(kernels.wrong)\nexcept TypeError as e:\n    print(e)"
    (tmp_path / "sitecustomize.py").write_text("import os\nos.environ['TRITON_INTERPRET'] = '1'\n")
    assert "unset TRITON_INTERPRET" in answered(releases()[-1], tmp_path, code)
