"""The site builds without a warning, has every operation, and its tutorials do what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from typing_extensions import override

from tests.test_readme import run_in_shell, without_trailing_blanks
from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS

ROOT = Path(__file__).resolve().parents[1]

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))

SAMPLE = ("embed-in-xdsl", "read-a-remark", "what-each-target-accepts")
"""The tutorials whose commands run unless XTILE_ALL_TUTORIALS is set: the README ports, too."""

ALL_DIALECTS = {**OWN_DIALECTS, **COMPLETED_DIALECTS}


class Page(HTMLParser):
    """The targets and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value and tag in ("a", "img"):
                self.links.append(value)


@pytest.fixture(scope="module", name="site")
def _site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The pages of the site by their paths."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path.read_text()) for path in folder.rglob("*.html")}


@pytest.mark.slow
def test_every_operation_has_its_section(site: dict[Path, Page]) -> None:
    pages = {path.stem: page for path, page in site.items() if path.parent.name == "operations"}
    names = {name: [each.name for each in make().operations] for name, make in ALL_DIALECTS.items()}
    assert set(pages) == {"index", *(name for name, each in names.items() if each)}
    for name in set(names) - {"spirv", "nvvm", "xevm"}:
        # The name of a section in an address has neither points nor capitals.
        missing = {each.replace(".", "").lower() for each in names[name]} - pages[name].ids
        assert not missing, (name, missing)


@pytest.mark.slow
def test_links_lead_somewhere(site: dict[Path, Page]) -> None:
    broken = [
        f"{path.name}: {link}"
        for path, page in site.items()
        for link in page.links
        if path.name != "404.html" and not _is_there(link, path, site)
    ]
    assert not broken


def _is_there(link: str, path: Path, site: dict[Path, Page]) -> bool:
    parts = urlparse(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if parts.fragment and target in site:
        return unquote(parts.fragment) in site[target].ids
    return target.exists()


_STEMS = [path.stem for path in TUTORIALS]


def _blocks(language: str) -> list[tuple[str, str]]:
    found = re.compile(rf"```{language}\n(.*?)```", re.DOTALL)
    return [(path.stem, block) for path in TUTORIALS for block in found.findall(path.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", _STEMS if os.environ.get("XTILE_ALL_TUTORIALS") else SAMPLE)
def test_commands_print_what_the_tutorials_show(tutorial: str) -> None:
    blocks = [block for name, block in _blocks("console") if name == tutorial]
    assert blocks
    for block in blocks:
        command, _, shown = block.removeprefix("$ ").partition("\n")
        assert without_trailing_blanks(run_in_shell(command)) == without_trailing_blanks(shown)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), _blocks("python"))
def test_python_of_the_tutorials_runs(
    name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The block asserts its result itself.
    assert "assert" in code
    monkeypatch.chdir(ROOT)
    exec(compile(code, f"{name}.md", "exec"), {})


def test_pictures_are_small() -> None:
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    assert all(each.stat().st_size < 300_000 for each in pictures)


def test_no_page_is_made_that_is_committed() -> None:
    assert not (ROOT / "docs" / "operations").exists()
