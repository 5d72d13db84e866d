"""Kernels of Triton and cuTile compute the same when their tiles are dealt out to subgroups.

A sample runs each time; `XTILE_WHOLE_CORPUS=1` in the environment takes all kernels, to lanes and
through OpenCL, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.transforms.distribute_tiles.distributed import distributed
from tests.translate.cuda_tile_to_core.test_cutile_kernels import CASES as OF_CUTILE
from tests.triton_kernels.corpus import CASES as OF_TRITON
from tests.triton_releases.judges import NEWEST, compiled
from xtile.text.diagnostics import DiagnosticError

TAKES_ALL = os.environ.get("XTILE_WHOLE_CORPUS") == "1"

REFUSED = {
    "checked": "tt.print on a tile cannot be dealt out to subgroups",
}
"""The kernels that are refused, with what is said."""

NOT_COMPILED = {"inline_assembly", "matmul_block_pointers"}
"""What Triton does not compile, or cannot be raised."""

RACING = {"layer_norm_backward", "maximum_by_cas", "spin_lock"}
"""Kernels of Triton whose programs read what others write, between atomic updates."""

UNCHECKED = {"matmul_split_k"}
"""Kernels of which a launch would find that they are not what their accesses rely on."""

SAMPLE_OF_TRITON = (
    *("attention", "extremes_with_indices", "histogram", "layer_norm", "linear_recurrence"),
    *("matmul_batched", "matmul_f16", "permute_rank3", "softmax", "spin_lock"),
)
SAMPLE_OF_CUTILE = ("attention", "gather_scatter", "split_k_matmul")


def _chosen(cases: Mapping[str, Callable[[], object]], sample: tuple[str, ...]) -> list[str]:
    return [name for name in cases if name not in NOT_COMPILED] if TAKES_ALL else [*sample]


def _of_triton(name: str) -> ModuleOp:
    verdict = compiled(NEWEST, OF_TRITON[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    return xtile.parse(verdict.text, language="ttir")


LEVELS = (("subgroup", "reference"), ("lane", "reference"), ("lane", "opencl"))


@pytest.mark.slow
@pytest.mark.parametrize(("level", "device"), LEVELS if TAKES_ALL else LEVELS[:1])
@pytest.mark.parametrize("name", _chosen(OF_TRITON, SAMPLE_OF_TRITON))
def test_kernels_of_triton(name: str, level: str, device: str) -> None:
    case, module = OF_TRITON[name](), _of_triton(name)
    if name in REFUSED:
        with pytest.raises(DiagnosticError, match=REFUSED[name]):
            distributed(module)
        return
    made = distributed(module, level, may_wrap=name in UNCHECKED)
    arguments = case.copied_arguments()
    ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
    given = [each for key, each in arguments.items() if key not in ones]
    sanitize = level == "subgroup" and name not in RACING
    xtile.run(made, given, case.grid, device=device, sanitize=sanitize)
    case.check(arguments)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "device"), LEVELS if TAKES_ALL else LEVELS[:1])
@pytest.mark.parametrize("name", _chosen(OF_CUTILE, SAMPLE_OF_CUTILE))
def test_kernels_of_cutile(name: str, level: str, device: str, tmp_path: Path) -> None:
    case, file = OF_CUTILE[name](), tmp_path / "kernel.tileirbc"
    file.write_bytes(case.exported())
    made = distributed(xtile.parse(file), level)
    arguments = case.copied_arguments()
    xtile.run(made, arguments, case.grid, device=device)
    case.check(arguments)
