"""Proves that numbers are positive, as that a tile begins before the end of its memory.

The number that is computed last is replaced by one that makes the polynomial no greater: a
remainder by its divisor less 1, a loop's variable by the last number before the loop's end, and so
on, until the numbers cancel out. So `i / n` and `i % n` are known to be below `m` and `n` where
tiles are dealt out by their number `i` below `m * n`, and so are the row and the column of a tile
where tiles that share rows are dealt out together:

    group = i / (g * n);  first = group * g;  height = min(m - first, g)
    row = first + i % height;  column = i % (g * n) / height
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.ranges import Range
from xtile.transforms.structure.affine import Affine
from xtile.transforms.structure.bounds import NOTHING, Needs
from xtile.transforms.structure.polynomials import ONE, ZERO, Atom, Polynomial, Rounds
from xtile.transforms.structure.provenance import Provenance

_MOST_STEPS = 200
"""Replacements that are tried for a proof."""

_GREATEST = (1 << 63) - 1


def needs_of_positive(number: Polynomial, provenance: Provenance) -> Needs | None:
    """What a launch must find for a number to be positive wherever it is computed.

    Returns:
        Nothing, if that is certain; None if it cannot be proved.
    """
    return _Proof(provenance).of_positive(number)


@dataclass(frozen=True)
class _Step:
    """A way to make a product of an atom no greater.

    Attributes:
        least: The product is one of these or greater.
        sides: What must be positive for that.
        needs: What a launch must find for that.
    """

    least: tuple[Polynomial, ...]
    sides: tuple[Polynomial, ...] = ()
    needs: Needs = NOTHING


@dataclass(frozen=True)
class _Product:
    """A product of an atom, which is what an operation computes of two numbers.

    Attributes:
        factor: The other factor.
        is_negative: Whether that is 0 or less; else it is 0 or more.
        a: The first operand.
        b: The second one.
        operation: The operation.
    """

    factor: Polynomial
    is_negative: bool
    a: Polynomial
    b: Polynomial
    operation: Operation


class _Proof:
    def __init__(self, provenance: Provenance) -> None:
        self._provenance = provenance
        self._steps = 0
        self._ranks: dict[Atom, int] = {}
        self._positive: set[Polynomial] = set()
        """Ends of loops that do not begin below 0, in an iteration of which the number is."""

    def of_positive(self, number: Polynomial, *, may_check: bool = False) -> Needs | None:
        """What a launch must find for a number to be positive.

        Args:
            number: The number.
            may_check: Whether that may be that the number is positive.
        """
        if number in self._positive or self._range(number)[0] > 0:
            return NOTHING
        self._steps += 1
        atom = max(number.atoms, key=self._rank, default=None)
        if atom is not None and self._steps < _MOST_STEPS:
            factor, rest = _parts(number, atom)
            for step in self._ways(atom, factor):
                found = [
                    *(self.of_positive(each, may_check=True) for each in step.sides),
                    *(self.of_positive(rest + each) for each in step.least),
                ]
                if None not in found:
                    return step.needs.union(*(each or NOTHING for each in found))
        # A launch knows of a block's index only how large it may be, so that it cannot tell that
        # numbers which depend on the index make up for each other.
        of_block = [each for each in number.terms if axes_of(Polynomial({each: 1}))]
        if not may_check or len(of_block) > 1:
            return None
        return self._provenance.bounds.require(Affine.of((), number), 1, _GREATEST)

    def _rank(self, atom: Atom) -> int:
        """How many operations a number comes from, one after the other."""
        if atom not in self._ranks:
            operands = _operands_of(atom)
            atoms = (each for value in operands for each in self._number(value).atoms)
            self._ranks[atom] = 1 + max(map(self._rank, atoms), default=0) if operands else 0
        return self._ranks[atom]

    def _range(self, number: Polynomial) -> Range:
        return self._provenance.bounds.range_of_number(number)

    def _number(self, value: SSAValue) -> Polynomial:
        return self._provenance.number(value)

    def _ways(self, atom: Atom, factor: Polynomial) -> Iterator[_Step]:
        """Ways to make the product of a factor and an atom no greater."""
        if atom in factor.atoms:
            return
        # What may wrap around is no polynomial.
        exact, needs = self._provenance.expanded(Polynomial.of(atom), lambda each: each is atom)
        if exact != Polynomial.of(atom):
            yield _Step((factor * exact,), needs=needs)
            return
        low, high = self._range(factor)
        if low < 0 < high or not _operands_of(atom):
            return
        is_negative = high <= 0
        loop = atom.loop if isinstance(atom, Rounds) else _loop_of(atom)
        if loop is not None and self._range(self._number(loop.lb))[0] >= 0:
            self._positive.add(self._number(loop.ub))
        if isinstance(atom, Rounds):
            yield from self._of_rounds(atom.loop, factor, is_negative)
        elif loop is None and isinstance(atom, SSAValue) and isinstance(atom.owner, Operation):
            a, b = map(self._number, atom.owner.operands)
            product = _Product(factor, is_negative, a, b, atom.owner)
            rule = _RULES.get(atom.owner.name)
            yield from () if rule is None else rule(self, product)
        elif loop is not None:
            yield from self._of_variable(loop, factor, is_negative)

    # --- loops ---

    def _of_rounds(self, loop: scf.ForOp, factor: Polynomial, is_negative: bool) -> Iterator[_Step]:
        """Iterations that are over: times the step fewer than from the loop's start to its end."""
        if not is_negative:
            yield _Step((ZERO,))
            return
        step = self._number(loop.step).constant
        divided = factor.divided(step) if step is not None and step > 0 else None
        if divided is not None:
            lower, upper = self._number(loop.lb), self._number(loop.ub)
            yield _Step((divided * (upper - lower - ONE),))

    def _of_variable(
        self, loop: scf.ForOp, factor: Polynomial, is_negative: bool
    ) -> Iterator[_Step]:
        end = self._number(loop.ub) - ONE if is_negative else self._number(loop.lb)
        yield _Step((factor * end,), (self._number(loop.step),))

    # --- operations ---

    def of_minimum(self, product: _Product) -> Iterator[_Step]:
        """The smaller one of two numbers."""
        yield from self._of_one(product, is_either=product.is_negative)

    def of_maximum(self, product: _Product) -> Iterator[_Step]:
        """The larger one of two numbers."""
        yield from self._of_one(product, is_either=not product.is_negative)

    def _of_one(self, product: _Product, is_either: bool) -> Iterator[_Step]:
        """One of two numbers, than each of which the product is no less, or than the least."""
        of_a, of_b = product.factor * product.a, product.factor * product.b
        if is_either:
            yield _Step((of_a,))
            yield _Step((of_b,))
        else:
            yield _Step((of_a, of_b))

    def of_remainder(self, product: _Product) -> Iterator[_Step]:
        """From 0 to the divisor less 1 if the dividend is not negative."""
        factor, a, b = product.factor, product.a, product.b
        if not product.is_negative:
            yield _Step((ZERO,), (a + ONE,))
            return
        yield _Step((factor * (b - ONE),), (b,))
        for quotient in _siblings(product.operation, "arith.divsi"):
            divisor, needs = self._expanded(b)
            yield _Step((factor * (a - divisor * Polynomial.of(quotient)),), needs=needs)

    def of_quotient(self, product: _Product) -> Iterator[_Step]:
        """A quotient that is rounded down where it is positive."""
        factor, a, b = product.factor, product.a, product.b
        divided = factor.divided(b.constant) if b.constant is not None and b.constant > 0 else None
        # A quotient that is positive is none of a negative number.
        is_positive = Polynomial.of(product.operation.results[0]) in self._positive
        sides = () if is_positive else (a + ONE,)
        if divided is not None and product.is_negative:
            yield _Step((divided * a,), sides)
        elif divided is not None:
            yield _Step((divided * (a - b + ONE),))
        elif not product.is_negative:
            yield _Step((ZERO,), (*sides, b))
        else:
            yield from self._of_end(product)

    def of_quotient_up(self, product: _Product) -> Iterator[_Step]:
        """A quotient that is rounded up."""
        divisor = product.b.constant
        divided = product.factor.divided(divisor) if divisor is not None and divisor > 0 else None
        if divided is not None:
            rest = product.b - ONE if product.is_negative else ZERO
            yield _Step((divided * (product.a + rest),))

    def _of_end(self, product: _Product) -> Iterator[_Step]:
        """The quotient of a number below a multiple of the divisor, as `i / n` with `i < m n`."""
        factor, a, b = product.factor, product.a, product.b
        dividend, divisor = product.operation.operands
        smaller = _smaller_of(divisor)
        for end in self._ends(dividend):
            whole, of_end = self._expanded(end)
            for value in smaller or (divisor,):
                single, of_value = self._expanded(self._number(value))
                if len(single.terms) != 1:
                    continue
                # Times that number the quotient is below `limit`.
                ((atoms, number),) = single.terms.items()
                limit = _without(whole, atoms)
                if limit is None or number <= 0:
                    continue
                sides = [a + ONE, b, *map(Polynomial.of, atoms)]
                count, least = limit.divided(number), factor.divided(number)
                if count is not None:
                    others = [self._number(each) for each in smaller if each is not value]
                    sides += [count * other - a for other in others]
                    yield _Step((factor * (count - ONE),), tuple(sides), of_end | of_value)
                elif least is not None and not smaller:
                    yield _Step((least * (limit - ONE),), tuple(sides), of_end | of_value)

    def _ends(self, value: SSAValue) -> Iterator[Polynomial]:
        """Numbers that a number is below."""
        owner = value.owner
        loop = _loop_of(value)
        if loop is not None:
            yield self._number(loop.ub)
        elif isinstance(owner, Operation) and owner.name == "arith.remsi":
            yield self._number(owner.operands[1])

    def _expanded(self, number: Polynomial) -> tuple[Polynomial, Needs]:
        return self._provenance.expanded(number, lambda _: True)


_Rule = Callable[[_Proof, _Product], Iterator[_Step]]

_RULES: Mapping[str, _Rule] = {
    "arith.ceildivsi": _Proof.of_quotient_up,
    "arith.divsi": _Proof.of_quotient,
    "arith.floordivsi": _Proof.of_quotient,
    "arith.maxsi": _Proof.of_maximum,
    "arith.minsi": _Proof.of_minimum,
    "arith.remsi": _Proof.of_remainder,
}
"""How small the product of a factor and what an operation computes is, by the operation's name."""

_EXACT = frozenset({"arith.addi", "arith.muli", "arith.subi"})
"""Operations that are polynomials, unless they wrap around."""


def _operands_of(atom: Atom) -> tuple[SSAValue, ...]:
    """The numbers that an atom is computed of, if there is a rule for it."""
    owner = atom.owner if isinstance(atom, SSAValue) else None
    if isinstance(owner, Operation):
        return tuple(owner.operands) if owner.name in _EXACT | _RULES.keys() else ()
    loop = atom.loop if isinstance(atom, Rounds) else _loop_of(atom)
    return () if loop is None else (loop.lb, loop.ub, loop.step)


def axes_of(number: Polynomial) -> set[str]:
    """The axes of the grid that a number depends on."""
    found: set[str] = set()
    seen: set[SSAValue] = set()
    values = [atom for atom in number.atoms if isinstance(atom, SSAValue)]
    values += [atom.loop.lb for atom in number.atoms if not isinstance(atom, SSAValue)]
    while values:
        value = values.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Block):
            owner = owner.parent_op()
        if isinstance(owner, Operation) and not isinstance(owner, FuncOp):
            found |= {str(owner.properties["dimension"])} if owner.name == "gpu.block_id" else set()
            values += owner.operands
    return found


def _loop_of(atom: Atom) -> scf.ForOp | None:
    """The loop whose variable a number is, if it is one and signed."""
    block = atom.owner if isinstance(atom, SSAValue) else None
    if not isinstance(block, Block) or not block.args or atom is not block.args[0]:
        return None
    loop = block.parent_op()
    return loop if isinstance(loop, scf.ForOp) and UNSIGNED not in loop.properties else None


def _parts(number: Polynomial, atom: Atom) -> tuple[Polynomial, Polynomial]:
    """The factor of an atom in a number, and what has none."""
    factor, rest = ZERO, ZERO
    for product, times in number.terms.items():
        if atom in product:
            at = product.index(atom)
            factor += Polynomial({(*product[:at], *product[at + 1 :]): times})
        else:
            rest += Polynomial({product: times})
    return factor, rest


def _without(number: Polynomial, atoms: tuple[Atom, ...]) -> Polynomial | None:
    """The quotient of a number and a product of atoms; None if that is no polynomial."""
    for atom in atoms:
        number, rest = _parts(number, atom)
        if rest.terms:
            return None
    return number


def _smaller_of(value: SSAValue) -> tuple[SSAValue, ...]:
    """The two numbers of which a number is the smaller one, if it is."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.minsi":
        return tuple(owner.operands)
    return ()


def _siblings(operation: Operation, name: str) -> Iterator[SSAValue]:
    """What operations of a name compute of the same operands."""
    operands = tuple(operation.operands)
    for use in operands[0].uses:
        if use.operation.name == name and tuple(use.operation.operands) == operands:
            yield use.operation.results[0]
