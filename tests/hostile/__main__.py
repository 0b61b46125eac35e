"""Run every method on every hostile matrix: ``python -m tests.hostile``; prints what is wrong, and the count."""

import argparse
import sys
import time

from equigraph.methods import METHODS
from tests.hostile.matrices import MATRICES
from tests.hostile.run import faults


def _say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--slow", type=float, default=5.0, help="seconds above which a fit is named")
    options = parser.parse_args()
    wrong = 0
    for method in options.methods:
        for case in MATRICES:
            began = time.perf_counter()
            found = faults(method, case)
            seconds = time.perf_counter() - began
            if seconds > options.slow:
                _say(f"{method}, {case.name}: {seconds:.1f} s")
            for fault in found:
                wrong += 1
                _say(f"{method}, {case.name}: {fault}")
    _say(f"{len(MATRICES)} matrices, {len(options.methods)} methods: {wrong} faults")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
