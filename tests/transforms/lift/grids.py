"""Random kernels of subgroups that hold a large matrix as a grid of small ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

_SIZES = (16, 32)


@dataclass
class GridOfMatrices:
    """C := scale A B + C in the tensor language, written out for all pairs of matrices.

    Attributes:
        random: Chooses.
        has_flaw: Whether one place differs from the others, so that the grid is none.
    """

    random: Random
    has_flaw: bool
    rows: int = field(init=False)
    columns: int = field(init=False)
    height: int = field(init=False)
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.rows, self.columns = self.random.choice([(1, 2), (2, 1), (2, 2), (3, 2), (4, 2)])
        self.height, self.width = self.random.choice(_SIZES), 16
        self.depth = 16
        self.has_bias = self.random.random() < 0.5
        self.steps = self.random.choice([1, 2])
        self.a_form = self.random.choice(["n", "t"])
        self.check = self.random.choice(["", ".both_checked"])
        self.flaw = self.random.choice(["scale", "place", "use", "order"]) if self.has_flaw else ""
        if self.flaw == "place":
            self.check = ".both_checked"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of what a subgroup writes."""
        return self.rows * self.height, self.columns * self.width

    def text(self) -> str:
        """The kernel, for 2 x 2 subgroups."""
        rows, columns = self.shape
        lines = [
            "func @k(%A: memref<f16x?x?>, %B: memref<f16x?x?>, %C: memref<f32x?x?>,",
            "        %D: memref<f32x?x?>)",
            "        attributes {subgroup_size=16, work_group_size=[32,2]} {",
            "  parallel {",
            *(f"    %c{n} = constant {n} : index" for n in sorted({0, 16, 32, rows, columns})),
            f"    %depth = size %A[{1 if self.a_form == 'n' else 0}] : index",
            "    %x = subgroup_id.x : i32",
            "    %y = subgroup_id.y : i32",
            "    %xi = cast %x : index",
            "    %yi = cast %y : index",
            f"    %i0 = mul %xi, %c{rows} : index",
            f"    %j0 = mul %yi, %c{columns} : index",
            *self._places("i", self.rows, self.height),
            *self._places("j", self.columns, self.width),
            f"    %z = constant 0.0 : {self._type('f32', 'acc')}",
            *self._loop(),
            *self._written(),
            "  }",
            "}",
        ]
        return "\n".join(lines)

    def _type(self, element: str, use: str) -> str:
        rows = self.depth if use == "b" else self.height
        columns = self.depth if use == "a" else self.width
        return f"coopmatrix<{element}x{rows}x{columns},matrix_{use}>"

    def _places(self, name: str, count: int, distance: int) -> Sequence[str]:
        lines: list[str] = []
        for number in range(1, count):
            moved = number * distance
            if self.flaw == "place" and number == count - 1:
                moved += 8
            lines.append(f"    %{name}d{number} = constant {moved} : index")
            lines.append(f"    %{name}{number} = add %{name}0, %{name}d{number} : index")
        return lines

    def _pairs(self) -> list[tuple[int, int]]:
        return [(r, c) for r in range(self.rows) for c in range(self.columns)]

    def _loop(self) -> Sequence[str]:
        pairs, acc = self._pairs(), self._type("f32", "acc")
        results = ", ".join(f"%s{r}{c}" for r, c in pairs)
        initial = ", ".join(f"%a{r}{c}=%z" for r, c in pairs)
        types = ", ".join([acc] * len(pairs))
        step = self.depth * self.steps
        lines = [
            f"    %step = constant {step} : index",
            f"    {results} = for %k=%c0,%depth,%step init({initial}) -> ({types}) {{",
        ]
        last = {pair: f"%a{pair[0]}{pair[1]}" for pair in pairs}
        for part in range(self.steps):
            lines += [
                f"      %kd{part} = constant {part * self.depth} : index",
                f"      %k{part} = add %k, %kd{part} : index",
            ]
            lines += [self._read_a(row, part) for row in range(self.rows)]
            lines += [
                f"      %r{column}_{part} = cooperative_matrix_load.n{self.check} "
                f"%B[%k{part},%j{column}] : {self._type('f16', 'b')}"
                for column in range(self.columns)
            ]
            order = self.random.sample(pairs, len(pairs))
            for row, column in order:
                lines.append(
                    f"      %p{row}{column}_{part} = cooperative_matrix_mul_add %l{row}_{part}, "
                    f"%r{column}_{part}, {last[row, column]} : {acc}"
                )
                last[row, column] = f"%p{row}{column}_{part}"
        yielded = [last[pair] for pair in pairs]
        if self.flaw == "order":
            yielded = [*yielded[1:], yielded[0]]
        return [*lines, f"      yield ({', '.join(yielded)})", "    }"]

    def _read_a(self, row: int, part: int) -> str:
        at = f"%i{row},%k{part}" if self.a_form == "n" else f"%k{part},%i{row}"
        name = f"cooperative_matrix_load.{self.a_form}{self.check}"
        return f"      %l{row}_{part} = {name} %A[{at}] : {self._type('f16', 'a')}"

    def _written(self) -> Sequence[str]:
        acc, lines = self._type("f32", "acc"), list[str]()
        load = f"cooperative_matrix_load.n{self.check}"
        for row, column in self._pairs():
            name, is_last = f"{row}{column}", (row, column) == self._pairs()[-1]
            scale = 3.0 if self.flaw == "scale" and is_last else 2.0
            lines += [
                f"    %f{name} = constant {scale} : f32",
                f"    %t{name} = cooperative_matrix_scale %f{name}, %s{name} : {acc}",
            ]
        if self.has_bias:
            for row, column in self._pairs():
                name = f"{row}{column}"
                lines += [
                    f"    %c_{name} = {load} %C[%i{row},%j{column}] : {acc}",
                    f"    %u{name} = add %t{name}, %c_{name} : {acc}",
                ]
        result = "u" if self.has_bias else "t"
        for row, column in self._pairs():
            lines.append(
                f"    cooperative_matrix_store.n{self.check} %{result}{row}{column}, "
                f"%C[%i{row},%j{column}]"
            )
        if self.flaw == "use":
            lines.append(f"    cooperative_matrix_store.n{self.check} %s00, %D[%i0,%j0]")
        return lines
