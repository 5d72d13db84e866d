"""Writes a folder of kernels of all four languages, to port many at once.

    python -m tests.ports.folder FOLDER [--count 1000]

The kernels are those of the crossing (`corpus.py`), and then random ones of each language in turn,
which are the same each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from random import Random

import xtile
from tests.generators.collective_kernels import collective_kernel
from tests.generators.cuda_tile_kernels import KernelWriter
from tests.generators.triton_kernels import TritonWriter
from tests.generators.xegpu_kernels import XeGPUKernel
from tests.ports.corpus import FAMILIES, kernels_of
from xtile.dialects.printing import text_of


def _of_tensorlang(seed: int) -> str:
    return xtile.to_text(xtile.parse(collective_kernel(seed, "k").text, language="tensorlang"))


def _of_xegpu(seed: int) -> str:
    return XeGPUKernel(Random(seed), is_of_work_group=True).text(
        "known_block_size = array<i32: 64, 1, 1>"
    )


RANDOM: dict[str, Callable[[int], str]] = {
    "tensorlang.ir": _of_tensorlang,
    "xegpu.mlir": _of_xegpu,
    "cuda_tile.mlir": lambda seed: KernelWriter(seed).text(),
    "triton.ttir": lambda seed: TritonWriter(seed).text(),
}
"""For each language the text of a random kernel, by the end of a file's name."""

OF_CORPUS = 30
"""Kernels of each language that the crossing takes."""

FIRST_SEED = 1000
"""Of the random kernels; the corpus has some of those below."""


def kernels() -> Iterator[tuple[str, str]]:
    """The names of files and their texts, without an end."""
    for language in FAMILIES:
        for name, kernel in islice(kernels_of(language).items(), OF_CORPUS):
            text, ending = text_of(kernel.read())
            yield f"{language}.{name}{ending}", text
    for seed in count(FIRST_SEED):
        for ending, text_with in RANDOM.items():
            yield f"random{seed}.{ending}", text_with(seed)


def main() -> None:
    """Writes the folder that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    for name, text in islice(kernels(), options.count):
        (options.folder / name).write_text(text)


if __name__ == "__main__":
    main()
