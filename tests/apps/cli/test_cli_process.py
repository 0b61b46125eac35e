"""The command as a process of its own: what is imported, what comes out where."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["datasets", "--help"]])
def test_help_imports_nothing_heavy(args):
    code = (
        "import sys\n"
        "from equigraph.apps.cli import main\n"
        f"sys.argv = ['equigraph', *{args!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'rich', 'matplotlib', 'torch', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0
    assert answer.stderr.strip() == "[]"
    assert answer.stdout


def test_cluster_end_to_end(source, tmp_path):
    command = [sys.executable, "-m", "equigraph", "cluster", *source, "-m", "nmtf", "-k", "3", "--json"]
    command += ["--max-iter", "3", "-o", "out"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=120)
    assert answer.returncode == 0
    written = (tmp_path / "out" / "result.json").read_text(encoding="utf-8")
    assert json.loads(answer.stdout) == json.loads(written)
    (line,) = answer.stderr.splitlines()  # no bar: standard error is no terminal
    assert line.startswith("Note: ")


def test_entry_point_is_installed():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="equigraph")
    assert script.value == "equigraph.apps.cli:main"
