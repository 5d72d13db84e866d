"""What a check has found: comparisons, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from xtile.checking.comparison import Difference, Map
from xtile.command import html_of
from xtile.launch.executable import FIELD_NAME

if TYPE_CHECKING:
    from rich.table import Table


class Verdict(Enum):
    """What is known of a port.

    AGREES: It computed what its source computed.
    DIFFERS: It did not, or it has a mistake that its source has not.
    NOT_RUN: A device could not run it, or it is not for this launch.
    """

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_RUN = "not run"


REFUSED = "refused"
"""What the exact numbers say of a kernel that they cannot follow, and so nothing of the port."""


@dataclass(frozen=True)
class Comparison:
    """One launch of a kernel, compared with the source on the reference device.

    Attributes:
        kernel: "source" or "port".
        device: What it ran on.
        inputs: What arrays were filled with.
        sizes: The shapes of arrays, and the numbers.
        grid: The work-groups.
        was_sanitized: Whether mistakes were looked for, too.
        seconds: How long it took, with loading.
        verdict: Whether it agrees.
        difference: Where the results differ the most; None where there was nothing to compare.
        message: What the kernel or the device said, if it did not run to its end.
    """

    kernel: str
    device: str
    inputs: str
    sizes: str
    grid: tuple[int, int, int]
    was_sanitized: bool
    seconds: float
    verdict: Verdict
    difference: Difference | None
    message: str

    def words(self) -> dict[str, Any]:
        """The comparison as JSON holds it."""
        difference = self.difference
        return {
            "kernel": self.kernel,
            "device": self.device,
            "inputs": self.inputs,
            "sizes": self.sizes,
            "grid": list(self.grid),
            "sanitized": self.was_sanitized,
            "seconds": round(self.seconds, 6),
            "verdict": self.verdict.value,
            "message": self.message,
            "largest_error": None if difference is None else _words_of(difference),
        }

    def error_text(self) -> str:
        """The largest error and its location, or why there is none."""
        if self.message:
            return self.message
        return "nothing to compare" if self.difference is None else str(self.difference)


@dataclass(frozen=True)
class CheckResult:
    """What a check has found.

    Attributes:
        kernel: The name of the source's function.
        comparisons: Every launch that was compared.
        maps: The errors in the port's results on ordinary numbers.
        seed: Of the inputs.
        seconds: How long the check took.
        reproducer: The script that shows the first difference; None where there is none.
    """

    kernel: str
    comparisons: tuple[Comparison, ...]
    maps: tuple[Map, ...]
    seed: int
    seconds: float
    reproducer: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether all launches of the port agree that could be done, one of floats at least."""
        of_port = [each for each in self.comparisons if each.kernel == "port"]
        if Verdict.DIFFERS in {each.verdict for each in of_port}:
            return Verdict.DIFFERS
        of_floats = {each.verdict for each in of_port if each.device != FIELD_NAME}
        return Verdict.AGREES if Verdict.AGREES in of_floats else Verdict.NOT_RUN

    @property
    def exact(self) -> str | None:
        """What the comparison on exact numbers says: agrees, differs, or refused; None without."""
        found = [each.verdict for each in self.comparisons if each.device == FIELD_NAME]
        if not found:
            return None
        return REFUSED if found[0] is Verdict.NOT_RUN else found[0].value

    @property
    def agrees(self) -> bool:
        """Whether the port computes what its source computes."""
        return self.verdict is Verdict.AGREES

    @property
    def worst(self) -> Comparison | None:
        """The port's comparison that is wrong, or has the largest error."""
        known = [each for each in self.comparisons if each.kernel == "port"]
        ran = [each for each in known if each.verdict is not Verdict.NOT_RUN]
        return max(ran, key=_badness, default=None)

    def assert_agrees(self) -> None:
        """Raises if the port does not compute what its source computes.

        Raises:
            AssertionError: It does not; the text says where and with which inputs.
        """
        worst = self.worst
        if self.agrees:
            return
        shown = "it ran nowhere" if worst is None else worst.error_text()
        inputs = "" if worst is None else f" ({worst.inputs}, on {worst.device}: {worst.sizes})"
        raise AssertionError(f"@{self.kernel}: {shown}{inputs}; seed {self.seed}")

    def words(self) -> Mapping[str, Any]:
        """The check as JSON holds it."""
        return {
            "kernel": self.kernel,
            "verdict": self.verdict.value,
            "exact": self.exact,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "reproducer": self.reproducer,
            "comparisons": [each.words() for each in self.comparisons],
        }

    def _repr_html_(self) -> str:
        """The comparisons in a notebook."""
        return html_of(self.table(), width=140)

    def table(self) -> Table:
        """The comparisons as rich prints them."""
        from rich.table import Table

        title = f"@{self.kernel}: {self.verdict.value}, seed {self.seed}"
        table = Table(title=title, title_justify="left")
        for heading in ("kernel", "device", "inputs", "grid"):
            table.add_column(heading, no_wrap=True)
        for heading in ("sizes", "largest error"):
            table.add_column(heading, overflow="fold")
        table.add_column("verdict", no_wrap=True)
        for each in self.comparisons:
            device = f"{each.device}, sanitized" if each.was_sanitized else each.device
            grid = ",".join(map(str, each.grid))
            verdict = each.verdict.value
            table.add_row(
                each.kernel, device, each.inputs, grid, each.sizes, each.error_text(), verdict
            )
        return table


def _badness(comparison: Comparison) -> tuple[bool, float]:
    difference = comparison.difference
    if difference is None or not difference.error:
        return comparison.verdict is Verdict.DIFFERS, 0.0
    ratio = difference.error / difference.limit if difference.limit else float("inf")
    return comparison.verdict is Verdict.DIFFERS, ratio


def _words_of(difference: Difference) -> dict[str, Any]:
    def number(value: float) -> float | str:
        return value if value == value and abs(value) != float("inf") else str(value)

    return {
        "parameter": difference.parameter,
        "index": list(difference.index),
        "expected": difference.expected,
        "found": difference.found,
        "error": number(difference.error),
        "limit": number(difference.limit),
        "wrong_elements": difference.wrong,
        "elements": difference.total,
        "first_wrong": None if difference.first is None else list(difference.first),
    }
