"""The options of a port: as words for another process, and as what tells whether it is done."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from xtile.backends.cache import make_key


def key_of(options: Namespace) -> str:
    """What tells whether a port of a kernel is there already: all that it follows from."""
    path = Path(options.kernel)
    content = path.read_bytes() if path.is_file() else str(path).encode()
    return make_key("port", content=content, options=" ".join(words_of(options)))


def of_kernel(options: Namespace, kernel: Path) -> Namespace:
    """The options of a folder for one of its kernels."""
    return Namespace(**{**vars(options), "kernel": str(kernel)})


def words_of(options: Namespace) -> list[str]:
    """The options of a port as words of a command line."""
    words = [word for name in options.to for word in ("--to", name)]
    words += [word for chip in options.chip for word in ("--chip", chip)]
    words += [word for name, value in options.arg for word in ("--arg", f"{name}={value}")]
    words += [word for name, value in options.size for word in ("--size", f"{name}={value}")]
    words += [word for name in options.device or () for word in ("--device", name)]
    for option, value in (("--entry", options.entry), ("--inputs", options.inputs)):
        words += [option, value] if value is not None else []
    for option, value in (("--grid", options.grid), ("--block", options.block)):
        words += [option, ",".join(map(str, value))] if value is not None else []
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    words += [] if options.field else ["--no-field"]
    return [*words, "--no-check"] if options.no_check else words
