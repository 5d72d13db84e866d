"""Random structured programs in lockstep, against one work-item after the other in Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

SIGN = 2**31
WORK_ITEMS = 96

BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
    "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
}
COMPARISONS = {
    "less_than": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
    "greater_than_equal": lambda a, b: a >= b,
}


def wrap(value: int) -> int:
    return (value + SIGN) % (2 * SIGN) - SIGN


class Writer:
    """Writes a random program as text, and as a tree that `execute` runs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.text: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def block(self, values: list[str], depth: int) -> tuple[list[Any], list[str]]:
        """Some statements; returns them and the values known after them."""
        values = list(values)
        tree = []
        for _ in range(self.random.randint(1, 4)):
            makers = [self.binary, self.constant]
            makers += [self.branch, self.loop] if depth < 3 else []
            tree.append(self.random.choice(makers)(values, depth))
        return tree, values

    def constant(self, values: list[str], depth: int) -> Any:
        name, number = self.name(), self.random.choice([0, 1, 3, 7, -5, 2**31 - 1])
        self.text.append(f"%{name} = constant {number} : i32")
        values.append(name)
        return "constant", name, number

    def binary(self, values: list[str], depth: int) -> Any:
        name, operation = self.name(), self.random.choice(list(BINARY))
        a, b = self.random.choices(values, k=2)
        self.text.append(f"%{name} = {operation} %{a}, %{b} : i32")
        values.append(name)
        return "binary", name, operation, a, b

    def branch(self, values: list[str], depth: int) -> Any:
        condition, operation = self.name(), self.random.choice(list(COMPARISONS))
        a, b = self.random.choices(values, k=2)
        results = [self.name() for _ in range(self.random.randint(1, 2))]
        self.text.append(f"%{condition} = {operation} %{a}, %{b} : bool")
        targets, kinds = ", ".join("%" + r for r in results), ",".join(["i32"] * len(results))
        self.text.append(f"{targets} = if %{condition} -> ({kinds}) {{")
        then = self.yielding(values, depth, len(results))
        self.text.append("} else {")
        otherwise = self.yielding(values, depth, len(results))
        self.text.append("}")
        values.extend(results)
        return "if", operation, a, b, results, then, otherwise

    def loop(self, values: list[str], depth: int) -> Any:
        from_, to, mask, variable = self.name(), self.name(), self.name(), self.name()
        a, b = self.random.choices(values, k=2)
        # Bounds from 0 to 3 keep loops short.
        self.text.append(f"%{mask} = constant 3 : i32")
        self.text.append(f"%{from_} = and %{a}, %{mask} : i32")
        self.text.append(f"%{to} = and %{b}, %{mask} : i32")
        carried = [self.name() for _ in range(self.random.randint(1, 2))]
        inits, results = self.random.choices(values, k=len(carried)), [self.name() for _ in carried]
        pairs = ",".join(f"%{c}=%{i}" for c, i in zip(carried, inits, strict=True))
        kinds, targets = ",".join(["i32"] * len(carried)), ", ".join("%" + r for r in results)
        self.text.append(
            f"{targets} = for %{variable}=%{from_},%{to} init({pairs}) -> ({kinds}) {{"
        )
        body = self.yielding([*values, variable, *carried], depth, len(carried))
        self.text.append("}")
        values.extend(results)
        return "for", variable, a, b, carried, inits, results, body

    def yielding(self, values: list[str], depth: int, count: int) -> Any:
        tree, known = self.block(values, depth + 1)
        yields = self.random.choices(known[-6:], k=count)
        self.text.append(f"yield ({', '.join('%' + y for y in yields)})")
        return tree, yields


def execute(tree: list[Any], env: dict[str, int]) -> None:
    for kind, *rest in tree:
        if kind == "constant":
            env[rest[0]] = rest[1]
        elif kind == "binary":
            name, operation, a, b = rest
            env[name] = wrap(BINARY[operation](env[a], env[b]))
        elif kind == "if":
            operation, a, b, results, then, otherwise = rest
            body, yields = then if COMPARISONS[operation](env[a], env[b]) else otherwise
            execute(body, env)
            env.update(zip(results, [env[y] for y in yields], strict=True))
        else:
            variable, a, b, carried, inits, results, (body, yields) = rest
            env.update(zip(carried, [env[i] for i in inits], strict=True))
            for i in range(env[a] & 3, env[b] & 3):
                env[variable] = i
                execute(body, env)
                env.update(zip(carried, [env[y] for y in yields], strict=True))
            env.update(zip(results, [env[c] for c in carried], strict=True))


@pytest.mark.parametrize("attempt", range(25))
@pytest.mark.parametrize("size", [(16, 6), (32, 3), (96, 1)], ids=str)
def test_divergent_programs(size, attempt, run) -> None:
    subgroup_size, subgroups = size
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    writer = Writer(seed)
    tree, known = writer.block(["lane", "sg", "x", "k"], 0)
    last = known[-1]
    body = "\n".join(writer.text)
    text = f"""func @f(%in: memref<i32x{WORK_ITEMS}>, %k: i32, %out: memref<i32x{WORK_ITEMS}>)
        attributes {{subgroup_size={subgroup_size},
                     work_group_size=[{subgroup_size},{subgroups}]}} {{ parallel {{
        %lane = subgroup_local_id : i32
        %sg = subgroup_linear_id : i32
        %size = subgroup_size : i32
        %base = mul %sg, %size : i32
        %id32 = add %base, %lane : i32
        %id = cast %id32 : index
        %x = load %in[%id] : i32
        {body}
        store %{last}, %out[%id]
    }} }}"""
    values = np.random.default_rng(seed).integers(-4, 5, WORK_ITEMS).astype(np.int32)
    out = np.full(WORK_ITEMS, -(2**31), np.int32)
    run(text, values, 2, out)
    expected = []
    for item in range(WORK_ITEMS):
        env = {"lane": item % subgroup_size, "sg": item // subgroup_size}
        env |= {"x": int(values[item]), "k": 2}
        execute(tree, env)
        expected.append(env[last])
    assert out.tolist() == expected, f"seed {seed}\n{text}"
