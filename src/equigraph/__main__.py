"""Run the command line with ``python -m equigraph``."""

from equigraph.apps.cli import main

if __name__ == "__main__":
    main()
