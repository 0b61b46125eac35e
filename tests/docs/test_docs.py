"""Every Python block and every command of the documentation runs, and every link between its pages leads somewhere.

Blocks of one page share a namespace and run in order, in a folder of their own. A block with prompts is a
doctest: what it prints is compared. A block whose fence says ``csv NAME`` is the content of the file NAME. What is not
run, and why, is in `tests.docs.commands.NOT_RUN`.
"""

import doctest
import re
import runpy
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs import commands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*|\{[\w\-]+\}(?: \S+)?)(?: (?P<file>\S+))?\n(?P<body>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
# A command in running text: its options have to be there, and its files need not.
INLINE = re.compile(r"`(equigraph [a-z][^`]*)`")
RUNNABLE = re.compile(r"^ *```(python)?$", re.MULTILINE)


class Block(NamedTuple):
    line: int
    kind: str
    file: str | None
    body: str


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] or "\n" for line in match["body"].splitlines(keepends=True))
        found.append(Block(text.count("\n", 0, match.start()) + 1, match["kind"], match["file"], body))
    return found


def run(block, page, namespace):
    where = f"{page.name}:{block.line}"
    if ">>>" not in block.body:
        # Blank lines put the block at its line of the page, so that a traceback points there.
        exec(compile("\n" * block.line + block.body, where, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(block.body, namespace, where, str(page), block.line)
    test.globs = namespace
    report = []
    doctest.DocTestRunner(optionflags=commands.FLAGS, verbose=False).run(
        test, out=report.append, clear_globs=False
    )
    if report:
        pytest.fail("".join(report), pytrace=False)


# Importing torch_geometric warns; and whether a fit converges depends on the files, which the pages do not fix.
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if RUNNABLE.search(page.read_text())], ids=lambda p: p.name
)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands.write_files(tmp_path)
    namespace = {"__name__": "__docs__"}
    blocks = blocks_of(page)
    for block in reversed(blocks):  # a command may come before the file that it reads
        write_file(block)
    for block in blocks:
        write_file(block)
        if block.kind == "python":
            run(block, page, namespace)
        elif block.kind == "" and block.file is None:
            commands.follow(block.body, f"{page.name}:{block.line}")


def write_file(block):
    if block.file is not None and not block.kind.startswith("{"):
        Path(block.file).write_text(block.body, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_running_text_exist(page):
    for command in INLINE.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        commands.check_options(command.replace("COMMAND", "demo"), page.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    outside_code = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in LINK.findall(outside_code):
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor:
            assert anchor in anchors_of(path), (
                f"{page.name} links to {target}#{anchor}, which has no such heading"
            )


def anchors_of(page):
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_fences_are_closed(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^ *```", FENCE.sub("", text), re.MULTILINE), f"{page.name}: a fence is not closed"


def test_a_wrong_block_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n\n```\n\n```python\n1 / 0\n```\n", encoding="utf-8")
    wrong, failing = blocks_of(page)
    with pytest.raises(pytest.fail.Exception, match=r"(?s)Expected:.*3.*Got:.*2"):
        run(wrong, page, {})
    with pytest.raises(ZeroDivisionError):
        run(failing, page, {})


def test_typed_script_runs():
    pytest.importorskip("networkx")
    found = runpy.run_path(str(Path(__file__).with_name("typed_script.py")))
    assert found["same"] == found["parts"]
    assert {"conductance", "ncut"} <= found["rows"].keys()
