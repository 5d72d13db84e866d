"""OpenCL C for the functions on matrices that drivers of Intel's GPUs have, made from their names.

With it kernels that import them run on a CPU, each of whose lanes does what the specification says
of a work-item.

Source: the OpenCL extensions cl_intel_subgroup_2d_block_io and
cl_intel_subgroup_matrix_multiply_accumulate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Copies of these functions in each place that calls them would take long to compile.
_HEADER = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

__attribute__((noinline))
uint element(__global void *base, int width, int height, int pitch, int bytes, int x, int y) {
  uint value = 0;
  if (x < 0 || x >= width / bytes || y < 0 || y >= height) return 0;
  __global uchar *p = (__global uchar *)base + (long)y * pitch + x * bytes;
  for (int i = 0; i < bytes; ++i) value |= (uint)p[i] << (8 * i);
  return value;
}

__attribute__((noinline))
void set(__global void *base, int width, int height, int pitch, int bytes, int x, int y, uint v) {
  if (x < 0 || x >= width / bytes || y < 0 || y >= height) return;
  __global uchar *p = (__global uchar *)base + (long)y * pitch + x * bytes;
  for (int i = 0; i < bytes; ++i) p[i] = v >> (8 * i);
}
"""

_BLOCK = re.compile(
    r"_Z\d+(?P<name>intel_sub_group_2d_block_(?P<verb>read|read_transform|read_transpose|write"
    r"|prefetch)_(?P<bits>\d+)b_(?P<rows>\d+)r(?P<columns>\d+)x(?P<count>\d+)c)"
    r"PU3AS1viiiDv2_i(?:P(?P<word>[tj]))?"
)

_PRODUCT = re.compile(
    r"_Z\d+(?P<name>intel_sub_group_(?P<factor>f16|bf16|i8|tf32)_\w+?_matrix_mad_k(?P<depth>\d+))"
    r"(?P<parameters>D?.*)"
)

_WORDS = {"t": "ushort", "j": "uint"}

_PLACE = "__global void *base, int width, int height, int pitch, int2 at"


def source(names: Iterable[str]) -> str:
    """The functions with these names.

    Raises:
        ValueError: There is no such function.
    """
    return _HEADER + "\n".join(_function(name) for name in names)


def _function(name: str) -> str:
    block, product = _BLOCK.fullmatch(name), _PRODUCT.fullmatch(name)
    if block is not None:
        return _block(block)
    if product is not None:
        return _product(product)
    raise ValueError(f"drivers have no function {name}")


# --- blocks ---


def _block(found: re.Match[str]) -> str:
    head = f"__attribute__((overloadable, noinline)) void {found['name']}({_PLACE}"
    if found["verb"] == "prefetch":
        return f"{head}) {{}}"
    bits, rows, columns, count = (int(found[n]) for n in ("bits", "rows", "columns", "count"))
    body = {
        "read": _rows_of_words,
        "read_transform": _packed_rows,
        "read_transpose": _transposed,
        "write": _written,
    }[found["verb"]](bits // 8, rows, columns, count)
    return f"""{head}, __private {_WORDS[found["word"]]} *word) {{
      int lane = get_sub_group_local_id(), number = 0;
      {body}
    }}"""


_OF_A_BLOCK = "for (int b = 0; b < {count}; ++b) for (int r = 0; r < {rows}; ++r)"


def _rows_of_words(size: int, rows: int, columns: int, count: int) -> str:
    """A lane gets as many neighbours of each row."""
    own = columns // 16
    return f"""{_OF_A_BLOCK.format(count=count, rows=rows)} {{
      uint value = 0;
      for (int i = 0; i < {own}; ++i)
        value |= element(base, width, height, pitch, {size},
                         at.x + b * {columns} + lane * {own} + i, at.y + r) << ({8 * size} * i);
      word[number++] = value;
    }}"""


def _packed_rows(size: int, rows: int, columns: int, count: int) -> str:
    """A lane gets a column, in words with elements of several rows."""
    pack = 4 // size
    return f"""{_OF_A_BLOCK.format(count=count, rows=rows // pack)} {{
      uint value = 0;
      for (int i = 0; i < {pack}; ++i)
        value |= element(base, width, height, pitch, {size},
                         at.x + b * {columns} + lane, at.y + r * {pack} + i) << ({8 * size} * i);
      word[number++] = value;
    }}"""


def _transposed(size: int, rows: int, columns: int, count: int) -> str:
    """A lane gets a row, or every 16th one."""
    return f"""for (int c = 0; c < {columns}; ++c) for (int r = lane; r < {rows}; r += 16)
      word[number++] = element(base, width, height, pitch, {size}, at.x + c, at.y + r);"""


def _written(size: int, rows: int, columns: int, count: int) -> str:
    own = columns // 16
    return f"""{_OF_A_BLOCK.format(count=count, rows=rows)} {{
      for (int i = 0; i < {own}; ++i)
        set(base, width, height, pitch, {size}, at.x + b * {columns} + lane * {own} + i, at.y + r,
            word[number] >> ({8 * size} * i));
      ++number;
    }}"""


# --- products ---

_TYPES = {"s": "short", "i": "int", "f": "float", "Dh": "half"}
_VECTOR = re.compile(r"Dv(\d)_(s|i|f|Dh)|(s|i|f|Dh)|S(\d?)_")


def _parameters(text: str) -> list[tuple[str, int]]:
    """The letter and the length of each parameter."""
    found: list[tuple[str, int]] = []
    vectors: list[tuple[str, int]] = []
    for length, of_vector, scalar, back in _VECTOR.findall(text):
        if of_vector:
            vectors.append((of_vector, int(length)))
            found.append(vectors[-1])
        elif scalar:
            found.append((scalar, 1))
        else:
            found.append(vectors[int(back) + 1 if back else 0])
    return found


_NUMBERS = {
    "f16": "(float)as_half((ushort)({word} >> {shift}))",
    "bf16": "as_float((uint)(ushort)({word} >> {shift}) << 16)",
    "i8": "(float)(char)({word} >> {shift})",
    "tf32": "as_float((uint)({word}))",
}
"""An element of a type of factors, which begins so many bits above the lowest of a word."""


def _product(found: re.Match[str]) -> str:
    a, b, c = _parameters(found["parameters"])
    factor, depth = found["factor"], int(found["depth"])
    rows = c[1]
    bits = {"f16": 16, "bf16": 16, "i8": 8, "tf32": 32}[factor]
    word_bits = {"s": 16, "i": 32, "f": 32}[a[0]]
    lanes = 8 if a[0] == "i" else 16
    pack, per_register = word_bits // bits, 32 // bits
    is_bfloat16 = c[0] == "s"
    before = "as_float((uint)(ushort)C[r] << 16)" if is_bfloat16 else "(float)C[r]"
    after = "(short)rounded(sum)" if is_bfloat16 else f"({_TYPES[c[0]]})sum"
    if factor == "i8":
        # Sums of products are exact in f32; the CPU's compiler dies of the same loop in integers.
        before, after = "0", "C[r] + (int)sum"
    left = _NUMBERS[factor].format(word="word", shift=f"{bits} * (k % {pack})")
    right = _NUMBERS[factor].format(
        word=f"((uint *)&b)[k / {per_register}]", shift=f"{bits} * (k % {per_register})"
    )
    types = [_TYPES[letter] + (str(n) if n > 1 else "") for letter, n in (a, b, c)]
    head = f"{types[2]} {found['name']}({types[0]} a, {types[1]} b, {types[2]} c)"
    unsigned, element = {"s": "ushort", "i": "uint", "f": "uint"}[a[0]], _TYPES[c[0]]
    return f"""
    {_ROUNDED if is_bfloat16 else ""}
    __attribute__((overloadable, noinline)) {head} {{
      {types[2]} d;
      {element} *C = ({element} *)&c, *D = ({element} *)&d;
      {unsigned} *A = ({unsigned} *)&a;
      for (int r = 0; r < {rows}; ++r) {{
        float sum = {before};
        for (int k = 0; k < {depth}; ++k) {{
          int number = r * {depth // pack} + k / {pack};
          uint word = intel_sub_group_shuffle((uint)A[number / {lanes}], number % {lanes});
          sum += {left} * {right};
        }}
        D[r] = {after};
      }}
      return d;
    }}"""


_ROUNDED = """
    uint rounded(float value) {
      uint bits = as_uint(value);
      return isnan(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    }"""
