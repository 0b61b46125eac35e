"""The built files in the package are those of the sources in web/."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from equigraph.apps.explore.errors import _SENTENCES
from equigraph.rules.rules import KINDS

WEB = Path(__file__).parents[3] / "web"
STATIC = Path(__file__).parents[3] / "src/equigraph/apps/explore/static"


def _digest(paths):
    digest = hashlib.sha256()
    for name, path in paths:
        digest.update(f"{name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def test_what_is_built_is_of_these_sources():
    hashes = json.loads((STATIC / "build.json").read_text())
    sources = ["package.json", "package-lock.json", "build.mjs"]
    sources += [f"src/{path.name}" for path in sorted((WEB / "src").iterdir())]
    # Whoever changes the sources runs `npm run build` in web/.
    assert _digest([(name, WEB / name) for name in sources]) == hashes["sources"]
    built = ["LICENSES.txt", "explore.css", "explore.js", "icon.svg", "index.html"]
    assert _digest([(name, STATIC / name) for name in built]) == hashes["built"]


def test_building_again_gives_the_same(tmp_path):
    if shutil.which("node") is None or not (WEB / "node_modules").exists():
        pytest.skip("node and `npm ci` in web/ are needed to build")
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=WEB, check=True, timeout=60)
    for path in STATIC.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_every_package_has_its_licence():
    text = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("sigma", "graphology", "events"):
        assert f"\n{name} " in f"\n{text}"
    assert text.count("Permission is hereby granted") >= 3


def test_every_rule_and_refusal_has_words_in_german():
    _, german = (WEB / "src/strings.ts").read_text(encoding="utf-8").split("const de: Words")
    codes = {*KINDS, *_SENTENCES} - {"conflict"}  # has its own words
    assert codes <= set(re.findall(r'^    "?([\w-]+)"?: \(', german, re.MULTILINE))
