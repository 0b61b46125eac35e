"""Run the fuzzer: ``python -m tests.fuzz --seconds 60``."""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.run import fuzz
from tests.fuzz.seeds import READERS


def main():
    """Return 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="by default another one each time")
    parser.add_argument("--readers", default=",".join(READERS), help="names, with commas")
    parser.add_argument("--files", type=float, default=float("inf"), help="of each reader, at most")
    parser.add_argument("--batch", type=int, default=100, help="files of each reader in a process")
    parser.add_argument("--keep", type=Path, default=None, help="folder for the files of the findings")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    limits = {"batch": options.batch, "most": options.files, "keep": options.keep}
    tally = fuzz(options.seconds, seed, options.readers.split(","), **limits)
    last = f"seed {seed}: {tally.n_cases:,} files, {len(tally.findings)} findings"
    sys.stdout.write("\n".join([*map(str, tally.findings), tally.summary(), last]) + "\n")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
