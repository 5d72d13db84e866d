"""From one language to another: one package of rules for each direction (docs/translations.md).

`xtile.translate(...)` is the function of `porting.py`. Python gives the name to the package, so the
package itself can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class _Package(ModuleType):
    """The package, as a function."""

    def __call__(self, *arguments: object, **options: object) -> ModuleOp:
        from xtile.translate.porting import translate

        return translate(*arguments, **options)  # pyright: ignore[reportArgumentType]


sys.modules[__name__].__class__ = _Package
