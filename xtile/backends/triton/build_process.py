"""Triton in a process of its own, which may abort, hang or take all memory without harm.

The process is this module: it reads a request from the directory that is its argument, and leaves
there what each stage of the compiler made, or the error.

Source: `triton.compile` in Triton 3.4 to 3.9, `python/triton/compiler/compiler.py`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from xtile.backends.build_error import BuildError
from xtile.backends.tools import run_limited

DEFAULT_SECONDS = 300.0
"""How long it may take; most kernels take less than one second."""

_MEMORY = 16 * 2**30
"""Bytes of addresses that the process may have; importing Triton takes 1 GB of them."""

_REQUEST = "request.json"
_FACTS = "facts.json"
_FAILURE = "failure.json"
_STAGE = "made."

_KEPT = ("name", "shared", "num_warps", "num_ctas", "launch_cooperative_grid")
_SCRATCH = ("global_scratch", "profile_scratch")


@dataclass(frozen=True)
class Request:
    """What Triton is asked to compile.

    Attributes:
        text: A module with one kernel.
        extension: What it is written in, "ttir" or "ttgir".
        backend: Whose GPUs it is for, "hip" or "cuda".
        architecture: The chip as Triton calls it: "gfx942", or "90" for `sm_90`.
        lanes: The threads of a warp.
        options: What its compiler is told, such as `num_warps`.
    """

    text: str
    extension: str
    backend: str
    architecture: str
    lanes: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Built:
    """What Triton has made.

    Attributes:
        stages: The text of each stage and the machine code, by the names that Triton gives them.
        facts: What a launch must know, by the names that Triton gives it.
    """

    stages: Mapping[str, bytes]
    facts: Mapping[str, Any]


def build_in_process(request: Request, triton: Path, seconds: float | None = None) -> Built:
    """Compiles a kernel in another process.

    Args:
        request: What is compiled.
        triton: The folder that Triton is imported from.
        seconds: When the process is stopped; None for `DEFAULT_SECONDS`.

    Raises:
        BuildError: Triton refuses the kernel, dies, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="xtile-triton-") as name:
        directory = Path(name)
        words = {**vars(request), "text": None}
        (directory / _REQUEST).write_text(json.dumps(words))
        (directory / f"kernel.{request.extension}").write_text(request.text)
        said = _run(directory, triton, DEFAULT_SECONDS if seconds is None else seconds)
        if (directory / _FAILURE).exists():
            cause = json.loads((directory / _FAILURE).read_text())
            raise BuildError(cause, said)
        if not (directory / _FACTS).exists():
            raise BuildError("it made nothing", said)
        facts = json.loads((directory / _FACTS).read_text())
        stages = {
            path.name.removeprefix(_STAGE): path.read_bytes()
            for path in sorted(directory.glob(f"{_STAGE}*"))
        }
        return Built(stages, facts)


def _run(directory: Path, triton: Path, seconds: float) -> str:
    """Runs the process; returns what it said."""
    package = Path(__file__).resolve().parents[3]
    # What users set for Triton itself would change what is made and kept.
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TRITON_", "AMDGCN_", "MLIR_", "LLVM_"))
    }
    paths = [str(package), str(triton), *filter(None, [os.environ.get("PYTHONPATH")])]
    home = str(directory / "home")
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        "TMPDIR": str(directory),
        "TRITON_HOME": home,
        "TRITON_CACHE_DIR": f"{home}/cache",
        # 3.9 warns where nobody says whether products and sums may be fused; options do.
        "PYTHONWARNINGS": "ignore",
        # 3.4 and 3.5 do not use buffer operations unless they are asked to.
        "AMDGCN_USE_BUFFER_OPS": "1",
    }
    if (linker := os.environ.get("TRITON_HIP_LLD_PATH")) is not None:
        # 3.4 has none of its own.
        environment["TRITON_HIP_LLD_PATH"] = linker
    return run_limited(
        [sys.executable, "-P", "-m", __spec__.name, str(directory)], environment, seconds
    )


def _main(directory: Path) -> None:
    """What the process does."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request: dict[str, Any] = json.loads((directory / _REQUEST).read_text())
    # Messages name the file.
    os.chdir(directory)
    compiler: Any = import_module("triton.compiler.compiler")
    target: Any = import_module("triton.backends.compiler").GPUTarget
    architecture: str = request["architecture"]
    number = int(architecture) if architecture.isdecimal() else architecture
    try:
        made = compiler.compile(
            f"kernel.{request['extension']}",
            target=target(request["backend"], number, request["lanes"]),
            options=request["options"],
        )
    except MemoryError:
        (directory / _FAILURE).write_text(json.dumps("OUT_OF_HOST_MEMORY"))
    # Each release raises errors of its own, and of libraries.
    except Exception as error:
        reason = str(error).strip() or type(error).__name__
        (directory / _FAILURE).write_text(json.dumps(reason))
    else:
        _keep(directory, made)


def _keep(directory: Path, made: Any) -> None:
    """Leaves what was made in the directory."""
    for stage, content in made.asm.items():
        data = content if isinstance(content, bytes) else content.encode()
        (directory / f"{_STAGE}{stage}").write_bytes(data)
    facts = {name: getattr(made.metadata, name, None) for name in _KEPT}
    for name in _SCRATCH:
        facts[f"{name}_size"] = getattr(made.metadata, f"{name}_size", None) or 0
        facts[f"{name}_align"] = getattr(made.metadata, f"{name}_align", None) or 1
    (directory / _FACTS).write_text(json.dumps(facts))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
