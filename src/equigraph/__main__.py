"""Run the command line with ``python -m equigraph``."""

from equigraph.cli import main

if __name__ == "__main__":
    main()
