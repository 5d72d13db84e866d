"""Saving results, whole or not at all."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from xtile.arguments.groups import Group
from xtile.text.output import write_file


def save_result(path: str, value: Any) -> None:
    """Writes an array as `.npy`, or the entries of a group as `.npz`.

    Null pointers are left out of an archive; entry i is named `entry_i`.

    Raises:
        OSError: The file cannot be written; an earlier file at `path` stays as it was.
    """
    content = BytesIO()
    if isinstance(value, Group):
        entries: dict[str, Any] = {
            f"entry_{index}": entry
            for index, entry in enumerate(value.entries)
            if entry is not None
        }
        np.savez(content, allow_pickle=False, **entries)
    else:
        np.save(content, value, allow_pickle=False)
    write_file(path, content.getvalue())
