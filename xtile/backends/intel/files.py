"""Programs for Intel's devices as files: SPIR-V, and a sidecar that says what launches must know.

Beside what every sidecar has (`xtile.backends.sidecar`), that of SPIR-V says what
`xtile.backends.intel.compiler` keeps of a program in the cache, too: `build_options` and `is_risky`
of the module, and of each kernel the sizes of work-groups and subgroups, its local memory, and how
its work-items follow from those of the source.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xtile import __version__
from xtile.arguments.signature import Signature
from xtile.backends.intel.compilation import Program
from xtile.backends.intel.compiler import decode, encode
from xtile.backends.machine_code import SPV
from xtile.backends.sidecar import (
    Described,
    damage_located,
    description,
    number,
    numbers,
    read_code,
    read_description,
    sidecar_path,
    write_both,
)
from xtile.text.files import source_from_path


@dataclass(frozen=True)
class SpirvFile:
    """SPIR-V that launches need no source for.

    Attributes:
        program: The kernels.
        chip: What they were compiled for.
        signatures: Those of the kernels, by name.
    """

    program: Program
    chip: str
    signatures: Mapping[str, Signature]


def write_spirv(path: str | os.PathLike[str], made: SpirvFile) -> None:
    """Writes SPIR-V and its sidecar.

    Raises:
        OSError: A file cannot be written.
    """
    write_both(path, made.program.spirv, sidecar_text(made))


def sidecar_text(made: SpirvFile) -> str:
    """The text of the sidecar of SPIR-V."""
    header, code = encode(made.program)
    words: dict[str, Any] = dict(header)
    launches: dict[str, dict[str, Any]] = words.pop("kernels")
    # What launches check stands in the signatures.
    signatures = {
        name: made.signatures[name].with_checks(kernel.checks)
        for name, kernel in made.program.kernels.items()
    }
    for each in launches.values():
        del each["checks"]
    described = Described(made.chip, f"xtile {__version__}", signatures, launches, words)
    return description(described, code, SPV)


def read_spirv(path: str | os.PathLike[str]) -> SpirvFile:
    """Reads SPIR-V and its sidecar.

    Raises:
        DiagnosticError: A file cannot be read, is damaged, or they do not belong together.
    """
    code = read_code(path, SPV)
    source = source_from_path(sidecar_path(path))
    with damage_located(source):
        described = read_description(source, code, SPV)
        for words in described.launches.values():
            for name in ("work_group_size", "source_size"):
                if words[name] is not None and len(numbers(words, name, least=1)) != 3:
                    raise TypeError(f"{name} is no three numbers")
            if words["subgroup_size"] is not None:
                number(words, "subgroup_size", least=1)
            number(words, "local_memory")
            number(words, "lanes_together", least=1)
        header = {**described.options, "kernels": described.launches}
        if not isinstance(described.options["build_options"], str):
            raise TypeError("build_options is no text")
        program = decode(header, code, described.signatures)
        return SpirvFile(program, described.chip, described.signatures)
