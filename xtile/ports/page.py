"""The report as one page that needs no network: source and ports side by side."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xtile.checking.comparison import Map
from xtile.semantics.values import Array

if TYPE_CHECKING:
    from xtile.ports.port import Port
    from xtile.ports.report import Report

_CELLS = 48
"""The most rows and columns of a picture of errors."""

_PIXELS = 6


def page_of(report: Report) -> str:
    """The page."""
    words = report.words()
    for port, own in zip(words["ports"], report.ports, strict=True):
        port["pictures"] = _pictures(own)
    # A text of the kernel must not end the script.
    data = json.dumps(words).replace("</", "<\\/")
    return (
        _template()
        .replace("@TITLE@", escape(f"xtile port {report.source}"))
        .replace("@DATA@", data)
    )


@cache
def _template() -> str:
    return (Path(__file__).parent / "page.html").read_text(encoding="utf-8")


def _pictures(port: Port) -> list[dict[str, str]]:
    """The errors in each array, as SVG."""
    return [
        {"title": f"@{check.kernel}, {each.parameter}", "svg": _picture(each)}
        for check in port.checks
        for each in check.maps
    ]


def _picture(errors: Map) -> str:
    """A square for each element, or for the worst of some: white is none, red is too much."""
    ratios = _reduced(errors.ratios)
    rows, columns = ratios.shape
    squares = [
        f'<rect x="{j * _PIXELS}" y="{i * _PIXELS}" width="{_PIXELS}" height="{_PIXELS}" '
        f'fill="{_color(float(ratios[i, j]))}"/>'
        for i in range(rows)
        for j in range(columns)
        if ratios[i, j] > 0
    ]
    width, height = columns * _PIXELS, rows * _PIXELS
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(squares)}</svg>"
    )


def _reduced(ratios: Array) -> Array:
    """The largest of each block of elements, so that few blocks are left."""
    for axis in (0, 1):
        length = ratios.shape[axis]
        step = -(-length // _CELLS)
        ratios = np.maximum.reduceat(ratios, list(range(0, length, step)), axis=axis)
    return ratios


def _color(ratio: float) -> str:
    """From a pale blue for a small part of what is allowed to a dark one; red for more."""
    if ratio > 1:
        return "#c00"
    light = round(235 - 155 * min(1.0, ratio))
    return f"rgb({light},{light},255)"
