"""Which revision of the tensor language a text is written in.

Source: the references of tinytc v0.1.0, v0.3.1 and v0.4.0, and the parsers of those releases.
"""

from __future__ import annotations

import re

CURRENT = "v0.4"
REVISIONS = ("v0.1", "v0.3", CURRENT)

OLDER_NAMES = frozenset({"arith", "cmp", "group_size", "hadamard_product", "math"})
"""Instructions whose names the current revision does not have."""

_LONGEST_LOOK = 1 << 18
"""So many characters tell the revision; a header without instructions is never longer."""

_SIGNS = re.compile(
    r"""
      ;[^\n]*+
    | (?P<current>
          (?<![%@$.\w])
          (?: attributes \s* \{
            | constant \b
            | (?:group_id | num_groups) \s* \. \s* [xyz] \b
            | (?:coopmatrix | cooperative_matrix_\w++ | foreach_tile | parallel | num_subgroups
                | subgroup_(?:id|linear|local|broadcast|reduce|inclusive|exclusive)\w*+
                | subgroup_size \s* :
                | atomic_(?:load|store|add|max|min) | associated | cumsum ) \b
            | barrier \s* \.
            | alloca \s* [:{]
            | yield \s* \(
            | foreach \s* \(
            | (?:equal | not_equal | (?:greater|less)_than (?:_equal)?) \b
            | (?:f16 | bf16 | c32 | c64) (?: \b | x)
          )
        | , \s* local \s* >
        | > \s* x \s* [0-9?]
        | \$ \w
      )
    | (?P<first>
          (?<![%@$.\w])
          (?: u(?:8|16|32|64) (?: \b | x[0-9?] )
            | (?:add | sub | mul | div | rem) \s+ (?: %\w++ \s*, \s* )? [-+]? [0-9.]
            | neg \s+ [-+]? [0-9.]
          )
      )
    | (?P<either>
          (?<![%@$.\w])
          (?: alloca \s* ->
            | (?:arith | cmp) \s* \.
            | (?:work_group_size | subgroup_size) \s* \(
            | group_size \b
            | group_id \b
            | hadamard_product \b
            | i1 (?: \b | x)
            | for(?:each)? \s+ %\w++ \s* = \s* (?: %\w++ \s*, \s* )? [-+]? [0-9]
            | foreach \s+ %
            | yield \s* (?: [%:0-9.+-] | \b(?:true|false)\b )
            | (?:axpby | gemm | gemv | ger | sum | hadamard) (?: \.\w++ )* [\s,]++ [-+]? [0-9.]
            | size \s+ % \w++ \s* \[ \s* \d++ \s* \] \s* : \s* memref
            | load \s+ % \w++ \s* \[ (?: [^\]\n]{0,80} \] \s* : \s* group | \s* [0-9] )
            | subview \s+ % \w++ \s* \[ (?: \s* : | [^\]\n]{0,200}? (?: : \s* \? | , \s* : ) )
            | expand \s+ % \w++ \s* \[ \s* \d++ \s* -> [^\]\n?]{0,200} \?
          )
        | : \s* [fi]\d++ \s*, \s* memref \s* <
        | : \s* (?: i\d++ | index ) \s* \{
      )
    | (?P<plain> = (?= \s*+ (?:add | sub | mul | div | rem | neg) \s++ % ) )
    """,
    re.VERBOSE,
)
"""What only some revisions write. `plain` is arithmetic as v0.1 and v0.4 spell it, but not v0.3."""


def detect_revision(text: str) -> str:
    """The revision that `text` is written in.

    One construct of the current revision makes the whole text current: what is older in it is
    read all the same, each with a warning. A text without any sign is current too.
    """
    found: set[str | None] = set()
    for match in _SIGNS.finditer(text, 0, _LONGEST_LOOK):
        if match.lastgroup == "current":
            return CURRENT
        found.add(match.lastgroup)
    if "first" in found or {"either", "plain"} <= found:
        return "v0.1"
    return "v0.3" if "either" in found else CURRENT


def has_older_constructs(text: str, revision: str) -> bool:
    """Whether `text`, read as `revision`, has constructs that the current revision has not.

    Generators that write some of them write others too that tell nothing by themselves.
    """
    if revision != CURRENT:
        return True
    signs = _SIGNS.finditer(text, 0, _LONGEST_LOOK)
    return any(sign.lastgroup in ("first", "either") for sign in signs)
