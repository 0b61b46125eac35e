"""The group of commands: imports a command when it is called, and prints errors as one sentence."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from equigraph._utils.text import did_you_mean
from equigraph._utils.version import __version__
from equigraph.apps.cli.options import DEBUG_HELP, Command
from equigraph.exceptions import EquigraphError, InputError, visible

# Exit codes: 0 done, 1 the computation or the program failed, 2 bad input or usage; see also `output.Stop`.
FAILED, BAD_INPUT = 1, 2

# Commands in the order of the help.
_COMMANDS = (
    "demo", "classes", "check", "cluster", "tradeoff", "refine", "compare", "choose-k", "report", "explore", "explain",
    "reproduce", "methods", "datasets", "cite", "warmup",
)  # fmt: skip
# Modules that hold several commands; elsewhere a command is the function `command` of the module of its name.
_SHARED = {"report": ("report", "explain"), "info": ("methods", "datasets", "cite", "warmup")}


class Commands(click.Group):
    """Commands by name; an unknown name is an error that suggests the one it resembles."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise an error that suggests a similar name."""
        names = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in names:
            raise click.UsageError(f"No such command {args[0]!r}{did_you_mean(args[0], names)}.", ctx)
        return super().resolve_command(ctx, args)


class App(Commands):
    """The commands, each imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = cmd_name.replace("-", "_"), "command"
        for shared, names in _SHARED.items():
            if cmd_name in names:
                module, attribute = shared, cmd_name
        return getattr(importlib.import_module(f"equigraph.apps.cli.{module}"), attribute)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        """Run a command, print an error as one sentence, and exit with a code."""
        arguments = list(sys.argv[1:] if args is None else args)
        extra |= {"standalone_mode": False, "obj": (arguments, time.monotonic())}
        try:
            code = super().main(arguments, *rest, **extra)
        except Exception as error:
            # The flag is looked for here because the error may come before it is parsed.
            if "--debug" in arguments and not isinstance(error, (click.ClickException, click.Abort)):
                traceback.print_exc()
            _fail(error)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(error: Exception) -> NoReturn:
    """Print an error in one sentence, and exit."""
    code = FAILED
    if isinstance(error, click.Abort):
        click.echo("Stopped.", err=True)
        sys.exit(code)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        sys.exit(error.exit_code)
    if isinstance(error, click.ClickException):
        sentence, code = _usage_sentence(error), error.exit_code
    elif isinstance(error, EquigraphError):
        sentence, code = str(error), BAD_INPUT if isinstance(error, InputError) else FAILED
    elif isinstance(error, MemoryError):
        sentence = "There is not enough memory for this."
    elif isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        sentence = f"The system said: {error.strerror}{where}."
    else:
        sentence = f"Unexpected {type(error).__name__}: {error}; --debug shows where."
    click.echo(f"Error: {visible(' '.join(sentence.split()))}", err=True)
    sys.exit(code)


def _usage_sentence(error: click.ClickException) -> str:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    stop = "" if message.rstrip().endswith((".", "?", ")")) else "."
    return f"{message}{stop} (See {context.command_path} --help.)"


@click.group(cls=App, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="equigraph")
@click.option("--debug", is_flag=True, expose_value=False, help=DEBUG_HELP)
def app() -> None:
    """Cluster a graph so that the clusters are cohesive and fair.

    Try `equigraph demo` first. Exit codes: 0 done, 1 something failed, 2 bad input or usage, 130 and 143 stopped by
    Ctrl-C or the system, with partial results kept.
    """
