"""Read, check, run and port GPU tile kernels.

Everything here loads on first use, so that `import xtile` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.api import parse, port, to_text, translate, verify
    from xtile.backends.compiling import compile
    from xtile.checking import check
    from xtile.launch import run
    from xtile.launch.gpu_prepared import prepare

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "check",
    "compile",
    "parse",
    "port",
    "prepare",
    "run",
    "to_text",
    "translate",
    "verify",
]

_HOMES = {
    "check": "xtile.checking",
    "compile": "xtile.backends.compiling",
    "load_ipython_extension": "xtile.notebook",
    "parse": "xtile.dialects.reading",
    "port": "xtile.translate.porting",
    "prepare": "xtile.launch.gpu_prepared",
    "run": "xtile.launch",
    "to_text": "xtile.api",
    "translate": "xtile.translate",
    "verify": "xtile.dialects.reading",
}
"""The module that each name of the API is defined in."""


def __getattr__(name: str) -> object:
    """Imports a name of the API when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'xtile' has no attribute '{name}'")
    from importlib import import_module

    module = import_module(home)
    # The package `xtile.translate` is itself the function of that name.
    value = module if home == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Lists the API, also where it is not loaded yet."""
    return sorted({*globals(), *_HOMES})
