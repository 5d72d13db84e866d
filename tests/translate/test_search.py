"""Routes are searched over the declared steps, and one declaration is all that a new step takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.test import TestOp as ToyOp

import xtile
from xtile.opt import main
from xtile.targets import COMPILED_VENDORS
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.contracts import ContractError
from xtile.translate.forms import BLOCK, CORE, LANE, SPIRV, SUBGROUP, TENSORLANG, TILE, TRITON, Form
from xtile.translate.listing import list_routes
from xtile.translate.route import ROUTES, OptionError, Options, Run, check_target, translate_to
from xtile.translate.search import Table
from xtile.translate.steps import STEPS, Step

EXAMPLES = Path(__file__).parents[2] / "examples"

KERNEL = "func @f(%A: memref<f32x16>) {\n}\n"


def test_every_route_and_its_steps() -> None:
    found = {
        f"{each.form.name} -> {route.target if each.level is None else f'xegpu {each.level}'}": (
            " ".join(step.name for step in ROUTES.steps_of([each.way]))
        )
        for route in ROUTES.routes.values()
        for each in ROUTES.all_ways(route.target, route.source)
        if each.form.language == route.source
    }
    distributed = "core-distribute core-cleanup"
    tiled = "core-tile-linalg core-cleanup"
    dealt_out = "core-cleanup core-distribute-tiles core-cleanup"
    of_subgroups = "xegpu-subgroup-to-core core-cleanup"
    of_work_groups = "xegpu-work-group-to-core core-cleanup"
    lifted = "core-lift core-cleanup"
    to_subgroups = "core-distribute-tiles core-cleanup subgroup-to-xegpu-subgroup"
    assert found == {
        "tensorlang -> core": "tensorlang-to-core",
        "tensorlang -> subgroup": f"tensorlang-to-core {distributed}",
        "tensorlang -> tile": f"tensorlang-to-core {tiled}",
        "tensorlang -> xegpu": f"tensorlang-to-core {distributed} subgroup-to-xegpu",
        "tensorlang -> lane": f"tensorlang-to-core {distributed} subgroup-to-lane",
        "tensorlang -> spirv": f"tensorlang-to-core {distributed} subgroup-to-lane lane-to-spirv",
        "tensorlang -> cuda_tile": f"tensorlang-to-core {tiled} tile-to-cuda_tile",
        "tensorlang -> triton": f"tensorlang-to-core {tiled} tile-to-triton",
        "tensorlang -> amdg": f"tensorlang-to-core {tiled} tile-to-triton triton-to-amdg",
        "linalg -> core": "linalg-to-core",
        "linalg -> subgroup": f"linalg-to-core {distributed}",
        "linalg -> tile": f"linalg-to-core {tiled}",
        "linalg -> xegpu": f"linalg-to-core {distributed} subgroup-to-xegpu",
        "linalg -> lane": f"linalg-to-core {distributed} subgroup-to-lane",
        "linalg -> spirv": f"linalg-to-core {distributed} subgroup-to-lane lane-to-spirv",
        "linalg -> cuda_tile": f"linalg-to-core {tiled} tile-to-cuda_tile",
        "linalg -> triton": f"linalg-to-core {tiled} tile-to-triton",
        "linalg -> amdg": f"linalg-to-core {tiled} tile-to-triton triton-to-amdg",
        "cuda_tile -> core": "cuda_tile-to-core",
        "cuda_tile -> tile": "cuda_tile-to-core",
        "cuda_tile -> subgroup": f"cuda_tile-to-core {dealt_out}",
        "cuda_tile -> triton": "cuda_tile-to-core core-cleanup tile-to-triton",
        "cuda_tile -> amdg": "cuda_tile-to-core core-cleanup tile-to-triton triton-to-amdg",
        "cuda_tile -> xegpu": "cuda_tile-to-core core-cleanup tile-to-xegpu",
        "cuda_tile -> lane": "cuda_tile-to-core core-cleanup tile-to-lane",
        "cuda_tile -> spirv": "cuda_tile-to-core core-cleanup tile-to-lane lane-to-spirv",
        "triton -> amdg": "triton-to-amdg",
        "triton amdg -> core": "triton-to-core",
        "triton amdg -> tile": "triton-to-core",
        "triton amdg -> triton": "triton-to-core core-cleanup tile-to-triton",
        "triton amdg -> subgroup": f"triton-to-core {dealt_out}",
        "triton amdg -> xegpu": "triton-to-core core-cleanup tile-to-xegpu",
        "triton amdg -> lane": "triton-to-core core-cleanup tile-to-lane",
        "triton amdg -> spirv": "triton-to-core core-cleanup tile-to-lane lane-to-spirv",
        "triton amdg -> cuda_tile": "triton-to-core core-cleanup tile-to-cuda_tile",
        "triton amdg -> tensorlang": "triton-to-core core-cleanup tile-to-tensorlang",
        "triton -> core": "triton-to-core",
        "triton -> tile": "triton-to-core",
        "triton -> subgroup": f"triton-to-core {dealt_out}",
        "triton -> xegpu": "triton-to-core core-cleanup tile-to-xegpu",
        "triton -> lane": "triton-to-core core-cleanup tile-to-lane",
        "triton -> spirv": "triton-to-core core-cleanup tile-to-lane lane-to-spirv",
        "triton -> cuda_tile": "triton-to-core core-cleanup tile-to-cuda_tile",
        "core block -> subgroup": distributed,
        "core block -> tile": tiled,
        "core block -> xegpu": f"{distributed} subgroup-to-xegpu",
        "core subgroup -> xegpu": "subgroup-to-xegpu",
        "core tile -> subgroup": dealt_out,
        "core tile -> xegpu": "core-cleanup tile-to-xegpu",
        "core block -> lane": f"{distributed} subgroup-to-lane",
        "core tile -> lane": "core-cleanup tile-to-lane",
        "core tile -> spirv": "core-cleanup tile-to-lane lane-to-spirv",
        "core subgroup -> lane": "core-cleanup subgroup-to-lane",
        "core block -> spirv": f"{distributed} subgroup-to-lane lane-to-spirv",
        "core subgroup -> spirv": "core-cleanup subgroup-to-lane lane-to-spirv",
        "core lane -> spirv": "lane-to-spirv",
        "core block -> cuda_tile": f"{tiled} tile-to-cuda_tile",
        "core block -> triton": f"{tiled} tile-to-triton",
        "core block -> amdg": f"{tiled} tile-to-triton triton-to-amdg",
        "core tile -> triton": "core-cleanup tile-to-triton",
        "core tile -> amdg": "core-cleanup tile-to-triton triton-to-amdg",
        "core tile -> cuda_tile": "core-cleanup tile-to-cuda_tile",
        "xegpu subgroup -> core": of_subgroups,
        "xegpu subgroup -> subgroup": of_subgroups,
        "xegpu subgroup -> lane": f"{of_subgroups} subgroup-to-lane",
        "xegpu subgroup -> spirv": f"{of_subgroups} subgroup-to-lane lane-to-spirv",
        "xegpu work-group -> core": of_work_groups,
        "xegpu work-group -> tile": of_work_groups,
        "xegpu work-group -> subgroup": f"{of_work_groups} core-distribute-tiles core-cleanup",
        "xegpu work-group -> lane": f"{of_work_groups} tile-to-lane",
        "xegpu work-group -> spirv": f"{of_work_groups} tile-to-lane lane-to-spirv",
        "xegpu work-group -> cuda_tile": f"{of_work_groups} tile-to-cuda_tile",
        "xegpu work-group -> triton": f"{of_work_groups} tile-to-triton",
        "xegpu work-group -> amdg": f"{of_work_groups} tile-to-triton triton-to-amdg",
        "xegpu lane -> spirv": "lane-to-spirv",
        "xegpu subgroup -> tile": f"{of_subgroups} {lifted}",
        "xegpu subgroup -> cuda_tile": f"{of_subgroups} {lifted} tile-to-cuda_tile",
        "xegpu subgroup -> triton": f"{of_subgroups} {lifted} tile-to-triton",
        "xegpu subgroup -> amdg": f"{of_subgroups} {lifted} tile-to-triton triton-to-amdg",
        **{
            f"{form} -> {target}": f"core-cleanup {lifted}{further}"
            for form in ("core lane", "core subgroup", "xegpu lane")
            for target, further in {
                "tile": "",
                "cuda_tile": " tile-to-cuda_tile",
                "triton": " tile-to-triton",
                "amdg": " tile-to-triton triton-to-amdg",
            }.items()
        },
        "core lane -> subgroup": f"core-cleanup {lifted} core-distribute-tiles core-cleanup",
        "xegpu lane -> subgroup": f"core-cleanup {lifted} core-distribute-tiles core-cleanup",
        "linalg -> tensorlang": "linalg-to-core block-to-tensorlang",
        "cuda_tile -> tensorlang": "cuda_tile-to-core core-cleanup tile-to-tensorlang",
        "triton -> tensorlang": "triton-to-core core-cleanup tile-to-tensorlang",
        "core block -> tensorlang": "block-to-tensorlang",
        "core tile -> tensorlang": "core-cleanup tile-to-tensorlang",
        "core subgroup -> tensorlang": "core-cleanup subgroup-to-tensorlang",
        "core lane -> tensorlang": "lane-to-tensorlang",
        "xegpu subgroup -> tensorlang": f"{of_subgroups} subgroup-to-tensorlang",
        "xegpu work-group -> tensorlang": f"{of_work_groups} tile-to-tensorlang",
        "xegpu lane -> tensorlang": "lane-to-tensorlang",
        "xegpu subgroup -> xegpu work-group": f"{of_subgroups} {lifted} tile-to-xegpu",
        "xegpu lane -> xegpu work-group": f"core-cleanup {lifted} tile-to-xegpu",
        "xegpu work-group -> xegpu subgroup": f"{of_work_groups} {to_subgroups}",
        "xegpu lane -> xegpu subgroup": f"core-cleanup {lifted} {to_subgroups}",
        "xegpu work-group -> xegpu lane": (
            f"{of_work_groups} core-distribute-tiles core-cleanup subgroup-to-xegpu"
        ),
        "xegpu subgroup -> xegpu lane": f"{of_subgroups} subgroup-to-xegpu",
    }


def _ambiguous(table: Table) -> list[tuple[str, str, list[str]]]:
    """The forms and ends between which two ways are the shortest."""
    return [
        (form.name, target, [" ".join(step.name for step in way) for way in ways])
        for form in table.forms
        for target in table.targets
        for vendor in COMPILED_VENDORS
        if len(ways := table.shortest_ways(form, table.goals_of(target), vendor)) > 1
    ]


def test_no_two_ways_are_the_shortest() -> None:
    assert not _ambiguous(ROUTES)
    twice = Table((*STEPS, ROUTES.by_name["core-distribute"]._replace(name="distribute-again")))
    assert ("core block", "subgroup", ["core-distribute", "distribute-again"]) in _ambiguous(twice)


def test_no_way_passes_through_another_language() -> None:
    inner = [
        step.gives.language
        for route in ROUTES.routes.values()
        for way in ROUTES.ways_to(route.target, route.source).values()
        for step in way[:-1]
        if step.gives is not None
    ]
    # Triton's kernels have no layouts before they have some.
    assert set(inner) == {CORE, TRITON.language}


@pytest.mark.parametrize("name", sorted({*ROUTES.by_name} & {*ROUTES.routes}))
def test_a_name_of_a_step_and_of_a_route_means_the_same(name: str) -> None:
    route = ROUTES.routes[name]
    steps = ROUTES.steps_of(ROUTES.ways_to(route.target, route.source).values())
    assert steps == [ROUTES.by_name[name]]


def test_kernels_that_stand_at_several_levels_share_steps() -> None:
    ways = ROUTES.ways_to("spirv")
    steps = ROUTES.steps_of([ways[LANE], ways[SUBGROUP], ways[TENSORLANG]])
    assert [step.name for step in steps] == [
        "tensorlang-to-core",
        "core-distribute",
        "core-cleanup",
        "subgroup-to-lane",
        "lane-to-spirv",
    ]


# --- a new step and a new language ---

TOY = Form("toy", None, "a function of toy", "test.op")


def _to_toy(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    return ModuleOp([ToyOp(attributes={"sym_name": StringAttr("f")})])


def _from_toy(module: ModuleOp, options: Options, diagnostics: Diagnostics | None) -> ModuleOp:
    text = 'gpu.module @m { gpu.func @f() kernel attributes {core.level = "tile"} { gpu.return } }'
    return xtile.parse(text, language="mlir")


TO_TOY = Step("tile-to-toy", _to_toy, takes=(TILE,), gives=TOY, words="To toy.")
FROM_TOY = Step("toy-to-core", _from_toy, takes=(TOY,), gives=TILE, words="From toy.")


def test_one_declaration_is_all_that_a_step_takes() -> None:
    table = Table((*STEPS, TO_TOY))
    assert {*table.routes} - {*ROUTES.routes} == {
        *("tensorlang-to-toy", "linalg-to-toy", "cuda_tile-to-toy"),
        *("xegpu-to-toy", "core-to-toy", "triton-to-toy"),
    }
    assert "tile-to-toy" in table.names
    assert [vendor.name for vendor in table.vendors_of("toy")] == ["Intel", "NVIDIA", "AMD"]
    assert "tile-to-toy core tile toy" in " ".join(list_routes(table).split())
    module = xtile.parse(KERNEL, language="tensorlang")
    seen: list[str] = []
    run = Run(table, Options("sm_90"), watcher=lambda name, module: seen.append(name))
    result = run.named(module, "tensorlang-to-toy")
    assert seen == ["tensorlang-to-core", "core-tile-linalg", "core-cleanup", "tile-to-toy"]
    assert [operation.name for operation in result.body.ops] == ["test.op"]
    with pytest.raises(DiagnosticError, match="@f is a function of toy, but core-to-toy takes"):
        run.named(result, "core-to-toy")


def test_a_language_that_is_raised_goes_everywhere() -> None:
    table = Table((*STEPS, FROM_TOY))
    made = ("core", "tile", "subgroup", "cuda_tile", "lane", "spirv", "triton")
    made += ("amdg", "tensorlang", "xegpu")
    assert {*table.routes} - {*ROUTES.routes} == {f"toy-to-{target}" for target in made}
    result = Run(table, Options()).to(_to_toy(ModuleOp([]), Options(), None), "cuda_tile")
    assert [operation.name for operation in result.body.ops] == ["cuda_tile.module"]


def test_no_route_goes_through_a_source_language() -> None:
    table = Table((*STEPS, TO_TOY, FROM_TOY, TO_TOY._replace(name="block-to-toy", takes=(BLOCK,))))
    way = table.ways_to("cuda_tile")[BLOCK]
    assert [step.name for step in way] == ["core-tile-linalg", "tile-to-cuda_tile"]


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        (SUBGROUP, 'wrong gave a kernel at level "tile", but declares a kernel at level "subg'),
        (SPIRV, 'wrong gave a kernel at level "tile", but declares a module of SPIR-V'),
    ],
)
def test_a_step_that_gives_something_else_is_a_defect(gives: Form, message: str) -> None:
    wrong = Step("wrong", _from_toy, takes=(TOY,), gives=gives, words="Wrong.")
    with pytest.raises(ContractError, match=message):
        Run(Table((*STEPS, wrong)), Options()).named(
            _to_toy(ModuleOp([]), Options(), None), "wrong"
        )


def test_a_step_that_gives_nothing_is_a_defect() -> None:
    empty = FROM_TOY._replace(name="empty", run=lambda module, options, diagnostics: ModuleOp([]))
    module = _to_toy(ModuleOp([]), Options(), None)
    with pytest.raises(ContractError, match='empty gave nothing that is a kernel at level "tile"'):
        Run(Table((*STEPS, empty)), Options()).named(module, "empty")


# --- the table, and any language to any other ---


def test_the_table_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--routes"])
    assert end.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0].split() == ["FROM", "TO", "THROUGH", "FOR"]
    words = ["lane-to-spirv", "core", "lane,", "spirv", "Intel"]
    assert words in [line.split() for line in lines]
    words = ["core", "tile", "triton", "core-cleanup,", "tile-to-triton", "NVIDIA,", "AMD"]
    assert words in [line.split() for line in lines]


@pytest.mark.parametrize("source", [None, "core", "lane"])
def test_translating_from_wherever_a_kernel_stands(source: str | None) -> None:
    kernel = xtile.parse(EXAMPLES / "matrix_unit.ir")
    module = kernel if source is None else xtile.translate(kernel, source, chip="cpu")
    before = xtile.to_text(module, "mlir")
    result = xtile.translate(module, "spirv", chip="cpu")
    assert xtile.to_text(module, "mlir") == before
    expected = xtile.to_text(xtile.port(kernel, "spirv", chip="cpu"), "spirv-asm")
    assert xtile.to_text(result, "spirv-asm") == expected


def test_what_is_there_already_is_copied() -> None:
    module = xtile.translate(KERNEL, "core")
    again = xtile.translate(module, "core")
    assert again is not module
    assert xtile.to_text(again, "mlir") == xtile.to_text(module, "mlir")


@pytest.mark.parametrize(
    ("target", "chip", "message"),
    [
        ("ptx", None, "there is no language 'ptx'; kernels can be translated to core, subgroup, "),
        ("linalg", None, "nothing becomes 'linalg'; kernels can be translated to core, "),
        ("spirv", "sm_90", "'sm_90' is a chip of NVIDIA's; spirv is for pvc, bmg, "),
    ],
)
def test_where_nothing_can_be_translated_to(target: str, chip: str | None, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        check_target(target, chip)
    # Not even the text is needed to find that out.
    with pytest.raises(OptionError, match=message):
        xtile.translate("no/such.ir", target, chip=chip)


def test_a_kernel_without_a_way() -> None:
    text = "gpu.module @m { gpu.func @f() kernel { core.parallel { gpu.barrier } gpu.return } }"
    module = xtile.parse(text, language="mlir")
    with pytest.raises(DiagnosticError) as raised:
        translate_to(module, "tile")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message.startswith(
        "core.parallel makes @f a kernel with operations of core and without core.level, but the "
        "translation to tile takes functions of the tensor language"
    )
    assert diagnostic.span is not None


def test_tiles_are_for_cpus_and_gpus() -> None:
    """The chip that no option names is one that the steps are for."""
    module = xtile.translate(KERNEL, "tile")
    for options in (Options(), Options("pvc"), Options("bmg"), Options("dg2")):
        assert xtile.to_text(translate_to(module, "spirv", options), "spirv-asm")
