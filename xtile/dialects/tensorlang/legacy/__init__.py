"""Older revisions of the tensor language, and spellings that only its reference uses.

`revisions.py` tells them apart, `handlers.py` lists what reads which instruction, `implied.py`
inserts what older text leaves unsaid. docs/tensorlang-revisions.md has the whole list.
"""

from xtile.dialects.tensorlang.legacy.handlers import (
    adjust,
    handler_of,
    has_older_annotation,
    reread,
    warn_older_form,
)
from xtile.dialects.tensorlang.legacy.implied import ImpliedValues
from xtile.dialects.tensorlang.legacy.revisions import REVISIONS, detect_revision
from xtile.dialects.tensorlang.legacy.terms import (
    missing_group_size,
    read_dropped_type,
    read_index_immediate,
)

__all__ = [
    "REVISIONS",
    "ImpliedValues",
    "adjust",
    "detect_revision",
    "handler_of",
    "has_older_annotation",
    "missing_group_size",
    "read_dropped_type",
    "read_index_immediate",
    "reread",
    "warn_older_form",
]
