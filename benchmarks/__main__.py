"""List the benchmarks, or run one: ``python -m benchmarks NAME ...``."""

from __future__ import annotations

import ast
import pkgutil
import runpy
import sys
from importlib.util import find_spec

import benchmarks


def names() -> list[str]:
    """Return the names of the benchmarks, sorted; private modules are not among them."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return sorted(module.name for module in found if not module.name.startswith("_"))


def summary(name: str) -> str:
    """Return the first line of a benchmark's docstring, without importing the benchmark."""
    spec = find_spec(f"benchmarks.{name}")
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin, encoding="utf-8") as stream:
        docstring = ast.get_docstring(ast.parse(stream.read())) or ""
    return docstring.partition("\n")[0]


def main(arguments: list[str]) -> int:
    known = names()
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, known))
        print("python -m benchmarks NAME [OPTIONS]; the real graphs are found as by equigraph.datasets\n")
        for name in known:
            print(f"{name:<{width}}  {summary(name)}")
        return 0
    name, *rest = arguments
    if name not in known:
        print(f"There is no benchmark {name!r}; the benchmarks are {', '.join(known)}.", file=sys.stderr)
        return 2
    sys.argv = [f"benchmarks.{name}", *rest]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
