"""How many mistakes in ports to Triton its own sanitizer of floats finds, beside the field.

    python -m tests.conformance.fpsan_mutants --compile FOLDER [--jobs N]  with Triton 3.9
    python -m tests.conformance.fpsan_mutants --run FOLDER [--jobs N]      on one of NVIDIA's GPUs

FpSan replaces the floats of a kernel by integers modulo 2^w as Triton compiles it
(docs/field.md). The first command compiles kernels of Triton's corpus, their ports and the mutants
of these (`mutants.py`) for an H100 or an H200, with FpSan and without; ports of examples have no
source in Triton. It needs no GPU, and the second one needs no Triton: it launches all on the same
arguments, each mutant in a process of its own, and compares in the field and on floats, too.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import xtile
from tests.conformance.field_mutants import (
    Port,
    is_invisible,
    is_near,
    outcome,
    ports_of_examples,
    ports_of_triton,
)
from tests.conformance.mutants import Mutant, mutants
from xtile.arguments.copies import copied
from xtile.arguments.errors import DeviceError
from xtile.arguments.kernel import signatures_of
from xtile.backends.cache import Cache
from xtile.backends.sidecar import write_machine_code
from xtile.backends.triton.compilation import (
    Program,
    build_program,
    compile_program,
    machine_code,
)
from xtile.backends.triton.layouts import Options
from xtile.dialects.printing import text_of
from xtile.text.diagnostics import DiagnosticError

CHIP = "sm_90"

EACH = 9
"""Mutants of a port, as many as `field_mutants.py` takes of it."""

MODES = {"fpsan": {"instrumentation_mode": "fpsan"}, "floats": {}}
"""What Triton is told."""

_SECONDS = 300.0
"""How long all launches of a mutant may take."""

_PORT, _SOURCE = "port", "source"
_FACTS = "facts.pickle"
_TRITON = ".ttir"


# --- compiling ---


def compile_all(folder: Path, jobs: int) -> None:
    """Writes the text and the machine code of every kernel, and the arguments of launches."""
    tasks: list[tuple[Path, str]] = []
    ports = [*ports_of_triton(), *ports_of_examples()]
    for number, port in enumerate(port for port in ports if port.name.endswith(" to triton")):
        own = folder / f"{number}.{port.name.partition(' ')[0]}"
        own.mkdir(parents=True)
        made = mutants(port.port, EACH, port.name)
        modules = {_SOURCE: port.source, _PORT: port.port}
        modules |= {str(n): each.module for n, each in enumerate(made)}
        for name, module in modules.items():
            text, ending = text_of(module)
            path = own / f"{name}{ending}"
            path.write_text(text)
            tasks += [(path, mode) for mode in MODES if ending == _TRITON]
        facts = {
            "arguments": port.arguments,
            "grid": port.grid,
            "mutants": [(each.kind, each.what) for each in made],
        }
        (own / _FACTS).write_bytes(pickle.dumps(facts))
    with ProcessPoolExecutor(jobs) as pool:
        for path, refused in zip(tasks, pool.map(_compile, tasks), strict=True):
            if refused:
                print(*path, refused, sep=": ", flush=True)
    print(f"{len(tasks)} kernels were compiled", flush=True)


def _compile(task: tuple[Path, str]) -> str:
    """Writes the machine code of a kernel, or returns why Triton makes none."""
    path, mode = task
    module = xtile.parse(path)
    try:
        program: Program = compile_program(module, CHIP, options=Options())
        program = replace(program, options={**program.options, **MODES[mode]})
        built = build_program(program, CHIP, Cache(), None, None)
        made = machine_code(program, built, CHIP, program.signatures(signatures_of(module)))
    except (DeviceError, DiagnosticError, ValueError) as error:
        return str(error)
    write_machine_code(path.with_suffix(f".{mode}.cubin"), made)
    return ""


# --- on a GPU ---


@dataclass(frozen=True)
class Found:
    """What is found in a mutant, or in the port itself.

    Attributes:
        port: The kernel's name.
        kind: What kind of mistake it is; empty for the port itself.
        what: The operation that was changed, and how.
        field: What exact numbers say.
        reference: What floats say on the reference device, with the tolerances of tests.
        gpu: What they say on the GPU.
        fpsan: What FpSan says of it beside the source; empty where that is no kernel of Triton.
        fpsan_of_port: The same beside the port.
        is_invisible: Whether it gives the same bits as the port on the reference device.
    """

    port: str
    kind: str
    what: str
    field: str
    reference: str
    gpu: str
    fpsan: str
    fpsan_of_port: str
    is_invisible: bool


def find(own: Path, name: str) -> Found:
    """Launches a mutant, or the port, in every way."""
    facts = pickle.loads((own / _FACTS).read_bytes())
    source_path = next(own.glob(f"{_SOURCE}.*r"))
    arguments, grid = facts["arguments"], facts["grid"]
    source, right, wrong = map(xtile.parse, (source_path, own / "port.ttir", own / f"{name}.ttir"))
    kind, what = facts["mutants"][int(name)] if name != _PORT else ("", "")
    port, mutant = Port(own.name, source, right, arguments, grid), Mutant(wrong, kind, what)
    field, reference = outcome(port, mutant)
    expected = copied(arguments)
    xtile.run(source, expected, grid)
    launched = partial(_launched, own, arguments, grid)
    # An illegal access to memory ends all launches of a process; FpSan comes first.
    with_source, with_port, with_fpsan = (
        launched(each, "fpsan") for each in (_SOURCE, _PORT, name)
    )
    gpu = _verdict(expected, launched(name, "floats"), is_near)
    has_source = source_path.suffix == _TRITON
    return Found(
        own.name,
        kind,
        what,
        field,
        reference,
        gpu,
        _verdict(with_source, with_fpsan, _is_same) if has_source else "",
        _verdict(with_port, with_fpsan, _is_same),
        _is_invisible(port, mutant),
    )


def _is_invisible(port: Port, mutant: Mutant) -> bool:
    try:
        return is_invisible(port, mutant)
    except (DiagnosticError, DeviceError, ValueError):
        return False


def _launched(
    own: Path, arguments: Sequence[Any], grid: Any, name: str, mode: str
) -> list[Any] | str:
    """The arguments after a launch on the GPU, or why there was none."""
    path = own / f"{name}.{mode}.cubin"
    if not path.exists():
        return "refused"
    after = copied(arguments)
    try:
        xtile.run(path, after, grid, "cuda", seconds=_SECONDS / 10)
    except (DeviceError, DiagnosticError, ValueError) as error:
        return f"error: {str(error).splitlines()[0]}"
    return after


def _verdict(expected: list[Any] | str, found: list[Any] | str, is_like: Any) -> str:
    if isinstance(expected, str):
        return f"{expected} (what it is compared with)"
    if isinstance(found, str):
        return found
    pairs = zip(expected, found, strict=True)
    is_right = all(is_like(a, b) for a, b in pairs if isinstance(a, np.ndarray))
    return "agree" if is_right else "differ"


def _is_same(expected: Any, found: Any) -> bool:
    return expected.tobytes() == found.tobytes()


def run_all(folder: Path, jobs: int) -> None:
    """Prints what is found in every mutant, and the figures."""
    tasks = [
        (own, name)
        for own in sorted(each for each in folder.iterdir() if each.is_dir())
        for name in (_PORT, *map(str, range(EACH)))
        if (own / f"{name}.ttir").exists()
    ]
    with ThreadPoolExecutor(jobs) as pool:
        lines = list(pool.map(_in_process, tasks))
    print("\n".join(figures([Found(**json.loads(line)) for line in lines if line])))


def _in_process(task: tuple[Path, str]) -> str:
    """The line of a mutant, which may end its process."""
    own, name = task
    command = [sys.executable, "-m", __spec__.name, "--one", str(own), name]
    try:
        done = subprocess.run(
            command, timeout=_SECONDS, check=False, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        print(f"{own.name} {name}: not done after {_SECONDS:g} s", flush=True)
        return ""
    lines = done.stdout.splitlines() or [""]
    print(lines[-1] or f"{own.name} {name}: {done.stderr.strip()[-300:]}", flush=True)
    return lines[-1]


def figures(found: Sequence[Found]) -> Iterator[str]:
    """How many mutants each comparison finds."""
    ports = [each for each in found if not each.kind]
    yield f"{len(ports)} ports"
    for key in ("field", "reference", "gpu", "fpsan", "fpsan_of_port"):
        yield f"  {key}: {dict(Counter(_word(getattr(each, key)) for each in ports))}"
    changed = [each for each in found if each.kind]
    yield f"{len(changed)} mutants, {sum(each.is_invisible for each in changed)} of them invisible"
    for key in ("field", "reference", "gpu", "fpsan", "fpsan_of_port"):
        yield f"  {key}: {dict(Counter(_word(getattr(each, key)) for each in changed))}"
    pairs = Counter((_is_found(each.field), _is_found(each.fpsan_of_port)) for each in changed)
    yield "  found in the field, found by FpSan: " + str(dict(pairs))


def _word(verdict: str) -> str:
    return verdict.partition(":")[0] or "none"


def _is_found(verdict: str) -> bool:
    return _word(verdict) in ("differ", "error")


def main() -> None:
    """Does what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", nargs=2)
    options = parser.parse_args()
    if options.compile is not None:
        compile_all(options.compile, options.jobs)
    if options.run is not None:
        run_all(options.run, options.jobs)
    if options.one is not None:
        print(json.dumps(vars(find(Path(options.one[0]), options.one[1]))))


if __name__ == "__main__":
    main()
